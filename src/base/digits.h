/*
 * Numbers as text, for loops that write millions of them. Each function returns how many bytes it
 * wrote to p.
 */
#ifndef TM_BASE_DIGITS_H
#define TM_BASE_DIGITS_H

#include <stddef.h>
#include <stdint.h>

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

#endif
