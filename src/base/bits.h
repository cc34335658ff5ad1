/* Bit vectors: rows of 64-bit words. */
#ifndef TM_BASE_BITS_H
#define TM_BASE_BITS_H

#include <stddef.h>
#include <stdint.h>

#define BITS_WORDS(n) (((size_t)(n) + 63) / 64)

static inline void
bit_set(uint64_t *v, size_t i)
{
	v[i / 64] |= UINT64_C(1) << i % 64;
}

static inline void
bit_clear(uint64_t *v, size_t i)
{
	v[i / 64] &= ~(UINT64_C(1) << i % 64);
}

/* Sets bit i to `bit`, 0 or 1. */
static inline void
bit_put(uint64_t *v, size_t i, int bit)
{
	v[i / 64] = (v[i / 64] & ~(UINT64_C(1) << i % 64)) | (uint64_t)bit << i % 64;
}

static inline int
bit_get(const uint64_t *v, size_t i)
{
	return (int)(v[i / 64] >> i % 64 & 1);
}

#endif
