/*
 * Bidirectional FCM: figure 5 of "Whole Execution Traces". There is one loop for each context size
 * and width of table entries.
 */
#include "codec/bidi/bidi_internal.h"

#include <stdlib.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))
#define RUN_MIN 16u     /* this many equal symbols in a row start a search for the end of the run */

/* The context in registers, nearest (rightmost) symbol first. */
struct window {
	uint64_t a, b, c;
};

INLINE uint64_t
fcm_rotate(uint64_t v, unsigned n)
{
	return v << n | v >> (64 - n);
}

/* hash(U_i .. U_i+n-1) of both directions. */
INLINE size_t
fcm_hash(struct window w, unsigned n, unsigned shift)
{
	uint64_t x = w.a;

	if (n > 1)
		x += fcm_rotate(w.b, 23);
	if (n > 2)
		x += fcm_rotate(w.c, 46);
	return x * UINT64_C(0x9e3779b97f4a7c15) >> shift;
}

INLINE uint64_t
tab_get(const void *tab, size_t i, unsigned esz)
{
	switch (esz) {
	case 1: return ((const uint8_t *)tab)[i];
	case 2: return ((const uint16_t *)tab)[i];
	case 4: return ((const uint32_t *)tab)[i];
	default: return ((const uint64_t *)tab)[i];
	}
}

INLINE void
tab_put(void *tab, size_t i, unsigned esz, uint64_t v)
{
	switch (esz) {
	case 1: ((uint8_t *)tab)[i] = (uint8_t)v; return;
	case 2: ((uint16_t *)tab)[i] = (uint16_t)v; return;
	case 4: ((uint32_t *)tab)[i] = (uint32_t)v; return;
	default: ((uint64_t *)tab)[i] = v; return;
	}
}

INLINE uint64_t
fcm_oldest(struct window w, unsigned n)
{
	return n == 1 ? w.a : n == 2 ? w.b : w.c;
}

INLINE struct window
shift_right(struct window w, unsigned n, uint64_t v)    /* the context moves forward: v enters it */
{
	return (struct window){ v, n > 1 ? w.a : 0, n > 2 ? w.b : 0 };
}

INLINE struct window
shift_left(struct window w, unsigned n, uint64_t v)
{
	return (struct window){ n == 1 ? v : w.b, n == 1 ? 0 : n == 2 ? v : w.c, n == 3 ? v : 0 };
}

/* Compresses v into FR; h is the hash of the symbols after it. */
INLINE int
put_fr(struct bidi_sides *s, size_t h, uint64_t v, unsigned esz)
{
	uint64_t t = tab_get(s->frtb, h, esz);

	if (t == v)
		return 1;
	slot_put(s, s->nfr++, t);
	tab_put(s->frtb, h, esz, v);
	return 0;
}

INLINE int
put_bl(struct bidi_sides *s, size_t h, uint64_t v, unsigned esz)
{
	uint64_t t = tab_get(s->bltb, h, esz);

	if (t == v)
		return 1;
	slot_put(s, s->nslot - ++s->nbl, t);
	if (s->most < s->nfr + s->nbl)
		s->most = s->nfr + s->nbl;
	tab_put(s->bltb, h, esz, v);
	return 0;
}

/*
 * In a context of only x, and for as long as that lasts: does every T that is met pass another x
 * and add a T to the other side? Then flags need not change: those between the sides were read as
 * T, or the tables would differ.
 */
INLINE int
fcm_runs(const struct bidi_sides *s, size_t h, uint64_t x, unsigned esz)
{
	return tab_get(s->bltb, h, esz) == x && tab_get(s->frtb, h, esz) == x;
}

INLINE void
fcm_forward(struct bidi *b, uint64_t *sym, size_t count, const unsigned n, const unsigned esz)
{
	struct window w = { b->win[0], b->win[1], b->win[2] };
	struct bidi_sides s = b->s;
	unsigned shift = 64 - b->tbits, same = 0;
	size_t i = b->pos, end = i + count, run, h = fcm_hash(w, n, shift);

	while (i < end) {
		uint64_t v = tab_get(s.bltb, h, esz), old = fcm_oldest(w, n);

		if (!bit_get(s.flag, i + n))
			tab_put(s.bltb, h, esz, slot_get(&s, s.nslot - s.nbl--));
		same = v == w.a ? same + 1 : 0;
		w = shift_right(w, n, v);
		h = fcm_hash(w, n, shift);
		bit_put(s.flag, i++, put_fr(&s, h, old, esz));
		*sym++ = v;
		if (same >= RUN_MIN) {
			same = 0;
			run = fcm_runs(&s, h, v, esz) ? bit_run(s.flag, i + n, end - i, ~UINT64_C(0)) : 0;
			sym = bidi_fill(sym, v, run);
			i += run;
		}
	}
	b->pos = i;
	b->win[0] = w.a, b->win[1] = w.b, b->win[2] = w.c;
	b->s = s;
}

