/* Runs out of .wet files of kind text: one segment.  Values stay in memory once a slice has needed them. */
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "wet/print/print.h"
#include "wet/run/run.h"

struct step { uint32_t id, n; };
struct value { uint32_t x; size_t at; };

struct text {
	struct run r;
	/* statements, in order of the text until run_text_number; their nmem is all use ports */
	struct store_code code;
	uint32_t *at;                   /* ids of the statements in order of the text; owned */
	uint32_t *place;                /* the reverse: indices in order of the text, by id - 1; owned */
	uint32_t *count;                /* executions; owned */
	/* steps of the order; without an order, run_text_make_order makes them; owned */
	struct step *step;
	size_t nstep, capstep, capname, capcount;
	int ordered;                    /* the text has an order */
	uint32_t *id;                   /* 1, 2, ..., for run_text_path; owned */
	/*
	 * Values of a statement: nvals of them from val[firstval] on, sorted by instance.  The words
	 * of val[i] are word[val[i].at] to word[val[i + 1].at - 1].  All owned.
	 */
	size_t *firstval, *nvals;
	struct value *val;
	size_t nval, capval;
	struct col word;
	int loaded;                     /* the values are in memory */
	/* while the file is read */
	uint32_t s, p;                  /* statements so far, ports of the last one so far */
	store_use_fn *use;
	void *arg;
};

static int
run_text_fail(struct text *t, const struct fault *f)
{
	if (!t->r.fault.err[0])
		t->r.fault = *f;
	return -1;
}

/* Reads the file and calls fn with each event; fn sets the fault if it fails.  0, or -1 */
static int
run_text_events(struct text *t, store_event_fn *fn)
{
	struct fault f = { 0 };

	t->s = t->p = 0;
	t->r.fault.err[0] = '\0';
	return store_text_events(&t->r.w, fn, t, &f) != 0 ? run_text_fail(t, &f) : 0;
}

/* The id of the statement with this number in the text; 0: there is none */
static uint32_t
run_text_find_stmt(const struct run *r, uint64_t name)
{
	size_t i;

	LOWER_BOUND(i, r->code->nstmt, r->stmt_name[i] < name);
	return i < r->code->nstmt && r->stmt_name[i] == name ? (uint32_t)i + 1 : 0;
}

static int
run_text_block(struct text *t, const struct store_text_event *e)
{
	struct store_stmt s = { .addr = e->c, .line = e->d, .nmem = (uint32_t)e->b };
	size_t n = t->code.nstmt;

	if (n + 1 >= STORE_STMTS)
		return run_fail(&t->r, "too many statements");
	if (store_string(&t->code, e->file, &s.file) != 0 || store_string(&t->code, e->func, &s.func) != 0 ||
	    store_stmt(&t->code, &s, NULL) != 0 ||
	    buf_grow(&t->r.stmt_name, &t->capname, n + 1, sizeof *t->r.stmt_name) != 0 ||
	    buf_grow(&t->count, &t->capcount, n + 1, sizeof *t->count) != 0)
		return -1;
	t->r.stmt_name[n] = e->a;
	t->count[n] = 0;
	return 0;
}

struct named { uint64_t name; uint32_t place; };

static int
run_text_by_name(const void *a, const void *b)
{
	const struct named *p = a, *q = b;

	return p->name < q->name ? -1 : p->name > q->name;
}

/* Sorts statements by their numbers in the text, c, and makes at, place and id. */
static int
run_text_renumber(struct text *t, struct named *c, struct store_stmt *stmt, uint32_t *count)
{
	for (size_t i = 0; i < t->code.nstmt; i++) {
		t->id[i] = (uint32_t)i + 1;
		t->place[i] = c[i].place;
		t->at[c[i].place] = (uint32_t)i + 1;
		stmt[i] = t->code.stmt[c[i].place];
		count[i] = t->count[c[i].place];
		t->r.stmt_name[i] = c[i].name;
		if (i && c[i].name == c[i - 1].name)
			return run_fail(&t->r, "a statement for the second time");
	}
	memcpy(t->code.stmt, stmt, t->code.nstmt * sizeof *stmt);
	memcpy(t->count, count, t->code.nstmt * sizeof *count);
	return 0;
}

/* After the last statement of the text: gives ids to the statements. */
static int
run_text_number(struct text *t)
{
	size_t n = t->code.nstmt;
	struct named *c = calloc(n + 1, sizeof *c);
	struct store_stmt *stmt = calloc(n + 1, sizeof *stmt);
	uint32_t *count = calloc(n + 1, sizeof *count);
	int e = 0;

	t->id = calloc(n + 1, sizeof *t->id);
	t->at = calloc(n + 1, sizeof *t->at);
	t->place = calloc(n + 1, sizeof *t->place);
	if (!c || !stmt || !count || !t->id || !t->at || !t->place)
		e = -1;
	for (size_t i = 0; i < n && !e; i++)
		c[i] = (struct named){ t->r.stmt_name[i], (uint32_t)i };
	if (!e && n) {
		qsort(c, n, sizeof *c, run_text_by_name);
		e = run_text_renumber(t, c, stmt, count);
	}
	free(c);
	free(stmt);
	free(count);
	return e;
}

