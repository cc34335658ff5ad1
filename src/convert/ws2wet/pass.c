/* ws2wet: the first passes: code, region, counts. */
#include <stdlib.h>

#include "base/diag.h"
#include "base/mem.h"
#include "base/progress.h"
#include "convert/ws2wet/ws2wet.h"
#include "replay/guest/code_reader.h"
#include "replay/itrace/code_finder.h"

_Noreturn void
job_nomem(void)
{
	die("no memory");
}

_Noreturn void
job_bad(struct job *j, const struct fault *f)
{
	if (j->out)
		out_discard(j->out);
	die_fault(j->name, f);
}

struct visit *
job_visit(struct job *j, unsigned what)
{
	struct fault f;
	struct visit *v = visit_open(j->path, what, &f);

	if (!v)
		job_bad(j, &f);
	return v;
}

void
job_code(struct job *j)
{
	struct visit *v = job_visit(j, VISIT_CONTROL);
	struct wcode_replay m = { .r = visit_replay(v) };
	struct wcode_visit *t = wcode_visit_new(&j->code);
	int got;

	progress_stage("finding code");
	wcode_init(&j->code, wcode_read_replay, &m);
	if (!t || (got = wcode_visit_all(t, v, &m)) == -2)
		job_nomem();
	if (got == REPLAY_BAD) {        /* the text covers the run up to the fault */
		j->bad = 1;
		j->fault = *replay_fault(visit_replay(v));
	} else if (replay_early(visit_replay(v)))
		j->early = *replay_early(visit_replay(v));
	if (wcode_analyse(&j->code) != 0)
		job_nomem();
	wcode_visit_free(t);
	visit_close(v);
}

struct count {
	struct job *j;
	uint64_t *block;                /* executions of each block, by number; owned */
	size_t n, cap;
	struct control *control;        /* for option -s: */
	uint64_t pc;                    /* address of the function; 0: not known yet */
	size_t depth;                   /* depth of calls when it is entered */
	uint64_t last;                  /* the last instance */
};

static void
ws2wet_mapped(void *arg, const struct ws_rec_map *m)
{
	struct count *c = arg;

	if (wsource_map(c->j->source, m) != 0)
		job_nomem();
	if (c->j->symbol && !c->pc)
		c->pc = wsource_symbol(c->j->source, m, c->j->symbol);
}

/* Handles instructions [lo, hi) of a run, which are in the region. */
static void
ws2wet_count(struct count *c, const struct visit_run *run, uint32_t lo, uint32_t hi)
{
	struct visit_run r = *run;
	const struct stmt_block *b;

	r.at += lo;
	r.ninsn = hi - lo;
	if ((b = stmts_block(&c->j->stmts, &r)) == NULL)
		job_nomem();
	if (b->num == c->n) {           /* blocks come in the order of their numbers */
		c->block = mem_xgrow(c->block, &c->cap, ++c->n, sizeof *c->block);
		c->block[b->num] = 0;
	}
	c->block[b->num]++;
}

static int
in_main(void *arg, uint64_t pc)
{
	return wsource_in_main(((struct job *)arg)->source, pc);
}

/* Computes executions of statements from those of blocks, and assigns ids. */
static void
ws2wet_statements(struct job *j, const uint64_t *block)
{
	struct stmts *t = &j->stmts;

	j->count = xcalloc(t->n + 1, sizeof *j->count);
	j->byid = xcalloc((size_t)t->nid + 1, sizeof *j->byid);
	for (size_t i = 0; i < t->nblock; i++)
		for (uint32_t k = 0; k < t->block[i].n; k++)
			j->count[t->block[i].stmt[k]] += block[t->block[i].num];
	for (uint32_t s = 0; s < t->n; s++)
		if (t->stmt[s].id)
			j->byid[t->stmt[s].id - 1] = s;
	if (stmts_atoms(t) != 0)
		job_nomem();
}

/* -s: the region begins with the first call of the function, and ends with its return. */
static void
ws2wet_seek(struct count *c, const struct visit_run *r, const struct visit_batch *b)
{
	struct job *j = c->j;

	if (j->to == WS_UNKNOWN && j->from != WS_UNKNOWN && control_depth(c->control) < c->depth)
		j->to = r->n - 1;
	for (uint32_t i = 0; j->from == WS_UNKNOWN && c->pc && i < r->ninsn; i++)
		if (r->at[i].fact->pc == c->pc && r->at->fact->kind != FACT_SIGNAL) {
			j->from = r->n + i - 1;
			c->depth = control_depth(c->control);
		}
	if (control_run(c->control, r->at, r->ninsn, r->n, b->word + r->word, NULL) != 0)
		job_nomem();
}

static void
count_run(struct count *c, const struct visit_run *r, const struct visit_batch *b)
{
	const struct job *j = c->j;
	uint64_t end = r->n + r->ninsn;         /* the instance after the run */

	if (c->control)
		ws2wet_seek(c, r, b);
	if (r->at->fact->kind == FACT_SIGNAL || r->n <= c->last) {      /* a string instruction continues */
		c->last = end - 1;
		return;
	}
	c->last = end - 1;
	if (j->from != WS_UNKNOWN && end - 1 > j->from && r->n <= j->to)
		ws2wet_count(c, r, r->n > j->from ? 0 : (uint32_t)(j->from + 1 - r->n),
		    end - 1 <= j->to ? r->ninsn : (uint32_t)(j->to + 1 - r->n));
}

void
job_count(struct job *j)
{
	struct count c = { .j = j };
	struct visit *v = job_visit(j, VISIT_WHAT);
	struct visit_batch b;
	int got;

	progress_stage("counting");
	if (j->main_only) {
		j->stmts.in = in_main;
		j->stmts.arg = j;
	}
	if (j->symbol) {
		j->from = WS_UNKNOWN;
		if ((c.control = control_new(&j->code)) == NULL)
			job_nomem();
	}
	replay_set_map_fn(visit_replay(v), ws2wet_mapped, &c);
	while ((got = visit_batch(v, &b)) == REPLAY_OK && (c.last < j->to || c.control))
		for (size_t i = 0; i < b.nrun; i++)
			count_run(&c, &b.run[i], &b);
	if (got == REPLAY_BAD && !j->bad)
		job_bad(j, replay_fault(visit_replay(v)));
	if (j->symbol && j->from == WS_UNKNOWN) {
		if (j->bad)     /* it may be called after what is there */
			job_bad(j, &j->fault);
		out_discard(j->out);
		if (!c.pc)
			die("%s: no function %s in the files that the program mapped", j->name, j->symbol);
		die("%s: %s is never called", j->name, j->symbol);
	}
	if (j->to > c.last)
		j->to = c.last;
	ws2wet_statements(j, c.block);
	stmts_forget(&j->stmts);
	control_free(c.control);
	visit_close(v);
	free(c.block);
}
