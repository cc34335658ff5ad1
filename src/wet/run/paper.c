/*
 * Runs out of .wet files of kind paper.  Paths and times are in memory, values
 * and edges are decoded when they are asked for.
 */
#include <stdlib.h>
#include <string.h>

#include "wet/file/paper/reader.h"
#include "wet/run/run.h"

struct paper {
	struct run r;
	struct paper_read in;
	uint32_t *id;                   /* in.code.seq as ids; owned */
	/* segment k has the paths executed at times [time[k], time[k + 1]); owned */
	uint64_t *time;
	size_t k;                       /* the segment that was entered */
	/* for each statement: index of its first value in `word`, plus 1; 0: not decoded; both owned */
	uint64_t *val, *word;
	uint64_t *before;               /* executions of statements before the segment of `word`; owned */
};

static int
run_paper_fail(struct paper *t)
{
	t->r.fault = t->in.fault;
	return -1;
}

static int
run_paper_enter(struct run *r, size_t k, unsigned fields)
{
	struct paper *t = (struct paper *)r;

	(void)fields;
	memset(t->val, 0, t->in.code.nstmt * sizeof *t->val);
	t->k = k;
	r->npath = (size_t)(t->time[k + 1] - t->time[k]);
	return 0;
}

static void
run_paper_path(const struct run *r, size_t i, struct query_path *p)
{
	const struct paper *t = (const struct paper *)r;
	uint32_t n = t->in.seq[t->time[t->k] + i];
	const struct store_path *s = &t->in.code.path[n];

	*p = (struct query_path){ .id = t->id + s->first, .n = s->n, .path = n, .from = 0, .to = s->n };
}

static int
run_paper_deps(struct run *r, const uint8_t *only, uint64_t upto, store_use_fn *fn, void *arg)
{
	struct paper *t = (struct paper *)r;

	(void)upto;
	return paper_read_edges(&t->in, t->k, only, fn, arg) != 0 ? run_paper_fail(t) : 0;
}

static int
run_paper_value(void *arg, uint32_t s, unsigned j, const uint32_t *x, const uint64_t *word, size_t n)
{
	struct paper *t = arg;
	uint64_t *to = t->word + t->val[s] - 1 + j;

	for (size_t i = 0; i < n; i++)
		to[(x[i] - t->before[s]) * t->in.code.stmt[s].nval] = word[i];
	return 0;
}

/* Sets `before` to the executions of all statements before segment k. */
static void
run_paper_counts(struct paper *t, size_t k)
{
	memset(t->before, 0, t->in.code.nstmt * sizeof *t->before);
	for (size_t i = 0; i < k; i++)
		for (size_t j = 0; j < t->r.seg[i].ncount; j++)
			t->before[t->r.seg[i].count[j].id - 1] += t->r.seg[i].count[j].n;
}

/* Decodes the values that the statements of `only` have in segment k. */
static int
run_paper_read_values(struct paper *t, size_t k, const uint8_t *only)
{
	const struct run_segment *g = &t->r.seg[k];
	uint64_t n = 0;

	run_paper_counts(t, k);
	memset(t->val, 0, t->in.code.nstmt * sizeof *t->val);
	for (size_t i = 0; i < g->ncount; i++) {
		uint32_t s = g->count[i].id - 1;

		if (only[s] && t->in.code.stmt[s].nval) {
			t->val[s] = n + 1;
			n += (uint64_t)g->count[i].n * t->in.code.stmt[s].nval;
		}
	}
	free(t->word);
	if ((t->word = calloc(n + 1, sizeof *t->word)) == NULL)
		return -1;
	if (!n)
		return 0;
	return paper_read_values(&t->in, k, only, run_paper_value, t) != 0 ? run_paper_fail(t) : 0;
}

static int
run_paper_values(struct run *r, const uint8_t *only)
{
	return run_paper_read_values((struct paper *)r, ((struct paper *)r)->k, only);
}

static void
run_paper_insn(struct run *r, struct query_insn *e, uint32_t x)
{
	struct paper *t = (struct paper *)r;

	if (t->val[e->id - 1]) {
		e->nval = t->in.code.stmt[e->id - 1].nval;
		e->val = t->word + t->val[e->id - 1] - 1 + (uint64_t)x * e->nval;
	}
}

static int
run_paper_insns(struct run *r, size_t k, struct run_insns *a)
{
	struct paper *t = (struct paper *)r;
	uint8_t *only = calloc(t->in.code.nstmt + 1, 1);
	int e = only ? 0 : -1;

	if (!e && a->fields & RUN_VALUES) {
		only[a->e.id - 1] = 1;
		e = run_paper_read_values(t, k, only);
	}
	for (uint64_t x = a->from; x < a->n && x <= a->to && !e; x++) {
		a->e.instance = a->before + x;
		if (a->fields & RUN_VALUES)
			run_paper_insn(r, &a->e, (uint32_t)x);
		e = a->fn(a->arg, &a->e) != 0;
	}
	free(only);
	free(t->word);
	t->word = NULL;
	memset(t->val, 0, t->in.code.nstmt * sizeof *t->val);
	return e;
}

static void
close_it(struct run *r)
{
	struct paper *t = (struct paper *)r;

	free(t->id);
	free(t->time);
	free(t->val);
	free(t->word);
	free(t->before);
	paper_read_close(&t->in);
}

/* Makes the table of executions and the times of segment k.  n: space for a number a statement */
static int
run_paper_segment(struct paper *t, size_t k, uint32_t *n)
{
	const struct paper_read *in = &t->in;

	memset(n, 0, in->code.nstmt * sizeof *n);
	t->time[k + 1] = t->time[k];
	for (size_t i = in->first[k]; i < in->first[k + 1]; i++) {
		const struct store_path *p = &in->code.path[in->node[i].path];

		t->time[k + 1] += in->node[i].n;
		for (uint32_t j = 0; j < p->n; j++)
			n[in->code.seq[p->first + j]] += in->node[i].n;
	}
	return run_set_segment(&t->r, k, n);
}

static int
open_it(struct run *r)
{
	struct paper *t = (struct paper *)r;
	const struct store_code *c = &t->in.code;
	uint32_t *n;
	int e = 0;

	r->no_refs = "a file of kind paper does not tell addresses";
	r->deps_by_stmt = 1;
	if (paper_read_open(&t->in, &r->w) != 0)
		return run_paper_fail(t);
	r->code = c;
	r->seg = calloc(t->in.nsegment + 1, sizeof *r->seg);
	t->id = calloc(c->nseq + 1, sizeof *t->id);
	t->time = calloc(t->in.nsegment + 1, sizeof *t->time);
	t->val = calloc(c->nstmt + 1, sizeof *t->val);
	t->before = calloc(c->nstmt + 1, sizeof *t->before);
	n = calloc(c->nstmt + 1, sizeof *n);
	if (!r->seg || !t->id || !t->time || !t->val || !t->before || !n)
		e = -1;
	else
		r->nseg = t->in.nsegment;
	for (size_t i = 0; i < c->nseq && !e; i++)
		t->id[i] = c->seq[i] + 1;
	for (size_t k = 0; k < t->in.nsegment && !e; k++)
		e = run_paper_segment(t, k, n);
	free(n);
	return e;
}

struct run *
run_paper_new(void)
{
	static const struct run_ops ops = { open_it, run_paper_enter, run_paper_path, run_paper_deps,
		NULL, run_paper_values, run_paper_insn, run_paper_insns, close_it };
	struct paper *t = calloc(1, sizeof *t);

	if (t)
		t->r.ops = &ops;
	return t ? &t->r : NULL;
}
