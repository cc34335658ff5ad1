/*
 * Captures: the checksum.  CRC-64 as in xz(1), which takes half the time of liblzma's where the processor
 * multiplies without carries: 64 bytes are folded at once ("Fast CRC Computation for Generic Polynomials Using
 * PCLMULQDQ Instruction", Intel 2009).
 */
#include <lzma.h>
#include <x86intrin.h>

#include "format/ws/ws_internal.h"

#define LEAST 128u                      /* bytes that are worth it */

/* x^N modulo the polynomial, reflected: bit 63 is the coefficient of 1 */
#define X127 0xdabe95afc7875f40u
#define X191 0xe05dd497ca393ae4u
#define X511 0x81f6054a7842df4u
#define X575 0x6ae3efbb9dd441f3u

__attribute__((target("pclmul,sse2"))) static inline __m128i
crc_fold(__m128i x, __m128i by, __m128i next)
{
	return _mm_xor_si128(next, _mm_xor_si128(_mm_clmulepi64_si128(x, by, 0x00), _mm_clmulepi64_si128(x, by, 0x11)));
}

static inline __m128i
crc_load(const uint8_t *p)
{
	return _mm_loadu_si128((const __m128i *)(const void *)p);
}

/*
 * What is 128 bits before `next` is taken there by x^128: the lower half of it, whose powers are higher by 64, by
 * x^192.  The product of two reflected numbers is one place off.  64 bytes before are 512 bits.
 * n: at least 64; returns the bytes that were folded into `rest`, whose checksum from 0 on is that of all of them.
 */
__attribute__((target("pclmul,sse2"))) static size_t
crc_blocks(const uint8_t *p, size_t n, uint64_t crc, uint8_t rest[16])
{
	const __m128i far = _mm_set_epi64x((long long)X511, (long long)X575);
	const __m128i near = _mm_set_epi64x((long long)X127, (long long)X191);
	__m128i x[4];
	size_t at;

	for (int i = 0; i < 4; i++)
		x[i] = crc_load(p + 16 * i);
	x[0] = _mm_xor_si128(x[0], _mm_cvtsi64_si128((long long)~crc));
	for (at = 64; n - at >= 64; at += 64) {
		x[0] = crc_fold(x[0], far, crc_load(p + at));
		x[1] = crc_fold(x[1], far, crc_load(p + at + 16));
		x[2] = crc_fold(x[2], far, crc_load(p + at + 32));
		x[3] = crc_fold(x[3], far, crc_load(p + at + 48));
	}
	for (int i = 1; i < 4; i++)
		x[i] = crc_fold(x[i - 1], near, x[i]);
	_mm_storeu_si128((__m128i *)(void *)rest, x[3]);
	return at;
}

uint64_t
ws_crc(const void *p, size_t n, uint64_t crc)
{
	uint8_t rest[16];
	size_t done;

	if (n < LEAST || !__builtin_cpu_supports("pclmul"))
		return lzma_crc64(p, n, crc);
	done = crc_blocks(p, n, crc, rest);
	crc = lzma_crc64(rest, sizeof(rest), UINT64_MAX);
	return lzma_crc64((const uint8_t *)p + done, n - done, crc);
}
