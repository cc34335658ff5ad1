/* A .wet file of kind full as text, wettext(5). */
#include <stdlib.h>
#include <string.h>

#include "engine/wet/storeprint.h"
#include "engine/wet/storeread.h"
#include "format/wettext.h"

/* Second and later writers */
struct more { uint64_t x, who; };

/* A list of the text */
struct unit {
	uint64_t *slot;                 /* of each instance: its writer, 0 for none; or the words of its value; owned */
	struct more *more;              /* owned; by x */
	size_t nmore, capmore;
};

struct print {
	struct store_read r;
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
flush(struct print *p, size_t most)
{
	int e = 0;

	if (p->b.nomem) {
		wetfile_say(&p->r.fault, 0, UINT64_MAX, "no memory");
		return -1;
	}
	if (p->b.n > most) {
		e = p->put(p->arg, p->b.p, p->b.n);
		p->b.n = 0;
	}
	return e;
}

static uint8_t *
room(struct print *p, size_t n)
{
	static uint8_t lost[WETTEXT_PUT];
	uint8_t *q = buf_room(&p->b, n);

	return q ? q : lost;
}

static void
used(struct print *p, size_t n)
{
	if (!p->b.nomem)
		p->b.n += n;
}

static int
use(void *arg, uint32_t s, uint32_t x, uint32_t port, const uint64_t *who, size_t n)
{
	struct print *p = arg;
	struct unit *u = &p->unit[p->first[s - p->lo] + port];

	u->slot[x] = n ? who[0] : 0;
	for (size_t i = 1; i < n; i++) {
		if (buf_grow(&u->more, &u->capmore, u->nmore + 1, sizeof *u->more) != 0)
			return -1;
		u->more[u->nmore++] = (struct more){ x, who[i] };
	}
	return 0;
}

/* The values of the batch's statements in the segment */
static void
values(struct print *p)
{
	struct store_read *r = &p->r;

	for (uint32_t s = p->lo; s < p->hi; s++) {
		const struct store_place *at = &r->place[s];
		unsigned n = r->code.stmt[s].nval;
		uint64_t *to = p->unit[p->first[s - p->lo] + units(&r->code.stmt[s]) - 1].slot + (uint64_t)r->count[s] * n;

		for (uint64_t i = 0; i < at->n; i++)
			for (unsigned j = 0; j < n; j++)
				to[i * n + j] = r->val.v[at->at + j * at->n + i];
	}
}

static void
put_deps(struct print *p, const struct unit *u, uint64_t count)
{
	uint64_t n = u->nmore;
	size_t m = 0;

	for (uint64_t x = 0; x < count; x++)
		n += u->slot[x] != 0;
	used(p, wettext_put_size(room(p, WETTEXT_PUT), n));
	for (uint64_t x = 0; x < count && !p->b.nomem; x++) {
		uint64_t who = u->slot[x];

		if (!who)
			continue;
		used(p, wettext_put_dep(room(p, WETTEXT_PUT), x, (who >> 32), (uint32_t)who));
		for (; m < u->nmore && u->more[m].x == x; m++)
			used(p, wettext_put_dep(room(p, WETTEXT_PUT), x, u->more[m].who >> 32, (uint32_t)u->more[m].who));
		if (p->b.n > 1u << 16 && flush(p, 0) != 0)
			return;
	}
}

static void
put_values(struct print *p, const struct unit *u, uint64_t count, unsigned n)
{
	if (!n) {
		used(p, wettext_put_novalues(room(p, WETTEXT_PUT)));
		return;
	}
	used(p, wettext_put_values(room(p, WETTEXT_PUT), count));
	for (uint64_t x = 0; x < count && !p->b.nomem; x++) {
		used(p, wettext_put_value(room(p, WETTEXT_PUT), x, u->slot + x * n, n));
		if (p->b.n > 1u << 16 && flush(p, 0) != 0)
			return;
	}
}

static int
put_statement(struct print *p, uint32_t s)
{
	const struct store_stmt *v = &p->r.code.stmt[s];
	const struct unit *u = &p->unit[p->first[s - p->lo]];
	uint32_t n = units(v);

	buf_printf(&p->b, "%u %u %llx %s %s %llu\n", s + 1, n - 1, (unsigned long long)v->addr, p->r.code.string[v->file], p->r.code.string[v->func],
	    (unsigned long long)v->line);
	for (uint32_t i = 0; i + 1 < n; i++)
		put_deps(p, &u[i], p->r.total[s]);
	put_values(p, &u[n - 1], p->r.total[s], v->nval);
	return flush(p, 1u << 16);
}

/* Room for the lists of as many statements from lo as the budget allows, one at least */
static int
begin(struct print *p, uint64_t budget)
{
	const struct store_read *r = &p->r;
	uint64_t bytes = 0;
	uint32_t n = 0;

	for (p->hi = p->lo; p->hi < r->code.nstmt; p->hi++) {
		const struct store_stmt *v = &r->code.stmt[p->hi];
		uint64_t more = r->total[p->hi] * 8 * (units(v) - 1 + v->nval);

		if (p->hi > p->lo && bytes + more > budget)
			break;
		bytes += more;
		n += units(v);
	}
	p->unit = calloc(n + 1, sizeof *p->unit);
	p->first = calloc(p->hi - p->lo + 1, sizeof *p->first);
	if (!p->unit || !p->first)
		return -1;
	n = 0;
	memset(p->only, 0, r->code.nstmt);
	for (uint32_t s = p->lo; s < p->hi; s++) {
		const struct store_stmt *v = &r->code.stmt[s];

		p->only[s] = 1;
		p->first[s - p->lo] = n;
		for (uint32_t i = 0; i < units(v); i++) {
			uint64_t words = i + 1 < units(v) ? 1 : v->nval;

			if ((p->unit[n++].slot = calloc(r->total[s] * words + 1, sizeof(uint64_t))) == NULL)
				return -1;
		}
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
	struct store_read *r = &p->r;

	memset(r->count, 0, (r->code.nstmt + 1) * sizeof *r->count);
	for (size_t k = 0; k < r->nsegment; k++) {
		if (store_read_segment(r, k, STORE_DEPS | STORE_VALUES) != 0)
			return -1;
		values(p);
		for (size_t i = 0; i < r->path.n; i++)
			if (store_read_deps(r, i, p->only, use, p) != 0)
				return -1;
		if (r->exc != UINT64_MAX) {
			wetfile_say(&r->fault, r->file->section[r->sec].off, r->sec, "a dependence behind the last statement");
			return -1;
		}
	}
	for (uint32_t s = p->lo; s < p->hi; s++)
		if (put_statement(p, s) != 0)
			return -1;
	return 0;
}

static int
line(struct print *p, uint64_t id, uint64_t count)
{
	if (p->count && p->id + p->count == id) {
		p->count += count;
		return 0;
	}
	if (p->count) {
		p->nline++;
		if (!p->counting)
			used(p, wettext_put_step(room(p, WETTEXT_PUT), p->id, p->count));
	}
	p->id = id;
	p->count = count;
	return flush(p, 1u << 16);
}

static int
order(struct print *p)
{
	struct store_read *r = &p->r;

	for (p->counting = 1; p->counting >= 0; p->counting--) {
		p->count = 0;
		if (!p->counting)
			used(p, wettext_put_order(room(p, WETTEXT_PUT), p->nline));
		for (size_t k = 0; k < r->nsegment; k++) {
			if (store_read_segment(r, k, STORE_PATHS) != 0 || (p->counting && store_read_check(r, k) != 0))
				return -1;
			for (size_t i = 0; i < r->path.n; i++) {
				const struct store_path *q = &r->code.path[r->path.v[i]];

				for (uint32_t j = 0; j < q->n; j++)
					if (line(p, r->code.seq[q->first + j] + 1u, 1) != 0)
						return -1;
			}
		}
		if (line(p, 0, 0) != 0)
			return -1;
	}
	return 0;
}

int
store_print(const struct wetfile *f, uint64_t budget, store_text_fn *put, void *arg, struct wetfile_fault *fault)
{
	struct print *p = calloc(1, sizeof *p);
	int e;

	if (!p) {
		wetfile_say(fault, 0, UINT64_MAX, "no memory");
		return -1;
	}
	p->put = put;
	p->arg = arg;
	e = store_read_open(&p->r, f);
	if (!e && (p->only = calloc(p->r.code.nstmt + 1, 1)) == NULL)
		e = -1;
	if (!e)
		used(p, wettext_put_count(room(p, WETTEXT_PUT), p->r.code.nstmt));
	for (p->lo = 0; !e && p->lo < p->r.code.nstmt; p->lo = p->hi) {
		e = begin(p, budget);
		if (e)
			wetfile_say(&p->r.fault, 0, UINT64_MAX, "no memory");
		else
			e = batch(p);
		end(p);
	}
	if (!e)
		e = order(p);
	flush(p, 0);
	*fault = e ? p->r.fault : f->fault;
	e = e || !f->whole;
	buf_free(&p->b);
	free(p->only);
	store_read_close(&p->r);
	free(p);
	return e ? -1 : 0;
}
