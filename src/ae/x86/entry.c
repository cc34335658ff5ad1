/* Instrumented code for x86-64: the entries of a function. */
#include "ae/rewrite/emit.h"
#include "ae/rewrite/slice.h"
#include "ae/x86/emit_internal.h"
#include "isa/x86/lift.h"

/* What a function needs of the registers when it is entered, at label l, and the jump to the twin */
static void
x86_thunk_need(struct buf *o, const struct afunc *fn, uint32_t no)
{
	int isshort = word_ext(fn, 0) != 0;
	unsigned v, at = 0;

	buf_printf(o, LBL ":\n", 'l', no);
	for (v = 0; v < X86_NREG; v++) {
		unsigned r = fn->m->lent && v == X86_R15 ? X86_R11 : v;

		if (!(fn->need >> v & 1))
			continue;
		if (r != v)
			lend_load(o, (int)r);
		if (isshort)
			x86_small(o, r, at, 'v', no, v);
		else
			buf_printf(o, "\tmovq\t%%%s, %u(%%r15)\n", x86_regname((int)r, 8), at);
		at += isshort ? 4 : 8;
	}
	if (at)
		buf_printf(o, "\tleaq\t%u(%%r15), %%r15\n", at);
	buf_printf(o, "\tjmp\t" LBL "\n", 'f', no);
	for (v = 0, at = 0; isshort && v < X86_NREG; v++)
		if (fn->need >> v & 1) {
			x86_large(o, fn->m->lent && v == X86_R15 ? X86_R11 : v, at, 'v', no, v);
			at += 4;
		}
}

/*
 * The entries of a function:
 *
 * h: from its original, which is patched. Called from traced code of this file, and no callback since? What lies below that
 *    may be code, too, that a position independent program made itself (MAP_32BIT). The words before it are struct ae_entries.
 * x: that is so. The word before it is the operand of a harmless movl.
 * k: from a jump of x86_site
 * l: from a call of x86_site
 * f: the twin; from such a call if what the function needs is known there
 */
void
x86_thunk(struct buf *o, struct file *f, uint32_t no)
{
	const struct afunc *fn = &f->fn[no];

	buf_printf(o, "\t.p2align 3\n1:\tleaq\t" LBL "(%%rip), %%r11\n\tjmp\t__ae_enter\n", 'x', no);
	buf_printf(o, "2:\tleaq\t" LBL "(%%rip), %%r11\n\tjmp\t__ae_again\n", 'x', no);
	buf_printf(o, "\t.p2align 3\n\t.long\t" LBL "-" LBL ", " LBL "-" LBL ", ", 'n', no, 'h', no, 'k', no, 'h', no);
	buf_printf(o, LBL "-" LBL ", " LBL "-" LBL "\n\t.quad\t%u\n", 'l', no, 'h', no, 'f', no, 'h', no,
	    (unsigned)fn->need | (fn->tailout ? X86_TAILOUT : 0));
	buf_printf(o, LBL ":\tleaq\t__stop_aetext(%%rip), %%r11\n\tsubq\t(%%rsp), %%r11\n"
	    "\tcmpq\t__ae_length(%%rip), %%r11\n\tja\t1b\n\tcmpb\t$0, %%gs:%d\n\tjne\t2b\n", 'h', no, X86_CB);
	buf_printf(o, "\t.byte\t0x41, 0xbb\n\t.long\t" LBL "-" LBL "\n" LBL ":\n", 'p', no, 'x', no, 'x', no);
	if (fn->m->lent)
		buf_printf(o, "\tmovq\t%%gs:%d, %%r15\n", X86_PTR);
	buf_printf(o, "\tmovq\t$0, %%gs:%d\n" LBL ":\tmovl\t16+" LBL "(%%rip), %%r11d\n\tmovw\t%%r11w, (%%r15)\n"
	    "\tleaq\t2(%%r15), %%r15\n", X86_PTR, 'k', no, 'n', no);
	x86_thunk_need(o, fn, no);
}
