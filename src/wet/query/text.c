/* Questions about .wet files of kind text: statements, control flow, values. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "wet/print/print.h"
#include "wet/query/text_internal.h"

static int
fault(struct query *q, const struct fault *f)
{
	return q->fault.err[0] ? -1 : query_store_bad(q, f);
}

static int
block(struct qtext *t, const struct store_text_event *e)
{
	struct store_stmt s = { .addr = e->c, .line = e->d, .nmem = (uint32_t)e->b };
	struct query *q = t->q;

	if (t->code.nstmt + 1 >= STORE_STMTS)
		return query_bad(q, "too many statements");
	if (store_string(&t->code, e->file, &s.file) != 0 || store_string(&t->code, e->func, &s.func) != 0 ||
	    store_stmt(&t->code, &s, NULL) != 0 || buf_grow(&q->named, &t->capnamed, q->nstmt + 1, sizeof *q->named) != 0 ||
	    buf_grow(&q->stmt, &q->capstmt, q->nstmt + 1, sizeof *q->stmt) != 0)
		return query_nomem(q);
	q->named[q->nstmt] = e->a;
	q->stmt[q->nstmt++] = (struct query_stmt){ .pc = e->c };
	return 0;
}

struct called { uint64_t name; uint32_t place; };

static int
by_name(const void *a, const void *b)
{
	const struct called *p = a, *q = b;

	return p->name < q->name ? -1 : p->name > q->name;
}

/* All blocks have come: statements get their ids */
static int
number(struct qtext *t)
{
	struct query *q = t->q;
	struct called *c = calloc(q->nstmt + 1, sizeof *c);
	struct query_stmt *stmt = calloc(q->nstmt + 1, sizeof *stmt);
	int bad;

	t->place = calloc(q->nstmt + 1, sizeof *t->place);
	t->id = calloc(q->nstmt + 1, sizeof *t->id);
	t->at = calloc(q->nstmt + 1, sizeof *t->at);
	bad = !c || !stmt || !t->place || !t->id || !t->at;
	for (size_t i = 0; !bad && i < q->nstmt; i++)
		c[i] = (struct called){ q->named[i], (uint32_t)i };
	if (!bad && q->nstmt)
		qsort(c, q->nstmt, sizeof *c, by_name);
	for (size_t i = 0; !bad && i < q->nstmt; i++) {
		t->id[i] = (uint32_t)i + 1;
		t->place[i] = c[i].place;
		t->at[c[i].place] = (uint32_t)i + 1;
		stmt[i] = q->stmt[c[i].place];
		q->named[i] = c[i].name;
		bad = i && c[i].name == c[i - 1].name;
	}
	free(c);
	if (bad || !stmt) {
		free(stmt);
		return t->place && t->id && t->at && stmt ? query_bad(q, "a statement for the second time") : query_nomem(q);
	}
	free(q->stmt);
	q->stmt = stmt;
	return 0;
}

/* Executions of n statements from id on */
static int
add_step(struct qtext *t, uint32_t id, uint32_t n)
{
	if (buf_grow(&t->step, &t->capstep, t->nstep + 1, sizeof *t->step) != 0)
		return query_nomem(t->q);
	t->step[t->nstep++] = (struct qstep){ id, n };
	return 0;
}

static int
step(struct qtext *t, const struct store_text_event *e)
{
	struct query *q = t->q;
	uint32_t id = query_named(q, e->a);

	if (!id || e->b == 0 || e->b > q->nstmt - id + 1 || query_name(q, (uint32_t)(id + e->b - 1)) != e->a + e->b - 1)
		return query_bad(q, "the order has a statement that there is not");
	for (uint64_t i = 0; i < e->b; i++)
		if (++q->stmt[id + i - 1].count >= UINT32_MAX)
			return query_bad(q, "a statement is executed too often");
	return add_step(t, id, (uint32_t)e->b);
}

