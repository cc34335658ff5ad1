/*
 * Addresses that are computed, not loaded: every kind of arithmetic between a loop's counter and an index, so that the
 * regenerator has to do it as the machine does.
 * targets: mipsel mips
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

static unsigned long sum;
static unsigned char bin[256];
static int word[64];

static void mix(unsigned long v) { sum = sum * 31 + v; }

#define HIT(e) (bin[(e) & 255]++)

NOINLINE static void
shifts(int n)
{
	for (int i = 0; i < n; i++) {
		int x = i * -7919 + (i << 13);
		unsigned u = (unsigned)x;

		HIT(x >> 5);
		HIT(u >> 9);
		HIT(u << (i & 31) >> 20);
		HIT(x >> (i & 31));
		HIT(u >> 7 | u << 25);
		HIT(u << (i & 31) | u >> (-i & 31));
		HIT(__builtin_bswap32(u) >> 3);
		HIT(__builtin_bswap16((uint16_t)u));
		HIT((int8_t)x);
		HIT((int16_t)x >> 4);
		HIT(u >> 11 & 0x3f);
		HIT((u & ~0x3f0u) | (unsigned)i << 4);
	}
}

NOINLINE static void
products(int n)
{
	for (int i = 1; i <= n; i++) {
		int x = i * i * 31 - 1000;
		unsigned u = (unsigned)i * 2654435761u;

		HIT(u >> 24);
		HIT((int)((int64_t)x * 1234567 >> 32));
		HIT((unsigned)((uint64_t)u * 0xdeadbeef >> 40));
		HIT((int64_t)x * x >> 9);
		HIT((unsigned)((uint64_t)u + ((uint64_t)i << 33) - (uint64_t)x));
		HIT(x / i);
		HIT(x % i);
		HIT(u / (unsigned)i);
		HIT(u % (unsigned)(i * 3));
		HIT(x / 7 + x % 10);
		HIT(u / 1000);
		HIT((unsigned)((uint64_t)u << (i & 63) >> 30));
		HIT((unsigned)((int64_t)x >> (i & 63)));
	}
}

NOINLINE static void
choices(int n)
{
	for (int i = 0; i < n; i++) {
		int x = (i * 37) % 101 - 50, y = (i * 11) % 17 - 8, z;
		unsigned u = (unsigned)x;

		HIT(x < y ? x : y);
		HIT(u < (unsigned)y ? i : y + 1);
		z = 3;
		if (x)
			z = y;
		HIT(z);
		HIT(!x * 5 + !!y);
		HIT(abs(x) * 2);
		HIT(__builtin_clz(u | 1));
		HIT(__builtin_clz(~u | 1) * 3);
		HIT(~(x | y));
		HIT(x ^ (y & 0x55));
		HIT(x > 10 && y < 0 ? i : 77);
		HIT((x < 0) + (y >= 3) * 2 + (x == y) * 4 + (u > 7u) * 8);
		word[(x & 31) + (y & 31)] += i;
	}
}

NOINLINE static void
quads(int n)
{
	uint64_t s = 0x123456789abcdefull;
	int64_t t = -5;

	for (int i = 0; i < n; i++) {
		s ^= s << 13;
		s ^= s >> 7;
		s ^= s << 17;
		t += (int64_t)s >> 3;
		HIT((unsigned)(s >> 56));
		HIT((unsigned)(t >> 20));
		HIT(t < 0 ? 5 : (int)(s >> 61));
		HIT((unsigned)(s % 251));
	}
}

/* madd and msub */
NOINLINE static void
sums(int n)
{
	int64_t a = 7;
	uint64_t b = 9;

	for (int i = 0; i < n; i++) {
		a += (int64_t)i * (i - 9);
		b -= (uint64_t)(unsigned)i * 0x10001u;
		HIT((int)(a >> 3));
		HIT((unsigned)(b >> 31));
	}
}

int
main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 70;

	shifts(n);
	products(n);
	choices(n);
	quads(n);
	sums(n);
	for (int i = 0; i < 256; i++)
		mix(bin[i] + word[i & 63]);
	printf("%08lx\n", sum);
	return 0;
}
