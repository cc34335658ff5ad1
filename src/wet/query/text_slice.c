/*
 * Questions about .wet files of kind text: slices.  All dependences are in
 * memory then, and are followed from instance to instance; then the steps of
 * the order are read for the instances that belong to the slice.
 */
#include <stdlib.h>
#include <string.h>

#include "wet/print/print.h"
#include "wet/query/text_internal.h"

#define MOST ((size_t)UINT32_MAX)

static int
begins(struct qtext *t, const struct store_text_event *e)
{
	t->firstval[t->s] = t->nval;
	t->s++;
	t->firstport[t->s] = t->firstport[t->s - 1] + (uint32_t)e->b;
	t->p = t->firstport[t->s - 1];
	return 0;
}

static int
depends(struct qtext *t, const struct store_text_event *e)
{
	struct query *q = t->q;
	uint32_t on = query_named(q, e->b);

	if (!on || e->c >= q->stmt[on - 1].count || e->a >= q->stmt[t->at[t->s - 1] - 1].count)
		return query_bad(q, "an instance that there is not");
	if (t->ndep >= MOST || buf_grow(&t->dep, &t->capdep, t->ndep + 1, sizeof *t->dep) != 0)
		return query_nomem(q);
	t->dep[t->ndep++] = (struct qtdep){ (uint32_t)e->a, t->p - t->firstport[t->s - 1] - 1, t->first[on - 1] + e->c };
	return 0;
}

static int
has_value(struct qtext *t, const struct store_text_event *e)
{
	if (e->a >= t->q->stmt[t->at[t->s - 1] - 1].count)
		return query_bad(t->q, "an instance that there is not");
	if (buf_grow(&t->val, &t->capval, t->nval + 2, sizeof *t->val) != 0)
		return query_nomem(t->q);
	t->val[t->nval].x = (uint32_t)e->a;
	t->val[t->nval++].at = t->word.n;
	for (unsigned i = 0; i < e->n; i++)
		col_add(&t->word, e->word[i]);
	t->val[t->nval].at = t->word.n;
	return t->word.nomem ? query_nomem(t->q) : 0;
}

static int
event(void *arg, const struct store_text_event *e)
{
	struct qtext *t = arg;

	switch (e->kind) {
	case STORE_TEXT_BLOCK: return begins(t, e);
	case STORE_TEXT_SIZE: t->port[t->p++] = t->ndep; return 0;
	case STORE_TEXT_DEP: return depends(t, e);
	case STORE_TEXT_VALUE: return has_value(t, e);
	default: return 0;
	}
}

int
qtext_load(struct query *q)
{
	struct qtext *t = q->store;
	struct fault f = { 0 };
	size_t n = 0;

	if (t->loaded)
		return 0;
	for (size_t s = 0; s < q->nstmt; s++)
		n += t->code.stmt[s].nmem;
	free(t->port);
	free(t->firstport);
	free(t->firstval);
	t->port = calloc(n + 1, sizeof *t->port);
	t->firstport = calloc(q->nstmt + 1, sizeof *t->firstport);
	t->firstval = calloc(q->nstmt + 1, sizeof *t->firstval);
	if (n > UINT32_MAX || !t->port || !t->firstport || !t->firstval)
		return query_nomem(q);
	t->s = t->p = 0;
	t->ndep = t->nval = t->word.n = 0;
	q->fault.err[0] = 0;
	if (store_text_events(&t->w, event, t, &f) != 0)
		return q->fault.err[0] ? -1 : query_store_bad(q, &f);
	t->port[n] = t->ndep;
	t->firstval[q->nstmt] = t->nval;
	t->loaded = 1;
	return 0;
}

struct scan {
	struct query *q;
	struct qtext *t;
	const struct query_slice *s;
	query_dep_fn *dep;
	void *arg;
	uint64_t *total;                /* of the slice */
	uint32_t *next;                 /* instances of each statement; owned */
	uint64_t *todo;                 /* members that have not been followed; owned */
	size_t ntodo, captodo;
	int enough, nomem;
};

