/* Context mixing: coding a value that no candidate predicted, by its bytes. */
#ifndef TM_CODEC_COLUMN_CM_MISS_INTERNAL_H
#define TM_CODEC_COLUMN_CM_MISS_INTERNAL_H

#include <stdlib.h>
#include <string.h>

#include "codec/column/cm_internal.h"
#include "codec/column/cm_numbers.h"
#include "codec/column/cm_slots_internal.h"
#include "codec/column/cm_vote_internal.h"

/* of 65536: if the bits of a half byte are on average as wrong as this, contexts are not worth their time */
#define DULL    31900
#define MAPRATE 7               /* the maps learn at this rate */
#define ZEROS   4               /* the level from which on a value may end in bytes of zeros */

/* Inputs of the mixer for the bit at that place of the slots. */
static inline __attribute__((always_inline)) cm_vec
miss_inputs(uint16_t (*map)[256][2], const struct cm_slots *s, unsigned at)
{
#define S(i) (int16_t)map[i][s->hist[i][at]][1]
	return cm_set(S(0), S(1), S(2), S(3), S(4), S(5), 256, 0);
#undef S
}

/* The maps of nbit bits; bits: these, after a leading 1. */
static inline __attribute__((always_inline)) void
miss_learn(uint16_t (*map)[256][2], const struct cm_slots *s, const int nbit, unsigned bits)
{
	_Pragma("GCC unroll 4")
	for (int b = nbit - 1; b >= 0; b--) {
		unsigned at = bits >> (b + 1);
		/* cm_move without a branch, which would be mispredicted */
		int to = (65535 + (1 << MAPRATE) - 1) & -(int)(bits >> b & 1);

		_Pragma("GCC unroll 8")
		for (int i = 0; i < CM_NMISS; i++) {
			uint16_t *m = map[i][s->hist[i][at]];
			int p = m[0];

			p += (to - p) >> MAPRATE;
			m[0] = (uint16_t)p;
			m[1] = (uint16_t)cm_stretch((uint32_t)p);
		}
	}
}

/*
 * Codes nbit bits by the slots, the highest first, with rows j of all tables; node: the bits before,
 * after a leading 1. Weights by node are learned at once, all else when the last bit is known: so the
 * decoder has the probabilities of the next bit, for either value of this one, before it knows this
 * one. *err: the sum of the errors.  Returns the bits after a leading 1.
 */
static inline __attribute__((always_inline)) unsigned
miss_bits(struct cm_fix *f, struct range *r, const int dec, unsigned v, const int nbit,
    const struct cm_slots *s, int j, unsigned node, uint32_t *err)
{
	uint16_t (*map)[256][2] = f->map[j];
	int16_t (*w)[8] = f->wmiss[j], *wknown = f->wknown[j][slots_known(s)];
	const cm_vec base = cm_load(wknown);
	cm_vec x = miss_inputs(map, s, 1), after = base;
	uint32_t p = cm_squash(cm_dot2(x, base, w[node]) >> 14), sum = 0;
	unsigned at = 1;
	struct range q = *r;

	_Pragma("GCC unroll 4")
	for (int b = nbit - 1; b >= 0; b--) {
		cm_vec x0 = x, x1 = x;
		uint32_t p0 = 0, p1 = 0;
		int bit = v >> b & 1, e;

		if (b && dec) {
			x0 = miss_inputs(map, s, 2 * at);
			x1 = miss_inputs(map, s, 2 * at + 1);
			cm_two(x0, x1, base, w + 2 * node, &p0, &p1);
		}
		bit = range_bit(&q, dec, bit, p);
		e = (bit << 16) - (int)p;
		sum += (uint32_t)abs(e);
		cm_train1(x, w[node], &after, (e >> 4) * 6);
		at = 2 * at + (unsigned)bit;
		node = 2 * node + (unsigned)bit;
		if (b && dec) {
			x = cm_either(x0, x1, bit);
			p = p0 ^ ((p0 ^ p1) & -(uint32_t)bit);
		} else if (b) {
			x = miss_inputs(map, s, at);
			p = cm_squash(cm_dot2(x, base, w[node]) >> 14);
		}
	}
	cm_store(wknown, after);
	*r = q;
	*err = sum;
	return at;
}

