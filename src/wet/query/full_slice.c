/*
 * Questions about .wet files of kind full: slices.  Segment by segment, the
 * dependences of each are recorded forward; then it is read backward (or
 * forward) with a set of instances that belong to the slice.  Segments that
 * none of them is in are left out.
 */
#include <stdlib.h>
#include <string.h>

#include "wet/query/full_internal.h"

/* Instances have numbers, statement by statement: qfull.first */
struct scan {
	struct query *q;
	struct qfull *f;
	struct query_slice *s;
	query_dep_fn *dep;              /* dependences are asked for */
	void *arg;
	struct col on;                  /* of each statement of the segment: number << 8 | port of what it depends on */
	uint32_t *at;                   /* of each statement, and behind the last: where its begin in `on`; owned */
	size_t capat;
	uint32_t *before;               /* instances of each statement before the segment; owned */
	uint64_t n;                     /* statements of the segment that are recorded */
	uint64_t wanted;                /* members not met yet */
	uint64_t from;                  /* the instance that the slice is of */
	int enough;
};

static uint64_t
number(const struct qfull *f, uint64_t who)
{
	return f->first[(who >> 32) - 1] + (uint32_t)who;
}

/* A use port: only those that the slice follows */
static int
use(void *arg, uint32_t s, uint32_t x, uint32_t port, const uint64_t *who, size_t n)
{
	struct scan *c = arg;
	const struct store_stmt *v = &c->f->r.code.stmt[s];

	(void)x;
	if (port == 0) {                /* another statement: each has this port, and it comes first */
		c->at[c->n++] = (uint32_t)c->on.n;
		if (c->s->how & QUERY_DATA)
			return 0;
	}
	if (port && port <= v->nuse && !c->q->rsp && c->f->r.code.reg[v->reg + port - 1] >> 5 == QRSP)
		return 0;
	for (size_t i = 0; i < n; i++)
		col_add(&c->on, number(c->f, who[i]) << 8 | (port < 255 ? port : 255));
	return c->on.nomem || c->on.n > UINT32_MAX ? -1 : 0;
}

/* Segment k up to position last */
static int
record(struct scan *c, size_t k, uint64_t last)
{
	struct store_read *r = &c->f->r;
	unsigned want = STORE_DEPS | (c->s->fn && !c->dep ? STORE_VALUES | STORE_ADDRS : 0u);

	if (qfull_segment(c->q, k, want) != 0)
		return -1;
	memcpy(c->before, r->count, r->code.nstmt * sizeof *c->before);
	c->on.n = 0;
	c->n = 0;
	for (size_t i = 0; i < r->path.n && c->f->seg[k].n + c->n < last; i++) {
		uint32_t n = r->code.path[r->path.v[i]].n;

		if (buf_grow(&c->at, &c->capat, c->n + n + 1, sizeof *c->at) != 0)
			return query_nomem(c->q);
		if (store_read_deps(r, i, NULL, use, c) != 0)
			return qfull_bad(c->q);
		c->at[c->n] = (uint32_t)c->on.n;
	}
	return 0;
}

static int
tell(struct scan *c, uint32_t s, uint64_t x, uint64_t i, size_t k)
{
	const struct store_read *r = &c->f->r;
	const struct store_place *at = &r->place[s];
	struct query_insn e = { .id = s + 1, .nval = r->code.stmt[s].nval, .instance = x, .n = c->f->seg[k].n + i + 1 };
	uint64_t word[8];

	for (unsigned j = 0; j < e.nval; j++)
		word[j] = r->vals.val.v[at->at + j * at->n + (x - c->before[s])];
	e.val = word;
	e.ref = r->ref.v + store_refs(r, i, &e.nref);
	return c->s->fn(c->s->arg, &e) != 0;
}

static void
belongs(struct scan *c, uint32_t s)
{
	c->s->total++;
	c->s->count[s]++;
}

/* Statements from the last that is recorded, but for those behind position last */
static void
read_back(struct scan *c, size_t k, uint64_t last)
{
	struct store_read *r = &c->f->r;
	uint64_t i = c->n, seg = c->f->seg[k].n;
	size_t path = 0;

	for (uint64_t n = 0; n < c->n; n += r->code.path[r->path.v[path++]].n)
		;
	while (path-- > 0 && !c->enough) {
		const struct store_path *p = &r->code.path[r->path.v[path]];

		for (uint32_t j = p->n; j-- > 0 && !c->enough;) {
			uint32_t s = r->code.seq[p->first + j], x = --r->count[s];
			uint64_t me = c->f->first[s] + x;

			i--;
			if (seg + i + 1 == last && !c->from) {
				c->from = me + 1;
				c->wanted++;
				query_member(c->q, me);
			}
			if (!query_is_member(c->q, me) || seg + i + 1 > last)
				continue;
			c->wanted--;
			belongs(c, s);
			for (uint32_t d = c->at[i]; d < c->at[i + 1]; d++) {
				uint64_t on = c->on.v[d] >> 8;

				c->wanted += !query_is_member(c->q, on);
				query_member(c->q, on);
			}
			if (c->s->fn)
				c->enough = tell(c, s, x, i, k);
			c->enough |= c->wanted == 0;
		}
	}
}