/* Those of port p (over all statements) of instance x: the first of dep[*lo, *hi) */
static void
deps_of(const struct qtext *t, size_t p, uint32_t x, size_t *lo, size_t *hi)
{
	size_t a = t->port[p], b = t->port[p + 1];

	while (a < b) {
		size_t mid = (a + b) / 2;

		if (t->dep[mid].x < x)
			a = mid + 1;
		else
			b = mid;
	}
	*lo = a;
	for (*hi = a; *hi < t->port[p + 1] && t->dep[*hi].x == x; ++*hi)
		;
}

static int
tell(struct scan *c, uint32_t s, uint32_t x, uint64_t n)
{
	const struct qtext *t = c->t;
	struct query_insn e = { .id = s + 1, .instance = x, .n = n };
	uint32_t at = t->place[s];
	size_t a = t->firstval[at], end = t->firstval[at + 1], b = end;

	while (a < b) {
		size_t mid = (a + b) / 2;

		if (t->val[mid].x < x)
			a = mid + 1;
		else
			b = mid;
	}
	if (a < end && t->val[a].x == x) {
		e.val = t->word.v + t->val[a].at;
		e.nval = (uint32_t)(t->val[a + 1].at - t->val[a].at);
	}
	return c->s->fn(c->s->arg, &e) != 0;
}

static void
enter(struct scan *c, uint64_t number)
{
	if (query_is_member(c->q, number))
		return;
	query_member(c->q, number);
	if (buf_grow(&c->todo, &c->captodo, c->ntodo + 1, sizeof *c->todo) != 0)
		c->nomem = 1;
	else
		c->todo[c->ntodo++] = number;
}

/* The dependences of instance x of statement s: what it depends on belongs to the slice, or those on what does are handed over */
static void
follow(struct scan *c, uint32_t s, uint32_t x)
{
	const struct qtext *t = c->t;
	const uint32_t *port = t->firstport + t->place[s];

	for (size_t p = port[0] + !!(c->s->how & QUERY_DATA); p < port[1]; p++) {
		size_t lo, hi;

		for (deps_of(t, p, x, &lo, &hi); lo < hi && !c->enough; lo++) {
			const struct qtdep *d = &t->dep[lo];

			if (!c->dep)
				enter(c, d->on);
			else if (query_is_member(c->q, d->on)) {
				struct query_dep e = { .id = s + 1, .on = query_store_whose(c->q, t->first, d->on), .port = d->port,
					.n = t->first[s] + x + 1, .onn = d->on + 1 };

				c->enough = c->dep(c->arg, &e) != 0;
			}
		}
	}
}

/* Dependences by what they are on */
static int
by_on(const void *a, const void *b, void *arg)
{
	const struct qtext *t = arg;
	size_t p = *(const size_t *)a, q = *(const size_t *)b;

	return t->dep[p].on != t->dep[q].on ? t->dep[p].on < t->dep[q].on ? -1 : 1 : p < q ? -1 : p > q;
}

static int
users(struct qtext *t)
{
	if (t->users)
		return 0;
	t->users = calloc(t->ndep + 1, sizeof *t->users);
	t->whose = calloc(t->ndep + 1, sizeof *t->whose);
	if (!t->users || !t->whose) {
		free(t->users);
		t->users = NULL;
		return -1;
	}
	for (size_t b = 0, i = 0; b < t->code.nstmt; b++)
		for (size_t end = t->port[t->firstport[b + 1]]; i < end; i++)
			t->whose[i] = t->at[b] - 1;
	for (size_t i = 0; i < t->ndep; i++)
		t->users[i] = i;
	qsort_r(t->users, t->ndep, sizeof *t->users, by_on, t);
	return 0;
}

/* What depends on an instance belongs to the slice */
static void
follow_on(struct scan *c, uint64_t number)
{
	const struct qtext *t = c->t;
	size_t a = 0, b = t->ndep;

	while (a < b) {
		size_t mid = (a + b) / 2;

		if (t->dep[t->users[mid]].on < number)
			a = mid + 1;
		else
			b = mid;
	}
	for (; a < t->ndep && t->dep[t->users[a]].on == number; a++) {
		const struct qtdep *d = &t->dep[t->users[a]];

		if (!(c->s->how & QUERY_DATA && d->port == 0))
			enter(c, t->first[t->whose[t->users[a]]] + d->x);
	}
}

