/* A .wet file of kind paper as text, wettext(5). */
#include <stdlib.h>
#include <string.h>

#include "engine/wet/paperread.h"
#include "engine/wet/storeprint.h"
#include "format/wettext.h"

/* Second and later writers; by x, then as they came */
struct more { uint64_t who; uint32_t x, n; };

/* A list of the text */
struct unit {
	uint64_t *slot;                 /* of each instance: its writer, 0 for none; or the words of its value; owned */
	struct more *more;              /* owned */
	size_t nmore, capmore;
};

struct print {
	struct paper_read r;
	store_text_fn *put;
	void *arg;
	struct buf b;
	uint8_t *only;                  /* statements of this batch; owned */
	uint32_t lo, hi;
	struct unit *unit;              /* of its ports, then its values; owned */
	uint32_t *first;                /* of each statement from lo: its first unit; owned */
	uint64_t id, count, nline;      /* the line of the order in the making */
	int counting;
};

static uint32_t
units(const struct store_stmt *s)
{
	return 2 + s->nuse + s->nmem;
}

static int
nomem(struct print *p)
{
	wetfile_say(&p->r.fault, 0, UINT64_MAX, "no memory");
	return -1;
}

/* Text of at most WETTEXT_PUT bytes is written to room's, and its length given to used: not 0 ends it */
static uint8_t *
room(struct print *p)
{
	static uint8_t lost[WETTEXT_PUT];
	uint8_t *q = buf_room(&p->b, WETTEXT_PUT);

	return q ? q : lost;
}

static int
flush(struct print *p, size_t most)
{
	int e = 0;

	if (p->b.nomem)
		return nomem(p);
	if (p->b.n > most) {
		e = p->put(p->arg, p->b.p, p->b.n);
		p->b.n = 0;
	}
	return e;
}

static int
used(struct print *p, size_t n)
{
	if (!p->b.nomem)
		p->b.n += n;
	return p->b.n > 1u << 16 || p->b.nomem ? flush(p, 0) : 0;
}

static int
use(void *arg, uint32_t s, uint32_t x, uint32_t port, const uint64_t *who, size_t n)
{
	struct print *p = arg;
	struct unit *u = &p->unit[p->first[s - p->lo] + port];

	u->slot[x] = who[0];
	for (size_t i = 1; i < n; i++) {
		if (buf_grow(&u->more, &u->capmore, u->nmore + 1, sizeof *u->more) != 0)
			return -1;
		u->more[u->nmore] = (struct more){ who[i], x, (uint32_t)u->nmore };
		u->nmore++;
	}
	return 0;
}

