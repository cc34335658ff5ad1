/* Random numbers of test programs, the same on every machine: xorshift64* (Vigna 2016). */
#ifndef TESTDATA_RANDOM_H
#define TESTDATA_RANDOM_H

#include <stdint.h>

static uint64_t rnd_state = 88172645463325252u;         /* the seed; never 0 */

static inline uint64_t
rnd(void)
{
	rnd_state ^= rnd_state << 13;
	rnd_state ^= rnd_state >> 7;
	rnd_state ^= rnd_state << 17;
	return rnd_state * 0x2545f4914f6cdd1du;
}

/* 0 to n - 1 */
static inline uint64_t
rnd_below(uint64_t n)
{
	return (rnd() >> 11) % n;
}

#endif
