/* Questions about .wet files of kind paper: statements, control flow, values.  Paths and times are in memory, values are decoded where they are asked for. */
#include <stdlib.h>

#include "wet/query/paper_internal.h"

int
qpaper_bad(struct query *q)
{
	const struct qpaper *t = q->store;

	return query_store_bad(q, &t->r.fault);
}

static int
cut(struct query *q)
{
	const struct qpaper *t = q->store;

	return t->w.whole ? 0 : query_store_bad(q, &t->w.fault);
}

static int
survey(struct query *q, int slices)
{
	(void)slices;
	return cut(q);
}

static int
know(struct query *q, uint32_t id)
{
	return id && id <= q->nstmt ? 1 : cut(q);
}

static void
source(struct query *q, uint32_t id, const char **file, const char **func, int *line)
{
	const struct qpaper *t = q->store;

	qnames_find(&t->names, &t->r.code.stmt[id - 1], file, func, line);
}

uint64_t
qpaper_before(const struct qpaper *t, uint64_t time)
{
	uint64_t n = t->before[time / QPAPER_STEP];

	for (uint64_t i = time - time % QPAPER_STEP; i < time; i++)
		n += t->r.code.path[t->r.seq[i]].n;
	return n;
}

uint64_t
qpaper_time(const struct query *q, uint64_t n, uint64_t *before)
{
	const struct qpaper *t = q->store;
	uint64_t lo = 0, hi = t->r.ntime / QPAPER_STEP + 1;

	while (hi - lo > 1) {
		uint64_t mid = (lo + hi) / 2;

		if (t->before[mid] < n)
			lo = mid;
		else
			hi = mid;
	}
	*before = t->before[lo];
	for (lo *= QPAPER_STEP; *before + t->r.code.path[t->r.seq[lo]].n < n; lo++)
		*before += t->r.code.path[t->r.seq[lo]].n;
	return lo;
}

size_t
qpaper_segment(const struct qpaper *t, uint64_t time)
{
	size_t k = 0;

	while (k + 1 < t->r.nsegment && t->time[k + 1] <= time)
		k++;
	return k;
}

/* Of n ascending numbers, how many are less than x */
static uint32_t
below(const uint32_t *v, uint32_t n, uint64_t x)
{
	uint32_t lo = 0;

	while (lo < n) {
		uint32_t mid = lo + (n - lo) / 2;

		if (v[mid] < x)
			lo = mid + 1;
		else
			n = mid;
	}
	return lo;
}

uint32_t
qpaper_runs(const struct qpaper *t, uint32_t path, uint64_t time)
{
	return below(paper_times(&t->r, path), t->r.total[path], time);
}

void
qpaper_range(const struct qpaper *t, uint32_t s, size_t k, uint32_t *before, uint32_t *n)
{
	*before = *n = 0;
	for (const struct qplace *p = t->place + t->firstplace[s]; p < t->place + t->firstplace[s + 1]; p++) {
		uint32_t a = qpaper_runs(t, p->path, t->time[k]);

		*before += a;
		*n += qpaper_runs(t, p->path, t->time[k + 1]) - a;
	}
}

static int
position(struct query *q, uint32_t id, uint64_t instance, uint64_t *n)
{
	const struct qpaper *t = q->store;

	if (id == 0 || id > q->nstmt)
		return 0;
	for (const struct qplace *p = t->place + t->firstplace[id - 1]; p < t->place + t->firstplace[id]; p++) {
		const uint32_t *x = paper_instances(&t->r, p->path, p->k);
		uint32_t i = below(x, t->r.total[p->path], instance);

		if (i < t->r.total[p->path] && x[i] == instance) {
			*n = qpaper_before(t, paper_times(&t->r, p->path)[i]) + p->k + 1;
			return 1;
		}
	}
	return 0;
}

static int
flow(struct query *q, uint64_t from, uint64_t count, int back, query_path_fn *fn, void *arg)
{
	const struct qpaper *t = q->store;
	struct qflow f = { .q = q, .fn = fn, .arg = arg, .left = count };
	uint64_t begin, n, at;
	int e = 0;

	if (from && count && from <= q->length) {
		begin = at = qpaper_time(q, from, &n);
		for (; at < t->r.ntime && !e; at += back ? UINT64_MAX : 1) {
			uint32_t path = t->r.seq[at];
			const struct store_path *s = &t->r.code.path[path];
			struct query_path p = { .id = t->id + s->first, .n = s->n, .path = path, .to = s->n };

			if (at == begin && back)
				p.to = (uint32_t)(from - n);
			if (at == begin && !back)
				p.from = (uint32_t)(from - n - 1);
			e = query_give(&f, p, back);
		}
	}
	return !e && !back && f.left ? cut(q) : 0;
}

/* Values of a statement in a segment: of instance before + x, words from x times nval */
struct values { uint64_t *word; uint32_t before, n; unsigned nval; };

static int
value(void *arg, uint32_t s, unsigned j, const uint32_t *x, const uint64_t *word, size_t n)
{
	struct values *v = arg;

	(void)s;
	for (size_t i = 0; i < n; i++)
		v->word[(uint64_t)(x[i] - v->before) * v->nval + j] = word[i];
	return 0;
}