/* For a double, the sign, the exponent and four bits more: the other bits hardly ever repeat. */
static inline uint64_t
cm_coarse(uint64_t v)
{
	return v >> (-is_float(v) & 48);
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
	struct cm_slots s;

	level_contexts(c->f, ctx, cm_mix(key, 77));
	slots_aim(&s, c->level, c->bits - 1, ctx, 0, 0, CM_NMISS, 4);
}

/* A decision coded by a counter. */
static inline __attribute__((always_inline)) int
miss_flag(struct range *r, const int dec, int bit, uint32_t *t)
{
	uint32_t p = *t >> 16;

	bit = range_bit(r, dec, bit, p < 64 ? 64 : p > 65472 ? 65472 : p);
	cm_count(t, bit, 250);
	return bit;
}

/* The number of zero bytes at the end of v, below the one at level. */
static inline __attribute__((always_inline)) int
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

/* A value that is coded by bytes. */
struct miss {
	struct cm *c;
	struct cm_slots s;
	uint64_t ctx[CM_NMISS];
	uint64_t key, kh, ref, prev, g1;
	uint64_t all;           /* the half bytes above half h */
	uint16_t (*dull)[2];
	int level, h, end;      /* halves are coded down from h to end */
	int ready;              /* are the contexts of half h known, and where their slots are? */
	int paired;             /* are its slots next to those of the half above? */
};

/* Will half h be coded by contexts? */
static inline int
miss_bright(const struct miss *m)
{
	return m->h >= m->end && !miss_dull(m->dull[m->h / 2][~m->h & 1]);
}

/* Slots of contexts without pairs, which depend on the bits before in this byte. */
static inline __attribute__((always_inline)) void
miss_aim_single(struct miss *m, unsigned node)
{
	const struct cm *c = m->c;

	slots_aim(&m->s, c->miss, c->bits + CM_MISSBITS, m->ctx, node * 0x9e3779b97f4a7c15, 0,
	    CM_NMISS - CM_PAIRS, 4);
}

/* The bits before half h in its byte, after a leading 1. */
static inline unsigned
miss_node(const struct miss *m)
{
	return m->h & 1 ? 1 : 16 | (unsigned)(m->all & 15);
}

/* The contexts of half h. */
static inline __attribute__((always_inline)) void
miss_aim(struct miss *m)
{
	const struct cm *c = m->c;
	const int j = m->h / 2;
	const uint64_t jl = (uint64_t)(j + 8 * m->level), refbyte = m->ref >> 8 * j & 255;
	const uint64_t high = m->h & 1 ? m->all : m->all >> 4;

	m->ctx[0] = cm_mix(high, jl);
	m->ctx[1] = cm_mix(refbyte << 8 | jl, m->kh + 5);
	m->ctx[2] = cm_mix(high ^ m->prev, jl + 200);
	m->ctx[3] = cm_mix(high ^ m->g1, jl + 300);
	m->ctx[4] = cm_mix(high + m->key * 0xbf58476d1ce4e5b9, jl + 400);
	m->ctx[5] = cm_mix(high + (m->key + c->f->g[0]) * 0x94d049bb133111eb, jl + 500);
	slots_aim(&m->s, c->miss, c->bits + CM_MISSBITS, m->ctx, 0, CM_NMISS - CM_PAIRS, CM_NMISS, 5);
	miss_aim_single(m, miss_node(m));
	m->ready = 1;
	m->paired = 0;
}

/*
 * Codes half h and goes on to the next one, whose slots arrive from memory while the maps learn.
 */