/* Is an instance of segment k, before which there are r.count, in the slice? */
static int
has_members(const struct scan *c, size_t k)
{
	const struct qseg *g = &c->f->seg[k];

	for (size_t i = 0; i < g->ncount; i++) {
		uint64_t at = c->f->first[g->count[i].id - 1] + c->f->r.count[g->count[i].id - 1];

		if (query_store_any(c->q, at, at + g->count[i].n))
			return 1;
	}
	return 0;
}

static int
backward(struct scan *c)
{
	size_t first = qfull_find(c->q, c->s->n);

	for (size_t k = first + 1; k-- > 0 && !c->enough;) {
		if (k < first) {
			qfull_counts(c->q, k);
			if (!has_members(c, k))
				continue;
		}
		if (record(c, k, c->s->n) != 0)
			return -1;
		read_back(c, k, c->s->n);
	}
	return 0;
}

/* The dependences of statement i on members */
static void
edges(struct scan *c, uint32_t s, uint64_t me, uint64_t i)
{
	struct query_dep d = { .id = s + 1, .n = me + 1 };

	for (uint32_t k = c->at[i]; k < c->at[i + 1] && !c->enough; k++)
		if (query_is_member(c->q, c->on.v[k] >> 8)) {
			d.port = (uint32_t)(c->on.v[k] & 255);
			d.on = query_store_whose(c->q, c->f->first, c->on.v[k] >> 8);
			d.onn = (c->on.v[k] >> 8) + 1;
			c->enough = c->dep(c->arg, &d) != 0;
		}
}

/* A forward slice, or the dependences of one that is known */
static void
read_on(struct scan *c, size_t k)
{
	struct store_read *r = &c->f->r;
	int forward = c->s->how & QUERY_FORWARD;
	uint64_t i = 0, seg = c->f->seg[k].n, start = c->s->n;

	memcpy(r->count, c->before, r->code.nstmt * sizeof *c->before);
	for (size_t path = 0; i < c->n && !c->enough; path++) {
		const struct store_path *p = &r->code.path[r->path.v[path]];

		for (uint32_t j = 0; j < p->n && !c->enough; j++, i++) {
			uint32_t s = r->code.seq[p->first + j], x = r->count[s]++;
			uint64_t me = c->f->first[s] + x;

			if (c->dep) {
				if (query_is_member(c->q, me) && !(forward && seg + i + 1 == start))
					edges(c, s, me, i);
				continue;
			}
			if (seg + i + 1 < start)
				continue;
			if (seg + i + 1 > start) {
				uint32_t d = c->at[i];

				while (d < c->at[i + 1] && !query_is_member(c->q, c->on.v[d] >> 8))
					d++;
				if (d == c->at[i + 1])
					continue;
			}
			query_member(c->q, me);
			belongs(c, s);
			if (c->s->fn)
				c->enough = tell(c, s, x, i, k);
		}
	}
}

static int
forward(struct scan *c, size_t from, size_t to, uint64_t last)
{
	for (size_t k = from; k < to && !c->enough; k++) {
		if (c->dep) {
			qfull_counts(c->q, k);
			if (!has_members(c, k))
				continue;
		}
		if (record(c, k, last) != 0)
			return -1;
		read_on(c, k);
	}
	return 0;
}

static int
scan_init(struct scan *c, struct query *q, struct query_slice *s)
{
	*c = (struct scan){ .q = q, .f = q->store, .s = s };
	c->before = calloc(q->nstmt + 1, sizeof *c->before);
	return c->before ? 0 : query_nomem(q);
}

static void
scan_free(struct scan *c)
{
	col_free(&c->on);
	free(c->at);
	free(c->before);
}

int
qfull_slice(struct query *q, struct query_slice *s)
{
	struct qfull *f = q->store;
	struct scan c;
	int bad;

	if (query_store_members(q, q->length, &f->nbit) != 0)
		return -1;
	q->rsp = !!(s->how & QUERY_RSP);
	s->total = 0;
	bad = scan_init(&c, q, s) != 0;
	if (!bad)
		bad = (s->how & QUERY_FORWARD ? forward(&c, qfull_find(q, s->n), f->r.nsegment, UINT64_MAX) : backward(&c)) != 0;
	scan_free(&c);
	return bad ? -1 : 0;
}

int
qfull_deps(struct query *q, const struct query_slice *s, query_dep_fn *fn, void *arg)
{
	struct qfull *f = q->store;
	struct query_slice copy = *s;
	size_t at = qfull_find(q, s->n);
	struct scan c;
	int bad = scan_init(&c, q, &copy) != 0;

	c.dep = fn;
	c.arg = arg;
	if (!bad)
		bad = (s->how & QUERY_FORWARD ? forward(&c, at, f->r.nsegment, UINT64_MAX) : forward(&c, 0, at + 1, s->n)) != 0;
	scan_free(&c);
	return bad ? -1 : 0;
}