/* Adds a step: one execution of each of the n statements from id on. */
static int
run_text_add_step(struct text *t, uint32_t id, uint32_t n)
{
	if (buf_grow(&t->step, &t->capstep, t->nstep + 1, sizeof *t->step) != 0)
		return -1;
	t->step[t->nstep++] = (struct step){ id, n };
	return 0;
}

static int
run_text_step(struct text *t, const struct store_text_event *e)
{
	uint32_t id = run_text_find_stmt(&t->r, e->a);

	if (!id || e->b == 0 || e->b > t->code.nstmt - id + 1 ||
	    t->r.stmt_name[id + e->b - 2] != e->a + e->b - 1)
		return run_fail(&t->r, "the order has a statement that does not exist");
	for (uint64_t i = 0; i < e->b; i++)
		if (++t->count[id + i - 1] == UINT32_MAX)
			return run_fail(&t->r, "a statement is executed too often");
	return run_text_add_step(t, id, (uint32_t)e->b);
}

/* Instance x of a statement exists: it was executed at least x + 1 times. */
static int
run_text_count_instance(struct text *t, uint32_t *count, uint64_t x)
{
	if (x >= UINT32_MAX - 1)
		return run_fail(&t->r, "a statement is executed too often");
	if (*count <= x)
		*count = (uint32_t)x + 1;
	return 0;
}

static int
run_text_open_event(void *arg, const struct store_text_event *e)
{
	struct text *t = arg;
	size_t last = t->code.nstmt - 1;

	switch (e->kind) {
	case STORE_TEXT_BLOCK: return run_text_block(t, e);
	case STORE_TEXT_DEP: case STORE_TEXT_VALUE: return run_text_count_instance(t, &t->count[last], e->a);
	case STORE_TEXT_VALUES: t->code.stmt[last].nval = 1; return 0;
	case STORE_TEXT_ORDER:
		t->ordered = 1;
		memset(t->count, 0, t->code.nstmt * sizeof *t->count);
		return run_text_number(t);
	case STORE_TEXT_STEP: return run_text_step(t, e);
	default: return 0;
	}
}

/* Without an order: an instance that another one depends on was executed, too. */
static int
run_text_refer_event(void *arg, const struct store_text_event *e)
{
	struct text *t = arg;
	uint32_t id;

	if (e->kind != STORE_TEXT_DEP)
		return 0;
	if ((id = run_text_find_stmt(&t->r, e->b)) == 0)
		return run_fail(&t->r, "a dependence on a statement that does not exist");
	return run_text_count_instance(t, &t->count[id - 1], e->c);
}

/* Without an order, makes one for slices: instances 0 of all statements, then instances 1, and so on. */
static int
run_text_make_order(struct text *t)
{
	uint32_t nstmt = (uint32_t)t->code.nstmt, most = 0;

	for (size_t s = 0; s < nstmt; s++)
		most = t->count[s] > most ? t->count[s] : most;
	for (uint32_t x = 0; x < most; x++)
		for (uint32_t s = 0, n; s < nstmt; s += n ? n : 1) {
			for (n = 0; s + n < nstmt && t->count[s + n] > x; n++)
				;
			if (n && run_text_add_step(t, s + 1, n) != 0)
				return -1;
		}
	return 0;
}

static int
open_it(struct run *r)
{
	struct text *t = (struct text *)r;

	r->code = &t->code;
	r->deps_unordered = 1;
	r->no_refs = "a text does not tell addresses";
	r->no_rsp =
	    "a text does not tell which port is that of the stack pointer, to leave it out: ask with -r";
	if ((r->seg = calloc(2, sizeof *r->seg)) == NULL || run_text_events(t, run_text_open_event) != 0)
		return -1;
	if (!t->ordered) {
		r->no_order = "the text does not say in what order statements were executed";
		if (run_text_number(t) != 0 || run_text_events(t, run_text_refer_event) != 0 ||
		    run_text_make_order(t) != 0)
			return -1;
	}
	r->nseg = 1;
	return run_set_segment(r, 0, t->count);
}

static int
run_text_enter(struct run *r, size_t k, unsigned fields)
{
	(void)k;
	(void)fields;
	r->npath = ((struct text *)r)->nstep;
	return 0;
}

/* The path of each step is the list of all statements; the step executes a part of it. */
static void
run_text_path(const struct run *r, size_t i, struct query_path *p)
{
	const struct text *t = (const struct text *)r;
	uint32_t from = t->step[i].id - 1;

	*p = (struct query_path){
		.id = t->id, .n = (uint32_t)t->code.nstmt, .from = from, .to = from + t->step[i].n
	};
}

