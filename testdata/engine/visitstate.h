/* Registers of facts in states of the processor: for tests */
#ifndef TM_VISITSTATE_H
#define TM_VISITSTATE_H

#include <cpuid.h>
#include <stdint.h>
#include <string.h>

#include "isa/x86/fact.h"

/* Bytes of a register, bits of flags */
static inline uint64_t
lanes_bytes(unsigned rg, unsigned lanes)
{
	static const uint64_t g[3] = { 1, 2, 0xfc },
	    v[5] = { 0xf, 0xf0, 0xff00, 0xffff0000, UINT64_C(0xffffffff00000000) },
	    f[5] = { 1, 1 << 11, 1 << 6, 1 << 2 | 1 << 4 | 1 << 7, 1 << 10 };
	uint64_t m = 0;

	for (unsigned i = 0; i < 5; i++)
		if (lanes >> i & 1)
			m |= rg < 16 ? g[i] : rg == FACT_FLAGS ? f[i] : rg >= FACT_VECTOR ? v[i] : 1;
	return m;
}

/* Where a component of an image lies */
static inline unsigned
rp_xoff(unsigned i)
{
	static unsigned off[16];
	unsigned a, c, d;

	if (!off[i] && !__get_cpuid_count(0xd, i, &a, &off[i], &c, &d))
		off[i] = 0;
	return off[i];
}

/* Bytes of a vector register as an image has them */
static inline void
vector(const uint8_t *x, unsigned n, uint8_t b[64])
{
	uint64_t bv;

	memcpy(&bv, x + 512, 8);
	memset(b, 0, 64);
	if (n < 16) {
		if (bv & 2)
			memcpy(b, x + 160 + 16 * n, 16);
		if (bv & 4)
			memcpy(b + 16, x + rp_xoff(2) + 16 * n, 16);
		if (bv & 64)
			memcpy(b + 32, x + rp_xoff(6) + 32 * n, 32);
	} else if (bv & 128)
		memcpy(b, x + rp_xoff(7) + 64 * (n - 16), 64);
}

static inline uint64_t
kmask(const uint8_t *x, unsigned n)
{
	uint64_t bv, v = 0;

	memcpy(&bv, x + 512, 8);
	if (bv & 32)
		memcpy(&v, x + rp_xoff(5) + 8 * n, 8);
	return v;
}

#endif
