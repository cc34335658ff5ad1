/*
 * The paper's bidirectional compressors once more, in plain arrays and with
 * nothing clever: what biditest compares the engine with, state by state.
 */
#ifndef TESTDATA_BIDIPLAIN_H
#define TESTDATA_BIDIPLAIN_H

#include <stdlib.h>
#include <string.h>

#include "codec/bidi/bidi_internal.h"

struct entry {
	int t;
	uint64_t v;                     /* F: the v; last n, T: the index */
};

struct plain {
	int last;                       /* last n, not FCM */
	unsigned n, tbits;
	size_t m, i;                    /* symbols, position */
	uint64_t *u;                    /* FCM: the extended stream */
	struct entry *fr, *bl;          /* of symbol k of the (extended) stream, valid on its own side only */
	uint64_t *frtb, *bltb, tb[BIDI_CONTEXT_MAX];
};

static uint64_t
plain_rotate(uint64_t v, unsigned n)
{
	return v << n | v >> (64 - n);
}

/* hash of n symbols of which *u is the leftmost */
static size_t
plain_hash(const struct plain *p, const uint64_t *u)
{
	uint64_t x = 0;

	for (unsigned k = 0; k < p->n; k++)     /* k from the right */
		x += k ? plain_rotate(u[p->n - 1 - k], 23 * k) : u[p->n - 1];
	return x * UINT64_C(0x9e3779b97f4a7c15) >> (64 - p->tbits);
}

/* FR_k from what follows it */
static void
plain_compress_fr(struct plain *p, size_t k)
{
	size_t index = plain_hash(p, p->u + k + 1);

	p->fr[k] = (struct entry){ p->frtb[index] == p->u[k], p->frtb[index] };
	p->frtb[index] = p->u[k];
}

static void
plain_compress_bl(struct plain *p, size_t k)
{
	size_t index = plain_hash(p, p->u + k - p->n);

	p->bl[k] = (struct entry){ p->bltb[index] == p->u[k], p->bltb[index] };
	p->bltb[index] = p->u[k];
}

/* Figure 5.  The symbol uncompressed is u[k], compared with what the table has. */
static uint64_t
plain_backward_fcm(struct plain *p)
{
	size_t index = plain_hash(p, p->u + p->i), k = p->i - 1;
	uint64_t got = p->frtb[index];

	if (got != p->u[k])
		abort();
	if (!p->fr[k].t)
		p->frtb[index] = p->fr[k].v;
	plain_compress_bl(p, p->i + p->n - 1);
	p->i--;
	return p->u[p->i + p->n];
}

static uint64_t
plain_forward_fcm(struct plain *p)
{
	size_t index = plain_hash(p, p->u + p->i), k = p->i + p->n;
	uint64_t got = p->bltb[index];

	if (got != p->u[k])
		abort();
	if (!p->bl[k].t)
		p->bltb[index] = p->bl[k].v;
	plain_compress_fr(p, p->i);
	p->i++;
	return got;
}

/* Last n: the table with its entry j (its last one: n - 1) at the front, or the front at j */
static void
plain_turn(uint64_t *tb, unsigned j, int front)
{
	uint64_t v = tb[front ? j : 0];

	if (front)
		memmove(tb + 1, tb, j * sizeof *tb);
	else
		memmove(tb, tb + 1, j * sizeof *tb);
	tb[front ? 0 : j] = v;
}

static uint64_t
plain_forward_last(struct plain *p)
{
	struct entry e = p->bl[p->i];

	if (e.t) {
		plain_turn(p->tb, (unsigned)e.v, 1);
		p->fr[p->i++] = e;
		return p->tb[0];
	}
	p->fr[p->i++] = (struct entry){ 0, p->tb[p->n - 1] };
	plain_turn(p->tb, p->n - 1, 1);
	return p->tb[0] = e.v;
}

static uint64_t
plain_backward_last(struct plain *p)
{
	struct entry e = p->fr[--p->i];
	uint64_t sym = p->tb[0];

	if (e.t) {
		plain_turn(p->tb, (unsigned)e.v, 0);
		p->bl[p->i] = e;
		return sym;
	}
	plain_turn(p->tb, p->n - 1, 0);
	p->tb[p->n - 1] = e.v;
	p->bl[p->i] = (struct entry){ 0, sym };
	return sym;
}

