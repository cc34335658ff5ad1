/* Context mixing: a value that no candidate had, by its bytes. */
#ifndef TM_ENGINE_CODEC_CMMISS_H
#define TM_ENGINE_CODEC_CMMISS_H

#include <string.h>

#include "engine/codec/cm.h"
#include "engine/codec/cmnum.h"
#include "engine/codec/cmvote.h"

#define DULL    31900           /* of 65536: so wrong is a bit on average when its half of a byte is not worth contexts */
#define ZEROS   4               /* level from which on a value may end in bytes of zeros */

/* One bit; t[i] is the slot of context i, at the bit's place there, map what is made of histories; w and w2 the weights */
static inline int
miss_bit(struct range *r, const int dec, int bit, uint8_t *const *t, int at, uint16_t (*map)[256], int16_t *w, int16_t *w2, uint32_t *err)
{
	uint16_t *q[CM_NMISS];
	int s[CM_NMISS];
	cm_vec x;
	uint32_t p;

	_Pragma("GCC unroll 8")
	for (int i = 0; i < CM_NMISS; i++) {
		q[i] = &map[i][t[i][at]];
		s[i] = cm_stretch(*q[i]);
	}
	x = cm_set(s[0], s[1], s[2], s[3], s[4], s[5], s[6], 256);
	p = cm_squash(cm_dot(&x, w, w2, 1) >> 14);
	bit = range_bit(r, dec, bit, p);
	*err += bit ? 65536 - p : p;
	cm_train(&x, w, w2, (((bit << 16) - (int)p) >> 4) * 6, 1);
	_Pragma("GCC unroll 8")
	for (int i = 0; i < CM_NMISS; i++) {
		unsigned h = t[i][at];

		cm_move(q[i], bit, 6);
		t[i][at] = (uint8_t)(h << 1 | (unsigned)bit | (h & 128));
	}
	return bit;
}

static inline uint8_t *
miss_place(uint8_t *table, int bits, int i, uint64_t h, int shift)
{
	return table + ((size_t)i << bits) + (h >> (64 + shift - bits) << shift);
}

/* Where the context with that check is: at one of two neighbours of that size, or in place of the one that was used less */
static inline uint8_t *
miss_find(uint8_t *a, uint8_t chk, size_t size)
{
	uint8_t *b = (uint8_t *)((uintptr_t)a ^ size);

	if (a[0] == chk)
		return a;
	a = b[0] == chk || b[1] < a[1] ? b : a;
	if (a[0] != chk) {
		memset(a, 1, size);
		a[0] = chk;
	}
	return a;
}

/*
 * Slots of contexts FROM to TO - 1, of that size: all places are found first,
 * that they come from memory together.  more: the bits before
 */
static inline __attribute__((always_inline)) void
miss_slots(uint8_t *table, int bits, uint8_t **t, const uint64_t *ctx, uint64_t more, int from, int to, int shift)
{
	uint8_t chk[CM_NMISS];

	_Pragma("GCC unroll 8")
	for (int i = from; i < to; i++) {
		uint64_t h = (ctx[i] + more) * 0xd6e8feb86659fd93;

		chk[i] = (uint8_t)(h >> 8);
		t[i] = miss_place(table, bits, i, h, shift);
		__builtin_prefetch(t[i], 1);
	}
	for (int i = from; i < to; i++)
		t[i] = miss_find(t[i], chk[i], (size_t)1 << shift);
}

static inline unsigned
miss_known(uint8_t *const *t)
{
	unsigned known = 0;

	_Pragma("GCC unroll 8")
	for (int i = 0; i < CM_NMISS; i++)
		known |= (unsigned)(t[i][1] != 1) << i;
	return known;
}

/* A byte, the upper half first, whose contexts are ctx */
static inline unsigned
miss_byte(struct cm *c, struct range *r, const int dec, unsigned byte, const uint64_t *ctx, int j, uint16_t *dull)
{
	struct cm_fix *f = c->f;
	uint8_t *t[CM_NMISS];
	unsigned node = 1;
	int pairs = 0;          /* the places of contexts with pairs of slots are known */

	for (int half = 4; half >= 0; half -= 4, dull++) {
		uint32_t err = 0;
		unsigned known;
		int at = 1;

		if (*dull > DULL && *dull & 15) {
			node = node << 4 | range_raw(r, dec, byte >> half & 15, 4);
			--*dull;
			continue;
		}
		if (!pairs)
			miss_slots(c->miss, c->bits + CM_MISSBITS, t, ctx, 0, CM_NMISS - CM_PAIRS, CM_NMISS, 5);
		pairs = 1;
		miss_slots(c->miss, c->bits + CM_MISSBITS, t, ctx, node * 0x9e3779b97f4a7c15, 0, CM_NMISS - CM_PAIRS, 4);
		if (!half)
			for (int i = CM_NMISS - CM_PAIRS; i < CM_NMISS; i++) {
				t[i] += 16;
				if (t[i][0] != node) {
					memset(t[i], 1, 16);
					t[i][0] = (uint8_t)node;
				}
			}
		known = miss_known(t);
		for (int b = half + 3; b >= half; b--) {
			int bit = miss_bit(r, dec, byte >> b & 1, t, at, f->map[j], f->wmiss[j][node], f->wknown[j][known], &err);

			at = 2 * at + bit;
			node = 2 * node + (unsigned)bit;
		}
		*dull = (uint16_t)(*dull + ((int)(err >> 2) - *dull) / 32) | 15;
	}
	return node & 255;
}

