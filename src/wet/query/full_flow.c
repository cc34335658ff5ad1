/* Questions about .wet files of kind full: control flow, where an instance is, the instances of a statement. */
#include <stdlib.h>

#include "wet/query/full_internal.h"

/* Statements [from, to) of path p: 1: enough */
static int
give(struct qflow *f, uint32_t p, uint32_t from, uint32_t to, int backward)
{
	const struct qfull *t = f->q->store;
	const struct store_path *s = &t->r.code.path[p];

	return query_give(f, (struct query_path){ .id = t->id + s->first, .n = s->n, .path = p, .from = from, .to = to }, backward);
}

static int
forward(struct qflow *f, size_t k, uint64_t from)
{
	struct qfull *t = f->q->store;
	uint64_t n = t->seg[k].n;

	if (qfull_segment(f->q, k, STORE_PATHS) != 0)
		return -1;
	for (size_t i = 0; i < t->r.path.n; i++) {
		uint32_t p = (uint32_t)t->r.path.v[i], len = t->r.code.path[p].n;

		n += len;
		if (n >= from && give(f, p, n - len + 1 < from ? (uint32_t)(from - (n - len + 1)) : 0, len, 0))
			return 1;
	}
	return 0;
}

static int
backward(struct qflow *f, size_t k, uint64_t from)
{
	struct qfull *t = f->q->store;
	uint64_t n = t->seg[k].n;

	if (qfull_segment(f->q, k, STORE_PATHS) != 0)
		return -1;
	n += t->r.n;
	for (size_t i = t->r.path.n; i-- > 0;) {
		uint32_t p = (uint32_t)t->r.path.v[i], len = t->r.code.path[p].n;

		n -= len;
		if (n < from && give(f, p, 0, from - n < len ? (uint32_t)(from - n) : len, 1))
			return 1;
	}
	return 0;
}

int
qfull_flow(struct query *q, uint64_t from, uint64_t count, int back, query_path_fn *fn, void *arg)
{
	struct qflow f = { .q = q, .fn = fn, .arg = arg, .left = count };
	const struct qfull *t = q->store;
	int e = 0;

	if (from && count && from <= q->length) {
		size_t k = qfull_find(q, from);

		if (back)
			for (k++; k-- > 0 && !e;)
				e = backward(&f, k, from);
		else
			for (; k < t->r.nsegment && !e; k++)
				e = forward(&f, k, from);
	}
	if (e == 0 && !back && !t->w.whole && f.left)
		return query_store_bad(q, &t->w.fault);
	return e < 0 ? -1 : 0;
}

/* The segment of an instance, whose number in it *instance is then; nsegment: there is none */
static size_t
segment_of(const struct qfull *t, uint32_t id, uint64_t *instance)
{
	for (size_t k = 0; k < t->r.nsegment; k++) {
		const struct qexec *c = qfull_count(&t->seg[k], id);

		if (c && *instance < c->n)
			return k;
		*instance -= c ? c->n : 0;
	}
	return t->r.nsegment;
}

int
qfull_position(struct query *q, uint32_t id, uint64_t instance, uint64_t *n)
{
	struct qfull *t = q->store;
	size_t k;

	if (id == 0 || id > q->nstmt || instance >= q->stmt[id - 1].count || (k = segment_of(t, id, &instance)) == t->r.nsegment)
		return 0;
	if (qfull_segment(q, k, STORE_PATHS) != 0)
		return -1;
	*n = t->seg[k].n;
	for (size_t i = 0; i < t->r.path.n; i++) {
		const struct store_path *p = &t->r.code.path[t->r.path.v[i]];

		for (uint32_t j = 0; j < p->n; j++) {
			++*n;
			if (t->id[p->first + j] == id && instance-- == 0)
				return 1;
		}
	}
	return query_bad(q, "the ranks are not those of the paths");
}
