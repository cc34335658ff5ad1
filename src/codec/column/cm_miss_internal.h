/* Context mixing: coding a value that no candidate predicted, by its bytes. */
#ifndef TM_CODEC_COLUMN_CM_MISS_INTERNAL_H
#define TM_CODEC_COLUMN_CM_MISS_INTERNAL_H

#include <string.h>

#include "codec/column/cm_internal.h"
#include "codec/column/cm_numbers.h"
#include "codec/column/cm_vote_internal.h"

/* of 65536: if the bits of a half byte are on average as wrong as this, contexts are not worth their time */
#define DULL    31900
#define MAPRATE 7               /* the maps learn at this rate */
#define ZEROS   4               /* the level from which on a value may end in bytes of zeros */

/* Inputs of the mixer for the bit at that place of the slots. */
static inline cm_vec
miss_inputs(uint16_t (*map)[256][2], uint8_t *const *t, unsigned at)
{
#define S(i) (int16_t)map[i][t[i][at]][1]
	return cm_set(S(0), S(1), S(2), S(3), S(4), S(5), 256, 0);
#undef S
}

/* The maps and the slots of one bit. */
static inline void
miss_learn(uint16_t (*map)[256][2], uint8_t *const *t, unsigned at, int bit)
{
	_Pragma("GCC unroll 8")
	for (int i = 0; i < CM_NMISS; i++) {
		unsigned h = t[i][at];

		cm_move(&map[i][h][0], bit, MAPRATE);
		map[i][h][1] = (uint16_t)cm_stretch(map[i][h][0]);
		t[i][at] = cm_history_tab[bit][h];
	}
}

/*
 * Codes nbit bits by the slots t, the highest first, with rows j of all tables; node: the bits
 * before, after a leading 1. Learning happens when the last bit is known: so the decoder has the
 * probabilities of the next bit, for either value of this one, before it knows this one. err: the
 * sum of the errors.
 */
static inline __attribute__((always_inline)) unsigned
miss_bits(struct cm_fix *f, struct range *r, const int dec, unsigned v, const int nbit, uint8_t *const *t,
    int j, unsigned node, unsigned known, uint32_t *err)
{
	uint16_t (*map)[256][2] = f->map[j];
	int16_t (*w)[8] = f->wmiss[j], *wknown = f->wknown[j][known];
	const cm_vec base = cm_load(wknown);
	cm_vec x = miss_inputs(map, t, 1), after = base;
	uint32_t p = cm_squash(cm_dot2(x, base, w[node]) >> 14);
	unsigned at = 1;

	_Pragma("GCC unroll 4")
	for (int b = nbit - 1; b >= 0; b--) {
		cm_vec x0 = x, x1 = x;
		uint32_t p0 = 0, p1 = 0;
		int bit = v >> b & 1, e;

		if (b && (dec || !bit)) {
			x0 = miss_inputs(map, t, 2 * at);
			p0 = cm_squash(cm_dot2(x0, base, w[2 * node]) >> 14);
		}
		if (b && (dec || bit)) {
			x1 = miss_inputs(map, t, 2 * at + 1);
			p1 = cm_squash(cm_dot2(x1, base, w[2 * node + 1]) >> 14);
		}
		bit = range_bit(r, dec, bit, p);
		*err += bit ? 65536 - p : p;
		e = (((bit << 16) - (int)p) >> 4) * 6;
		cm_train1(x, w[node], &after, e);
		x = cm_either(x0, x1, bit);
		p = p0 ^ ((p0 ^ p1) & -(uint32_t)bit);
		at = 2 * at + (unsigned)bit;
		node = 2 * node + (unsigned)bit;
	}
	cm_store(wknown, after);
	for (int b = nbit - 1; b >= 0; b--)
		miss_learn(map, t, at >> (b + 1), at >> b & 1);
	return at - (1u << nbit);
}

static inline uint8_t *
miss_place(uint8_t *table, int bits, int i, uint64_t h, int shift)
{
	return table + ((size_t)i << bits) + (h >> (64 + shift - bits) << shift);
}

