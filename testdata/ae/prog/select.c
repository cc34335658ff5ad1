/*
 * Values chosen without a jump: min, max and clamp as cmov, cmov from memory, setcc, adc and sbb chains, rotates, bit
 * counts, binary search without branches, division and multiplication of 64 and 128 bits.
 * targets: x86-64
 */
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

static unsigned long sum;
static int table[64];

static void mix(unsigned long v) { sum = sum * 31 + v; }

NOINLINE static int clamp(int x, int lo, int hi) { return x < lo ? lo : x > hi ? hi : x; }
NOINLINE static long absolute(long x) { return x < 0 ? -x : x; }
NOINLINE static int sign(int x) { return (x > 0) - (x < 0); }

NOINLINE static int
lower_bound(const int *p, int n, int x)
{
	const int *base = p;

	while (n > 1) {
		int half = n / 2;

		base = base[half - 1] < x ? base + half : base;
		n -= half;
	}
	return (int)(base - p) + (*base < x);
}

/* cmov whose source is memory, in both outcomes, and one whose address depends on another */
NOINLINE static long
cmov_mem(int x, const long *p, const long *q)
{
	long r = 1;

	__asm__("cmp $5, %1\n\tcmovg %2, %0\n\tcmovle %3, %0" : "+r"(r) : "r"(x), "m"(*p), "m"(*q) : "cc");
	return r;
}

NOINLINE static long
chosen(const long *a, const long *b, int k)
{
	const long *p = k & 1 ? a : b;
	long s = 0;

	for (int i = 0; i < 4; i++) {
		s += p[i];
		p = s & 4 ? a : b;
	}
	return s;
}

NOINLINE static void
add256(uint64_t *r, const uint64_t *a, const uint64_t *b)
{
	__asm__("mov (%1), %%rax\n\tadd (%2), %%rax\n\tmov %%rax, (%0)\n\t"
	    "mov 8(%1), %%rax\n\tadc 8(%2), %%rax\n\tmov %%rax, 8(%0)\n\t"
	    "mov 16(%1), %%rax\n\tadc 16(%2), %%rax\n\tmov %%rax, 16(%0)\n\t"
	    "mov 24(%1), %%rax\n\tadc 24(%2), %%rax\n\tmov %%rax, 24(%0)"
	    : : "r"(r), "r"(a), "r"(b) : "rax", "cc", "memory");
}

NOINLINE static unsigned __int128 mul128(uint64_t a, uint64_t b) { return (unsigned __int128)a * b; }
NOINLINE static uint64_t mod128(unsigned __int128 a, uint64_t b) { return (uint64_t)(a % b); }
NOINLINE static __int128 mix128(__int128 a, int k) { return (a << (k & 127)) - (a >> 3) + k; }

NOINLINE static unsigned
bits(unsigned x, unsigned long y)
{
	return __builtin_popcount(x) + (x ? __builtin_ctz(x) + __builtin_clz(x) : 0) + __builtin_parityl(y) +
	    (x << 7 | x >> 25) % 10 + (unsigned)(__builtin_bswap64(y) >> 60) + __builtin_bswap32(x) % 3;
}

NOINLINE static int
divs(int a, unsigned b, long c, unsigned long d)
{
	return a / 7 + a % (int)(b | 1) + (int)(c / 1000) + (int)(c % (long)(d | 1)) + (int)(d / (b | 1)) + (short)a / 3 + (signed char)a % 5;
}

NOINLINE static int
overflow(int a, int b)
{
	int r, n = 0;

	n += __builtin_add_overflow(a, b, &r);
	n += 2 * __builtin_mul_overflow(a, b, &r);
	n += 4 * __builtin_sub_overflow(a, b, &r);
	return n * 8 + (r & 7);
}

int
main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 64;
	uint64_t a[4] = { ~0ull, 1, ~0ull, 5 }, b[4] = { 1, ~0ull, 7, 9 };
	long p[4] = { 3, 5, 8, 12 }, q[4] = { 2, -4, 6, 1 };
	__int128 big = 12345;

	for (int i = 0; i < 64; i++)
		table[i] = i * 5 + i % 3;
	for (int i = 0; i < n; i++) {
		mix(clamp(i * 37 % 101 - 50, -20, 30));
		mix(absolute(40 - i) + sign(i - 20));
		mix(lower_bound(table, 64, i * 6));
		mix(cmov_mem(i % 11, p + i % 4, q + i % 3));
		mix(chosen(p, q, i));
		add256(a, a, b);
		mix(a[0] ^ a[1] ^ a[2] ^ a[3]);
		mix((uint64_t)(mul128(sum, i + 1) >> 64));
		mix(mod128(mul128(sum, sum | 1), (uint64_t)i * 1000003 + 17));
		big = mix128(big, i);
		mix((uint64_t)(big >> 60));
		mix(bits((unsigned)sum, sum * 3));
		mix(divs((int)(sum >> 33) * (i & 1 ? 1 : -1), i + 1, (long)sum, sum >> 5));
		mix(overflow((int)(sum >> 32), i % 2 ? INT_MAX - i : -i));
	}
	printf("%016lx\n", sum);
	return 0;
}