static int
value(void *arg, uint32_t s, unsigned j, const uint32_t *x, const uint64_t *word, size_t n)
{
	struct print *p = arg;
	const struct store_stmt *v = &p->r.code.stmt[s];
	uint64_t *slot = p->unit[p->first[s - p->lo] + units(v) - 1].slot;

	for (size_t i = 0; i < n; i++)
		slot[(uint64_t)x[i] * v->nval + j] = word[i];
	return 0;
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
put_deps(struct print *p, struct unit *u, uint64_t count)
{
	uint64_t n = u->nmore;
	size_t m = 0;
	int e;

	if (u->nmore)
		qsort(u->more, u->nmore, sizeof *u->more, by_x);
	for (uint64_t x = 0; x < count; x++)
		n += u->slot[x] != 0;
	e = used(p, wettext_put_size(room(p), n));
	for (uint64_t x = 0; x < count && !e; x++) {
		uint64_t who = u->slot[x];

		if (who)
			e = used(p, wettext_put_dep(room(p), x, who >> 32, (uint32_t)who));
		for (; m < u->nmore && u->more[m].x == x && !e; m++)
			e = used(p, wettext_put_dep(room(p), x, u->more[m].who >> 32, (uint32_t)u->more[m].who));
	}
	return e;
}

static int
put_statement(struct print *p, uint32_t s)
{
	const struct store_stmt *v = &p->r.code.stmt[s];
	struct unit *u = &p->unit[p->first[s - p->lo]];
	uint32_t n = units(v), count = paper_count(&p->r, s);
	int e;

	buf_printf(&p->b, "%u %u %llx %s %s %llu\n", s + 1, n - 1, (unsigned long long)v->addr, p->r.code.string[v->file], p->r.code.string[v->func],
	    (unsigned long long)v->line);
	e = flush(p, 1u << 16);
	for (uint32_t i = 0; i + 1 < n && !e; i++)
		e = put_deps(p, &u[i], count);
	if (!e)
		e = used(p, v->nval ? wettext_put_values(room(p), count) : wettext_put_novalues(room(p)));
	for (uint32_t x = 0; v->nval && x < count && !e; x++)
		e = used(p, wettext_put_value(room(p), x, u[n - 1].slot + (size_t)x * v->nval, v->nval));
	return e;
}

/* Room for the lists of as many statements from lo as the budget allows, one at least */
static int
begin(struct print *p, uint64_t budget)
{
	const struct store_code *c = &p->r.code;
	uint64_t bytes = 0;
	uint32_t n = 0;

	for (p->hi = p->lo; p->hi < c->nstmt; p->hi++) {
		const struct store_stmt *v = &c->stmt[p->hi];

		bytes += (uint64_t)paper_count(&p->r, p->hi) * 8 * (units(v) - 1 + v->nval);
		if (p->hi > p->lo && bytes > budget)
			break;
		n += units(v);
	}
	p->unit = calloc(n + 1, sizeof *p->unit);
	p->first = calloc(p->hi - p->lo + 1, sizeof *p->first);
	if (!p->unit || !p->first)
		return nomem(p);
	n = 0;
	memset(p->only, 0, c->nstmt);
	for (uint32_t s = p->lo; s < p->hi; s++) {
		const struct store_stmt *v = &c->stmt[s];

		p->only[s] = 1;
		p->first[s - p->lo] = n;
		for (uint32_t i = 0; i < units(v); i++)
			if ((p->unit[n++].slot = calloc((size_t)paper_count(&p->r, s) * (i + 1 < units(v) ? 1 : v->nval) + 1, 8)) == NULL)
				return nomem(p);
	}
	return 0;
}

static void
end(struct print *p)
{
	uint32_t n = 0;

	for (uint32_t s = p->lo; s < p->hi; s++)
		n += units(&p->r.code.stmt[s]);
	for (uint32_t i = 0; p->unit && i < n; i++) {
		free(p->unit[i].slot);
		free(p->unit[i].more);
	}
	free(p->unit);
	free(p->first);
	p->unit = NULL;
	p->first = NULL;
}

static int
batch(struct print *p)
{
	int e = 0;

	for (size_t k = 0; k < p->r.nsegment && !e; k++)
		e = paper_read_values(&p->r, k, p->only, value, p) != 0 || paper_read_edges(&p->r, k, p->only, use, p) != 0;
	for (uint32_t s = p->lo; s < p->hi && !e; s++)
		e = put_statement(p, s);
	return e;
}

static int
line(struct print *p, uint64_t id, uint64_t count)
{
	uint64_t from = p->id, n = p->count;

	if (n && from + n == id) {
		p->count += count;
		return 0;
	}
	p->id = id;
	p->count = count;
	p->nline += n != 0;
	return n && !p->counting ? used(p, wettext_put_step(room(p), from, n)) : 0;
}

static int
order(struct print *p)
{
	const struct store_code *c = &p->r.code;
	int e = 0;

	for (p->counting = 1; p->counting >= 0 && !e; p->counting--) {
		p->count = 0;
		if (!p->counting)
			e = used(p, wettext_put_order(room(p), p->nline));
		for (uint64_t t = 0; t < p->r.ntime && !e; t++) {
			const struct store_path *q = &c->path[p->r.seq[t]];

			for (uint32_t j = 0; j < q->n && !e; j++)
				e = line(p, c->seq[q->first + j] + 1u, 1);
		}
		e = e || line(p, 0, 0);
	}
	return e;
}

int
paper_print(const struct wetfile *f, uint64_t budget, store_text_fn *put, void *arg, struct wetfile_fault *fault)
{
	struct print *p = calloc(1, sizeof *p);
	int e;

	if (!p) {
		wetfile_say(fault, 0, UINT64_MAX, "no memory");
		return -1;
	}
	p->put = put;
	p->arg = arg;
	e = paper_read_open(&p->r, f);
	if (!e && (p->only = calloc(p->r.code.nstmt + 1, 1)) == NULL)
		e = nomem(p);
	if (!e)
		e = used(p, wettext_put_count(room(p), p->r.code.nstmt));
	for (p->lo = 0; !e && p->lo < p->r.code.nstmt; p->lo = p->hi) {
		e = begin(p, budget) != 0 || batch(p) != 0;
		end(p);
	}
	if (!e)
		e = order(p);
	flush(p, 0);
	*fault = e ? p->r.fault : f->fault;
	e = e || !f->whole;
	buf_free(&p->b);
	free(p->only);
	paper_read_close(&p->r);
	free(p);
	return e ? -1 : 0;
}
