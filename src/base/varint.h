/*
 * Numbers in as few bytes as they need: seven bits a byte, the lowest first; bit 7 says that more
 * bytes follow. A number has one encoding, the shortest: readers refuse all others. buf_varint
 * (buf.h) appends one.
 */
#ifndef TM_BASE_VARINT_H
#define TM_BASE_VARINT_H

#include <stdint.h>

#define VARINT_MAX 10u          /* the most bytes that a number needs */

enum varint {
	VARINT_OK,
	VARINT_CUT,             /* the bytes end before the number does */
	VARINT_LARGE,           /* more than 64 bits */
	VARINT_PADDED           /* not the shortest encoding */
};

/* Writes v at dst, where there is room for VARINT_MAX bytes; returns the end. */
static inline uint8_t *
varint_put(uint8_t *dst, uint64_t v)
{
	for (; v >= 128; v >>= 7)
		*dst++ = (uint8_t)(v | 128);
	*dst++ = (uint8_t)v;
	return dst;
}

/*
 * Reads a number from *p on, before end. *p moves past the last byte that was examined; *v changes
 * only if the number is good.
 */
static inline enum varint
varint_get(const uint8_t **p, const uint8_t *end, uint64_t *v)
{
	uint64_t x = 0;

	for (unsigned shift = 0; *p != end; shift += 7) {
		uint8_t c = *(*p)++;

		if (c > UINT64_MAX >> shift)
			return VARINT_LARGE;
		if (!c && shift)
			return VARINT_PADDED;
		x |= (uint64_t)(c & 127) << shift;
		if (c < 128) {
			*v = x;
			return VARINT_OK;
		}
	}
	return VARINT_CUT;
}

/*
 * Signed numbers as unsigned ones, so that small ones of both signs are small: 0 -1 1 -2 2 become 0
 * 1 2 3 4.
 */
static inline uint64_t
zigzag(uint64_t d)
{
	return d << 1 ^ -(d >> 63);
}

static inline uint64_t
unzigzag(uint64_t z)
{
	return z >> 1 ^ -(z & 1);
}

#endif
