/* The rewritten file: original, copies, table and schema. */
#include <stdlib.h>
#include <string.h>
#include "ae/rewrite/emit.h"
#include "ae/rewrite/plan.h"
#include "base/mem.h"

/* The original text, unchanged except for labels (and padding after functions too short to patch). */
static void
rewrite_original(struct buf *o, struct file *f)
{
	uint32_t *next = xcalloc(f->nfn + 1, sizeof *next);
	size_t i;

	for (i = 0; i < f->text.n; i++) {
		const struct stmt *st = &f->text.st[i];
		struct afunc *fn = f->owner[i] ? &f->fn[f->owner[i] - 1] : NULL;
		uint32_t no = f->owner[i] - 1, k;

		if (fn && fn->why)
			fn = NULL;
		if (fn) {
			for (k = next[no]; fn->ins[k].pad || fn->ins[k].nth; k++)
				;
			next[no] = k + 1;
			if (k == fn->frag[fn->ins[k].frag].first)
				buf_printf(o, LBL ":\n", fn->ins[k].frag ? 'c' : 'o', no);
			buf_printf(o, LBL2 ":\n", 'u', no, k);
		}
		if (st->kind == ST_LABEL)
			buf_printf(o, "%s:\n", st->s);
		else
			buf_printf(o, "%s%s\n", st->kind == ST_TEXT ? "" : "\t", st->s);
		if (fn && fn->fill && (next[no] == fn->nins || fn->ins[next[no]].frag == 1)) {
			buf_printf(o, "\t.skip\t%u, %u\n", fn->fill, f->m->filler);
			fn->fill = 0;
		}
	}
	free(next);
}

/* Runtime symbols: weak definitions, so that objects link without the runtime, whose own are strong. */
static void
rewrite_fallbacks(struct buf *o, const struct file *f)
{
	static const char *const code[] = { "__ae_enter", "__ae_again", "__ae_back", "__ae_land" };
	size_t i;

	buf_str(o, "\t.section\taetext.none,\"axG\",@progbits,__ae_none,comdat\n");
	for (i = 0; i < sizeof code / sizeof code[0]; i++)
		buf_printf(o, "\t.weak\t%s\n\t.hidden\t%s\n%s:\n", code[i], code[i], code[i]);
	buf_printf(o, "\t%s\n\t.hidden\t__stop_aetext\n"
	    "\t.section\t.bss.ae_none,\"awG\",@nobits,__ae_none,comdat\n\t.p2align 3\n"
	    "\t.weak\t__ae_ptr\n\t.hidden\t__ae_ptr\n__ae_ptr:\n\t.weak\t__ae_cb\n\t.hidden\t__ae_cb\n"
	    "__ae_cb:\n"
	    "\t.weak\t__ae_s\n\t.hidden\t__ae_s\n__ae_s:\n\t.skip\t32\n",
	    f->m->emit->trap);
	buf_str(o, "\t.section\taetext.none2,\"axG\",@progbits,__ae_none2,comdat\n"
	    "\t.weak\t__ae_start\n__ae_start:\n\t.weak\t__ae_stop\n__ae_stop:\n");
	buf_printf(o, "\t%s\n", f->m->emit->back);
	if (f->waits)
		buf_str(o, "\t.weak\t__ae_waits\n\t.hidden\t__ae_waits\n__ae_waits:\n");
	if (f->context)
		buf_str(o, "\t.weak\t__ae_uses_context\n\t.hidden\t__ae_uses_context\n__ae_uses_context:\n");
}

static void
rewrite_bytes(struct buf *o, const uint8_t *p, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		buf_printf(o, "%s%u%s", i % 24 ? "," : "\t.byte\t", p[i], i % 24 == 23 ||
		    i + 1 == n ? "\n" : "");
}

/* Addresses of the fragments: unaligned, so that units are adjacent. */
static void
rewrite_constants(struct buf *o, const struct file *f)
{
	uint32_t i, k;

	for (i = 0; i < f->nfn; i++)
		for (k = 0; !f->fn[i].why && k < f->fn[i].nfrag; k++)
			buf_printf(o, f->m->word == 4 ? "\t.4byte\t" LBL ", 0\n" : "\t.8byte\t" LBL "\n", k ?
			    'c' : 'o', i);
}

static void
rewrite_schema(struct buf *o, struct file *f)
{
	struct sch_unit *u = plan_unit(f);
	size_t n, body = sch_body(u->ncst);
	uint8_t *p = sch_encode(u, &n);

	o->nomem |= !p;
	buf_str(o, "\t.section\t" SCH_SECTION ",\"R\",@progbits\n");
	if (!o->nomem) {
		rewrite_bytes(o, p, SCH_HEADER);
		rewrite_constants(o, f);
		rewrite_constants(o, f);        /* twice, see schema.h */
		rewrite_bytes(o, p + body, n - body);
	}
	free(p);
	plan_free(u);
}

void
emit_file(struct buf *o, struct file *f)
{
	const struct emitter *e = f->m->emit;
	uint32_t i, traced = 0;

	rewrite_original(o, f);
	for (i = 0; i < f->nfn; i++)
		traced += !f->fn[i].why;
	if (!traced)
		return;
	buf_printf(o, "%s\t.section\taetext,\"ax\",@progbits\n", e->begin);
	for (i = 0; i < f->nfn; i++)
		if (!f->fn[i].why) {
			e->thunk(o, f, i);
			emit_twin(o, f, i);
		}
	buf_str(o, "\t.section\taeplain,\"ax\",@progbits\n");
	for (i = 0; i < f->nfn; i++)
		if (!f->fn[i].why) {
			buf_printf(o, LBL ":\n", 'p', i);
			e->plain(o, f, i);
		}
	/* no padding between the entries of two files */
	buf_printf(o, "%s\t.section\taefn,\"aw\",@progbits\n\t.balign %u\n", e->end ? e->end(f) :
	    "", f->m->word);
	for (i = 0; i < f->nfn; i++)
		if (!f->fn[i].why)
			buf_printf(o, LBL ":\n\t%s\t" LBL ", " LBL ", 0\n", 'n', i, f->m->words[0], 'o', i,
			    'h', i);
	rewrite_fallbacks(o, f);
	rewrite_schema(o, f);
}
