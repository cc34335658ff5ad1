/* Context mixing: the predictors' candidates for a value, and their update. */
#ifndef TM_CODEC_COLUMN_CM_VOTE_INTERNAL_H
#define TM_CODEC_COLUMN_CM_VOTE_INTERNAL_H

#include <string.h>

#include "codec/column/cm_internal.h"
#include "codec/column/cm_numbers.h"
#include "codec/column/cm_rank_internal.h"

#define CM_ROLL 5               /* the slot whose context is the last 8 values */
#define CM_PAIR 2               /* the slot whose context is the last two differences */

struct look {                   /* what is known before a value */
	uint64_t key, cand[CM_VOTES][2], base[CM_SLOTS];
	struct cm_slot *slot[CM_SLOTS];
	struct cm_line *line[2];
	struct cm_key *k;
	uint8_t chk[CM_SLOTS];
	uint8_t hist[CM_VOTES];         /* CM_NONE: no candidate */
	int floats;
};

static inline uint64_t
cm_scaled(uint64_t d, int shift)
{
	return shift >= 0 ? d << shift : (uint64_t)((int64_t)d >> -shift);
}

static inline uint64_t
float_op(unsigned op, uint64_t a, uint64_t b)
{
	double x, y;

	memcpy(&x, &a, sizeof x);
	memcpy(&y, &b, sizeof y);
	x = op == 0 ? x - y : op == 1 ? y - x : op == 2 ? x + y : x * y;
	memcpy(&a, &x, sizeof a);
	return a;
}

/* Is x zero, or of a size whose sums and products are finite and normal? */
static inline int
is_float(uint64_t a)
{
	uint64_t e = a >> 52 & 2047;

	return (e - 0x211 < 0x5f0 - 0x211) | (a << 1 == 0);     /* no branches, which would be mispredicted */
}

static inline void
look_slot(const struct cm *c, struct look *l, int j, uint64_t ctx, uint64_t base)
{
	uint64_t h = ctx * 0xd6e8feb86659fd93;

	l->slot[j] = c->slot + ((size_t)j << c->bits) + (h >> (64 - c->bits));
	l->chk[j] = (uint8_t)(h >> 16);
	l->base[j] = base;
}

/* The two slots that the cheap decision needs. */
static inline void
look_first(const struct cm *c, struct look *l, int keyed)
{
	const struct cm_fix *f = c->f;

	look_slot(c, l, CM_ROLL, cm_mix(cm_mix(f->roll, l->key), f->roll >> 32), 0);
	if (keyed)
		look_slot(c, l, CM_PAIR, cm_mix(cm_mix(l->key, l->k->d1), l->k->d2), l->k->last);
	else
		look_slot(c, l, CM_PAIR, cm_mix(f->g[0] - f->g[1], f->g[1] - f->g[2]), f->g[0]);
}

static inline void
candidates_find_rest(const struct cm *c, struct look *l, int keyed, uint64_t lagged)
{
	const struct cm_fix *f = c->f;
	uint64_t g0 = f->g[0], g1 = f->g[1], key = l->key, last = l->k->last, d1 = l->k->d1, a, b;

	if (keyed) {
		look_slot(c, l, 0, cm_mix(key, last), 0);
		look_slot(c, l, 1, cm_mix(key, f->prevkey), g0);
		look_slot(c, l, 3, cm_mix(key, d1 ^ 0x1234), last);
		look_slot(c, l, 4, cm_mix(cm_mix(key, g0), g1), 0);
		a = key + 3 * f->prevkey;
		b = 5 * key + 1;
	} else {
		look_slot(c, l, 0, cm_mix(g0, 1), 0);
		look_slot(c, l, 1, cm_mix(g0, g1), 0);
		look_slot(c, l, 3, cm_mix(g1 - f->g[3], g0 - f->g[2]), g1);
		look_slot(c, l, 4, cm_mix(lagged, 0x77), 0);
		a = (g0 >> 16) + (g1 >> 16) * 77;
		b = (g1 >> 14) * 5 + (g0 >> 14) * 3;
	}
	l->line[0] = c->line + cm_hash(cm_mix(a, 1), c->bits - 3);
	l->line[1] = c->line + ((size_t)1 << (c->bits - 3)) + cm_hash(cm_mix(b, 2), c->bits - 3);
	for (int q = 0; q < 2; q++)
		__builtin_prefetch(l->line[q], 1);
}

