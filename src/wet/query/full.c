/* Questions about .wet files of kind full: statements, segments and what is executed in them. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "wet/query/full_internal.h"

int
qfull_bad(struct query *q)
{
	const struct qfull *t = q->store;

	return query_store_bad(q, &t->r.fault);
}

static int
survey(struct query *q, int slices)
{
	const struct qfull *t = q->store;

	(void)slices;
	/* of a file that is cut off: nothing can be said of the run as a whole */
	return t->w.whole ? 0 : query_store_bad(q, &t->w.fault);
}

static int
know(struct query *q, uint32_t id)
{
	const struct qfull *t = q->store;

	if (id && id <= q->nstmt)
		return 1;
	return t->w.whole ? 0 : query_store_bad(q, &t->w.fault);
}

static void
source(struct query *q, uint32_t id, const char **file, const char **func, int *line)
{
	const struct qfull *t = q->store;

	qnames_find(&t->names, &t->r.code.stmt[id - 1], file, func, line);
}

static void
qfull_close(struct query *q)
{
	struct qfull *t = q->store;

	for (size_t k = 0; t->seg && k < t->r.nsegment; k++)
		free(t->seg[k].count);
	free(t->seg);
	free(t->id);
	free(t->first);
	qnames_free(&t->names);
	store_read_close(&t->r);
	query_store_close(q, &t->w, t->nbit);
	free(t);
}

size_t
qfull_find(const struct query *q, uint64_t n)
{
	const struct qfull *t = q->store;
	size_t lo = 0, hi = t->r.nsegment;

	while (hi - lo > 1) {
		size_t mid = (lo + hi) / 2;

		if (t->seg[mid].n < n)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

const struct qexec *
qfull_count(const struct qseg *g, uint32_t id)
{
	size_t lo = 0, hi = g->ncount;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (g->count[mid].id < id)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < g->ncount && g->count[lo].id == id ? &g->count[lo] : NULL;
}

void
qfull_counts(struct query *q, size_t k)
{
	struct qfull *t = q->store;

	memset(t->r.count, 0, (t->r.code.nstmt + 1) * sizeof *t->r.count);
	for (size_t i = 0; i < k; i++)
		for (const struct qexec *c = t->seg[i].count; c < t->seg[i].count + t->seg[i].ncount; c++)
			t->r.count[c->id - 1] += c->n;
}

int
qfull_segment(struct query *q, size_t k, unsigned want)
{
	struct qfull *t = q->store;

	if (t->at == k + 1 && !(want & ~t->have) && !(want & STORE_DEPS))
		return 0;
	t->at = 0;
	if (want & STORE_DEPS)
		qfull_counts(q, k);
	if (store_read_segment(&t->r, k, want) != 0)
		return qfull_bad(q);
	t->at = k + 1;
	t->have = want & ~(unsigned)STORE_DEPS;
	return 0;
}

/* What is executed in each segment */
static int
segments(struct query *q)
{
	struct qfull *t = q->store;
	struct store_read *r = &t->r;

	if ((t->seg = calloc(r->nsegment + 1, sizeof *t->seg)) == NULL)
		return query_nomem(q);
	for (size_t k = 0; k < r->nsegment; k++) {
		struct qseg *g = &t->seg[k];
		size_t n = 0;

		if (store_read_rank(r, k) != 0)
			return qfull_bad(q);
		for (size_t s = 0; s < r->code.nstmt; s++)
			n += r->place[s].n != 0;
		if ((g->count = malloc((n + 1) * sizeof *g->count)) == NULL)
			return query_nomem(q);
		g->n = q->length;
		for (size_t s = 0; s < r->code.nstmt; s++)
			if (r->place[s].n) {
				g->count[g->ncount++] = (struct qexec){ (uint32_t)s + 1, (uint32_t)r->place[s].n };
				q->length += r->place[s].n;
			}
	}
	return 0;
}

static int
tables(struct query *q)
{
	struct qfull *t = q->store;
	const struct store_code *c = &t->r.code;
	uint64_t n = 0;

	q->stmt = calloc(c->nstmt + 1, sizeof *q->stmt);
	t->first = calloc(c->nstmt + 1, sizeof *t->first);
	t->id = calloc(c->nseq + 1, sizeof *t->id);
	if (!q->stmt || !t->first || !t->id || qnames_make(&t->names, c) != 0)
		return query_nomem(q);
	query_store_stmts(q, c, t->id);
	for (size_t s = 0; s < c->nstmt; s++) {
		q->stmt[s].count = t->r.total[s];
		t->first[s] = n;
		n += t->r.total[s];
	}
	t->first[c->nstmt] = n;
	return 0;
}

static const struct query_ops ops = {
	survey, know, source, qfull_position, qfull_flow, qfull_insns, query_store_insn_at, qfull_slice, qfull_deps, qfull_close
};

int
query_full_open(struct query *q, struct wetfile *w)
{
	struct qfull *t = calloc(1, sizeof *t);

	if (!t)
		return query_nomem(q);
	q->store = t;
	q->ops = &ops;
	if (store_read_open(&t->r, w) != 0)
		return qfull_bad(q);
	if (tables(q) != 0 || segments(q) != 0)
		return -1;
	t->w = *w;
	t->r.file = &t->w;
	t->r.keep = QKEEP;
	return 0;
}
