/*
 * Slices of a segment with a worklist: instances that a member depends on are
 * added to the slice and to the list, until the list is empty.  A provider with
 * deps_by_stmt decodes only the dependences of statements in the slice.  If
 * instances may depend on later ones, a forward slice is made as a backward one
 * over a reversed table.
 */
#include "wet/query/run_slice_internal.h"

#define ROUNDS 4u               /* after this many rounds, the dependences of all statements are decoded */

/* Adds an instance to the slice, and to the list if it is in the segment. */
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

/* Empties the list.  Instances whose dependences are not in the table yet are put off to c->later. */
static int
worklist_follow(struct slicer *c)
{
	while (c->ntodo > 0) {
		uint64_t inst = c->todo[--c->ntodo], w;

		if (!c->have[inst >> 32]) {
			c->want[inst >> 32] = 1;
			if (buf_grow(&c->later, &c->caplater, c->nlater + 1, sizeof *c->later) != 0)
				return -1;
			c->later[c->nlater++] = inst;
			continue;
		}
		for (struct words t = words_of(c, slicer_slot(c, inst, 0)); words_next(c, &t, &w);)
			if (slicer_adds(c, inst, w) && worklist_add(c, w & DEP_INST) != 0)
				return -1;
	}
	return 0;
}

/* Fills the list with the members of the segment so far. */
static int
worklist_begin(struct slicer *c)
{
	for (size_t s = 0; s < c->q->nstmt; s++) {
		const struct place *p = &c->place[s];
		uint64_t at = p->first + p->before, end = at + p->n;

		for (at = slicer_next_member(c->q, at, end); at < end;
		    at = slicer_next_member(c->q, at + 1, end))
			if (slicer_push(c, (uint64_t)s << 32 | (at - p->first)) != 0)
				return -1;
	}
	return 0;
}

/* Adds everything that members of the segment depend on, directly or not. */
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