/* Candidates from the slots and what follows them; i: the value's position. */
static inline void
candidates_find(const struct cm *c, struct look *l, const uint64_t *v, size_t i, unsigned width)
{
	const struct cm_fix *f = c->f;

	_Pragma("GCC unroll 8")
	for (int j = 0; j < CM_SLOTS; j++) {
		uint64_t w = l->slot[j]->w;

		l->cand[j][0] = l->slot[j]->v + l->base[j];
		l->cand[j][1] = l->cand[j][0] + (uint64_t)((int64_t)w >> 16);
		l->hist[j] = (w >> 8 & 255) == l->chk[j] ? w & 255 : CM_NONE;
	}
	for (int j = CM_SLOTS; j < CM_VOTES; j++) {
		l->hist[j] = CM_NONE;
		l->cand[j][0] = l->cand[j][1] = 0;
	}
	if (f->mlen) {
		l->cand[CM_MATCH][0] = l->cand[CM_MATCH][1] = v[f->mpos];
		l->hist[CM_MATCH] = (uint8_t)(f->mlen > 31 ? 31 : f->mlen);
	}
	if (f->dlen) {
		uint64_t from = v[f->dpos - 1];

		l->cand[CM_DMATCH][0] = f->g[0] + cm_scaled(v[f->dpos] - from, f->dshift);
		l->cand[CM_DMATCH][1] = f->dpos + 1 < i ?
		    f->g[0] + cm_scaled(v[f->dpos + 1] - from, f->dshift) : l->cand[CM_DMATCH][0];
		l->hist[CM_DMATCH] = (uint8_t)((f->dlen > 31 ? 31 : f->dlen) + (f->dshift ? 32 : 0));
	}
	for (int q = 0; q < 2; q++) {
		const struct cm_line *n = l->line[q];

		if (n->pos) {
			uint64_t d = v[i - n->lag] - n->ref;

			l->cand[CM_LINE + q][0] = l->cand[CM_LINE + q][1] = n->at + cm_scaled(d, n->shift);
			l->hist[CM_LINE + q] = n->hist;
		}
	}
	l->cand[CM_RANK][0] = l->cand[CM_RANK][1] = rank_value(&f->rank, &l->hist[CM_RANK]);
	l->floats = width == 8 && is_float(f->g[0]) && is_float(f->g[1]);
	if (l->floats) {
		l->cand[CM_FLOAT][0] = l->cand[CM_FLOAT][1] = float_op(f->op, f->g[0], f->g[1]);
		l->hist[CM_FLOAT] = (uint8_t)f->ophist;
	}
}

/* Which candidates are x: bits 2j and 2j + 1. */
static inline __attribute__((always_inline)) uint32_t
votes_equal(const struct look *l, uint64_t x)
{
	uint32_t m = 0;

	_Pragma("GCC unroll 16")
	for (int j = CM_VOTES - 1; j >= 0; j--)
		m = m << 2 | (uint32_t)(l->cand[j][1] == x) << 1 | (l->cand[j][0] == x);
	return m;
}

/* The predictors that have one of these candidates. */
static inline unsigned
votes_set(uint32_t m)
{
	m = (m | m >> 1) & 0x555555;
	m = (m | m >> 1) & 0x333333;
	m = (m | m >> 2) & 0x0f0f0f;
	m = (m | m >> 4) & 0xff00ff;
	return (m | m >> 8) & 0xffff;
}

#ifdef __SSE2__
/* Records of the candidates of four predictors, as signed numbers; 0 for those refused. */
static inline __attribute__((always_inline)) __m128i
votes_four(const struct cm_fix *f, const struct look *l, int k, int j, uint32_t refused)
{
	const __m128i each = _mm_setr_epi16(1, 2, 4, 8, 16, 32, 64, 128);
	__m128i x, no = _mm_and_si128(_mm_set1_epi16((short)(refused >> 2 * j & 255)), each);
	int32_t t[4];

	_Pragma("GCC unroll 4")
	for (int i = 0; i < 4; i++)
		memcpy(&t[i], f->t[k][j + i][l->hist[j + i]], sizeof t[i]);
	x = _mm_setr_epi32(t[0], t[1], t[2], t[3]);
	return _mm_xor_si128(_mm_andnot_si128(_mm_cmpeq_epi16(no, each), x), _mm_set1_epi16(INT16_MIN));
}
#endif

