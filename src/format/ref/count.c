/*
 * Counts references by kind.  Counting them one by one takes as long as a replay does: eight counters of eight bits are
 * one word, and AVX2 adds to four such words at once.
 */
#include <immintrin.h>

#include "format/ref/ref.h"

#define LANES 4u                        /* words of counters */
#define MOST  (255u * LANES)            /* references after which one of them could overflow */

_Static_assert(REF_NKINDS == 8, "a word has eight counters");

static void
count_plain(uint64_t part[LANES], const uint64_t *w, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (ref_kind(w[i]) < REF_NKINDS)
			part[i % LANES] += UINT64_C(1) << ref_kind(w[i]) * 8;
}

/* n is a multiple of LANES */
__attribute__((target("avx2"))) static void
count_avx2(uint64_t part[LANES], const uint64_t *w, size_t n)
{
	__m256i sum = _mm256_setzero_si256();

	for (size_t i = 0; i < n; i += LANES) {
		__m256i word = _mm256_loadu_si256((const __m256i *)(const void *)(w + i));
		/* the kind, times 8; nothing is left of what is shifted by 64 or more */
		__m256i shift = _mm256_and_si256(_mm256_srli_epi64(word, 53), _mm256_set1_epi64x(15 * 8));

		sum = _mm256_add_epi64(sum, _mm256_sllv_epi64(_mm256_set1_epi64x(1), shift));
	}
	_mm256_storeu_si256((__m256i *)(void *)part, sum);
}

void
ref_count(uint64_t count[REF_NKINDS], const uint64_t *w, size_t n)
{
	int avx2 = __builtin_cpu_supports("avx2") != 0;

	while (n) {
		uint64_t part[LANES] = { 0 };
		size_t k = n < MOST ? n : MOST;

		if (avx2 && k >= LANES) {
			k -= k % LANES;
			count_avx2(part, w, k);
		} else {
			count_plain(part, w, k);
		}
		for (unsigned i = 0; i < LANES; i++)
			for (unsigned kind = 0; kind < REF_NKINDS; kind++)
				count[kind] += part[i] >> 8 * kind & 0xff;
		w += k;
		n -= k;
	}
}
