/*
 * Range coder of binary decisions with 16-bit probabilities: 64-bit interval, 32 bits at a time.
 * Bytes after the end of the input read as zero, so zeros at the end are not written.
 */
#ifndef TM_CODEC_COLUMN_RANGE_H
#define TM_CODEC_COLUMN_RANGE_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

struct range {
	/* encoder: the interval; decoder: low is the distance of the code from the interval's lower end */
	uint64_t low, range;
	uint8_t *out;                   /* encoder: room for the bytes until the caller checks again */
	const uint8_t *in;
	size_t n, len;                  /* bytes written or read; bytes of input */
};

static inline void
range_enc_init(struct range *r, uint8_t *out)
{
	*r = (struct range){ .range = UINT64_MAX, .out = out };
}

static inline uint64_t
range_word(struct range *r)
{
	uint64_t w = 0;

	if (r->len - r->n >= 4 && r->n < r->len) {
		w = get_be32(r->in + r->n);
		r->n += 4;
		return w;
	}
	for (int i = 0; i < 4; i++, r->n++)
		w = w << 8 | (r->n < r->len ? r->in[r->n] : 0u);
	return w;
}

static inline void
range_dec_init(struct range *r, const uint8_t *in, size_t len)
{
	*r = (struct range){ .range = UINT64_MAX, .in = in, .len = len };
	r->low = range_word(r) << 32;
	r->low |= range_word(r);
}

static inline void
range_carry(struct range *r)
{
	for (size_t i = r->n; i > 0 && ++r->out[i - 1] == 0; i--)
		;
}

static inline __attribute__((always_inline)) void
range_norm(struct range *r, int dec)
{
	if (r->range >> 32)
		return;
	if (dec) {
		r->low = r->low << 32 | range_word(r);
	} else {
		put_be32(r->out + r->n, (uint32_t)(r->low >> 32));
		r->n += 4;
		r->low <<= 32;
	}
	r->range <<= 32;
}

/* Codes one decision; p: probability of 1 in 65536ths, 1 to 65535. Returns the bit. */
static inline __attribute__((always_inline)) int
range_bit(struct range *r, int dec, int bit, uint32_t p)
{
	uint64_t bound = (r->range >> 16) * p, rest = r->range - bound, one;

	if (dec)
		bit = r->low < bound;
	one = -(uint64_t)bit;           /* all ones for a 1; masks, because a branch would be mispredicted */
	if (dec) {
		r->low -= bound & ~one;
	} else {
		uint64_t add = bound & ~one;

		r->low += add;
		if (r->low < add)
			range_carry(r);
	}
	r->range = rest + ((bound - rest) & one);
	range_norm(r, dec);
	return bit;
}

/* nbit (1 to 16) bits of equal probability. */
static inline __attribute__((always_inline)) unsigned
range_raw(struct range *r, int dec, unsigned v, int nbit)
{
	uint64_t part = r->range >> nbit;

	if (dec) {
		uint64_t q = r->low / part;

		v = q >> nbit ? (1u << nbit) - 1 : (unsigned)q;
		r->low -= part * v;
	} else {
		uint64_t add = part * v;

		r->low += add;
		if (r->low < add)
			range_carry(r);
	}
	r->range = part;
	range_norm(r, dec);
	return v;
}

/*
 * The fewest bytes (up to 8, room needed) that name a number in the interval; zeros at the end are
 * dropped.
 */
static inline void
range_end(struct range *r)
{
	int k = 0;
	uint64_t v = 0;

	for (; k < 8; k++) {
		uint64_t mask = k ? UINT64_MAX >> 8 * k : UINT64_MAX;

		v = (r->low + mask) & ~mask;
		if (v - r->low < r->range && (v >= r->low))
			break;
	}
	if (k == 8)
		v = r->low;
	for (int i = 0; i < k; i++)
		r->out[r->n++] = (uint8_t)(v >> (56 - 8 * i));
	while (r->n && r->out[r->n - 1] == 0)
		r->n--;
}

#endif