/* Instances [from, to) of those of the segment: 1: enough */
static int
segment(struct query *q, struct values *v, size_t k, struct query_insn *e, uint64_t from, uint64_t to, query_insn_fn *fn, void *arg)
{
	struct qpaper *t = q->store;
	uint8_t *only = NULL;
	int bad = 0;

	if (v->nval) {
		only = calloc(t->r.code.nstmt + 1, 1);
		v->word = calloc((size_t)v->n * v->nval + 1, sizeof *v->word);
		if (!only || !v->word)
			bad = query_nomem(q);
		else {
			only[e->id - 1] = 1;
			bad = paper_read_values(&t->r, k, only, value, v) != 0 ? qpaper_bad(q) : 0;
		}
	}
	for (uint64_t x = from; x < to && !bad; x++) {
		e->instance = v->before + x;
		e->val = v->word + x * v->nval;
		e->nval = v->nval;
		bad = fn(arg, e) != 0;
	}
	free(only);
	free(v->word);
	v->word = NULL;
	return bad;
}

static int
insns(struct query *q, uint32_t id, uint64_t from, uint64_t to, unsigned want, query_insn_fn *fn, void *arg)
{
	const struct qpaper *t = q->store;
	struct query_insn e = { .id = id };
	uint64_t before = 0;
	int r = 0;

	if (want & QUERY_REFS)
		return query_bad(q, "a file of kind paper does not tell addresses");
	for (size_t k = 0; k < t->r.nsegment && !r && before <= to; k++) {
		struct values v = { .nval = want & QUERY_VALUES ? t->r.code.stmt[id - 1].nval : 0 };
		uint64_t a, b;

		qpaper_range(t, id - 1, k, &v.before, &v.n);
		a = from > before ? from - before : 0;
		b = to - before < v.n ? to - before + 1 : v.n;
		if (a < b)
			r = segment(q, &v, k, &e, a, b, fn, arg);
		before += v.n;
	}
	return r < 0 || (!r && before <= to && cut(q) != 0) ? -1 : 0;
}

static const struct query_ops ops;

static void
qpaper_close(struct query *q)
{
	struct qpaper *t = q->store;

	free(t->id);
	free(t->first);
	free(t->before);
	free(t->time);
	free(t->place);
	free(t->firstplace);
	qnames_free(&t->names);
	paper_read_close(&t->r);
	query_store_close(q, &t->w, t->nbit);
	free(t);
}

/* Where statements are */
static void
places(struct qpaper *t)
{
	const struct store_code *c = &t->r.code;
	uint32_t n = 0;

	for (size_t i = 0; i < c->nseq; i++)
		t->firstplace[c->seq[i]]++;
	for (size_t s = 0; s <= c->nstmt; s++)
		t->firstplace[s] = n += t->firstplace[s];
	for (size_t p = c->npath; p-- > 0;)
		for (uint32_t k = c->path[p].n; k-- > 0;)
			t->place[--t->firstplace[c->seq[c->path[p].first + k]]] = (struct qplace){ (uint32_t)p, k };
}

static int
tables(struct query *q)
{
	struct qpaper *t = q->store;
	const struct paper_read *r = &t->r;
	const struct store_code *c = &r->code;
	uint64_t n = 0;

	q->stmt = calloc(c->nstmt + 1, sizeof *q->stmt);
	t->first = calloc(c->nstmt + 1, sizeof *t->first);
	t->id = calloc(c->nseq + 1, sizeof *t->id);
	t->place = calloc(c->nseq + 1, sizeof *t->place);
	t->firstplace = calloc(c->nstmt + 1, sizeof *t->firstplace);
	t->before = calloc(r->ntime / QPAPER_STEP + 2, sizeof *t->before);
	t->time = calloc(r->nsegment + 1, sizeof *t->time);
	if (!q->stmt || !t->first || !t->id || !t->place || !t->firstplace || !t->before || !t->time || qnames_make(&t->names, c) != 0)
		return query_nomem(q);
	query_store_stmts(q, c, t->id);
	for (size_t s = 0; s < c->nstmt; s++) {
		q->stmt[s].count = paper_count(r, (uint32_t)s);
		t->first[s] = n;
		n += q->stmt[s].count;
	}
	t->first[c->nstmt] = n;
	places(t);
	for (uint64_t i = 0; i < r->ntime; i++) {
		if (i % QPAPER_STEP == 0)
			t->before[i / QPAPER_STEP] = q->length;
		q->length += c->path[r->seq[i]].n;
	}
	if (r->ntime % QPAPER_STEP == 0)
		t->before[r->ntime / QPAPER_STEP] = q->length;
	for (size_t k = 0; k < r->nsegment; k++) {
		t->time[k + 1] = t->time[k];
		for (size_t i = r->first[k]; i < r->first[k + 1]; i++)
			t->time[k + 1] += r->node[i].n;
	}
	return 0;
}

int
query_paper_open(struct query *q, struct wetfile *w)
{
	struct qpaper *t = calloc(1, sizeof *t);

	if (!t)
		return query_nomem(q);
	q->store = t;
	q->ops = &ops;
	if (paper_read_open(&t->r, w) != 0)
		return qpaper_bad(q);
	if (tables(q) != 0)
		return -1;
	t->w = *w;
	t->r.file = &t->w;
	return 0;
}

static const struct query_ops ops = { survey, know, source, position, flow, insns, query_store_insn_at, qpaper_slice, qpaper_deps, qpaper_close };
