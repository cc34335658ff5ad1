/* Runs out of .wet files of kinds full and loads. */
#include <stdlib.h>
#include <unistd.h>

#include "wet/file/full/reader.h"
#include "wet/run/ahead.h"
#include "wet/run/run.h"

#define KEEP (UINT64_C(512) << 20)      /* cache of values between queries, in bytes */
#define THREADS 4u                      /* that read dependences for a slice, at most */

struct full {
	struct run r;
	struct store_read in;
	uint32_t *id;                   /* in.code.seq as ids; owned */
	size_t at;                      /* the segment that `in` has decoded, plus 1; 0: none */
	unsigned have;                  /* its decoded fields: enum run_fields without RUN_DEPS */
	uint64_t word[8];               /* the value returned last */
	struct ahead *ahead;            /* for links; owned; NULL: not asked for yet */
};

static int
run_full_fail(struct full *t)
{
	t->r.fault = t->in.fault;
	return -1;
}

/* Dependences can only be read from the beginning of a segment, so with RUN_DEPS it is decoded again. */
static int
run_full_enter(struct run *r, size_t k, unsigned fields)
{
	struct full *t = (struct full *)r;
	unsigned what = STORE_PATHS;

	if (t->at == k + 1 && !(fields & ~t->have))
		return 0;
	t->at = 0;
	if (fields & RUN_DEPS)
		run_counts_before(r, k, t->in.count);
	what |= fields & RUN_DEPS ? STORE_DEPS : 0u;
	what |= fields & RUN_VALUES ? STORE_VALUES : 0u;
	what |= fields & RUN_REFS ? STORE_ADDRS : 0u;
	if (store_read_segment(&t->in, k, what) != 0)
		return run_full_fail(t);
	t->at = k + 1;
	t->have = fields & ~(unsigned)RUN_DEPS;
	r->npath = t->in.path.n;
	return 0;
}

static void
run_full_path(const struct run *r, size_t i, struct query_path *p)
{
	const struct full *t = (const struct full *)r;
	uint32_t n = (uint32_t)t->in.path.v[i];
	const struct store_path *s = &t->in.code.path[n];

	*p = (struct query_path){ .id = t->id + s->first, .n = s->n, .path = n, .from = 0, .to = s->n };
}

/* Kind loads executes instructions for values, in a process that can no longer start threads by then. */
static int
run_full_links(struct run *r, size_t k, uint64_t about, const struct links **l, const struct col **path)
{
	struct full *t = (struct full *)r;
	long n = t->in.load ? 1 : sysconf(_SC_NPROCESSORS_ONLN);

	if (!t->ahead)
		t->ahead = ahead_new(r, &t->in, n < 2 ? 1 : n < THREADS ? (unsigned)n : THREADS);
	if (!t->ahead)
		return -1;
	return ahead_get(t->ahead, k, about, l, path, &r->fault);
}

static int
run_full_deps(struct run *r, const uint8_t *only, uint64_t upto, store_use_fn *fn, void *arg)
{
	struct full *t = (struct full *)r;

	(void)only;
	for (size_t i = 0; i < t->in.path.n && t->in.done < upto; i++)
		if (store_read_deps(&t->in, i, NULL, fn, arg) != 0)
			return run_full_fail(t);
	return 0;
}

static void
run_full_value(struct full *t, struct query_insn *e, uint64_t x)
{
	const struct store_place *at = &t->in.place[e->id - 1];

	e->nval = t->in.code.stmt[e->id - 1].nval;
	for (unsigned j = 0; j < e->nval; j++)
		t->word[j] = t->in.vals.val.v[at->at + j * at->n + x];
	e->val = t->word;
}

static void
run_full_insn(struct run *r, struct query_insn *e, uint32_t x)
{
	struct full *t = (struct full *)r;

	run_full_value(t, e, x);
	e->ref = t->in.ref.v + store_refs(&t->in, e->n - r->seg[t->at - 1].n - 1, &e->nref);
}

/* Hands over instance x of the segment.  1: fn wants no more */
static int
run_full_emit(struct full *t, struct run_insns *a, uint64_t x)
{
	a->e.instance = a->before + x;
	if (a->fields & RUN_VALUES)
		run_full_value(t, &a->e, x);
	return a->fn(a->arg, &a->e) != 0;
}

/* References are stored in order of time, so the paths are walked to find those of a statement. */
static int
run_full_insns_with_refs(struct full *t, struct run_insns *a)
{
	const struct store_read *in = &t->in;
	uint64_t x = 0;
	size_t n = 0;

	for (size_t i = 0; i < in->path.n && x <= a->to; i++) {
		const struct store_path *p = &in->code.path[in->path.v[i]];

		for (uint32_t j = 0; j < p->n; j++, n++) {
			if (t->id[p->first + j] != a->e.id)
				continue;
			a->e.n = t->r.seg[t->at - 1].n + n + 1;
			a->e.ref = in->ref.v + store_refs(in, n, &a->e.nref);
			if (x >= a->from && x <= a->to && run_full_emit(t, a, x))
				return 1;
			x++;
		}
	}
	return 0;
}

static int
run_full_insns(struct run *r, size_t k, struct run_insns *a)
{
	struct full *t = (struct full *)r;

	if (a->fields == RUN_VALUES && !t->in.load && (t->at != k + 1 || !(t->have & RUN_VALUES))) {
		t->at = 0;
		if (store_read_values(&t->in, k, a->e.id - 1, a->from, a->to < a->n ? a->to + 1 : a->n) != 0)
			return run_full_fail(t);
	} else if (run_full_enter(r, k, a->fields) != 0)
		return -1;
	if (a->fields & RUN_REFS)
		return run_full_insns_with_refs(t, a);
	for (uint64_t x = a->from; x < a->n && x <= a->to; x++)
		if (run_full_emit(t, a, x))
			return 1;
	return 0;
}

static void
close_it(struct run *r)
{
	struct full *t = (struct full *)r;

	free(t->id);
	ahead_free(t->ahead);
	for (size_t k = 0; r->seg && k < r->nseg; k++)
		r->seg[k].count = NULL;         /* the reader's */
	store_read_close(&t->in);
}

/* The tables of executions of all segments are those of the reader. */
static void
run_full_segments(struct full *t)
{
	for (size_t k = 0; k < t->in.nsegment; k++) {
		struct run_segment *g = &t->r.seg[k];

		g->count = t->in.rank[k].v;
		g->ncount = t->in.rank[k].n;
		g[1].n = g->n;
		for (size_t i = 0; i < g->ncount; i++)
			g[1].n += g->count[i].n;
	}
}

static int
open_it(struct run *r)
{
	struct full *t = (struct full *)r;

	r->deps_in_time = 1;
	if (store_read_open(&t->in, &r->w) != 0)
		return run_full_fail(t);
	t->in.keep = KEEP;
	r->code = &t->in.code;
	r->seg = calloc(t->in.nsegment + 1, sizeof *r->seg);
	t->id = calloc(t->in.code.nseq + 1, sizeof *t->id);
	if (!r->seg || !t->id)
		return -1;
	r->nseg = t->in.nsegment;
	for (size_t i = 0; i < t->in.code.nseq; i++)
		t->id[i] = t->in.code.seq[i] + 1;
	run_full_segments(t);
	return 0;
}

struct run *
run_full_new(void)
{
	static const struct run_ops ops = { open_it, run_full_enter, run_full_path, run_full_deps,
		run_full_links, NULL, run_full_insn, run_full_insns, close_it };
	struct full *t = calloc(1, sizeof *t);

	if (t)
		t->r.ops = &ops;
	return t ? &t->r : NULL;
}
