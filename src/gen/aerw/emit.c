/* The rewritten file: original, copies, table and schema. */
#include <stdlib.h>
#include <string.h>
#include "../../base/diag.h"
#include "../../base/mem.h"
#include "../../engine/x86/lift.h"
#include "emit.h"
#include "plan.h"

/* The original text, untouched but for labels (and padding behind functions too short to patch) */
static void
original(struct out *o, struct file *f)
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
			for (k = next[no]; fn->ins[k].pad; k++)
				;
			next[no] = k + 1;
			if (k == fn->frag[fn->ins[k].frag].first)
				out_printf(o, LBL ":\n", fn->ins[k].frag ? 'c' : 'o', no);
			out_printf(o, ".Lae_u%u_%u:\n", no, k);
		}
		if (st->kind == ST_LABEL)
			out_printf(o, "%s:\n", st->s);
		else
			out_printf(o, "%s%s\n", st->kind == ST_TEXT ? "" : "\t", st->s);
		if (fn && fn->fill && (next[no] == fn->nins || fn->ins[next[no]].frag == 1)) {
			out_printf(o, "\t.skip\t%u, 0x90\n", fn->fill);
			fn->fill = 0;
		}
	}
	free(next);
}

static void
thunk(struct out *o, struct file *f, uint32_t no)
{
	uint32_t need = f->fn[no].need, v, off = 2;

	out_printf(o, "\t.p2align 3\n" LBL ":\n", 'h', no);
	/* called from traced code (which lies lowest), and no callback since?  The last word is the operand of a harmless movl. */
	out_printf(o, "\tleaq\t__stop_aetext(%%rip), %%r11\n\tcmpq\t%%r11, (%%rsp)\n\tleaq\t" LBL "(%%rip), %%r11\n"
	    "\tjae\t__ae_enter\n\tcmpb\t$0, __ae_cb(%%rip)\n\tjne\t__ae_again\n", 'x', no);
	out_printf(o, "\t.byte\t0x41, 0xbb\n\t.long\t" LBL "-" LBL "\n" LBL ":\n", 'p', no, 'x', no, 'x', no);
	out_printf(o, "\tmovq\t$0, __ae_ptr(%%rip)\n\tmovl\t16+" LBL "(%%rip), %%r11d\n\tmovw\t%%r11w, (%%r15)\n", 'n', no);
	for (v = 0; v < X86_NREG; v++)
		if (need >> v & 1) {
			out_printf(o, "\tmovq\t%%%s, %u(%%r15)\n", x86_regname((int)v, 8), off);
			off += 8;
		}
	out_printf(o, "\tleaq\t%u(%%r15), %%r15\n\tjmp\t" LBL "\n", off, 'f', no);
}

/* Runtime symbols: weak definitions here, so that objects link without the runtime; its own are strong */
static void
fallbacks(struct out *o, const struct file *f)
{
	static const char *const code[] = { "__ae_enter", "__ae_again", "__ae_back", "__ae_land" };
	size_t i;

	out_str(o, "\t.section\taetext.none,\"axG\",@progbits,__ae_none,comdat\n");
	for (i = 0; i < sizeof code / sizeof code[0]; i++)
		out_printf(o, "\t.weak\t%s\n\t.hidden\t%s\n%s:\n", code[i], code[i], code[i]);
	out_str(o, "\tud2\n\t.hidden\t__stop_aetext\n\t.section\t.bss.ae_none,\"awG\",@nobits,__ae_none,comdat\n\t.p2align 3\n"
	    "\t.weak\t__ae_ptr\n\t.hidden\t__ae_ptr\n__ae_ptr:\n\t.weak\t__ae_cb\n\t.hidden\t__ae_cb\n__ae_cb:\n\t.weak\t__ae_s\n\t.hidden\t__ae_s\n__ae_s:\n\t.skip\t32\n");
	if (f->context)
		out_str(o, "\t.weak\t__ae_uses_context\n\t.hidden\t__ae_uses_context\n__ae_uses_context:\n");
}

static void
bytes(struct out *o, const uint8_t *p, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		out_printf(o, "%s%u%s", i % 24 ? "," : "\t.byte\t", p[i], i % 24 == 23 || i + 1 == n ? "\n" : "");
}

static void
schema(struct out *o, struct file *f)
{
	struct sch_unit *u = plan_unit(f);
	uint32_t i, k;
	uint8_t *p;
	size_t n;

	p = sch_encode(u, &n);
	if (!p)
		die("out of memory");
	out_printf(o, "\t.section\t" SCH_SECTION ",\"R\",@progbits\n\t.ascii\t\"AESC\"\n\t.long\t%d, %zu, %u\n",
	    SCH_VERSION, 16 + 8 * (size_t)u->ncst + n, u->ncst);
	for (i = 0; i < f->nfn; i++)
		for (k = 0; !f->fn[i].why && k < f->fn[i].nfrag; k++)
			out_printf(o, "\t.quad\t" LBL "\n", k ? 'c' : 'o', i);
	bytes(o, p, n);
	free(p);
	plan_free(u);
}

void
emit_file(struct out *o, struct file *f)
{
	uint32_t i, traced = 0;

	original(o, f);
	for (i = 0; i < f->nfn; i++)
		traced += !f->fn[i].why;
	if (!traced)
		return;
	out_str(o, "\t.section\taetext,\"ax\",@progbits\n");
	for (i = 0; i < f->nfn; i++)
		if (!f->fn[i].why) {
			thunk(o, f, i);
			emit_twin(o, f, i);
		}
	out_str(o, "\t.section\taeplain,\"ax\",@progbits\n");
	for (i = 0; i < f->nfn; i++)
		if (!f->fn[i].why)
			emit_plain(o, f, i);
	out_str(o, "\t.section\taefn,\"aw\",@progbits\n\t.p2align 3\n");
	for (i = 0; i < f->nfn; i++)
		if (!f->fn[i].why)
			out_printf(o, LBL ":\n\t.quad\t" LBL ", " LBL ", 0\n", 'n', i, 'o', i, 'h', i);
	fallbacks(o, f);
	schema(o, f);
}
