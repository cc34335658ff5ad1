/* The methods of context mixing: blocks, with and without a primer, and the histories that a thread keeps. */
#include "codec/column/method.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK 4096      /* values coded between two checks of the room in the output */

/* Differences, in place: from the end, so that each is of original values. */
static void
cm_differences(uint64_t *v, size_t n, uint64_t mask)
{
	for (size_t i = n; i-- > 1;)
		v[i] = (v[i] - v[i - 1]) & mask;
}

static void
cm_sums(uint64_t *v, size_t n, uint64_t mask)
{
	for (size_t i = 1; i < n; i++)
		v[i] = (v[i] + v[i - 1]) & mask;
}

static inline uint64_t
cm_signed(uint64_t d, uint64_t mask)
{
	return (d << 1 ^ (d > mask >> 1 ? UINT64_MAX : 0)) & mask;
}

/* Values become what that kind codes, in place. */
static void
cm_of_kind(uint64_t *v, size_t n, int kind, uint64_t mask)
{
	if (kind != CM_PLAIN)
		cm_differences(v, n, mask);
	if (kind == CM_SIGNED2)
		cm_differences(v, n, mask);
	for (size_t i = 0; kind >= CM_SIGNED && i < n; i++)
		v[i] = cm_signed(v[i], mask);
}

/* The opposite. */
static void
cm_values(uint64_t *v, size_t n, int kind, uint64_t mask)
{
	for (size_t i = 0; kind >= CM_SIGNED && i < n; i++)
		v[i] = (v[i] >> 1 ^ -(v[i] & 1)) & mask;
	if (kind == CM_SIGNED2)
		cm_sums(v, n, mask);
	if (kind != CM_PLAIN)
		cm_sums(v, n, mask);
}

/* Finds that history, or the slot of the one that was least recently used. */
static struct cm_past *
cm_past(struct vc_work *w, uint64_t id, int kind)
{
	struct cm_past *p = &w->past[0];

	for (unsigned i = 0; i < w->held; i++) {
		struct cm_past *q = &w->past[i];

		if (id && q->id == id && q->kind == kind) {
			p = q;
			break;
		}
		p = q->used < p->used ? q : p;
	}
	p->used = ++w->turns;
	return p;
}

/*
 * Makes room for that many values after the history of prime, which is copied there if it is not.
 * 0, or -1.
 */
static int
cm_history(struct vc_work *w, const struct vc_prime *prime, int kind, size_t n, int keyed, unsigned width)
{
	size_t skip = prime ? prime->n : 0;
	uint64_t id = prime ? prime->id : 0;
	struct cm_past *p = w->now = cm_past(w, id, kind);

	p->first = 0;
	p->layout = 0;
	if (skip + n > p->cap)
		p->id = 0;
	if (buf_grow(&p->v, &p->cap, skip + n, sizeof *p->v)
	    || (keyed && buf_grow(&p->key, &p->keycap, skip + n, sizeof *p->key)))
		return -1;
	if (id && id == p->id && kind == p->kind)
		return 0;
	if (skip) {
		memcpy(p->v, prime->v, skip * sizeof *p->v);
		cm_of_kind(p->v, skip, kind, vc_mask(prime->width));
		if (keyed)
			memcpy(p->key, prime->key, skip * sizeof *p->key);
	}
	p->id = id;
	p->kind = kind;
	p->keyed = keyed;
	p->width = width;
	return 0;
}

static int
cm_encode(struct vc_work *w, struct range *r, struct buf *out, size_t i, size_t end, int keyed,
    unsigned width)
{
	size_t start = out->n;

	range_enc_init(r, NULL);
	while (i < end) {
		size_t n = end - i < CHUNK ? end - i : CHUNK;

		if (!buf_reserve(out, n * CM_ROOM + 64))
			return -1;
		r->out = out->p + start;
		cm_enc(&w->now->cm, r, w->now->v, keyed ? w->now->key : NULL, i, i + n, width);
		out->n = start + r->n;
		i += n;
	}
	return 0;
}

