/*
 * Numbers as text, for loops that write millions of them. Each function returns how many bytes it
 * wrote to p.
 */
#ifndef TM_BASE_DIGITS_H
#define TM_BASE_DIGITS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Decimal: at most 20 bytes. */
static inline size_t
digits_dec(uint8_t *p, uint64_t v)
{
	uint8_t b[20];
	size_t n = 0;

	if (v < 10) {
		*p = (uint8_t)('0' + v);
		return 1;
	}
	do
		b[n++] = (uint8_t)('0' + v % 10);
	while (v /= 10);
	for (size_t i = 0; i < n; i++)
		p[i] = b[n - 1 - i];
	return n;
}

/* Hexadecimal: at least `least` digits, at most 16. */
static inline size_t
digits_hex(uint8_t *p, uint64_t v, unsigned least)
{
	unsigned n = v ? (67u - (unsigned)__builtin_clzll(v)) / 4 : 1;

	if (n < least)
		n = least;
	for (unsigned i = 0; i < n; i++)
		p[i] = (uint8_t)"0123456789abcdef"[v >> 4 * (n - 1 - i) & 15];
	return n;
}

/* The 8 hexadecimal digits of v, the first in the lowest byte. */
static inline uint64_t
digits_hex8(uint32_t v)
{
	uint64_t x = v;

	/* spread the digits to a byte each, all at once */
	x = (x | x << 16) & UINT64_C(0x0000ffff0000ffff);
	x = (x | x << 8) & UINT64_C(0x00ff00ff00ff00ff);
	x = (x | x << 4) & UINT64_C(0x0f0f0f0f0f0f0f0f);
	x += UINT64_C(0x3030303030303030) +
	    ((x + UINT64_C(0x0606060606060606)) >> 4 & UINT64_C(0x0101010101010101)) * ('a' - '0' - 10);
	return __builtin_bswap64(x);
}

/* Hexadecimal: at least `least` digits, at most 16; faster, and p has room for 16 bytes, all of which may be written. */
static inline size_t
digits_hex_room(uint8_t *p, uint64_t v, unsigned least)
{
	unsigned n = v ? (67u - (unsigned)__builtin_clzll(v)) / 4 : 1;
	uint64_t first, second;

	if (n < least)
		n = least;
	v <<= 64 - 4 * n;
	first = digits_hex8((uint32_t)(v >> 32));
	second = digits_hex8((uint32_t)v);
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
	first = __builtin_bswap64(first);
	second = __builtin_bswap64(second);
#endif
	memcpy(p, &first, 8);
	memcpy(p + 8, &second, 8);
	return n;
}

#endif