INLINE void
fcm_backward(struct bidi *b, uint64_t *sym, size_t count, const unsigned n, const unsigned esz)
{
	struct window w = { b->win[0], b->win[1], b->win[2] };
	struct bidi_sides s = b->s;
	unsigned shift = 64 - b->tbits, same = 0;
	size_t i = b->pos, end = i - count, run, h = fcm_hash(w, n, shift);

	while (i > end) {
		uint64_t v = tab_get(s.frtb, h, esz), out = w.a;

		if (!bit_get(s.flag, --i))
			tab_put(s.frtb, h, esz, slot_get(&s, --s.nfr));
		same = v == fcm_oldest(w, n) ? same + 1 : 0;
		w = shift_left(w, n, v);
		h = fcm_hash(w, n, shift);
		bit_put(s.flag, i + n, put_bl(&s, h, out, esz));
		*sym++ = out;
		if (same >= RUN_MIN) {
			same = 0;
			run = fcm_runs(&s, h, v, esz) ? bit_run_back(s.flag, i, i - end, ~UINT64_C(0)) : 0;
			sym = bidi_fill(sym, v, run);
			i -= run;
		}
	}
	b->pos = i;
	b->win[0] = w.a, b->win[1] = w.b, b->win[2] = w.c;
	b->s = s;
}

/* Forward compression of new symbols; BL is empty. */
INLINE void
fcm_feed(struct bidi *b, const uint64_t *sym, size_t count, const unsigned n, const unsigned esz)
{
	struct window w = { b->win[0], b->win[1], b->win[2] };
	struct bidi_sides s = b->s;
	unsigned shift = 64 - b->tbits;

	for (size_t k = 0; k < count; k++) {
		uint64_t old = fcm_oldest(w, n);

		w = shift_right(w, n, sym[k]);
		bit_put(s.flag, b->pos + k, put_fr(&s, fcm_hash(w, n, shift), old, esz));
	}
	b->pos += count;
	b->win[0] = w.a, b->win[1] = w.b, b->win[2] = w.c;
	b->s = s;
}

#define LOOPS(n, esz) \
	static void fwd_##n##_##esz(struct bidi *b, uint64_t *sym, size_t c) \
	{ fcm_forward(b, sym, c, n, esz); } \
	static void bwd_##n##_##esz(struct bidi *b, uint64_t *sym, size_t c) \
	{ fcm_backward(b, sym, c, n, esz); } \
	static void feed_##n##_##esz(struct bidi *b, const uint64_t *sym, size_t c) \
	{ fcm_feed(b, sym, c, n, esz); }
#define WIDTHS(n) LOOPS(n, 1) LOOPS(n, 2) LOOPS(n, 4) LOOPS(n, 8)
WIDTHS(1)
WIDTHS(2)
WIDTHS(3)

static const struct loops {
	void (*fwd)(struct bidi *, uint64_t *, size_t), (*bwd)(struct bidi *, uint64_t *, size_t);
	void (*feed)(struct bidi *, const uint64_t *, size_t);
} loops[3][4] = {
#define L(n, esz) { fwd_##n##_##esz, bwd_##n##_##esz, feed_##n##_##esz }
	{ L(1, 1), L(1, 2), L(1, 4), L(1, 8) },
	{ L(2, 1), L(2, 2), L(2, 4), L(2, 8) },
	{ L(3, 1), L(3, 2), L(3, 4), L(3, 8) },
};

static const struct loops *
loops_of(const struct bidi *b)
{
	return &loops[b->how->ctx - 1][__builtin_ctz(b->esz)];
}

/* Number of entries: all symbols, and the extension on the side that is empty at the other end. */
static size_t
fcm_entries(const struct bidi *b)
{
	return b->count + b->how->ctx;
}

/* Both tables together have about as many bits as the stream has values. */
static unsigned
fcm_suitable(size_t n, unsigned esz)
{
	unsigned t = 2;

	while (t < BIDI_TBITS_MAX && (size_t)esz * 16 << (t + 1) <= n)
		t++;
	return t;
}

static int
fcm_make(struct bidi *b)
{
	struct bidi_sides *s = &b->s;

	b->esz = s->width <= 8 ? 1 : s->width <= 16 ? 2 : s->width <= 32 ? 4 : 8;
	if (!b->tbits)
		b->tbits = fcm_suitable(b->count, b->esz);
	s->nslot = fcm_entries(b);
	s->flag = calloc(bit_words(s->nslot + b->how->ctx), 8);
	s->slot = calloc(bit_words(s->nslot * s->width), 8);
	s->frtb = calloc((size_t)1 << b->tbits, b->esz);
	s->bltb = calloc((size_t)1 << b->tbits, b->esz);
	b->fwd = loops_of(b)->fwd;
	b->bwd = loops_of(b)->bwd;
	return s->flag && s->slot && s->frtb && s->bltb ? 0 : -1;
}

static void
feed_some(struct bidi *b, const uint64_t *sym, size_t n)
{
	loops_of(b)->feed(b, sym, n);
}

static void
fcm_finish(struct bidi *b)
{
	static const uint64_t zeros[3];

	feed_some(b, zeros, b->how->ctx);
	b->s.most = b->s.nfr;
}