/* Sets w->now->cm to the state after the values of prime. 0, or -1. */
static int
cm_primed(struct vc_work *w, const struct vc_prime *prime, int kind)
{
	/* only what is made here, under the lock, ever changes */
	struct vc_prime *p = (struct vc_prime *)prime;
	struct range r;
	int ret = -1;

	pthread_mutex_lock(&p->lock);
	if (p->cm[kind].f) {
		ret = 0;
	} else {
		w->tmp.n = 0;
		if (cm_reset(&w->now->cm, cm_bits(p->n, w->columns)) == 0
		    && cm_encode(w, &r, &w->tmp, 0, p->n, p->key != NULL, p->width) == 0)
			ret = cm_copy(&p->cm[kind], &w->now->cm);
	}
	pthread_mutex_unlock(&p->lock);
	return ret ? ret : cm_copy(&w->now->cm, &p->cm[kind]);
}

/* Sets up the state before the block's first value; *skip: the position of that value. */
static int
cm_begin(struct vc_work *w, const struct vc_prime *prime, const struct vc_col *col, int kind, size_t *skip)
{
	*skip = prime ? prime->n : 0;
	if (prime && !prime->key != !col->key)
		return -1;
	if (cm_history(w, prime, kind, col->n, col->key != NULL, col->width))
		return -1;
	if (prime ? cm_primed(w, prime, kind) : cm_reset(&w->now->cm, cm_bits(col->n, w->columns)))
		return -1;
	if (col->key && col->n)
		memcpy(w->now->key + *skip, col->key, col->n * sizeof *col->key);
	return 0;
}

static int
column_cm_enc(struct vc_work *w, const struct vc_prime *prime, const struct vc_col *col, int kind,
    struct buf *out)
{
	struct range r;
	size_t skip;

	if (cm_begin(w, prime, col, kind, &skip))
		return -1;
	if (col->n)
		memcpy(w->now->v + skip, col->v, col->n * sizeof *col->v);
	cm_of_kind(w->now->v + skip, col->n, kind, vc_mask(col->width));
	if (cm_encode(w, &r, out, skip, skip + col->n, col->key != NULL, col->width))
		return -1;
	out->n -= r.n;
	range_end(&r);
	out->n += r.n;
	w->now->first = prime ? 0 : col->n;
	return 0;
}

/* Are these values of that width, and was all of the input read? Else sets *err. */
static int
cm_whole(const struct range *r, size_t len, const uint64_t *v, const struct vc_col *col, const char **err)
{
	uint64_t all = 0;

	for (size_t i = 0; i < col->n; i++)
		all |= v[i];
	if (!(all & ~vc_mask(col->width)) && r->n >= len)
		return 1;
	*err = r->n < len ? "bytes after the last value" : "a value that is too wide";
	return 0;
}

/* A block without a primer, of which none will be made: its values are its own history. */
static int
cm_dec_alone(struct vc_work *w, const struct vc_col *col, int kind, const uint8_t *p, size_t len, uint64_t *v,
    const char **err)
{
	struct cm_past *past = w->now = &w->past[0];
	struct range r;

	past->id = 0;
	past->first = 0;
	if (cm_reset(&past->cm, cm_bits(col->n, w->columns))) {
		*err = "no memory";
		return -1;
	}
	range_dec_init(&r, p, len);
	cm_dec(&past->cm, &r, v, col->key, 0, col->n, col->width);
	if (!cm_whole(&r, len, v, col, err))
		return -1;
	cm_values(v, col->n, kind, vc_mask(col->width));
	return 0;
}

static int
column_cm_dec(struct vc_work *w, const struct vc_prime *prime, const struct vc_col *col, int kind,
	const uint8_t *p, size_t len, uint64_t *v, const char **err)
{
	struct range r;
	size_t skip;

	if (w->alone && !prime)
		return cm_dec_alone(w, col, kind, p, len, v, err);
	if (cm_begin(w, prime, col, kind, &skip)) {
		*err = "no memory";
		return -1;
	}
	range_dec_init(&r, p, len);
	cm_dec(&w->now->cm, &r, w->now->v, col->key ? w->now->key : NULL, skip, skip + col->n, col->width);
	if (!cm_whole(&r, len, w->now->v + skip, col, err))
		return -1;
	w->now->first = prime ? 0 : col->n;
	if (col->n)
		memcpy(v, w->now->v + skip, col->n * sizeof *v);
	cm_values(v, col->n, kind, vc_mask(col->width));
	return 0;
}