static int
closure(struct scan *c, uint64_t number)
{
	if (c->s->how & QUERY_FORWARD && users(c->t) != 0)
		return query_nomem(c->q);
	enter(c, number);
	while (c->ntodo && !c->nomem) {
		uint64_t n = c->todo[--c->ntodo];
		uint32_t s = query_store_whose(c->q, c->t->first, n) - 1;

		if (c->s->how & QUERY_FORWARD)
			follow_on(c, n);
		else
			follow(c, s, (uint32_t)(n - c->t->first[s]));
	}
	return c->nomem ? query_nomem(c->q) : 0;
}

/* Instance x of statement s, at position n */
static void
visit(struct scan *c, uint32_t s, uint32_t x, uint64_t n)
{
	if (!query_is_member(c->q, c->t->first[s] + x))
		return;
	if (c->dep) {
		if (!(c->s->how & QUERY_FORWARD && n == c->s->n))
			follow(c, s, x);
		return;
	}
	++*c->total;
	c->s->count[s]++;
	if (c->s->fn)
		c->enough = tell(c, s, x, n);
}

static void
on(struct scan *c)
{
	const struct qtext *t = c->t;

	for (size_t i = 0; i < t->nstep; i++)
		for (uint32_t j = 0; j < t->step[i].n && !c->enough; j++) {
			uint32_t s = t->step[i].id - 1 + j;

			visit(c, s, c->next[s]++, t->before[i] + j + 1);
		}
}

static void
back(struct scan *c)
{
	const struct qtext *t = c->t;

	for (size_t s = 0; s < c->q->nstmt; s++)
		c->next[s] = (uint32_t)c->q->stmt[s].count;
	for (size_t i = t->nstep; i-- > 0;)
		for (uint32_t j = t->step[i].n; j-- > 0 && !c->enough;) {
			uint32_t s = t->step[i].id - 1 + j;

			visit(c, s, --c->next[s], t->before[i] + j + 1);
		}
}

/* The number of the instance at position n */
static uint64_t
number_of(const struct qtext *t, uint64_t n)
{
	uint32_t s = UINT32_MAX;
	uint64_t x = 0;

	for (size_t i = t->nstep; i-- > 0;) {
		if (s == UINT32_MAX && t->before[i] < n)
			s = (uint32_t)(t->step[i].id - 1 + (n - t->before[i] - 1));
		else if (s != UINT32_MAX)
			x += s >= t->step[i].id - 1 && s - (t->step[i].id - 1) < t->step[i].n;
	}
	return t->first[s] + x;
}

int
qtext_slice(struct query *q, struct query_slice *s)
{
	struct qtext *t = q->store;
	struct scan c = { .q = q, .t = t, .s = s, .total = &s->total };
	int bad;

	if (!(s->how & QUERY_RSP))
		return query_bad(q, "a text does not tell which port is that of the stack pointer, to leave it out: ask with -r");
	if (qtext_load(q) != 0)
		return -1;
	if (query_store_members(q, t->first[q->nstmt], &t->nbit) != 0)
		return -1;
	if ((c.next = calloc(q->nstmt + 1, sizeof *c.next)) == NULL)
		return query_nomem(q);
	s->total = 0;
	bad = closure(&c, number_of(t, s->n)) != 0;
	if (bad)
		;
	else if (s->how & QUERY_FORWARD)
		on(&c);
	else
		back(&c);
	free(c.next);
	free(c.todo);
	return bad ? -1 : 0;
}

int
qtext_deps(struct query *q, const struct query_slice *s, query_dep_fn *fn, void *arg)
{
	struct scan c = { .q = q, .t = q->store, .s = s, .dep = fn, .arg = arg, .next = calloc(q->nstmt + 1, sizeof *c.next) };

	if (!c.next)
		return query_nomem(q);
	on(&c);
	free(c.next);
	return 0;
}