/*
 * The slot of the context with that check: one of two neighbours of that size, or else the one that
 * was used less is replaced.
 */
static inline uint8_t *
miss_find(uint8_t *a, uint8_t chk, size_t size)
{
	uint8_t *b = (uint8_t *)((uintptr_t)a ^ size);
	int other = (a[0] != chk) & ((b[0] == chk) | (b[1] < a[1]));

	a = (uint8_t *)((uintptr_t)a ^ (size & -(size_t)other));
	if (a[0] != chk) {
		memset(a, 1, size);
		a[0] = chk;
	}
	return a;
}

/*
 * Slots of contexts FROM to TO - 1, of that size. All addresses are computed first, so that the
 * slots arrive from memory together. more: the bits before.
 */
static inline __attribute__((always_inline)) void
miss_slots(uint8_t *table, int bits, uint8_t **t, const uint64_t *ctx, uint64_t more, int from, int to,
    int shift)
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

/*
 * The slots of half a byte, for the lower half with the known upper half; paired: the lower half is
 * in the slots of the upper one.
 */
static inline void
miss_half(struct cm *c, uint8_t **t, const uint64_t *ctx, unsigned node, int paired)
{
	if (!paired)
		miss_slots(c->miss, c->bits + CM_MISSBITS, t, ctx, 0, CM_NMISS - CM_PAIRS, CM_NMISS, 5);
	miss_slots(c->miss, c->bits + CM_MISSBITS, t, ctx, node * 0x9e3779b97f4a7c15, 0, CM_NMISS - CM_PAIRS,
	    4);
	if (node == 1)
		return;
	for (int i = CM_NMISS - CM_PAIRS; i < CM_NMISS; i++) {
		t[i] += 16;
		if (t[i][0] != node) {
			memset(t[i], 1, 16);
			t[i][0] = (uint8_t)node;
		}
	}
}

/* For a double, the sign, the exponent and four bits more: the other bits hardly ever repeat. */
static inline uint64_t
cm_coarse(uint64_t v)
{
	return is_float(v) ? v >> 48 : v;
}

static inline void
level_contexts(const struct cm_fix *f, uint64_t *ctx, uint64_t kh)
{
	uint64_t g0 = cm_coarse(f->g[0]);

	ctx[0] = cm_mix(f->levels & 0777, f->hist & 15);
	ctx[1] = cm_mix(g0, kh + 400);
	ctx[2] = cm_mix(f->hist & 255, kh + 300);
	ctx[3] = cm_mix(cm_coarse(f->g[1]), g0 + 600);
	ctx[4] = cm_mix(f->levels & 077777, kh + 700);
	ctx[5] = cm_mix(cm_coarse(f->lastmiss), f->levels & 7);
}

/*
 * Before a value that may have to be coded by bytes: prefetches what that needs while its
 * candidates are tried.
 */
static inline void
miss_expect(const struct cm *c, uint64_t key)
{
	uint64_t ctx[CM_NMISS];

	level_contexts(c->f, ctx, cm_mix(key, 77));
	_Pragma("GCC unroll 8")
	for (int i = 0; i < CM_NMISS; i++)
		__builtin_prefetch(miss_place(c->level, c->bits - 1, i, ctx[i] * 0xd6e8feb86659fd93, 4), 1);
}

/* The number of bytes below the highest one that differs: 0 to 7; x: the differing bits. */
static inline int
miss_level(struct cm *c, struct range *r, const int dec, uint64_t x, uint64_t kh)
{
	struct cm_fix *f = c->f;
	uint64_t ctx[CM_NMISS];
	uint8_t *t[CM_NMISS];
	uint32_t err = 0;
	unsigned level = x ? (unsigned)(63 - __builtin_clzll(x)) / 8 : 0;

	level_contexts(f, ctx, kh);
	miss_slots(c->level, c->bits - 1, t, ctx, 0, 0, CM_NMISS, 4);
	level = miss_bits(f, r, dec, level, 3, t, 8, 1, miss_known(t), &err);
	f->levels = f->levels << 3 | level;
	return (int)level;
}

