/* Writes the text of a .wet file: the lists of each statement, then the order. */
#include "wet/print/lists.h"

#include <stdlib.h>
#include <string.h>

#include "format/wettext/wettext.h"

#define PIECE (1u << 16)                /* text is handed to put when it is longer than this, in bytes */

/* A second or later writer of instance x.  Sorted by x, then by n, its index of arrival. */
struct more { uint64_t who; uint32_t x, n; };

/* One list of a statement: the dependences of a use port, or the values */
struct list_unit {
	/* for each instance: its first writer (0: none), or the words of its value; owned */
	uint64_t *slot;
	struct more *more;              /* owned */
	size_t nmore, capmore;
	int mixed;                      /* `more` is not sorted by x yet */
};
/* memory of an empty list, in bytes: the struct and the overhead of malloc for its slots */
#define UNIT (sizeof(struct list_unit) + 32)

static uint32_t
lists_units(const struct store_stmt *s)
{
	return 2 + s->nuse + s->nmem;
}

/* Hands the text to put if it is longer than `most` bytes.  Not 0: printing ends. */
static int
lists_flush(struct list *l, size_t most)
{
	int e = 0;

	if (l->b.nomem)
		return fault_nomem(l->fault);
	if (l->b.n > most) {
		e = l->put(l->arg, l->b.p, l->b.n);
		l->b.n = 0;
	}
	return e;
}

/* The caller has written n bytes of text at wettext_room(&l->b).  Not 0: printing ends. */
static int
lists_used(struct list *l, size_t n)
{
	if (!l->b.nomem)
		l->b.n += n;
	return l->b.n > PIECE || l->b.nomem ? lists_flush(l, 0) : 0;
}

int
list_use(void *list, uint32_t s, uint32_t x, uint32_t port, const uint64_t *who, size_t n)
{
	struct list *l = list;
	struct list_unit *u = &l->unit[l->first[s - l->lo] + port];

	u->slot[x] = n ? who[0] : 0;
	for (size_t i = 1; i < n; i++) {
		if (buf_grow(&u->more, &u->capmore, u->nmore + 1, sizeof *u->more) != 0)
			return -1;
		u->mixed |= u->nmore && u->more[u->nmore - 1].x > x;
		u->more[u->nmore] = (struct more){ who[i], x, (uint32_t)u->nmore };
		u->nmore++;
	}
	return 0;
}

uint64_t *
list_values(const struct list *l, uint32_t s)
{
	return l->unit[l->first[s - l->lo] + lists_units(&l->code->stmt[s]) - 1].slot;
}

static int
by_x(const void *a, const void *b)
{
	const struct more *p = a, *q = b;

	if (p->x != q->x)
		return p->x < q->x ? -1 : 1;
	return p->n < q->n ? -1 : p->n > q->n;
}

static int
put_deps(struct list *l, struct list_unit *u, uint64_t count)
{
	uint64_t n = u->nmore;
	size_t m = 0;
	int e;

	if (u->mixed)
		qsort(u->more, u->nmore, sizeof *u->more, by_x);
	for (uint64_t x = 0; x < count; x++)
		n += u->slot[x] != 0;
	e = lists_used(l, wettext_put_size(wettext_room(&l->b), n));
	for (uint64_t x = 0; x < count && !e; x++) {
		uint64_t who = u->slot[x];

		if (who)
			e = lists_used(l, wettext_put_dep(wettext_room(&l->b), x, who >> 32, (uint32_t)who));
		for (; m < u->nmore && u->more[m].x == x && !e; m++)
			e = lists_used(l, wettext_put_dep(wettext_room(&l->b), x, u->more[m].who >> 32,
			    (uint32_t)u->more[m].who));
	}
	return e;
}

static int
put_statement(struct list *l, uint32_t s)
{
	const struct store_code *c = l->code;
	const struct store_stmt *v = &c->stmt[s];
	struct list_unit *u = &l->unit[l->first[s - l->lo]];
	uint32_t n = lists_units(v);
	uint64_t count = l->count(l->from, s);
	int e;

	buf_printf(&l->b, "%u %u %llx %s %s %llu\n", s + 1, n - 1, (unsigned long long)v->addr,
	    c->string[v->file], c->string[v->func], (unsigned long long)v->line);
	e = lists_flush(l, PIECE);
	for (uint32_t i = 0; i + 1 < n && !e; i++)
		e = put_deps(l, &u[i], count);
	if (!e)
		e = lists_used(l, v->nval ? wettext_put_values(wettext_room(&l->b), count) :
		    wettext_put_novalues(wettext_room(&l->b)));
	for (uint64_t x = 0; v->nval && x < count && !e; x++)
		e = lists_used(l, wettext_put_value(wettext_room(&l->b), x, u[n - 1].slot + x * v->nval,
		    v->nval));
	return e;
}

