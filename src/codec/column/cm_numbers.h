/*
 * Arithmetic of context mixing: probabilities, their logistic form, counters, mixing of
 * predictions. Integers only, so that encoder and decoder agree on all machines.
 */
#ifndef TM_CODEC_COLUMN_CM_NUMBERS_H
#define TM_CODEC_COLUMN_CM_NUMBERS_H

#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define CM_ST   2047            /* logistic values are -CM_ST to CM_ST: 256 ln(p / (1 - p)) */

extern int16_t cm_stretch_tab[4096];    /* by the upper 12 bits of a probability */
extern uint16_t cm_squash_tab[4096];    /* by logistic value + 2048 */
extern uint16_t cm_rate_tab[1024];      /* 65536 / (n + 1.6) */
extern uint8_t cm_history_tab[2][256];  /* the next history of bits, by bit and history */
/*
 * By bits after a leading 1: of the histories of half a byte, 255 for those that these bits change, and the
 * bit that each gets
 */
extern uint8_t cm_path_tab[32][2][16];
void cm_num_init(void);                 /* fills the tables; any thread may call it, any number of times */

/* The logistic form of a probability in 65536ths. */
static inline int
cm_stretch(uint32_t p)
{
	return cm_stretch_tab[p >> 4];
}

static inline uint32_t
cm_squash(int d)
{
	d = d > CM_ST ? CM_ST : d < -CM_ST ? -CM_ST : d;
	return cm_squash_tab[d + 2048];
}

/* A counter: probability in the upper 22 bits, number of uses (up to limit) in the lower 10. */
static inline void
cm_count(uint32_t *t, int bit, uint32_t limit)
{
	uint32_t n = *t & 1023;
	int64_t err = (int64_t)((uint32_t)bit << 22) - (*t >> 10);

	*t += (uint32_t)(err * cm_rate_tab[n] >> 16) << 10;
	*t += n < limit;
}

/* Moves a probability by 2^-shift of its error, rounded away from 0. */
static inline void
cm_move(uint16_t *p, int bit, int shift)
{
	int to = -bit & (65534 + (1 << shift));         /* no branch: it would be mispredicted */

	*p = (uint16_t)(*p + ((to - *p) >> shift));
}

/*
 * Eight inputs of a mixer, assembled in registers: storing them one by one and loading them as a
 * vector would wait for the stores.
 */
#ifdef __SSE2__
typedef __m128i cm_vec;
#else
typedef struct { int16_t x[8]; } cm_vec;
#endif

/* Packs eight numbers within 16 bits. */
static inline cm_vec
cm_set(int a, int b, int c, int d, int e, int f, int g, int h)
{
#ifdef __SSE2__
	return _mm_setr_epi16((short)a, (short)b, (short)c, (short)d, (short)e, (short)f, (short)g, (short)h);
#else
	return (cm_vec){ { (int16_t)a, (int16_t)b, (int16_t)c, (int16_t)d, (int16_t)e, (int16_t)f, (int16_t)g,
	    (int16_t)h } };
#endif
}

static inline cm_vec
cm_load(const void *p)
{
#ifdef __SSE2__
	return _mm_load_si128(p);
#else
	cm_vec v;

	memcpy(&v, p, sizeof v);
	return v;
#endif
}

static inline void
cm_store(void *p, cm_vec v)
{
#ifdef __SSE2__
	_mm_store_si128(p, v);
#else
	memcpy(p, &v, sizeof v);
#endif
}

/* b if bit is set, else a. */
static inline cm_vec
cm_either(cm_vec a, cm_vec b, int bit)
{
#ifdef __SSE2__
	__m128i m = _mm_set1_epi32(-bit);

	return _mm_or_si128(_mm_and_si128(m, b), _mm_andnot_si128(m, a));
#else
	return bit ? b : a;
#endif
}

/*
 * Of 16 histories of bits, those that `bits` change by cm_path_tab, as cm_history_tab has it; the others
 * stay.
 */
static inline cm_vec
cm_histories(cm_vec h, unsigned bits)
{
#ifdef __SSE2__
	__m128i change = cm_load(cm_path_tab[bits][0]), bit = cm_load(cm_path_tab[bits][1]),
		stays = _mm_and_si128(h, _mm_set1_epi8(-128)),
		next = _mm_or_si128(stays, _mm_or_si128(_mm_add_epi8(h, h), bit));

	return _mm_xor_si128(h, _mm_and_si128(_mm_xor_si128(h, next), change));
#else
	uint8_t x[16];

	memcpy(x, &h, sizeof x);
	for (int i = 0; i < 16; i++)
		if (cm_path_tab[bits][0][i])
			x[i] = cm_history_tab[cm_path_tab[bits][1][i]][x[i]];
	memcpy(&h, x, sizeof h);
	return h;
#endif
}