static uint64_t
plain_forward(struct plain *p)
{
	return p->last ? plain_forward_last(p) : plain_forward_fcm(p);
}

static uint64_t
plain_backward(struct plain *p)
{
	return p->last ? plain_backward_last(p) : plain_backward_fcm(p);
}

/* All symbols forward, from the outside; then, for FCM, all of them back */
static void
plain_open(struct plain *p, const struct bidi *b, const uint64_t *sym)
{
	size_t m = b->count, all;

	memset(p, 0, sizeof *p);
	p->last = b->how->engine == &bidi_last;
	p->n = b->how->ctx;
	p->tbits = b->tbits;
	p->m = m;
	all = m + 2 * p->n;
	p->u = calloc(all, sizeof *p->u);
	p->fr = calloc(all, sizeof *p->fr);
	p->bl = calloc(all, sizeof *p->bl);
	p->frtb = calloc((size_t)1 << p->tbits, sizeof *p->frtb);
	p->bltb = calloc((size_t)1 << p->tbits, sizeof *p->bltb);
	if (!p->u || !p->fr || !p->bl || !p->frtb || !p->bltb)
		abort();
	if (p->last) {
		for (size_t k = 0; k < m; k++) {
			unsigned j = 0;

			while (j < p->n && p->tb[j] != sym[k])
				j++;
			p->bl[k] = (struct entry){ j < p->n, j < p->n ? j : sym[k] };
			plain_forward_last(p);
		}
	} else {
		if (m)
			memcpy(p->u + p->n, sym, m * sizeof *sym);
		for (; p->i < m + p->n; p->i++)
			plain_compress_fr(p, p->i);
	}
	while (p->i)
		plain_backward(p);
}

static void
plain_close(struct plain *p)
{
	free(p->u);
	free(p->fr);
	free(p->bl);
	free(p->frtb);
	free(p->bltb);
}

static uint64_t
table(const struct bidi *b, const void *t, size_t i)
{
	return b->esz == 1 ? ((const uint8_t *)t)[i] : b->esz == 2 ? ((const uint16_t *)t)[i] :
	    b->esz == 4 ? ((const uint32_t *)t)[i] : ((const uint64_t *)t)[i];
}

static int
same_entry(const struct bidi *b, struct entry e, size_t k, size_t *slot)
{
	return e.t == bit_get(b->s.flag, k) && (e.t || slot_get(&b->s, (*slot)++) == e.v);
}

static int
same_fcm(const struct plain *p, const struct bidi *b)
{
	size_t slot = 0;

	for (unsigned k = 0; k < p->n; k++)
		if (b->win[k] != p->u[p->i + p->n - 1 - k])
			return 0;
	for (size_t k = 0; k < p->i; k++)
		if (!same_entry(b, p->fr[k], k, &slot))
			return 0;
	if (slot != b->s.nfr)
		return 0;
	slot = b->s.nslot - b->s.nbl;
	for (size_t k = p->i + p->n; k < p->m + p->n; k++)
		if (!same_entry(b, p->bl[k], k, &slot))
			return 0;
	for (size_t k = 0; k < (size_t)1 << p->tbits; k++)
		if (table(b, b->s.frtb, k) != p->frtb[k] || table(b, b->s.bltb, k) != p->bltb[k])
			return 0;
	return 1;
}

static int
same_last(const struct plain *p, const struct bidi *b)
{
	unsigned bits = (unsigned)__builtin_ctz(p->n);
	size_t slot = 0, hit = 0;

	for (size_t k = 0; k < p->m; k++) {
		struct entry e = k < p->i ? p->fr[k] : p->bl[k];

		if (!same_entry(b, e, k, &slot) || (e.t && bits_get(b->index, hit++ * bits, p->n - 1) != e.v))
			return 0;
	}
	return !memcmp(p->tb, b->list, p->n * sizeof *p->tb) && slot == b->s.nslot && hit == b->hits;
}

/* Is the whole state the same? */
static int
plain_same(const struct plain *p, const struct bidi *b)
{
	return b->pos == p->i && (p->last ? same_last(p, b) : same_fcm(p, b));
}

#endif