/* Allocates the lists of statements [lo, hi): as many as the budget allows, but at least one. */
static int
lists_begin(struct list *l, uint64_t budget)
{
	const struct store_code *c = l->code;
	uint64_t bytes = 0;
	uint32_t n = 0;

	for (l->hi = l->lo; l->hi < c->nstmt; l->hi++) {
		const struct store_stmt *v = &c->stmt[l->hi];

		bytes += l->count(l->from, l->hi) * 8 * (lists_units(v) - 1 + v->nval) +
		    lists_units(v) * UNIT;
		if (l->hi > l->lo && (bytes > budget || n > UINT32_MAX - lists_units(v)))
			break;
		n += lists_units(v);
	}
	l->unit = calloc((size_t)n + 1, sizeof *l->unit);
	l->first = calloc(l->hi - l->lo + 1, sizeof *l->first);
	if (!l->unit || !l->first)
		return fault_nomem(l->fault);
	n = 0;
	memset(l->only, 0, c->nstmt);
	for (uint32_t s = l->lo; s < l->hi; s++) {
		const struct store_stmt *v = &c->stmt[s];
		uint64_t count = l->count(l->from, s);

		l->only[s] = 1;
		l->first[s - l->lo] = n;
		for (uint32_t i = 0; i < lists_units(v); i++)
			if ((l->unit[n++].slot = calloc(count * (i + 1 < lists_units(v) ? 1 : v->nval) + 1,
			    sizeof(uint64_t))) == NULL)
				return fault_nomem(l->fault);
	}
	return 0;
}

static void
lists_end(struct list *l)
{
	uint32_t n = 0;

	for (uint32_t s = l->lo; s < l->hi; s++)
		n += lists_units(&l->code->stmt[s]);
	for (uint32_t i = 0; l->unit && i < n; i++) {
		free(l->unit[i].slot);
		free(l->unit[i].more);
	}
	free(l->unit);
	free(l->first);
	l->unit = NULL;
	l->first = NULL;
}

static int
lists_step(struct list *l, uint64_t id, uint64_t count)
{
	uint64_t from = l->id, n = l->n;

	if (n && from + n == id) {
		l->n += count;
		return 0;
	}
	l->id = id;
	l->n = count;
	l->nline += n && l->counting;
	return n && !l->counting ? lists_used(l, wettext_put_step(wettext_room(&l->b), from, n)) : 0;
}

int
list_path(struct list *l, uint32_t path)
{
	const struct store_path *q = &l->code->path[path];
	int e = 0;

	for (uint32_t j = 0; j < q->n && !e; j++)
		e = lists_step(l, l->code->seq[q->first + j] + 1u, 1);
	return e;
}

static int
lists_order(struct list *l)
{
	int e = 0;

	for (l->counting = 1; l->counting >= 0 && !e; l->counting--) {
		l->n = 0;
		if (!l->counting)
			e = lists_used(l, wettext_put_order(wettext_room(&l->b), l->nline));
		e = e || l->steps(l->from, l) != 0 || lists_step(l, 0, 0) != 0;
	}
	return e;
}

static int
lists_print(struct list *l, int whole, uint64_t budget)
{
	const uint32_t n = (uint32_t)l->code->nstmt;
	int e = 0;

	if (!n && !whole)               /* the text `0' would be that of an empty run */
		return -1;
	if ((l->only = calloc(n + 1, 1)) == NULL)
		return fault_nomem(l->fault);
	e = lists_used(l, wettext_put_count(wettext_room(&l->b), n));
	for (l->lo = 0; !e && l->lo < n; l->lo = l->hi) {
		e = lists_begin(l, budget) != 0 || l->fill(l->from, l) != 0;
		for (uint32_t s = l->lo; s < l->hi && !e; s++)
			e = put_statement(l, s);
		lists_end(l);
	}
	e = e || lists_order(l);
	lists_flush(l, 0);
	buf_free(&l->b);
	free(l->only);
	return e ? -1 : 0;
}

int
list_print(struct list *l, const struct wetfile *f, int bad, uint64_t budget, struct fault *fault)
{
	bad = bad || lists_print(l, f->whole, budget) != 0;
	*fault = bad && l->fault->err[0] ? *l->fault : f->fault;
	return bad || !f->whole ? -1 : 0;
}
