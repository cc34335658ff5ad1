/* How many bytes of a definition are recorded. */
#include "ae/machine/machine.h"
#include "ae/rewrite/emit.h"
#include "ae/rewrite/frame.h"
#include "ae/rewrite/slice.h"

unsigned
effect_var(const struct afunc *fn, uint32_t i, unsigned var)
{
	return var == machine_mem(fn->m) && fn->slot[i] >= 0 ? machine_slot0(fn->m) + (unsigned)fn->slot[i] :
	    var;
}

/* How many low bits of the result of s can be nonzero. */
static unsigned
value_bits(const struct op_step *s)
{
	unsigned bits = s->w * 8, n;

	if (s->op == SO_AND && s->b.kind == SV_IMM && s->b.imm >= 0) {
		for (n = 0; n < bits && (uint64_t)s->b.imm >> n; n++)
			;
		return n;
	}
	if (s->op == SO_SHR && s->b.kind == SV_IMM)
		return bits - (unsigned)(s->b.imm & (bits - 1));
	return bits;
}

uint8_t
word_ext(const struct afunc *fn, unsigned var)
{
	/* the code for a large value uses the stack pointer for nothing, but what moves it is known anyway */
	return fn->m->emit->record_short && !fn->paper && var < fn->m->nreg && var != fn->m->sp ? EXT_SHORT : 0;
}

/*
 * A value of 8 bytes. Most are pointers, and those to static data and small heaps are short. Whether one is, is
 * tested when it is recorded, which changes flags.
 */
static unsigned
whole(const struct afunc *fn, const struct def *d, uint8_t *ext)
{
	if (d->ins == DEF_ENTRY || fn->noflags[d->ins])
		*ext = word_ext(fn, d->var);
	return fn->m->word;
}

unsigned
def_bytes(const struct afunc *fn, const struct def *d, uint8_t *ext)
{
	const struct op_step *s;
	unsigned bits;
	int halves;

	*ext = 0;
	if (fn->paper)
		return fn->m->word;
	if (d->ins == DEF_ENTRY || d->eff == DEF_CALL)
		return whole(fn, d, ext);
	s = &fn->ins[d->ins].in.eff[d->eff].s;
	if (s->w < 4)           /* a part of the register changes: all of it is recorded */
		return whole(fn, d, ext);
	if (s->op == SO_SETCC)
		return 1;
	/* on machines that cannot store half words without a free register */
	halves = !fn->noscratch && !fn->ins[d->ins].isslot;
	if ((s->op == SO_ZEXT || s->op == SO_SEXT) && (s->n != 2 || halves)) {
		*ext = s->op == SO_ZEXT ? 0 : s->w == 8 ? 1 : 3;
		return s->n;
	}
	bits = value_bits(s);
	if (bits <= 16 && bits > 8 && !halves)
		return fn->m->word;
	return bits <= 8 ? 1 : bits <= 16 ? 2 : bits <= 32 ? 4 : whole(fn, d, ext);
}
