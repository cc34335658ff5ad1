/*
 * Queries of a run (run.h), which is a .wet file of any kind except replay:
 * statements, control flow, positions, values.  run_slice.c has slices.
 */
#include <stdlib.h>

#include "wet/query/run_internal.h"

int
qrun_fail(struct query *q)
{
	query_fail_at(q, &q->run->fault);
	q->run->fault.err[0] = '\0';   /* the next one may have no message: no memory */
	return -1;
}

/* Fails if the file is cut off, because then the run is not known as a whole. */
static int
query_run_fail_truncated(struct query *q)
{
	return q->run->w.whole ? 0 : query_fail_at(q, &q->run->w.fault);
}

static int
query_run_survey(struct query *q, int slices)
{
	(void)slices;
	return query_run_fail_truncated(q);
}

static int
query_run_has_stmt(struct query *q, uint32_t id)
{
	return id && id <= q->nstmt ? 1 : query_run_fail_truncated(q);
}

static void
query_run_source(struct query *q, uint32_t id, const char **file, const char **func, int *line)
{
	run_names_find(&q->run->names, &q->run->code->stmt[id - 1], file, func, line);
}

/* Returns the segment of an instance and sets *instance to its number there; nseg: no such instance */
static size_t
query_run_find_segment(const struct run *r, uint32_t id, uint64_t *instance)
{
	for (size_t k = 0; k < r->nseg; k++) {
		uint32_t n = run_count(r, k, id);

		if (*instance < n)
			return k;
		*instance -= n;
	}
	return r->nseg;
}

static int
query_run_position(struct query *q, uint32_t id, uint64_t instance, uint64_t *n)
{
	struct run *r = q->run;
	struct query_path p;
	size_t k;

	if (id == 0 || id > q->nstmt || instance >= r->total[id - 1] ||
	    (k = query_run_find_segment(r, id, &instance)) == r->nseg)
		return 0;
	if (r->ops->enter(r, k, 0) != 0)
		return qrun_fail(q);
	*n = r->seg[k].n;
	for (size_t i = 0; i < r->npath; i++) {
		r->ops->path(r, i, &p);
		for (uint32_t j = p.from; j < p.to; j++) {
			++*n;
			if (p.id[j] == id && instance-- == 0)
				return 1;
		}
	}
	return query_fail(q, "the ranks are not those of the paths");
}

/* Hands over the control flow of segment k from position `from` on.  1: fn wants no more */
static int
query_run_forward(struct qflow *f, size_t k, uint64_t from)
{
	struct run *r = f->q->run;
	uint64_t n = r->seg[k].n;
	struct query_path p;

	if (r->ops->enter(r, k, 0) != 0)
		return qrun_fail(f->q);
	for (size_t i = 0; i < r->npath; i++) {
		r->ops->path(r, i, &p);
		n += p.to - p.from;
		if (n < from)
			continue;
		if (n - (p.to - p.from) + 1 < from)
			p.from = p.to - (uint32_t)(n - from + 1);
		if (query_emit_path(f, p, 0))
			return 1;
	}
	return 0;
}

static int
query_run_backward(struct qflow *f, size_t k, uint64_t from)
{
	struct run *r = f->q->run;
	uint64_t n = r->seg[k + 1].n;
	struct query_path p;

	if (r->ops->enter(r, k, 0) != 0)
		return qrun_fail(f->q);
	for (size_t i = r->npath; i-- > 0;) {
		r->ops->path(r, i, &p);
		n -= p.to - p.from;
		if (n >= from)
			continue;
		if (from - n < p.to - p.from)
			p.to = p.from + (uint32_t)(from - n);
		if (query_emit_path(f, p, 1))
			return 1;
	}
	return 0;
}

static int
query_run_flow(struct query *q, uint64_t from, uint64_t count, int back, query_path_fn *fn, void *arg)
{
	struct qflow f = { .q = q, .fn = fn, .arg = arg, .left = count };
	const struct run *r = q->run;
	int e = 0;

	if (r->no_order)
		return query_fail(q, "%s", r->no_order);
	if (from && count && from <= q->length) {
		size_t k = run_find_segment(r, from);

		if (back)
			for (k++; k-- > 0 && !e;)
				e = query_run_backward(&f, k, from);
		else
			for (; k < r->nseg && !e; k++)
				e = query_run_forward(&f, k, from);
	}
	if (e == 0 && !back && f.left)
		return query_run_fail_truncated(q);
	return e < 0 ? -1 : 0;
}

static int
query_run_insns(struct query *q, uint32_t id, uint64_t from, uint64_t to, unsigned fields, query_insn_fn *fn,
    void *arg)
{
	struct run *r = q->run;
	struct run_insns a = { .e = { .id = id }, .fields = fields, .fn = fn, .arg = arg };
	int e = 0;

	if (fields & QUERY_REFS && r->no_refs)
		return query_fail(q, "%s", r->no_refs);
	for (size_t k = 0; k < r->nseg && !e && a.before <= to; k++) {
		a.n = run_count(r, k, id);
		a.from = from > a.before ? from - a.before : 0;
		a.to = to - a.before;
		query_progress(r->seg[k].n, run_length(r));
		/* a text may have values of instances that its order does not have */
		if (a.from < a.n || r->deps_unordered)
			e = r->ops->insns(r, k, &a);
		a.before += a.n;
	}
	if (e < 0)
		return qrun_fail(q);
	return !e && a.before <= to ? query_run_fail_truncated(q) : 0;
}

struct first_only { query_insn_fn *fn; void *arg; int found; };

static int
query_run_first(void *arg, const struct query_insn *e)
{
	struct first_only *t = arg;

	t->found = 1;
	t->fn(t->arg, e);
	return 1;
}

static int
query_run_insn_at(struct query *q, uint32_t id, uint64_t instance, unsigned fields, query_insn_fn *fn,
    void *arg)
{
	struct first_only t = { fn, arg, 0 };

	return query_run_insns(q, id, instance, instance, fields, query_run_first, &t) != 0 ? -1 : t.found;
}

static void
qrun_close(struct query *q)
{
	qrun_slicer_free(q);
	run_close(q->run);
	q->names = NULL;                /* owned by the run */
}

static const struct query_ops ops = {
	.survey = query_run_survey, .has_stmt = query_run_has_stmt, .source = query_run_source,
	.position = query_run_position, .flow = query_run_flow, .insns = query_run_insns,
	.insn_at = query_run_insn_at, .slice = qrun_slice, .deps = qrun_deps, .close = qrun_close
};

int
query_open_run(struct query *q, struct wetfile *w)
{
	struct fault f;
	const struct store_stmt *c;

	if ((q->run = run_open(w, &f)) == NULL)
		return query_fail_at(q, &f);
	q->ops = &ops;
	q->nstmt = q->run->code->nstmt;
	q->names = q->run->stmt_name;
	q->length = q->run->no_order ? 0 : run_length(q->run);
	if ((q->stmt = calloc(q->nstmt + 1, sizeof *q->stmt)) == NULL) {
		q->run->w.section = NULL;       /* the caller keeps *w */
		return -1;
	}
	c = q->run->code->stmt;
	for (size_t s = 0; s < q->nstmt; s++)
		q->stmt[s] = (struct query_stmt){
			.pc = c[s].addr, .count = q->run->total[s], .port.nval = c[s].nval,
			.port.nuse = (uint16_t)c[s].nuse, .port.nmem = (uint16_t)c[s].nmem,
			.port.addrs = c[s].addrs, .port.role = c[s].role
		};
	return 0;
}