/* A decision coded by a counter. */
static inline int
miss_flag(struct range *r, const int dec, int bit, uint32_t *t)
{
	uint32_t p = *t >> 16;

	bit = range_bit(r, dec, bit, p < 64 ? 64 : p > 65472 ? 65472 : p);
	cm_count(t, bit, 250);
	return bit;
}

/* The number of zero bytes at the end of v, below the one at level. */
static inline int
miss_zeros(struct cm *c, struct range *r, const int dec, uint64_t v, uint64_t kh, int level)
{
	uint32_t *t = c->f->zeros[kh >> 60][level];
	int n = dec ? 0 : v ? __builtin_ctzll(v) / 8 : 8, node = 1;

	n = n < level ? n : level;
	if (!miss_flag(r, dec, n > 0, t))
		return 0;
	for (int b = 2; b >= 0; b--)
		node = 2 * node + miss_flag(r, dec, (n - 1) >> b & 1, &t[node]);
	return node - 7 < level ? node - 7 : level;
}

/* Will a half byte be coded plainly, because those before it in this place were noise? */
static inline int
miss_dull(uint16_t dull)
{
	return dull > DULL && dull & 15;
}

/* Is it? Counts down. */
static inline int
miss_plain(uint16_t *dull)
{
	if (!miss_dull(*dull))
		return 0;
	--*dull;
	return 1;
}

/* Codes the value v, near ref, at key; prev is another value that it may depend on. */
static inline uint64_t
miss_value(struct cm *c, struct range *r, const int dec, uint64_t v, uint64_t key, uint64_t ref,
    uint64_t prev)
{
	const uint64_t kh = cm_mix(key, 77), g1 = cm_coarse(c->f->g[1]) * 0x9e3779b97f4a7c15;
	int level = miss_level(c, r, dec, dec ? 0 : v ^ ref, kh), h = 2 * level + 1;
	int end = level < ZEROS ? 0 : 2 * miss_zeros(c, r, dec, v, kh, level);
	uint64_t all = level == 7 ? 0 : ref >> 8 * (level + 1);         /* the bytes above half h */
	uint16_t (*dull)[2] = &c->f->dull[kh >> 60][8 * level];

	const uint64_t byk = key * 0xbf58476d1ce4e5b9, bykg = (key + c->f->g[0]) * 0x94d049bb133111eb;

	prev = cm_coarse(prev) * 0x9e3779b97f4a7c15;
	while (h >= end) {
		int n = 0, j, upper;

		for (; n < 16 && h >= end && miss_plain(&dull[h / 2][~h & 1]); n += 4)
			h--;
		if (n)
			all = all << n | range_raw(r, dec, (unsigned)(v >> 4 * (h + 1)) & ((1u << n) - 1), n);
		if (n == 16 || h < end)
			continue;
		j = h / 2;
		upper = h & 1;
		const uint64_t jl = (uint64_t)(j + 8 * level), refbyte = ref >> 8 * j & 255;
		const uint64_t high = upper ? all : all >> 4;
		const uint64_t ctx[CM_NMISS] = {
			cm_mix(high, jl),
			cm_mix(refbyte << 8 | jl, kh + 5),
			cm_mix(high ^ prev, jl + 200),
			cm_mix(high ^ g1, jl + 300),
			cm_mix(high + byk, jl + 400),
			cm_mix(high + bykg, jl + 500),
		};
		uint8_t *t[CM_NMISS];
		int paired = 0;

		do {
			uint16_t *d = &dull[j][~h & 1];
			uint32_t err = 0;
			unsigned node = h & 1 ? 1 : 16 | (unsigned)(all & 15);

			miss_half(c, t, ctx, node, paired);
			all = all << 4 |
			    miss_bits(c->f, r, dec, (unsigned)(v >> 4 * h) & 15, 4, t, j, node, miss_known(t),
				&err);
			*d = (uint16_t)(*d + ((int)(err >> 2) - *d) / 32) | 15;
			paired = 1;
		} while (h-- & 1 && h >= end && !miss_dull(dull[j][1]));
	}
	return all << 4 * end;
}

#endif
