/* Captures: the set of executable memory ranges. */
#include "base/buf.h"
#include "base/search.h"
#include "format/ws/executable_internal.h"

#include <stdlib.h>
#include <string.h>

/* The first range that ends at or after addr. */
static size_t
ws_exec_find(const struct ws_exec *x, uint64_t addr)
{
	size_t i;

	LOWER_BOUND(i, x->n, x->v[i].last < addr);
	return i;
}

static int
ws_exec_insert(struct ws_exec *x, size_t i, uint64_t first, uint64_t last)
{
	if (buf_grow(&x->v, &x->cap, x->n + 1, sizeof(*x->v)) < 0)
		return -1;
	memmove(x->v + i + 1, x->v + i, (x->n++ - i) * sizeof(*x->v));
	x->v[i].first = first;
	x->v[i].last = last;
	return 0;
}

static int
ws_exec_clear(struct ws_exec *x, uint64_t first, uint64_t last)
{
	size_t i = ws_exec_find(x, first), k;

	if (i < x->n && x->v[i].first < first) {
		uint64_t end = x->v[i].last;

		x->v[i++].last = first - 1;
		if (end > last)
			return ws_exec_insert(x, i, last + 1, end);
	}
	for (k = i; k < x->n && x->v[k].last <= last; k++)
		;
	if (k > i)
		memmove(x->v + i, x->v + k, (x->n - k) * sizeof(*x->v));
	x->n -= k - i;
	if (i < x->n && x->v[i].first <= last)
		x->v[i].first = last + 1;
	return 0;
}

static int
ws_exec_set(struct ws_exec *x, uint64_t first, uint64_t last, int on)
{
	if (ws_exec_clear(x, first, last) != 0)
		return -1;
	return on ? ws_exec_insert(x, ws_exec_find(x, first), first, last) : 0;
}

int
ws_exec_at(const struct ws_exec *x, uint64_t addr)
{
	size_t i = ws_exec_find(x, addr);

	return i < x->n && x->v[i].first <= addr;
}

int
ws_exec_step(struct ws_exec *x, const struct ws_rec *r)
{
	const struct ws_rec_move *m = &r->u.move;
	int on;

	switch (r->kind) {
	case WS_MAP:
		return ws_exec_set(x, r->u.map.addr, r->u.map.addr + (r->u.map.len - 1),
		    r->u.map.prot >> 2 & 1);
	case WS_PROT:
		return ws_exec_set(x, r->u.range.addr, r->u.range.addr + (r->u.range.len - 1),
		    r->u.range.prot >> 2 & 1);
	case WS_UNMAP:
		return ws_exec_set(x, r->u.range.addr, r->u.range.addr + (r->u.range.len - 1), 0);
	case WS_MOVE:
		on = ws_exec_at(x, m->from);
		if (ws_exec_set(x, m->from, m->from + (m->oldlen - 1), 0) != 0)
			return -1;
		return ws_exec_set(x, m->to, m->to + (m->newlen - 1), on);
	default:
		return 0;
	}
}
