/* Decodes addresses of references to memory from a .wet file. */
#include <stdlib.h>
#include <string.h>

#include "wet/file/full/reader.h"

/* Exceptions of a slot.  at: the next one; left: predicted references before it. */
struct slot { uint32_t at, end; uint64_t left; };

struct get {
	struct store_read *r;
	struct slot *slot;              /* owned */
	uint32_t *done;                 /* instances of each statement so far; owned */
	struct col count, key, slots, times, gap, by;
	size_t many;                    /* entries of `count` that are used */
	struct waddr_model model;
};

/* Keys of the counts of references: the statements with a variable number of them, in order of time. */
static int
addr_decode_counts(struct get *t, struct col_reader *c)
{
	const struct store_read *r = t->r;

	for (size_t i = 0; i < r->path.n; i++) {
		const struct store_path *p = &r->code.path[r->path.v[i]];

		for (uint32_t j = 0; j < p->n; j++)
			if (r->addr.stmt[r->code.seq[p->first + j]].any)
				col_add(&t->key, r->code.seq[p->first + j]);
	}
	return t->key.nomem ? col_bad(c, NULL) : col_get(c, &t->count, t->key.n, WADDR_REFS, &t->key);
}

static int
addr_decode_slots(struct get *t, struct col_reader *c)
{
	uint64_t at = 0, slot = 0;

	if (col_get_upto(c, &t->slots, t->r->addr.nexpr, UINT32_MAX, NULL) != 0 ||
	    col_get(c, &t->times, t->slots.n, COL_MAX, NULL) != 0)
		return -1;
	t->key.n = 0;
	for (size_t i = 0; i < t->slots.n; i++) {
		slot += t->slots.v[i];
		if (slot >= t->r->addr.nexpr || (i && !t->slots.v[i]) || !t->times.v[i] ||
		    at + t->times.v[i] > COL_MAX)
			return col_bad(c, "a reference that does not exist");
		t->slot[slot] = (struct slot){ (uint32_t)at, (uint32_t)(at + t->times.v[i]), 0 };
		for (at += t->times.v[i]; t->key.n < at && !t->key.nomem;)
			col_add(&t->key, slot);
	}
	if (t->key.nomem)
		return col_bad(c, NULL);
	if (col_get(c, &t->gap, at, UINT64_MAX >> 1, &t->key) != 0 ||
	    col_get(c, &t->by, at, UINT64_MAX, &t->key) != 0)
		return -1;
	for (size_t i = 0; i < t->r->addr.nexpr; i++)
		t->slot[i].left = t->slot[i].at < t->slot[i].end ? t->gap.v[t->slot[i].at] : UINT64_MAX;
	return 0;
}

/* The next reference of a slot. */
static inline uint64_t
addr_decode_one(struct get *t, uint32_t slot, uint64_t expected)
{
	struct slot *s = &t->slot[slot];
	uint64_t ref;

	if (s->left) {
		s->left -= s->left != UINT64_MAX;
		return expected;
	}
	ref = expected + col_zag(t->by.v[s->at++]);
	s->left = s->at < s->end ? t->gap.v[s->at] : UINT64_MAX;
	return ref;
}

/* Decodes n references of a statement and appends them. */
static void
addr_decode_statement(struct get *t, const struct waddr_stmt *v, size_t n)
{
	struct store_read *r = t->r;
	uint64_t *ref = r->ref.v + r->ref.n;
	size_t first = n < v->nexpr ? n : v->nexpr;

	for (uint32_t k = 0; k < first; k++) {
		const struct fact_addr *e = &r->addr.expr[v->slot + k];
		uint64_t expected = waddr_expect(&t->model, e);

		ref[k] = addr_decode_one(t, v->slot + k, expected);
		if (ref[k] != expected)
			waddr_correct(&t->model, e, ref[k], expected);
	}
	for (size_t k = first; k < n; k++)
		ref[k] = addr_decode_one(t, v->slot + v->nexpr, waddr_next(ref, k, v->nexpr));
	r->ref.n += n;
}

/* Updates the model after n references of a statement with a variable number of them. */
static void
addr_decode_many(struct get *t, const struct waddr_stmt *v, size_t n)
{
	struct store_read *r = t->r;
	const uint64_t *ref = r->ref.v + r->ref.n - n;
	uint64_t ring[2 * WADDR_PERIOD] = { 0 };

	for (size_t k = n > 2u * v->nexpr ? n - 2u * v->nexpr : 0; k < n; k++)
		ring[k % (2u * v->nexpr)] = ref[k];
	waddr_update_many(&t->model, &r->addr, v, ring, n);
}

static uint64_t
addr_decode_value(struct get *t, uint32_t s)
{
	const struct store_place *at = &t->r->place[s];

	return t->r->vals.val.v[at->at + t->done[s]++];
}

static int
addr_decode_walk(struct get *t, struct col_reader *c)
{
	struct store_read *r = t->r;
	size_t at = 0;

	r->ref.n = 0;
	if (buf_grow(&r->refat, &r->caprefat, r->n + 1, sizeof *r->refat) != 0)
		return col_bad(c, NULL);
	r->refat[0] = 0;
	for (size_t i = 0; i < r->path.n; i++) {
		const struct store_path *p = &r->code.path[r->path.v[i]];

		for (uint32_t j = 0; j < p->n; j++) {
			uint32_t s = r->code.seq[p->first + j];
			const struct store_stmt *v = &r->code.stmt[s];
			const struct waddr_stmt *w = &r->addr.stmt[s];
			size_t n = w->any ? (size_t)t->count.v[t->many++] : w->nexpr;

			if (r->ref.n + n > WADDR_REFS)
				return col_bad(c, "too many references");
			if (r->ref.n + n > r->ref.cap && col_room(&r->ref, n) != 0)
				return col_bad(c, NULL);
			if (n)
				addr_decode_statement(t, w, n);
			waddr_update(&t->model, w, r->code.reg + v->reg + v->nuse, v->ndef,
			    v->nval ? addr_decode_value(t, s) : 0);
			if (w->any)
				addr_decode_many(t, w, n);
			r->refat[++at] = (uint32_t)r->ref.n;
		}
	}
	for (size_t i = 0; i < r->addr.nexpr; i++)
		if (t->slot[i].at != t->slot[i].end)
			return col_bad(c, "a reference after the last one");
	return 0;
}

int
store_addr_refs_decode(struct store_read *r, struct col_reader *c)
{
	struct get t = { .r = r,
		.slot = calloc(r->addr.nexpr + 1, sizeof *t.slot),
		.done = calloc(r->code.nstmt + 1, sizeof *t.done) };
	int e = !t.slot || !t.done ? col_bad(c, NULL) : 0;

	e = e || waddr_load(&t.model, c) != 0 || addr_decode_counts(&t, c) != 0 ||
	    addr_decode_slots(&t, c) != 0 || addr_decode_walk(&t, c) != 0;
	free(t.slot);
	free(t.done);
	col_free(&t.count);
	col_free(&t.key);
	col_free(&t.slots);
	col_free(&t.times);
	col_free(&t.gap);
	col_free(&t.by);
	return e ? -1 : 0;
}