static inline __attribute__((always_inline)) void
miss_half(struct miss *m, struct range *r, const int dec, uint64_t v)
{
	struct cm_fix *f = m->c->f;
	const int j = m->h / 2, upper = m->h & 1;
	const unsigned node = miss_node(m);
	uint16_t *d = &m->dull[j][!upper];
	uint32_t err;
	unsigned bits;

	slots_find(&m->s, 0, CM_NMISS - CM_PAIRS, 4);
	if (!m->paired)
		slots_find(&m->s, CM_NMISS - CM_PAIRS, CM_NMISS, 5);
	if (!upper)
		slots_lower(&m->s, CM_NMISS - CM_PAIRS, CM_NMISS, node);
	bits = miss_bits(f, r, dec, (unsigned)(v >> 4 * m->h) & 15, 4, &m->s, j, node, &err);
	slots_learn(&m->s, bits);
	*d = (uint16_t)(*d + ((int)(err >> 2) - *d) / 32) | 15;
	m->all = m->all << 4 | (bits & 15);
	m->h--;
	m->ready = miss_bright(m);
	m->paired = upper;
	if (m->ready && upper)
		miss_aim_single(m, miss_node(m));
	else if (m->ready)
		miss_aim(m);
	miss_learn(f->map[j], &m->s, 4, bits);
}

/*
 * The number of bytes below the highest one that differs: 0 to 7.  The maps learn while the slots of the
 * value's first half byte arrive.
 */
static inline __attribute__((always_inline)) void
miss_level(struct miss *m, struct range *r, const int dec, uint64_t v)
{
	struct cm *c = m->c;
	struct cm_fix *f = c->f;
	const uint64_t x = v ^ m->ref;
	uint32_t err;
	unsigned level = dec || !x ? 0 : (unsigned)(63 - __builtin_clzll(x)) / 8, bits;

	level_contexts(f, m->ctx, m->kh);
	slots_aim(&m->s, c->level, c->bits - 1, m->ctx, 0, 0, CM_NMISS, 4);
	slots_find(&m->s, 0, CM_NMISS, 4);
	bits = miss_bits(f, r, dec, level, 3, &m->s, 8, 1, &err);
	slots_learn(&m->s, bits);
	level = bits & 7;
	f->levels = f->levels << 3 | level;
	m->level = (int)level;
	m->h = 2 * m->level + 1;
	m->all = level == 7 ? 0 : m->ref >> 8 * (level + 1);
	m->dull = &f->dull[m->kh >> 60][8 * level];
	if (miss_bright(m))
		miss_aim(m);
	miss_learn(f->map[8], &m->s, 3, bits);
}

/* The half bytes from h on that are noise, up to four. */
static inline __attribute__((always_inline)) void
miss_noise(struct miss *m, struct range *r, const int dec, uint64_t v)
{
	int n = 0;

	for (; n < 16 && m->h >= m->end && miss_plain(&m->dull[m->h / 2][~m->h & 1]); n += 4)
		m->h--;
	if (n)
		m->all = m->all << n |
		    range_raw(r, dec, (unsigned)(v >> 4 * (m->h + 1)) & ((1u << n) - 1), n);
}

/* Codes the value v, near ref, at key; prev is another value that it may depend on. */
static inline __attribute__((always_inline)) uint64_t
miss_value(struct cm *c, struct range *r, const int dec, uint64_t v, uint64_t key, uint64_t ref,
    uint64_t prev)
{
	struct miss m;

	m.c = c;
	m.key = key;
	m.kh = cm_mix(key, 77);
	m.ref = ref;
	m.prev = cm_coarse(prev) * 0x9e3779b97f4a7c15;
	m.g1 = cm_coarse(c->f->g[1]) * 0x9e3779b97f4a7c15;
	m.ready = m.end = 0;
	miss_level(&m, r, dec, v);
	m.end = m.level < ZEROS ? 0 : 2 * miss_zeros(c, r, dec, v, m.kh, m.level);
	while (m.h >= m.end) {
		if (m.ready) {
			miss_half(&m, r, dec, v);
			continue;
		}
		miss_noise(&m, r, dec, v);
		if (miss_bright(&m))
			miss_aim(&m);
	}
	return m.all << 4 * m.end;
}

#endif
