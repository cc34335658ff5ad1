/*
 * The table of dependences of a segment.  For each instance it has the
 * instances that it depends on, with their ports; or, reversed, those that
 * depend on it.  Dependences of statements are added when they are needed.
 */
#include <stdlib.h>
#include <string.h>

#include "wet/query/run_slice_internal.h"

/* Adds the dependences of the instance at `slot` on n others by a port. */
static int
table_add(struct slicer *c, uint64_t slot, uint32_t port, const uint64_t *on, size_t n)
{
	if (c->non + n >= UINT32_MAX)
		return -1;
	if (c->non + n >= c->capon && buf_grow(&c->on, &c->capon, c->non + n + 1, sizeof *c->on) != 0)
		return -1;
	if (c->slot == slot && c->non)
		c->on[c->non - 1] &= ~DEP_LAST;
	else {
		uint32_t before = c->r->deps_in_time ? 0 : c->head[slot];

		c->head[slot] = (uint32_t)c->non + 1;
		if (before)
			c->on[c->non++] = DEP_LINK | before;
	}
	for (size_t i = 0; i < n; i++)
		c->on[c->non++] = (uint64_t)port << DEP_PORT | (on[i] - (UINT64_C(1) << 32));
	c->on[c->non - 1] |= DEP_LAST;
	c->slot = slot;
	return 0;
}

/* Adds a use port of instance x of the statement with id s + 1; on: id << 32 | instance. */
static int
table_use(void *arg, uint32_t s, uint32_t x, uint32_t port, const uint64_t *on, size_t n)
{
	struct slicer *c = arg;
	const struct place *me = &c->place[s];
	uint64_t user = (uint64_t)(s + 1) << 32 | x;

	c->nslot += port == 0;
	if (!n || !slicer_follows(c, c->flags, &c->r->code->stmt[s], port))
		return 0;
	if (port > DEP_PORTS)
		port = DEP_PORTS;
	if (!(c->flags & QUERY_FORWARD))
		return table_add(c, c->r->deps_in_time ? c->nslot - 1 : me->slot + (x - me->before),
		    port, on, n);
	for (size_t i = 0; i < n; i++) {
		const struct place *p = &c->place[(on[i] >> 32) - 1];

		if (table_add(c, p->slot + ((uint32_t)on[i] - p->before), port, &user, 1) != 0)
			return -1;
	}
	return 0;
}

int
table_begin(struct slicer *c, unsigned flags)
{
	uint64_t n = c->r->seg[c->k + 1].n - c->r->seg[c->k].n;

	if (c->table == c->k + 1 && c->flags == flags)
		return 0;
	c->table = 0;
	c->flags = flags;
	c->non = c->nslot = 0;
	memset(c->have, 0, c->q->nstmt);
	memset(c->want, 0, c->q->nstmt);
	free(c->head);
	if ((c->head = calloc(n + 1, sizeof *c->head)) == NULL)
		return -1;
	c->table = c->k + 1;
	return 0;
}

int
table_fill(struct slicer *c, int all, uint64_t last)
{
	uint64_t seg = c->r->seg[c->k].n;
	int any = 0;

	for (size_t s = 0; s < c->q->nstmt; s++) {
		c->want[s] = (all || !c->r->deps_by_stmt || c->want[s]) && !c->have[s] && c->place[s].n;
		c->have[s] |= c->want[s];
		any |= c->want[s];
	}
	if (any && c->r->ops->deps(c->r, c->want, last - seg, table_use, c) != 0) {
		c->table = 0;
		return qrun_fail(c->q);
	}
	memset(c->want, 0, c->q->nstmt);
	return 0;
}