/* Of a double the sign, the exponent and four bits more: the others never come again in a way that matters */
static inline uint64_t
coarse(uint64_t v)
{
	return is_float(v) ? v >> 48 : v;
}

static inline void
level_contexts(const struct cm_fix *f, uint64_t *ctx, uint64_t kh, uint64_t cand)
{
	uint64_t g0 = coarse(f->g[0]);

	ctx[0] = cm_mix(f->levels & 7, kh);
	ctx[1] = cm_mix(f->levels & 0777, f->hist & 15);
	ctx[2] = cm_mix(g0, kh + 400);
	ctx[3] = cm_mix(f->hist & 255, kh + 300);
	ctx[4] = cm_mix(coarse(f->g[1]), g0 + 600);
	ctx[5] = cm_mix(f->levels & 077777, 700);
	ctx[6] = cm_mix(coarse(cand), 500);
}

/* Before a value that will perhaps have to be written: what that needs first comes from memory while its candidates are tried */
static inline void
miss_expect(const struct cm *c, uint64_t key)
{
	uint64_t ctx[CM_NMISS];

	level_contexts(c->f, ctx, cm_mix(key, 77), 0);
	_Pragma("GCC unroll 8")
	for (int i = 0; i < CM_NMISS - 1; i++)
		__builtin_prefetch(miss_place(c->level, c->bits - 1, i, ctx[i] * 0xd6e8feb86659fd93, 4), 1);
}

/* How many bytes there are below the highest that differs: 0 to 7; x: the differing bits; cand: the first refused candidate */
static inline int
miss_level(struct cm *c, struct range *r, const int dec, uint64_t x, uint64_t kh, uint64_t cand)
{
	struct cm_fix *f = c->f;
	uint64_t ctx[CM_NMISS];
	uint8_t *t[CM_NMISS];
	unsigned known;
	uint32_t err = 0;
	int level = x ? (63 - __builtin_clzll(x)) / 8 : 0, at = 1;

	level_contexts(f, ctx, kh, cand);
	miss_slots(c->level, c->bits - 1, t, ctx, 0, 0, CM_NMISS, 4);
	known = miss_known(t);
	for (int b = 2; b >= 0; b--)
		at = 2 * at + miss_bit(r, dec, level >> b & 1, t, at, f->map[8], f->wmiss[8][at], f->wknown[8][known], &err);
	f->levels = f->levels << 3 | (unsigned)(at - 8);
	return at - 8;
}

/* Are bytes j to 0 of v all zeros? */
static inline int
miss_zeros(struct cm *c, struct range *r, const int dec, uint64_t v, uint64_t kh, int level, int j)
{
	uint32_t *t = &c->f->zeros[kh >> 60][level][j], p = *t >> 16;
	int bit = range_bit(r, dec, !dec && !(v << (56 - 8 * j)), p < 64 ? 64 : p > 65472 ? 65472 : p);

	cm_count(t, bit, 250);
	return bit;
}

/* The value v, near ref, at key; prev and cand are other values that it may depend on */
static inline uint64_t
miss_value(struct cm *c, struct range *r, const int dec, uint64_t v, uint64_t key, uint64_t ref, uint64_t prev, uint64_t cand)
{
	const uint64_t kh = cm_mix(key, 77), g0 = coarse(c->f->g[0]) * 0x2545f4914f6cdd1d, g1 = coarse(c->f->g[1]) * 0x9e3779b97f4a7c15;
	int level = miss_level(c, r, dec, dec ? 0 : v ^ ref, kh, cand);
	uint64_t high = level == 7 ? 0 : ref >> 8 * (level + 1);

	prev = coarse(prev) * 0x9e3779b97f4a7c15;
	for (int j = level; j >= 0; j--) {
		uint64_t jl = (uint64_t)(j + 8 * level), refbyte = ref >> 8 * j & 255, candbyte = cand >> 8 * j & 255;
		uint16_t *dull = c->f->dull[kh >> 60][jl];
		unsigned byte = v >> 8 * j & 255;

		if (level >= ZEROS && j < level && miss_zeros(c, r, dec, v, kh, level, j))
			return high << 8 * (j + 1);
		const uint64_t ctx[CM_NMISS] = {
			cm_mix(jl, kh),
			cm_mix(high, jl),
			cm_mix(refbyte << 8 | jl, kh + 5),
			cm_mix(candbyte << 9 | (cand >> 8 * j >> 8 == high) << 8 | jl, kh + 6),
			cm_mix(high ^ prev, jl + 200),
			cm_mix(high ^ g1, jl + 300 + g0),
			cm_mix(high ^ g1, jl + 300),
		};

		high = high << 8 | miss_byte(c, r, dec, byte, ctx, j, dull);
	}
	return high;
}

#endif
