/* Context mixing: a value that no candidate had, byte by byte. */
#ifndef TM_ENGINE_CODEC_CMMISS_H
#define TM_ENGINE_CODEC_CMMISS_H

#include "engine/codec/cm.h"
#include "engine/codec/cmnum.h"

/* One bit of a byte: t[i][at] are the probabilities of each context */
static inline int
miss_bit(struct range *r, const int dec, int bit, uint16_t *const *t, int at, int16_t *w, uint32_t *err)
{
	int s[CM_NMISS];
	cm_vec x;
	uint32_t p;

	_Pragma("GCC unroll 8")
	for (int i = 0; i < CM_NMISS; i++)
		s[i] = cm_stretch(t[i][at]);
	x = cm_eight(cm_four(s[0], s[1], s[2], s[3]), cm_four(s[4], 256, 0, 0));
	p = cm_squash(cm_dot(&x, w, 1) >> 14);
	bit = range_bit(r, dec, bit, p);
	*err += bit ? 65536 - p : p;
	cm_train(&x, w, (((bit << 16) - (int)p) >> 4) * 4, 1);
	_Pragma("GCC unroll 8")
	for (int i = 0; i < CM_NMISS; i++)
		cm_move(&t[i][at], bit, 4);
	return bit;
}

/* A byte whose contexts are ctx */
static inline unsigned
miss_byte(struct cm *c, struct range *r, const int dec, unsigned byte, const uint64_t *ctx, int16_t (*w)[8], uint32_t *err)
{
	unsigned node = 1;

	for (int half = 4; half >= 0; half -= 4) {
		uint16_t *t[CM_NMISS];
		int at = 1;

		for (int i = 0; i < CM_NMISS; i++)
			t[i] = c->miss + ((size_t)i << (c->bits + 1)) + 16 * (size_t)cm_hash(ctx[i] + node * 0x9e3779b97f4a7c15, c->bits - 3);
		for (int b = half + 3; b >= half; b--) {
			int bit = miss_bit(r, dec, byte >> b & 1, t, at, w[node], err);

			at = 2 * at + bit;
			node = 2 * node + (unsigned)bit;
		}
	}
	return node & 255;
}

/* How many bytes there are below the highest that differs from ref: 0 to 7 */
static inline int
miss_level(struct cm *c, struct range *r, const int dec, uint64_t x, uint64_t keyhash)
{
	uint32_t *t = c->f->diff[cm_hash(keyhash, 8)];
	int level = x ? (63 - __builtin_clzll(x)) / 8 : 0, node = 1;

	for (int b = 2; b >= 0; b--) {
		uint32_t p = t[node] >> 16;
		int bit = range_bit(r, dec, level >> b & 1, p < 64 ? 64 : p > 65472 ? 65472 : p);

		cm_count(&t[node], bit, 60);
		node = 2 * node + bit;
	}
	return node - 8;
}

#define DULL    31900           /* of 65536: so wrong is a bit on average when its byte is not worth contexts */

/* The value v, near ref, at key; prev and cand are other values that it may depend on */
static inline uint64_t
miss_value(struct cm *c, struct range *r, const int dec, uint64_t v, uint64_t key, uint64_t ref, uint64_t prev, uint64_t cand)
{
	uint64_t kh = cm_mix(key, 77), high;
	int level = miss_level(c, r, dec, dec ? 0 : v ^ ref, kh);
	uint16_t *dull = c->f->dull[kh >> 60] + 8 * level;

	high = level == 7 ? 0 : ref >> 8 * (level + 1);
	for (int j = level; j >= 0; j--) {
		unsigned byte = v >> 8 * j & 255;
		uint32_t err = 0;

		if (dull[j] > DULL && dull[j] & 15) {
			byte = range_raw(r, dec, byte, 8);
			dull[j]--;
		} else {
			uint64_t jl = (uint64_t)(j + 8 * level), refbyte = ref >> 8 * j & 255, candbyte = cand >> 8 * j & 255;
			const uint64_t ctx[CM_NMISS] = {
				cm_mix(jl, kh),
				cm_mix(high, jl),
				cm_mix(refbyte << 8 | jl, kh + 5),
				cm_mix(high ^ prev * 0x9e3779b97f4a7c15, jl + 200),
				cm_mix((candbyte << 9 | (cand >> 8 * j >> 8 == high) << 8 | jl), kh + 6),
			};

			byte = miss_byte(c, r, dec, byte, ctx, c->f->wmiss + 256 * j, &err);
			dull[j] = (uint16_t)(dull[j] + ((int)(err >> 3) - dull[j]) / 32) | 15;
		}
		high = high << 8 | byte;
	}
	return high;
}

#endif
