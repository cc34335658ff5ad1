/*
 * Slices of a segment with a worklist: what an instance in the slice depends
 * on is added to the slice and to the list, until the list is empty.  A
 * provider that can tell the dependences of single statements is asked for
 * those of statements in the slice only.  Where an instance may depend on a
 * later one, a forward slice is a backward one over a table that is turned
 * round.
 */
#include "wet/query/run_slice_internal.h"

#define ROUNDS 4u               /* dependences of some statements are asked for so often; then those of all */

/* An instance becomes a member; what it depends on is followed next, if it is of the segment */
static int
worklist_add(struct slicer *c, uint64_t inst)
{
	const struct place *p = &c->place[inst >> 32];
	uint64_t n = p->first + (uint32_t)inst;

	if (query_in_slice(c->q, n))
		return 0;
	query_set_in_slice(c->q, n);
	c->left++;
	return (uint32_t)inst - p->before < p->n ? slicer_push(c, inst) : 0;
}

/* Adds what instances of the list depend on, as far as it is in the table; the others are put off */
static int
worklist_follow(struct slicer *c)
{
	while (c->ntodo > 0) {
		uint64_t inst = c->todo[--c->ntodo], w;

		if (!c->have[inst >> 32]) {
			c->want[inst >> 32] = 1;
			if (buf_grow(&c->later, &c->caplater, c->nlater + 1, sizeof *c->later) != 0)
				return query_nomem(c->q);
			c->later[c->nlater++] = inst;
			continue;
		}
		for (struct words t = words_of(c, slicer_slot(c, inst, 0)); words_next(c, &t, &w);)
			if (worklist_add(c, w & DEP_INST) != 0)
				return -1;
	}
	return 0;
}

/* The list: members of the segment so far */
static int
worklist_begin(struct slicer *c)
{
	for (size_t s = 0; s < c->q->nstmt; s++) {
		const struct place *p = &c->place[s];
		uint64_t at = p->first + p->before, end = at + p->n;

		for (at = slicer_next_member(c->q, at, end); at < end; at = slicer_next_member(c->q, at + 1, end))
			if (slicer_push(c, (uint64_t)s << 32 | (at - p->first)) != 0)
				return -1;
	}
	return 0;
}

/* All that members of the segment depend on are members */
static int
worklist_close(struct slicer *c, uint64_t last)
{
	if (worklist_begin(c) != 0)
		return -1;
	for (unsigned round = 0; c->ntodo; round++) {
		uint64_t *swap;
		size_t cap;

		if (worklist_follow(c) != 0 || (c->nlater && table_fill(c, round >= ROUNDS, last) != 0))
			return -1;
		swap = c->todo;
		cap = c->captodo;
		c->todo = c->later;
		c->ntodo = c->nlater;
		c->captodo = c->caplater;
		c->later = swap;
		c->nlater = 0;
		c->caplater = cap;
	}
	return 0;
}

int
worklist_backward(struct slicer *c)
{
	if (worklist_close(c, c->s->n) != 0 || slicer_load_values(c) != 0)
		return -1;
	return slicer_walk_backward(c, slicer_report);
}

int
worklist_forward(struct slicer *c)
{
	if (worklist_close(c, UINT64_MAX) != 0)
		return -1;
	if (!c->left)
		return 0;
	return slicer_load_values(c) != 0 ? -1 : slicer_walk_forward(c, slicer_report);
}
