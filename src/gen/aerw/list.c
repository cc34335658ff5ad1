/* The listing of -l: what is recorded where.  It shows what makes an event file long. */
#include "ae/rewrite/slice.h"
#include "base/out.h"
#include "gen/aerw/list.h"

static void
aerw_list_line(struct out *out, const struct file *f, const struct afunc *fn, const struct ainsn *a, unsigned bytes,
    const char *what)
{
	out_printf(out, "%s\t%u\t0x%x\t%u\t%s\t%s\n", fn->name, a->frag, a->off, bytes, what,
	    f->text.st[a->stmt].s);
}

static void
list_function(struct out *out, const struct file *f, const struct afunc *fn)
{
	const struct slice *s = fn->slice;
	uint32_t i, d, v, b;

	for (i = 0; i < fn->nins; i++) {
		const struct ainsn *a = &fn->ins[i];

		for (v = 0; v < fn->m->nreg; v++)
			if (s->callrec[i] >> v & 1)
				aerw_list_line(out, f, fn, a, fn->m->word, "argument");
		if (a->in.mask.bytes)
			aerw_list_line(out, f, fn, a, a->in.mask.bytes + a->in.mask.nindex, "mask");
		if (a->in.rep && (a->in.eff[0].s.cc == SR_CMPS || a->in.eff[0].s.cc == SR_SCAS))
			aerw_list_line(out, f, fn, a, fn->m->word + 1u, "count");
		for (d = s->first[i]; d < s->first[i + 1]; d++) {
			uint8_t ext;

			if (s->def[d].fate == DF_RECORD)
				aerw_list_line(out, f, fn, a, def_bytes(fn, &s->def[d], &ext),
				    s->def[d].eff == DEF_CALL ? "result" : "value");
		}
		b = fn->blkof[i];
		if (a->in.ctl == IC_BRANCH && s->recbranch[b])
			aerw_list_line(out, f, fn, a, 1, "branch");
		else if ((a->in.ctl == IC_CALL || a->in.ctl == IC_CALLIND) &&
		    (callee_if_traced(f, a) == NONE || f->fn[a->callee].tailout))
			aerw_list_line(out, f, fn, a, 1, "return");
	}
}

void
list_file(struct out *out, const struct file *f)
{
	for (size_t i = 0; i < f->nfn; i++)
		if (!f->fn[i].why)
			list_function(out, f, &f->fn[i]);
}
