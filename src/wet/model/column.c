/* Writes and reads columns of numbers in sections of wet(5). */
#include "wet/model/column.h"

#include <stdlib.h>

#include "base/pool.h"

void
col_free(struct col *c)
{
	free(c->v);
	*c = (struct col){ 0 };
}

int
col_room(struct col *c, size_t n)
{
	if (c->nomem || buf_grow(&c->v, &c->cap, c->n + n, sizeof *c->v) != 0) {
		c->nomem = 1;
		return -1;
	}
	return 0;
}

void
col_put_number(struct buf *b, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		buf_u8(b, (uint8_t)(v | 0x80));
	buf_u8(b, (uint8_t)v);
}

static unsigned
width_of(const uint64_t *v, size_t n)
{
	uint64_t all = 0;

	for (size_t i = 0; i < n; i++)
		all |= v[i];
	return all >> 32 ? 8 : all >> 16 ? 4 : all >> 8 ? 2 : 1;
}

int
col_put_block(struct buf *b, struct vc_work *w, int level, const uint64_t *v, const uint64_t *key, size_t n)
{
	struct vc_col col = { v, key, n, width_of(v, n), NULL };
	struct buf t = BUF_INIT;
	enum vc_method m;
	int bad = vc_encode(w, NULL, &col, level, &m, &t) != 0;

	if (!bad) {
		buf_u8(b, (uint8_t)col.width);
		buf_u8(b, (uint8_t)m);
		col_put_number(b, t.n);
		buf_add(b, t.p, t.n);
	}
	buf_free(&t);
	return bad || b->nomem ? -1 : 0;
}

int
col_put(struct buf *b, struct vc_work *w, int level, const struct col *c, const struct col *key)
{
	int bad = c->nomem || (key && key->nomem);

	col_put_number(b, c->n);
	for (size_t i = 0, n; !bad && i < c->n; i += n) {
		n = c->n - i < VC_MAX ? c->n - i : VC_MAX;
		bad = col_put_block(b, w, level, c->v + i, key ? key->v + i : NULL, n) != 0;
	}
	return bad || b->nomem ? -1 : 0;
}

int
col_bad(struct col_reader *r, const char *why)
{
	if (!r->err)
		r->err = why ? why : "no memory";
	return -1;
}

int
col_get_number(struct col_reader *r, uint64_t most, uint64_t *v)
{
	uint64_t n = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint8_t c;

		if (r->p == r->end)
			return col_bad(r, "a number is cut off");
		c = *r->p++;
		if (c > UINT64_MAX >> shift || (c == 0 && shift))
			return col_bad(r, "a number is not as it is written");
		n |= (uint64_t)(c & 0x7f) << shift;
		if (c & 0x80)
			continue;
		if (n > most)
			return col_bad(r, "a number is too large");
		*v = n;
		return 0;
	}
	return col_bad(r, "a number is not as it is written");
}

/* Reads what is in front of a block's bytes. */
static int
column_head(struct col_reader *r, uint64_t *width, uint64_t *method, uint64_t *len)
{
	if (col_get_number(r, 8, width) != 0 || col_get_number(r, 127, method) != 0 ||
	    col_get_number(r, (uint64_t)(r->end - r->p), len) != 0)
		return -1;
	if ((*width != 1 && *width != 2 && *width != 4 && *width != 8) || *len > (uint64_t)(r->end - r->p))
		return col_bad(r, "a block is longer than its section");
	return 0;
}

/* Appends a block of n values to c.  skip: the block is not decoded, its values are undefined. */
static int
column_block(struct col_reader *r, struct col *c, size_t n, uint64_t most, const uint64_t *key, int skip)
{
	const char *err = NULL;
	uint64_t width, len, method;

	if (column_head(r, &width, &method, &len) != 0)
		return -1;
	if (col_room(c, n) != 0)
		return col_bad(r, NULL);
	if (skip) {
		r->p += len;
		c->n += n;
		return 0;
	}
	if (vc_decode(r->w, NULL, &(struct vc_col){ NULL, key, n, (unsigned)width, NULL }, (enum vc_method)method,
		r->p, (size_t)len, c->v + c->n, &err) != 0)
		return col_bad(r, err);
	r->p += len;
	for (size_t i = 0; i < n; i++)
		if (c->v[c->n + i] > most)
			return col_bad(r, "a value is too large");
	c->n += n;
	return 0;
}

/* Gives c the values of a column that is decoded. */
static int
column_take(struct col_reader *r, struct col *c, uint64_t most)
{
	struct col_ahead *a = &r->ahead[r->ahead_at - 1];

	if (a->err || a->col.nomem)
		return col_bad(r, a->err);
	for (size_t i = 0; i < a->col.n; i++)
		if (a->col.v[i] > most)
			return col_bad(r, "a value is too large");
	free(c->v);
	*c = a->col;
	a->col = (struct col){ 0 };
	r->p = a->end;
	return 0;
}

int
col_get(struct col_reader *r, struct col *c, size_t n, uint64_t most, const struct col *key)
{
	uint64_t all;
	int ahead = r->ahead_at < r->nahead && r->ahead[r->ahead_at].p == r->p;

	c->n = 0;
	r->ahead_at += ahead;
	if (col_get_number(r, COL_MAX, &all) != 0)
		return -1;
	if (n != SIZE_MAX && all != n)
		return col_bad(r, "a column has another number of values");
	if (key && key->n < all)
		return col_bad(r, "a column has more values than keys");
	if (ahead && !key)
		return column_take(r, c, most);
	while (c->n < all)
		if (column_block(r, c, all - c->n < VC_MAX ? (size_t)all - c->n : VC_MAX, most,
		    key ? key->v + c->n : NULL, 0) != 0)
			return -1;
	return 0;
}

