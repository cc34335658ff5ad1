/* Questions about .wet files of kind full: the instances of a statement. */
#include <stdlib.h>

#include "wet/query/full_internal.h"

struct insns {
	struct query *q;
	uint64_t from, to;              /* instances in the segment, to of them not any more */
	uint64_t before;                /* instances before the segment */
	unsigned want;
	struct query_insn e;
	query_insn_fn *fn;
	void *arg;
};

/* Instance x of the segment: 1: enough */
static int
give(struct insns *t, uint64_t x)
{
	const struct qfull *f = t->q->store;
	const struct store_place *at = &f->r.place[t->e.id - 1];
	uint64_t word[8];

	t->e.instance = t->before + x;
	t->e.nval = t->want & QUERY_VALUES ? f->r.code.stmt[t->e.id - 1].nval : 0;
	for (unsigned j = 0; j < t->e.nval; j++)
		word[j] = f->r.vals.val.v[at->at + j * at->n + x];
	t->e.val = word;
	return t->fn(t->arg, &t->e) != 0;
}

/* With references, which are in order of time */
static int
with_refs(struct insns *t)
{
	const struct qfull *f = t->q->store;
	const struct store_read *r = &f->r;
	uint64_t x = 0;
	size_t n = 0;

	for (size_t i = 0; i < r->path.n && x < t->to; i++) {
		const struct store_path *p = &r->code.path[r->path.v[i]];

		for (uint32_t j = 0; j < p->n; j++, n++) {
			if (f->id[p->first + j] != t->e.id)
				continue;
			t->e.n = f->seg[f->at - 1].n + n + 1;
			t->e.ref = r->ref.v + store_refs(r, n, &t->e.nref);
			if (x >= t->from && x < t->to && give(t, x))
				return 1;
			x++;
		}
	}
	return 0;
}

static int
segment(struct insns *t, size_t k)
{
	struct qfull *f = t->q->store;
	unsigned want = (t->want & QUERY_VALUES ? STORE_VALUES : 0u) | (t->want & QUERY_REFS ? STORE_ADDRS : 0u);

	if (want == STORE_VALUES && !f->r.load && (f->at != k + 1 || !(f->have & STORE_VALUES))) {
		f->at = 0;
		if (store_read_values(&f->r, k, t->e.id - 1, t->from, t->to) != 0)
			return qfull_bad(t->q);
	} else if (qfull_segment(t->q, k, want) != 0)
		return -1;
	if (t->want & QUERY_REFS)
		return with_refs(t);
	for (uint64_t x = t->from; x < t->to; x++)
		if (give(t, x))
			return 1;
	return 0;
}

int
qfull_insns(struct query *q, uint32_t id, uint64_t from, uint64_t to, unsigned want, query_insn_fn *fn, void *arg)
{
	const struct qfull *f = q->store;
	struct insns t = { .q = q, .want = want, .e = { .id = id }, .fn = fn, .arg = arg };
	int e = 0;

	for (size_t k = 0; k < f->r.nsegment && !e && t.before <= to; k++) {
		const struct qexec *c = qfull_count(&f->seg[k], id);

		if (!c)
			continue;
		t.from = from > t.before ? from - t.before : 0;
		t.to = to - t.before < c->n ? to - t.before + 1 : c->n;
		if (t.from < t.to)
			e = segment(&t, k);
		t.before += c->n;
	}
	if (!e && t.before <= to && !f->w.whole)
		return query_store_bad(q, &f->w.fault);
	return e < 0 ? -1 : 0;
}