/* The candidate, but for those refused, with the best record, the last of equals: index << 1 | which. */
static inline __attribute__((always_inline)) unsigned
votes_best(const struct cm_fix *f, const struct look *l, int k, uint32_t refused, unsigned *best)
{
#ifdef __SSE2__
	const __m128i a = votes_four(f, l, k, 0, refused), b = votes_four(f, l, k, 4, refused),
		c = votes_four(f, l, k, 8, refused);
	__m128i m = _mm_max_epi16(_mm_max_epi16(a, b), c);

	m = _mm_max_epi16(m, _mm_shuffle_epi32(m, 0x4e));
	m = _mm_max_epi16(m, _mm_shuffle_epi32(m, 0xb1));
	m = _mm_max_epi16(m, _mm_shufflelo_epi16(m, 0xb1));
	*best = (unsigned)_mm_extract_epi16(m, 0) ^ 0x8000;
	m = _mm_shuffle_epi32(_mm_shufflelo_epi16(m, 0), 0);
	return 31 - (unsigned)__builtin_clz(
	    (unsigned)_mm_movemask_epi8(_mm_packs_epi16(_mm_cmpeq_epi16(a, m), _mm_cmpeq_epi16(b, m))) |
	    (unsigned)_mm_movemask_epi8(_mm_packs_epi16(_mm_cmpeq_epi16(c, m), _mm_setzero_si128())) << 16);
#else
	unsigned which = 0;

	*best = 0;
	for (unsigned j = 0; j < 2 * CM_VOTES; j++) {
		unsigned p = refused >> j & 1 ? 0 : f->t[k][j / 2][l->hist[j / 2]][j & 1];

		if (p >= *best) {
			*best = p;
			which = j;
		}
	}
	return which;
#endif
}

static inline void
learn_slots(struct look *l, uint64_t val)
{
	_Pragma("GCC unroll 8")
	for (int j = 0; j < CM_SLOTS; j++) {
		struct cm_slot *s = l->slot[j];
		/* the difference to the value before, from now on */
		uint64_t now = val - l->base[j], far = s->v - now;
		int first = s->v == now, second = !first & (l->cand[j][1] == val),
		    known = l->hist[j] != CM_NONE;
		unsigned hist = (unsigned)l->hist[j] << 2 | (unsigned)(2 - (-known & (2 * first + second)));

		far = first ? s->w >> 16 : far;
		far = known ? far : 0;
		s->v = now;
		s->w = far << 16 | (uint64_t)l->chk[j] << 8 | (hist & 255);
	}
}

/* Finds a neighbour whose change, times a power of two, is this value's. */
static inline void
line_search(struct cm_line *n, const uint64_t *v, size_t i, uint64_t dv)
{
	int tz = __builtin_ctzll(dv);

	for (int lag = 1; lag <= 8; lag++) {
		uint64_t d = v[i - lag] - v[n->pos - lag];
		int shift = d ? tz - __builtin_ctzll(d) : 99;

		if (shift >= -5 && shift <= 5 && (int64_t)dv >> tz == (int64_t)d >> (tz - shift)) {
			n->lag = (uint8_t)lag;
			n->shift = (int8_t)shift;
			return;
		}
	}
}

static inline void
learn_lines(struct look *l, const uint64_t *v, size_t i, uint64_t val)
{
	for (int q = 0; i > CM_LAGS && q < 2; q++) {
		struct cm_line *n = l->line[q];

		if (n->pos) {
			int ok = l->cand[CM_LINE + q][0] == val;

			if (!ok || v[i - n->lag] != n->ref)
				n->hist = (uint8_t)((n->hist << 1 | ok) & 63);
			if (!ok && val != n->at && (n->hist || !(i & 3)))
				line_search(n, v, i, val - n->at);
		} else {
			n->lag = (uint8_t)(1 + q);
		}
		n->pos = (uint32_t)i;
		n->at = val;
		n->ref = v[i - n->lag];
	}
}

static inline void
learn_float(struct cm_fix *f, const struct look *l, uint64_t val)
{
	int ok = l->cand[CM_FLOAT][0] == val;

	f->ophist = (f->ophist << 1 | (uint32_t)ok) & 127;
	for (unsigned op = 0; !ok && op < 4; op++)
		if (float_op(op, f->g[0], f->g[1]) == val) {
			f->op = op;
			break;
		}
}

/* The period at which values or differences repeat, searched at every fourth of 64 values. */
static inline void
learn_period(struct cm_fix *f, const uint64_t *v, size_t i, uint64_t val)
{
	if (i < 64 || (i & 192))
		return;
	for (size_t q = 2; q < CM_LAGS; q++)
		f->lag[q] += (unsigned)(v[i - q] == val || v[i - q] - v[i - 2 * q] == val - v[i - q]) << 6;
	if ((i & 63) == 63) {
		uint32_t best = 1;

		for (uint32_t q = 2; q < CM_LAGS; q++)
			best = f->lag[q] > f->lag[best] ? q : best;
		for (uint32_t q = 2; q < CM_LAGS; q++)
			f->lag[q] -= f->lag[q] >> 2;
		f->period = best;
	}
}

#endif
