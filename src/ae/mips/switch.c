/*
 * Indirect jumps. The value is an address in the original code: a map of the function by byte
 * offset has the addresses in the twin. Addresses without an entry are outside, and the jump is a
 * tail call.
 */
#include "ae/mips/emit_internal.h"
#include "isa/mips/lift.h"

/* A register to work with, dead ones first; *kept: its value is still needed. */
static unsigned
mips_switch_scratch(const struct twin *t, const struct ainsn *a, uint32_t blk, int *kept)
{
	uint64_t live = t->live[blk];
	unsigned r;

	*kept = 0;
	for (r = MIPS_V0; r <= MIPS_T9; r++)
		if ((r <= MIPS_T7 || r >= MIPS_T8) && (int)r != a->in.tgt && !(live >> r & 1))
			return r;
	*kept = 1;
	return a->in.tgt == MIPS_V0 ? MIPS_V1 : MIPS_V0;
}

void
mips_switch(struct twin *t, uint32_t i, uint32_t blk)
{
	const struct ainsn *a = &t->fn->ins[i];
	unsigned r = (unsigned)a->in.tgt, x, k;
	int kept;

	t->fn->m->emit->settle(t);
	x = mips_switch_scratch(t, a, blk, &kept);
	if (kept)
		buf_printf(t->o, "\tlui\t$1,%%hi(__ae_s)\n\tsw\t$%u,%%lo(__ae_s)($1)\n", x);
	for (k = 0; k < t->fn->nfrag; k++) {
		uint32_t size = t->fn->frag[k].size;

		buf_printf(t->o, "\tlui\t$1,%%hi(" LBL ")\n\taddiu\t$1,$1,%%lo(" LBL ")\n\tsubu\t$1,$%u,$1\n",
		    k ? 'c' : 'o', t->no, k ? 'c' : 'o', t->no, r);
		buf_printf(t->o, "\tlui\t$%u,%u\n\tori\t$%u,$%u,%u\n\tsltu\t$%u,$1,$%u\n\tbeq\t$%u,$0,1f\n",
		    x, size >> 16, x, x, size & 0xffff, x, x, x);
		buf_printf(t->o, "\tlui\t$%u,%%hi(.Lae_m%u_%u)\n\taddu\t$%u,$%u,$1\n"
		    "\tlw\t$%u,%%lo(.Lae_m%u_%u)($%u)\n\tbeq\t$%u,$0,1f\n" NOP,
		    x, t->no, k, x, x, x, t->no, k, x, x);
		if (kept)
			buf_printf(t->o, "\tmove\t$1,$%u\n\tlui\t$%u,%%hi(__ae_s)\n"
			    "\tlw\t$%u,%%lo(__ae_s)($%u)\n\tjr\t$1\n" NOP, x, x, x, x);
		else
			buf_printf(t->o, "\tjr\t$%u\n" NOP, x);
		buf_str(t->o, "1:\n");
	}
	if (!t->fn->blk[blk].range) {
		buf_str(t->o, "\tbreak\n");
		return;
	}
	if (kept)
		buf_printf(t->o, "\tlui\t$1,%%hi(__ae_s)\n\tlw\t$%u,%%lo(__ae_s)($1)\n", x);
	buf_printf(t->o, "\tlui\t$1,%%hi(__ae_ptr)\n\tsw\t$23,%%lo(__ae_ptr)($1)\n\tjr\t$%u\n" NOP, r);
}

void
mips_maps(struct twin *t)
{
	const struct afunc *fn = t->fn;
	uint32_t i, k, off;
	int maps = 0;

	for (i = 0; i < fn->nblk; i++)
		maps |= fn->blk[i].term == ST_SWITCH;
	for (i = 0; maps && i < fn->nfrag; i++) {
		buf_printf(t->o, "\t.p2align 2\n.Lae_m%u_%u:\n", t->no, i);
		for (off = 0, k = fn->frag[i].first; k < fn->nins && fn->ins[k].frag == i; k++) {
			if (!fn->ins[k].taken)
				continue;
			if (fn->ins[k].off > off)
				buf_printf(t->o, "\t.skip\t%u\n", fn->ins[k].off - off);
			buf_printf(t->o, "\t.word\t" LBL2 "\n", 't', t->no, k);
			off = fn->ins[k].off + 4;
		}
		if (fn->frag[i].size > off)
			buf_printf(t->o, "\t.skip\t%u\n", fn->frag[i].size - off);
	}
}