/* Executions, as far as dependences and values tell */
static int
seen(struct qtext *t, struct query_stmt *s, uint64_t x)
{
	if (x >= UINT32_MAX - 1)
		return query_bad(t->q, "a statement is executed too often");
	if (s->count <= x)
		s->count = x + 1;
	return 0;
}

static int
survey_event(void *arg, const struct store_text_event *e)
{
	struct qtext *t = arg;
	struct query_stmt *last = t->q->nstmt ? t->q->stmt + t->q->nstmt - 1 : NULL;

	switch (e->kind) {
	case STORE_TEXT_BLOCK: return block(t, e);
	case STORE_TEXT_DEP: case STORE_TEXT_VALUE: return seen(t, last, e->a);
	case STORE_TEXT_VALUES: last->port.nval = 1; return 0;
	case STORE_TEXT_ORDER:
		t->ordered = 1;
		for (size_t i = 0; i < t->q->nstmt; i++)
			t->q->stmt[i].count = 0;
		return number(t);
	case STORE_TEXT_STEP: return step(t, e);
	default: return 0;
	}
}

/* Without an order: an instance that something depends on was executed, too */
static int
refer_event(void *arg, const struct store_text_event *e)
{
	struct qtext *t = arg;
	uint32_t id;

	if (e->kind != STORE_TEXT_DEP)
		return 0;
	if ((id = query_named(t->q, e->b)) == 0)
		return query_bad(t->q, "a dependence on a statement that there is not");
	return seen(t, &t->q->stmt[id - 1], e->c);
}

/* And they have an order all the same, by which slices can be told: instances 0, instances 1, ... */
static int
make_order(struct qtext *t)
{
	const struct query *q = t->q;
	uint64_t most = 0;

	for (size_t s = 0; s < q->nstmt; s++)
		most = q->stmt[s].count > most ? q->stmt[s].count : most;
	for (uint64_t x = 0; x < most; x++)
		for (uint32_t s = 0, n; s < q->nstmt; s += n ? n : 1) {
			for (n = 0; s + n < q->nstmt && q->stmt[s + n].count > x; n++)
				;
			if (n && add_step(t, s + 1, n) != 0)
				return -1;
		}
	return 0;
}

static int
survey(struct query *q, int slices)
{
	(void)q;
	(void)slices;
	return 0;
}

static int
know(struct query *q, uint32_t id)
{
	return id && id <= q->nstmt;
}

static void
source(struct query *q, uint32_t id, const char **file, const char **func, int *line)
{
	const struct qtext *t = q->store;

	qnames_find(&t->names, &t->code.stmt[t->place[id - 1]], file, func, line);
}

static int
ordered(struct query *q)
{
	const struct qtext *t = q->store;

	return t->ordered ? 0 : query_bad(q, "the text does not say in what order statements were executed");
}

static int
position(struct query *q, uint32_t id, uint64_t instance, uint64_t *n)
{
	const struct qtext *t = q->store;

	for (size_t i = 0; id && i < t->nstep; i++)
		if (id >= t->step[i].id && id - t->step[i].id < t->step[i].n && instance-- == 0) {
			*n = t->before[i] + (id - t->step[i].id) + 1;
			return 1;
		}
	return 0;
}

