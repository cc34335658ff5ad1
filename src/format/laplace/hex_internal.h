/* Internal to Laplace's formats: hexadecimal numbers of fixed and of variable length. */
#ifndef TM_FORMAT_LAPLACE_HEX_INTERNAL_H
#define TM_FORMAT_LAPLACE_HEX_INTERNAL_H

#include "base/bytes.h"

/* Eight digits, the highest first. */
static inline uint64_t
lap_hex8(uint32_t x)
{
	uint64_t v = x;

	v = (v << 16 | v) & 0x0000ffff0000ffffu;
	v = (v << 8 | v) & 0x00ff00ff00ff00ffu;
	v = (v << 4 | v) & 0x0f0f0f0f0f0f0f0fu;
	return v + 0x3030303030303030u + ((v + 0x0606060606060606u) >> 4 & 0x0101010101010101u) * 39;
}

/* As many digits as v needs; dst has room for 16. */
static inline uint8_t *
lap_put_hex(uint8_t *dst, uint64_t v)
{
	unsigned lead = v ? (unsigned)__builtin_clzll(v) / 4 : 15;

	v <<= 4 * lead;
	put_be64(dst, lap_hex8((uint32_t)(v >> 32)));
	if (lead < 8)
		put_be64(dst + 8, lap_hex8((uint32_t)v));
	return dst + 16 - lead;
}

static inline int
lap_digit(uint8_t c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Reads lower-case digits without leading zeros; returns their end, or NULL. */
static inline const uint8_t *
lap_get_hex(const uint8_t *p, const uint8_t *end, uint64_t *v)
{
	const uint8_t *q = p;
	uint64_t x = 0;
	int d;

	while (q < end && (d = lap_digit(*q)) >= 0) {
		if (q - p == 16)
			return NULL;
		x = x << 4 | (unsigned)d;
		q++;
	}
	if (q == p || (*p == '0' && q - p > 1))
		return NULL;
	*v = x;
	return q;
}

/* A blank and a number. */
static inline const uint8_t *
lap_get_field(const uint8_t *p, const uint8_t *end, uint64_t *v)
{
	return p < end && *p == ' ' ? lap_get_hex(p + 1, end, v) : NULL;
}

/* Type of a reference by its letter; -1: there is none. */
static inline int
lap_type(uint8_t c)
{
	switch (c) {
	case 'r': return 0;
	case 'w': return 1;
	case 'i': return 2;
	case 'R': return 3;
	case 'W': return 4;
	case 'I': return 5;
	default: return -1;
	}
}

#endif