/* Sum of the products with both sets of weights. */
static inline int
cm_dot(const cm_vec *x, const int16_t *w, const int16_t *w2, int nvec)
{
#ifdef __SSE2__
	__m128i s = _mm_setzero_si128();

	for (int i = 0; i < nvec; i++) {
		s = _mm_add_epi32(s, _mm_madd_epi16(x[i], _mm_load_si128((const void *)(w + 8 * i))));
		s = _mm_add_epi32(s, _mm_madd_epi16(x[i], _mm_load_si128((const void *)(w2 + 8 * i))));
	}
	s = _mm_add_epi32(s, _mm_srli_si128(s, 8));
	s = _mm_add_epi32(s, _mm_srli_si128(s, 4));
	return _mm_cvtsi128_si32(s);
#else
	int s = 0;

	for (int i = 0; i < 8 * nvec; i++)
		s += x[i / 8].x[i % 8] * (w[i] + w2[i]);
	return s;
#endif
}

/* w[i] += x[i] err / 65536, rounded, saturated, in both sets; err is within 16 bits. */
static inline void
cm_train(const cm_vec *x, int16_t *w, int16_t *w2, int err, int nvec)
{
#ifdef __SSE2__
	__m128i e = _mm_set1_epi16((int16_t)err), one = _mm_set1_epi16(1);

	for (int i = 0; i < nvec; i++) {
		__m128i t = _mm_mulhi_epi16(_mm_adds_epi16(x[i], x[i]), e);

		t = _mm_srai_epi16(_mm_adds_epi16(t, one), 1);
		_mm_store_si128((void *)(w + 8 * i),
		    _mm_adds_epi16(t, _mm_load_si128((const void *)(w + 8 * i))));
		_mm_store_si128((void *)(w2 + 8 * i),
		    _mm_adds_epi16(t, _mm_load_si128((const void *)(w2 + 8 * i))));
	}
#else
	for (int i = 0; i < 8 * nvec; i++) {
		int by = ((2 * x[i / 8].x[i % 8] * err >> 16) + 1) >> 1, v = w[i] + by, v2 = w2[i] + by;

		w[i] = (int16_t)(v > 32767 ? 32767 : v < -32768 ? -32768 : v);
		w2[i] = (int16_t)(v2 > 32767 ? 32767 : v2 < -32768 ? -32768 : v2);
	}
#endif
}

/* The same for eight inputs and weights in a register, and others in memory. */
static inline int
cm_dot2(cm_vec x, cm_vec w, const int16_t *w2)
{
#ifdef __SSE2__
	__m128i s = _mm_add_epi32(_mm_madd_epi16(x, w), _mm_madd_epi16(x, _mm_load_si128((const void *)w2)));

	s = _mm_add_epi32(s, _mm_srli_si128(s, 8));
	s = _mm_add_epi32(s, _mm_srli_si128(s, 4));
	return _mm_cvtsi128_si32(s);
#else
	return cm_dot(&x, w.x, w2, 1);
#endif
}

/* What cm_squash makes of such a sum / 2^14, in *p. */
static inline void
cm_two(cm_vec x, cm_vec y, cm_vec w, int16_t (*w2)[8], uint32_t *p, uint32_t *q)
{
#ifdef __SSE2__
	__m128i s = _mm_add_epi32(_mm_madd_epi16(x, w), _mm_madd_epi16(x, cm_load(w2[0]))),
		t = _mm_add_epi32(_mm_madd_epi16(y, w), _mm_madd_epi16(y, cm_load(w2[1])));

	s = _mm_add_epi32(_mm_unpacklo_epi64(s, t), _mm_unpackhi_epi64(s, t));
	s = _mm_srai_epi32(_mm_add_epi32(s, _mm_shuffle_epi32(s, 0xb1)), 14);
	s = _mm_adds_epi16(_mm_packs_epi32(s, s), _mm_set1_epi16(2048));
	s = _mm_max_epi16(_mm_min_epi16(s, _mm_set1_epi16(2048 + CM_ST)), _mm_set1_epi16(2048 - CM_ST));
	*p = cm_squash_tab[_mm_extract_epi16(s, 0)];
	*q = cm_squash_tab[_mm_extract_epi16(s, 2)];
#else
	*p = cm_squash(cm_dot2(x, w, w2[0]) >> 14);
	*q = cm_squash(cm_dot2(y, w, w2[1]) >> 14);
#endif
}

static inline void
cm_train1(cm_vec x, int16_t *w, cm_vec *w2, int err)
{
#ifdef __SSE2__
	__m128i t = _mm_mulhi_epi16(_mm_adds_epi16(x, x), _mm_set1_epi16((int16_t)err));

	t = _mm_srai_epi16(_mm_adds_epi16(t, _mm_set1_epi16(1)), 1);
	_mm_store_si128((void *)w, _mm_adds_epi16(t, _mm_load_si128((const void *)w)));
	*w2 = _mm_adds_epi16(t, *w2);
#else
	cm_train(&x, w, w2->x, err, 1);
#endif
}

static inline int
cm_clip16(int v)
{
	return v > 32767 ? 32767 : v < -32767 ? -32767 : v;
}

static inline uint64_t
cm_mix(uint64_t a, uint64_t b)
{
	uint64_t x = (a ^ b * 0xc2b2ae3d27d4eb4f) * 0x9e3779b97f4a7c15;

	return x ^ x >> 31;
}

/* The upper `bits` bits of a product. */
static inline uint32_t
cm_hash(uint64_t a, int bits)
{
	return (uint32_t)((a * 0xd6e8feb86659fd93) >> (64 - bits));
}

#endif