/* Moves BL to the end of an array that is no longer than necessary. */
static void
fcm_trim(struct bidi *b)
{
	struct bidi_sides *s = &b->s;
	size_t from = s->nslot - s->nbl, to = s->most - s->nbl;
	uint64_t *p;

	for (size_t i = 0; i < s->nbl; i++)
		slot_put(s, to + i, slot_get(s, from + i));
	s->nslot = s->most;
	p = realloc(s->slot, bit_words(s->nslot * s->width) * 8);
	if (p)
		s->slot = p;
}

static uint64_t
fcm_size(const struct bidi *b, struct bidi_stats *st)
{
	const struct bidi_sides *s = &b->s;

	st->misses = s->nfr + s->nbl;
	st->hits = fcm_entries(b) - st->misses;
	st->entry_bits = fcm_entries(b) + (uint64_t)st->misses * s->width;
	st->table_bits = (uint64_t)16 * b->esz << b->tbits;
	return 8 * (bit_words(s->nslot * s->width) + bit_words(fcm_entries(b) + b->how->ctx)) +
	    st->table_bits / 8;
}

static void
rewind_all(struct bidi *b)
{
	uint64_t sym[256];

	while (b->pos)
		b->bwd(b, sym, b->pos < 256 ? b->pos : 256);
	fcm_trim(b);
}

static size_t
fcm_bound(const struct bidi *b)
{
	size_t ntab = (size_t)1 << b->tbits;

	return fcm_entries(b) / 8 + 1 + ntab / 8 + 1 + (fcm_entries(b) + ntab) * bidi_bytes(b->s.width);
}

/* Writes flags of all entries of FR, its slots, flags of the entries of FRTB that are not 0, and these. */
static uint8_t *
fcm_save(const struct bidi *b, uint8_t *p)
{
	const struct bidi_sides *s = &b->s;
	size_t ntab = (size_t)1 << b->tbits, used = 0, k = 0;
	unsigned bytes = bidi_bytes(s->width);
	uint8_t *set;

	p = bidi_encode_bits(p, s->flag, fcm_entries(b));
	for (size_t i = 0; i < s->nfr; i++)
		plane_put(p, s->nfr, i, bytes, slot_get(s, i));
	set = p += s->nfr * bytes;
	p = memset(set, 0, (ntab + 7) / 8);
	p += (ntab + 7) / 8;
	for (size_t i = 0; i < ntab; i++)
		if (tab_get(s->frtb, i, b->esz)) {
			set[i / 8] |= (uint8_t)(1 << i % 8);
			used++;
		}
	for (size_t i = 0; i < ntab; i++)
		if (tab_get(s->frtb, i, b->esz))
			plane_put(p, used, k++, bytes, tab_get(s->frtb, i, b->esz));
	return p + used * bytes;
}

static int
load_table(struct bidi *b, const uint8_t *set, const uint8_t *p, size_t used)
{
	unsigned bytes = bidi_bytes(b->s.width);
	size_t k = 0;

	for (size_t i = 0; i < (size_t)1 << b->tbits; i++)
		if (set[i / 8] >> i % 8 & 1) {
			uint64_t v = plane_get(p, used, k++, bytes);

			if (v == 0 || v > b->s.mask)
				return -1;
			tab_put(b->s.frtb, i, b->esz, v);
		}
	return 0;
}

static int
fcm_load(struct bidi *b, const uint8_t *p, size_t len)
{
	struct bidi_sides *s = &b->s;
	size_t ntab = (size_t)1 << b->tbits, nset = (ntab + 7) / 8, nflag = (fcm_entries(b) + 7) / 8,
	    used = 0;
	unsigned bytes = bidi_bytes(s->width);

	if (len < nflag + nset || bidi_decode_bits(s->flag, p, fcm_entries(b)) != 0)
		return -1;
	p += nflag;
	len -= nflag + nset;
	s->nfr = fcm_entries(b) - bidi_ones(s->flag, fcm_entries(b));
	if (s->nfr * bytes > len)
		return -1;
	for (size_t i = 0; i < s->nfr; i++) {
		uint64_t v = plane_get(p, s->nfr, i, bytes);

		if (v > s->mask)
			return -1;
		slot_put(s, i, v);
	}
	p += s->nfr * bytes;
	for (size_t i = 0; i < nset; i++)
		used += (size_t)__builtin_popcount(p[i]);
	if (len != (s->nfr + used) * bytes || (ntab < 8 && p[0] >> ntab) ||
	    load_table(b, p, p + nset, used) != 0)
		return -1;
	b->pos = fcm_entries(b);
	s->most = s->nfr;
	return 0;
}

static int
fcm_clean(const struct bidi *b)
{
	for (size_t i = 0; i < (size_t)1 << b->tbits; i++)
		if (tab_get(b->s.frtb, i, b->esz))
			return 0;
	return b->s.nfr == 0 && !b->win[0] && !b->win[1] && !b->win[2];
}

const struct bidi_engine bidi_fcm = { 0, fcm_make, feed_some, fcm_finish, rewind_all, fcm_size, fcm_bound,
	fcm_save, fcm_load, fcm_clean };
