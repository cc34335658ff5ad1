/*
 * Context mixing: ranks. One of the last CM_RANKS different values is predicted by its rank in the
 * order of last use, from the ranks of the last values: a program that goes round the same few
 * places does so in a pattern, whatever the places are.
 */
#ifndef TM_CODEC_COLUMN_CM_RANK_INTERNAL_H
#define TM_CODEC_COLUMN_CM_RANK_INTERNAL_H

#include <string.h>

#include "codec/column/cm_internal.h"
#include "codec/column/cm_numbers.h"

static inline uint8_t
rank_tag(uint64_t v)
{
	return (uint8_t)(v * 0x9e3779b97f4a7c15 >> 56);
}

static inline void
rank_reset(struct cm_rank *k)
{
	memset(k, 0, sizeof *k);
	for (unsigned i = 0; i < CM_RANKS; i++) {
		k->v[i] = i;
		k->tag[i] = rank_tag(i);
		k->order[i] = (uint8_t)i;
	}
}

/* The value's index, or -1. */
static inline int
rank_find(const struct cm_rank *k, uint64_t v)
{
	uint8_t tag = rank_tag(v);
#ifdef __SSE2__
	__m128i t = _mm_set1_epi8((char)tag), a = _mm_load_si128((const void *)k->tag),
		b = _mm_load_si128((const void *)(k->tag + 16));
	uint32_t m = (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(a, t)) |
	    (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(b, t)) << 16;

	for (; m; m &= m - 1)
		if (k->v[__builtin_ctz(m)] == v)
			return __builtin_ctz(m);
#else
	for (int i = 0; i < CM_RANKS; i++)
		if (k->tag[i] == tag && k->v[i] == v)
			return i;
#endif
	return -1;
}

/* Moves an index to the front; returns its rank. */
static inline unsigned
rank_front(struct cm_rank *k, int place)
{
#ifdef __SSE2__
	const __m128i no = _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
	__m128i p = _mm_set1_epi8((char)place), a = _mm_load_si128((const void *)k->order),
		b = _mm_load_si128((const void *)(k->order + 16));
	unsigned r = (unsigned)__builtin_ctz((unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(a, p))
		| (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(b, p)) << 16);
	__m128i end = _mm_set1_epi8((char)r), stay = _mm_cmpgt_epi8(no, end),
		stay2 = _mm_cmpgt_epi8(_mm_add_epi8(no, _mm_set1_epi8(16)), end),
		to = _mm_or_si128(_mm_slli_si128(a, 1), _mm_srli_si128(_mm_slli_si128(p, 15), 15)),
		to2 = _mm_or_si128(_mm_slli_si128(b, 1), _mm_srli_si128(a, 15));

	_mm_store_si128((void *)k->order, _mm_or_si128(_mm_and_si128(stay, a), _mm_andnot_si128(stay, to)));
	_mm_store_si128((void *)(k->order + 16),
	    _mm_or_si128(_mm_and_si128(stay2, b), _mm_andnot_si128(stay2, to2)));
#else
	unsigned r = 0;

	while (k->order[r] != place)
		r++;
	memmove(k->order + 1, k->order, r);
	k->order[0] = (uint8_t)place;
#endif
	return r;
}

/* The prediction of the next value by ranks. */
static inline uint64_t
rank_value(const struct cm_rank *k, uint8_t *hist)
{
	unsigned e = k->next[k->ctx];

	*hist = e ? (uint8_t)(e >> 8) : CM_NONE;
	return e ? k->v[k->order[e & (CM_RANKS - 1)]] : 0;
}

static inline void
learn_rank(struct cm_rank *k, uint64_t v)
{
	int place = rank_find(k, v);
	unsigned e = k->next[k->ctx], r = CM_RANKS, ok;

	if (place < 0) {
		place = k->order[CM_RANKS - 1];
		k->v[place] = v;
		k->tag[place] = rank_tag(v);
		rank_front(k, place);
	} else {
		r = rank_front(k, place);
	}
	ok = (e & 255) == r;
	k->next[k->ctx] = (uint16_t)(((e >> 8 << 1 | ok) & 63) << 8 | 64 << 8 | (r < CM_RANKS ? r : e & 255));
	k->last = (k->last << 6 | r) & ((UINT64_C(1) << 42) - 1);
	k->ctx = cm_hash(cm_mix(k->last, 5), 16);
	__builtin_prefetch(&k->next[k->ctx]);
}

#endif