int
col_skip(struct col_reader *r)
{
	uint64_t n, width, method, len;

	if (col_get_number(r, COL_MAX, &n) != 0)
		return -1;
	for (size_t at = 0; at < n; at += VC_MAX) {
		if (column_head(r, &width, &method, &len) != 0)
			return -1;
		r->p += len;
	}
	return 0;
}

#define AHEAD_LEAST 16384u              /* values of a section that are worth threads */
#define AHEAD_MOST  (4u << 20)          /* values that are decoded before it is known whether they are wanted */

struct column_threads { struct vc_work *work[16]; };

static void
column_work(void *arg, unsigned thread, void *job)
{
	struct column_threads *t = arg;
	struct col_ahead *a = job;
	struct col_reader r = { a->p, a->end, t->work[thread], NULL, NULL, 0, 0 };

	if (!r.w && (r.w = t->work[thread] = vc_work_new(1)) != NULL)
		vc_work_alone(r.w);
	if (!r.w)
		a->col.nomem = 1;
	else if (col_get(&r, &a->col, SIZE_MAX, UINT64_MAX, NULL) != 0) {
		a->err = r.err;
		a->col.nomem |= !r.err;
	}
}

/* Finds the columns of the rest of the section.  The number of their values; 0: none, or they are not for threads */
static uint64_t
columns_find(struct col_reader *r)
{
	struct col_reader at = { r->p, r->end, NULL, NULL, NULL, 0, 0 };
	size_t cap = 0;
	uint64_t sum = 0;

	while (at.p != at.end) {
		struct col_reader head = at;
		struct col_ahead *a;
		uint64_t n;

		if (buf_grow(&r->ahead, &cap, r->nahead + 1, sizeof *r->ahead) != 0)
			break;
		a = &r->ahead[r->nahead];
		*a = (struct col_ahead){ .p = at.p };
		if (col_get_number(&head, COL_MAX, &n) != 0 || col_skip(&at) != 0 || (sum += n) > AHEAD_MOST)
			break;
		a->end = at.p;
		r->nahead++;
	}
	if (at.p == at.end)
		return sum;
	col_ahead_free(r);
	return 0;
}

/* The largest first, as the last one to end is waited for */
static int
columns_by_size(const void *a, const void *b)
{
	const struct col_ahead *p = *(struct col_ahead *const *)a, *q = *(struct col_ahead *const *)b;

	return q->end - q->p > p->end - p->p ? 1 : -(q->end - q->p < p->end - p->p);
}

/* Decodes columns by threads: 0, or -1: not begun */
static int
columns_decode(struct col_ahead **a, size_t n, unsigned nthread)
{
	struct column_threads t = { { 0 } };
	struct par *pool = pool_new_room(nthread, n, column_work, &t);

	if (!pool)
		return -1;
	qsort(a, n, sizeof *a, columns_by_size);
	for (size_t i = 0; i < n; i++)
		pool_submit(pool, a[i]);
	while (pool_wait(pool))
		;
	pool_free(pool);
	for (unsigned i = 0; i < nthread; i++)
		vc_work_free(t.work[i]);
	return 0;
}

void
col_ahead(struct col_reader *r, size_t n, unsigned nthread)
{
	struct col_ahead **all = NULL;
	uint64_t sum = 0;
	size_t k = 0, nall = 0, cap = 0;
	int bad = nthread < 2;

	nthread = nthread > 16 ? 16 : nthread;
	for (; k < n && !bad && sum <= AHEAD_MOST; k++) {
		sum += columns_find(&r[k]);
		bad = buf_grow(&all, &cap, nall + r[k].nahead + 1, sizeof(struct col_ahead *)) != 0;
		for (size_t i = 0; !bad && i < r[k].nahead; i++)
			all[nall++] = &r[k].ahead[i];
	}
	if (bad || sum < AHEAD_LEAST || columns_decode(all, nall, nthread) != 0)
		while (k)
			col_ahead_free(&r[--k]);
	free(all);
}

void
col_ahead_free(struct col_reader *r)
{
	for (size_t i = 0; i < r->nahead; i++)
		col_free(&r->ahead[i].col);
	free(r->ahead);
	r->ahead = NULL;
	r->nahead = r->ahead_at = 0;
}

int
col_get_upto(struct col_reader *r, struct col *c, size_t upto, uint64_t most, const struct col *key)
{
	struct col_reader ahead = *r;
	uint64_t n;

	c->n = 0;
	if (col_get_number(&ahead, COL_MAX, &n) != 0)
		return col_bad(r, ahead.err);
	if (n > upto)
		return col_bad(r, "a column has more values than there can be");
	return col_get(r, c, (size_t)n, most, key);
}

int
col_get_blocks(struct col_reader *r, struct col *c, size_t n, size_t size, col_want_fn *want,
    col_keys_fn *keys, void *arg)
{
	uint64_t all, *key = malloc((n < size ? n : size) * sizeof *key + 1);
	int e = key ? 0 : col_bad(r, NULL);

	c->n = 0;
	if (!e && col_get_number(r, COL_MAX, &all) == 0 && all != n)
		col_bad(r, "a column has another number of values");
	while (!r->err && !e && c->n < n) {
		size_t end = n - c->n < size ? n : c->n + size;
		int skip = !want(arg, c->n, end);

		if (!skip)
			keys(arg, c->n, end, key);
		e = column_block(r, c, end - c->n, UINT64_MAX, key, skip);
	}
	free(key);
	return e || r->err ? -1 : 0;
}