/* Is that the state after the first block that p was made of? */
static int
state_of(const struct cm_past *q, const struct vc_prime *p)
{
	uint64_t mask = vc_mask(p->width), prev = 0, prevd = 0;

	if (!p->n || q->first != p->n ||
	    (p->key && (!q->key || memcmp(q->key, p->key, p->n * sizeof *p->key))))
		return 0;
	for (size_t i = 0; i < p->n; i++) {
		uint64_t d = (p->v[i] - prev) & mask, want = q->kind == CM_PLAIN ? p->v[i] :
		    q->kind == CM_DELTA ? d :
		    cm_signed(q->kind == CM_SIGNED ? d : (d - prevd) & mask, mask);

		if (q->v[i] != want)
			return 0;
		prev = p->v[i];
		prevd = d;
	}
	return 1;
}

void
cm_prime_adopt(struct vc_work *w, struct vc_prime *p)
{
	static const enum vc_method kinds[CM_KINDS] = { VC_CM, VC_CM_DELTA, VC_CM_SIGNED, VC_CM_SIGNED2 };
	unsigned used = 0;

	for (unsigned i = 0; i < w->held; i++) {
		struct cm_past *q = &w->past[i];

		if (p->cm[q->kind].f || q->keyed != (p->key != NULL) || q->width != p->width ||
		    !state_of(q, p))
			continue;
		if (q->cm.room > cm_memory(q->cm.bits)) {       /* more than the state takes */
			if (cm_copy(&p->cm[q->kind], &q->cm) != 0)
				continue;
		} else {
			p->cm[q->kind] = q->cm;
			memset(&q->cm, 0, sizeof q->cm);
		}
		q->first = 0;
		q->id = p->id;
		if (q->used < used)
			continue;
		used = q->used;         /* the last one is the better kind */
		p->layout = q->layout;
		p->hint = p->hint == VC_STORED ? VC_STORED : kinds[q->kind];
	}
}

int
vc_cm_enc(struct vc_work *w, const struct vc_prime *prime, const struct vc_col *col, struct buf *out)
{
	return column_cm_enc(w, prime, col, CM_PLAIN, out);
}

int
vc_cm_dec(struct vc_work *w, const struct vc_prime *prime, const struct vc_col *col,
	const uint8_t *p, size_t len, uint64_t *v, const char **err)
{
	return column_cm_dec(w, prime, col, CM_PLAIN, p, len, v, err);
}

int
vc_cmd_enc(struct vc_work *w, const struct vc_prime *prime, const struct vc_col *col, struct buf *out)
{
	return column_cm_enc(w, prime, col, CM_DELTA, out);
}

int
vc_cmd_dec(struct vc_work *w, const struct vc_prime *prime, const struct vc_col *col,
	const uint8_t *p, size_t len, uint64_t *v, const char **err)
{
	return column_cm_dec(w, prime, col, CM_DELTA, p, len, v, err);
}

int
vc_cms_enc(struct vc_work *w, const struct vc_prime *prime, const struct vc_col *col, struct buf *out)
{
	return w->extended ? column_cm_enc(w, prime, col, CM_SIGNED, out) : 1;
}

int
vc_cms_dec(struct vc_work *w, const struct vc_prime *prime, const struct vc_col *col,
	const uint8_t *p, size_t len, uint64_t *v, const char **err)
{
	return column_cm_dec(w, prime, col, CM_SIGNED, p, len, v, err);
}

int
vc_cmss_enc(struct vc_work *w, const struct vc_prime *prime, const struct vc_col *col, struct buf *out)
{
	return w->extended ? column_cm_enc(w, prime, col, CM_SIGNED2, out) : 1;
}

int
vc_cmss_dec(struct vc_work *w, const struct vc_prime *prime, const struct vc_col *col,
	const uint8_t *p, size_t len, uint64_t *v, const char **err)
{
	return column_cm_dec(w, prime, col, CM_SIGNED2, p, len, v, err);
}
