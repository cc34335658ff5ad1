/*
 * Context mixing: slots of 16 bytes: a check, and the histories of the 15 bits of half a byte by the bits
 * before.  Those of all contexts are found together: first where they are, so that they arrive from memory
 * at the same time, then what they hold, which is copied.
 */
#ifndef TM_CODEC_COLUMN_CM_SLOTS_INTERNAL_H
#define TM_CODEC_COLUMN_CM_SLOTS_INTERNAL_H

#include "codec/column/cm_internal.h"
#include "codec/column/cm_numbers.h"

struct cm_slots {
	uint8_t *at[CM_NMISS];
	uint8_t chk[CM_NMISS];
	_Alignas(16) uint8_t hist[CM_NMISS][16];        /* what is there */
};

/*
 * Where the slots of contexts FROM to TO - 1 may be, slots of 2^shift bytes in tables of 2^bits, and their
 * checks.  more: the bits before.
 */
static inline __attribute__((always_inline)) void
slots_aim(struct cm_slots *s, uint8_t *table, int bits, const uint64_t *ctx, uint64_t more, int from, int to,
    int shift)
{
	_Pragma("GCC unroll 8")
	for (int i = from; i < to; i++) {
		uint64_t h = (ctx[i] + more) * 0xd6e8feb86659fd93;

		s->chk[i] = (uint8_t)(h >> 8);
		s->at[i] = table + ((size_t)i << bits) + (h >> (64 - bits) & -(UINT64_C(1) << shift));
		__builtin_prefetch(s->at[i], 1);
	}
}

/* Histories of which nothing is known yet. */
static inline cm_vec
slots_new(uint8_t chk)
{
	return cm_set(256 | chk, 257, 257, 257, 257, 257, 257, 257);
}

/*
 * The slots with those checks: each is one of two neighbours, or else the one that was used less is
 * replaced.  No branches, because half of them would be mispredicted.
 */
static inline __attribute__((always_inline)) void
slots_find(struct cm_slots *s, int from, int to, int shift)
{
	_Pragma("GCC unroll 8")
	for (int i = from; i < to; i++) {
		const size_t size = (size_t)1 << shift;
		uint8_t chk = s->chk[i], *a = s->at[i], *b = (uint8_t *)((uintptr_t)a ^ size);
		int here = a[0] == chk, there = b[0] == chk, other = (a[0] != chk) & (there | (b[1] < a[1])),
		    same = here | there;
		cm_vec h;

		a = (uint8_t *)((uintptr_t)a ^ (size & -(size_t)other));
		s->at[i] = a;
		h = cm_either(slots_new(chk), cm_load(a), same);
		cm_store(s->hist[i], h);
		if (shift > 4) {
			cm_store(a, h);
			cm_store(a + 16, cm_either(slots_new(1), cm_load(a + 16), same));
		}
	}
}

/* From slots of an upper half byte to those of the lower half after them, whose check is node. */
static inline void
slots_lower(struct cm_slots *s, int from, int to, unsigned node)
{
	_Pragma("GCC unroll 8")
	for (int i = from; i < to; i++) {
		uint8_t *a = s->at[i] += 16;

		cm_store(s->hist[i], cm_either(slots_new((uint8_t)node), cm_load(a), a[0] == node));
	}
}

/* The contexts that were met before: those whose first bit has a history. */
static inline __attribute__((always_inline)) unsigned
slots_known(const struct cm_slots *s)
{
#ifdef __SSE2__
#define PAIR(i) _mm_unpacklo_epi8(cm_load(s->hist[i]), cm_load(s->hist[i + 1]))
	__m128i four = _mm_unpacklo_epi16(PAIR(0), PAIR(2)), two = _mm_srli_epi32(PAIR(4), 16);
#undef PAIR

	four = _mm_unpacklo_epi32(_mm_srli_si128(four, 4), two);
	return ~(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(four, _mm_set1_epi8(1))) & 63;
#else
	unsigned known = 0;

	for (int i = 0; i < CM_NMISS; i++)
		known |= (unsigned)(s->hist[i][1] != 1) << i;
	return known;
#endif
}

/* Writes the slots with the bits that came, after a leading 1, in their histories; the copies stay. */
static inline void
slots_learn(const struct cm_slots *s, unsigned bits)
{
	_Pragma("GCC unroll 8")
	for (int i = 0; i < CM_NMISS; i++)
		cm_store(s->at[i], cm_histories(cm_load(s->hist[i]), bits));
}

#endif
