/* Sets of lanes of registers, for slices that follow which registers are live. */
#ifndef TM_WET_QUERY_LANES_H
#define TM_WET_QUERY_LANES_H

#include "isa/x86/fact.h"

/*
 * A bit for each lane.  Word 0 has general registers, flags and registers of a
 * single lane; the others have masks and vectors.
 */
#define QLANES 4u
struct qlanes { uint64_t w[QLANES]; };
struct qwide { struct qlanes def, use; };       /* lanes that an instruction defines and uses */

/* Adds lanes of register reg. */
static inline void
lanes_add(struct qlanes *l, unsigned reg, unsigned lanes)
{
	unsigned v = reg - FACT_VECTOR;

	if (reg < 16)
		l->w[0] |= (uint64_t)lanes << 3 * reg;
	else if (reg == FACT_FLAGS)
		l->w[0] |= (uint64_t)lanes << 48;
	else if (reg < FACT_MASK)
		l->w[0] |= (uint64_t)lanes << (53 + reg - FACT_FSBASE);
	else if (reg < FACT_VECTOR)
		l->w[1] |= (uint64_t)lanes << (reg - FACT_MASK);
	else if (v < 11)                /* a vector has 5 lanes, all in the same word */
		l->w[1] |= (uint64_t)lanes << (8 + 5 * v);
	else if (v < 23)
		l->w[2] |= (uint64_t)lanes << 5 * (v - 11);
	else
		l->w[3] |= (uint64_t)lanes << 5 * (v - 23);
}

static inline int
lanes_meet(const struct qlanes *a, const struct qlanes *b)
{
	return ((a->w[0] & b->w[0]) | (a->w[1] & b->w[1]) | (a->w[2] & b->w[2]) | (a->w[3] & b->w[3])) != 0;
}

static inline void
lanes_replace(struct qlanes *l, const struct qlanes *gone, const struct qlanes *come)
{
	for (unsigned i = 0; i < QLANES; i++)
		l->w[i] = (l->w[i] & ~gone->w[i]) | come->w[i];
}

#endif