/* The step that has position n */
static size_t
find(const struct qtext *t, uint64_t n)
{
	size_t lo = 0, hi = t->nstep;

	while (hi - lo > 1) {
		size_t mid = (lo + hi) / 2;

		if (t->before[mid] < n)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

static int
flow(struct query *q, uint64_t from, uint64_t count, int back, query_path_fn *fn, void *arg)
{
	const struct qtext *t = q->store;

	if (ordered(q) != 0)
		return -1;
	if (!from || from > q->length)
		return 0;
	for (size_t i = find(t, from); i < t->nstep && count; i += back ? SIZE_MAX : 1) {
		/* a path is all statements, of which a step is a part */
		struct query_path p = { .id = t->id, .n = (uint32_t)q->nstmt, .from = t->step[i].id - 1, .to = t->step[i].id - 1 + t->step[i].n };
		uint64_t n;

		if (back && t->before[i] + t->step[i].n > from)
			p.to = p.from + (uint32_t)(from - t->before[i]);
		if (!back && t->before[i] + 1 < from)
			p.from += (uint32_t)(from - t->before[i] - 1);
		n = p.to - p.from;
		if (n > count) {
			if (back)
				p.from = p.to - (uint32_t)count;
			else
				p.to = p.from + (uint32_t)count;
			n = count;
		}
		count -= n;
		if (fn(arg, &p) != 0 || (back && i == 0))
			break;
	}
	return 0;
}

struct values {
	struct query_insn e;
	uint64_t from, to;
	uint32_t s, at;                 /* statements that came; which of them it is, from 1 */
	int enough;
	query_insn_fn *fn;
	void *arg;
};

static int
value_event(void *arg, const struct store_text_event *e)
{
	struct values *v = arg;

	if (e->kind == STORE_TEXT_BLOCK)
		v->s++;
	if (v->s > v->at) {             /* what comes behind is of no interest */
		v->enough = 1;
		return 1;
	}
	if (e->kind != STORE_TEXT_VALUE || v->s != v->at || e->a < v->from || e->a > v->to)
		return 0;
	v->e.instance = e->a;
	v->e.val = e->word;
	v->e.nval = e->n;
	v->enough = v->fn(v->arg, &v->e) != 0;
	return v->enough;
}

static int
insns(struct query *q, uint32_t id, uint64_t from, uint64_t to, unsigned want, query_insn_fn *fn, void *arg)
{
	struct qtext *t = q->store;
	struct fault f = { 0 };
	struct values v = { .e.id = id, .at = t->place[id - 1] + 1, .from = from, .to = to, .fn = fn, .arg = arg };

	if (want & QUERY_REFS)
		return query_bad(q, "a text does not tell addresses");
	return store_text_events(&t->w, value_event, &v, &f) != 0 && !v.enough ? query_store_bad(q, &f) : 0;
}

static void
qtext_close(struct query *q)
{
	struct qtext *t = q->store;

	free(t->step);
	free(t->before);
	free(t->first);
	free(t->id);
	free(t->place);
	free(t->at);
	free(t->dep);
	free(t->whose);
	free(t->users);
	free(t->port);
	free(t->firstport);
	free(t->val);
	free(t->firstval);
	col_free(&t->word);
	qnames_free(&t->names);
	store_code_free(&t->code);
	query_store_close(q, &t->w, t->nbit);
	free(t);
}

static const struct query_ops ops = { survey, know, source, position, flow, insns, query_store_insn_at, qtext_slice, qtext_deps, qtext_close };

static int
tables(struct query *q)
{
	struct qtext *t = q->store;
	uint64_t n = 0;

	t->before = calloc(t->nstep + 1, sizeof *t->before);
	t->first = calloc(q->nstmt + 1, sizeof *t->first);
	if (!t->before || !t->first || qnames_make(&t->names, &t->code) != 0)
		return query_nomem(q);
	for (size_t i = 0; i < t->nstep; i++) {
		t->before[i] = n;
		n += t->step[i].n;
	}
	t->before[t->nstep] = n;
	q->length = t->ordered ? n : 0;
	n = 0;
	for (size_t s = 0; s < q->nstmt; s++) {
		t->first[s] = n;
		n += q->stmt[s].count;
	}
	t->first[q->nstmt] = n;
	return 0;
}

int
query_text_open(struct query *q, struct wetfile *w)
{
	struct qtext *t = calloc(1, sizeof *t);
	struct fault f = { 0 };

	if (!t)
		return query_nomem(q);
	t->q = q;
	q->store = t;
	q->ops = &ops;
	if (store_text_events(w, survey_event, t, &f) != 0)
		return fault(q, &f);
	if (!t->ordered && (number(t) != 0 || store_text_events(w, refer_event, t, &f) != 0))
		return fault(q, &f);
	if (!t->ordered && make_order(t) != 0)
		return -1;
	if (tables(q) != 0)
		return -1;
	t->w = *w;
	return 0;
}