static int
run_text_add_dep(struct text *t, const struct store_text_event *e)
{
	uint32_t id = t->at[t->s - 1], on = run_text_find_stmt(&t->r, e->b);
	uint64_t inst = (uint64_t)on << 32 | (uint32_t)e->c;

	if (!on || e->c >= t->count[on - 1] || e->a >= t->count[id - 1])
		return run_fail(&t->r, "an instance that does not exist");
	return t->use(t->arg, id - 1, (uint32_t)e->a, t->p - 1, &inst, 1) != 0 ? -1 : 0;
}

static int
run_text_add_value(struct text *t, const struct store_text_event *e)
{
	uint32_t id = t->at[t->s - 1];

	if (e->a >= t->count[id - 1])
		return run_fail(&t->r, "an instance that does not exist");
	if (t->loaded)
		return 0;
	if (buf_grow(&t->val, &t->capval, t->nval + 2, sizeof *t->val) != 0)
		return -1;
	t->val[t->nval].x = (uint32_t)e->a;
	t->val[t->nval++].at = t->word.n;
	t->nvals[id - 1]++;
	for (unsigned i = 0; i < e->n; i++)
		col_add(&t->word, e->word[i]);
	t->val[t->nval].at = t->word.n;
	return t->word.nomem ? -1 : 0;
}

static int
run_text_deps_event(void *arg, const struct store_text_event *e)
{
	struct text *t = arg;

	switch (e->kind) {
	case STORE_TEXT_BLOCK:
		t->p = 0;
		if (!t->loaded)
			t->firstval[t->at[t->s] - 1] = t->nval;
		t->s++;
		return 0;
	case STORE_TEXT_SIZE: t->p++; return 0;
	case STORE_TEXT_DEP: return run_text_add_dep(t, e);
	case STORE_TEXT_VALUE: return run_text_add_value(t, e);
	default: return 0;
	}
}

/* The first call also keeps the values, which run_text_insn needs. */
static int
run_text_deps(struct run *r, const uint8_t *only, uint64_t upto, store_use_fn *fn, void *arg)
{
	struct text *t = (struct text *)r;

	(void)only;
	(void)upto;
	if (!t->loaded) {
		t->nval = t->word.n = 0;
		free(t->firstval);
		free(t->nvals);
		t->firstval = calloc(t->code.nstmt + 1, sizeof *t->firstval);
		t->nvals = calloc(t->code.nstmt + 1, sizeof *t->nvals);
		if (!t->firstval || !t->nvals)
			return -1;
	}
	t->use = fn;
	t->arg = arg;
	if (run_text_events(t, run_text_deps_event) != 0)
		return -1;
	t->loaded = 1;
	return 0;
}

static void
run_text_insn(struct run *r, struct query_insn *e, uint32_t x)
{
	const struct text *t = (const struct text *)r;
	size_t first = t->firstval[e->id - 1], n = t->nvals[e->id - 1], i;

	LOWER_BOUND(i, n, t->val[first + i].x < x);
	if (i < n && t->val[first + i].x == x) {
		const struct value *v = &t->val[first + i];

		e->val = t->word.v + v->at;
		e->nval = (uint32_t)(v[1].at - v->at);
	}
}

/* A request for values, answered while the file is read */
struct insns {
	struct run_insns *a;
	uint32_t s, at;                 /* statements so far; number of the wanted one in the text, from 1 */
	int enough;
};

static int
run_text_value_event(void *arg, const struct store_text_event *e)
{
	struct insns *v = arg;

	if (e->kind == STORE_TEXT_BLOCK)
		v->s++;
	if (v->s > v->at) {             /* the statement is complete */
		v->enough = 1;
		return 1;
	}
	if (e->kind != STORE_TEXT_VALUE || v->s != v->at || e->a < v->a->from || e->a > v->a->to)
		return 0;
	v->a->e.instance = e->a;
	v->a->e.val = e->word;
	v->a->e.nval = e->n;
	v->enough = v->a->fn(v->a->arg, &v->a->e) != 0;
	return v->enough;
}

static int
run_text_insns(struct run *r, size_t k, struct run_insns *a)
{
	struct text *t = (struct text *)r;
	struct fault f = { 0 };
	struct insns v = { .a = a, .at = t->place[a->e.id - 1] + 1 };

	(void)k;
	if (store_text_events(&r->w, run_text_value_event, &v, &f) == 0 || v.enough)
		return v.enough;
	r->fault = f;
	return -1;
}

static void
close_it(struct run *r)
{
	struct text *t = (struct text *)r;

	free(t->step);
	free(t->count);
	free(t->id);
	free(t->at);
	free(t->place);
	free(t->firstval);
	free(t->nvals);
	free(t->val);
	col_free(&t->word);
	store_code_free(&t->code);
}

struct run *
run_text_new(void)
{
	static const struct run_ops ops = { open_it, run_text_enter, run_text_path, run_text_deps, NULL, NULL,
		run_text_insn, run_text_insns, close_it };
	struct text *t = calloc(1, sizeof *t);

	if (t)
		t->r.ops = &ops;
	return t ? &t->r : NULL;
}
