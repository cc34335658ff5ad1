/*
 * Words at odd addresses: packed structures, copies of structures that are not aligned, bit fields that cross words,
 * block moves of every small size; lwl, lwr, swl and swr as the compiler writes them.
 * targets: mipsel mips
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))

struct __attribute__((packed)) odd { char c; uint32_t w; uint16_t h; uint64_t d; int i; char z; float f; };
struct __attribute__((packed)) chain { char c; struct chain *next; int *where; };
struct bits { unsigned a : 3, b : 20, c : 12, d : 29; long long e : 40; };
struct b13 { char c[13]; };
struct b40 { char c[40]; };

static unsigned long sum;
static unsigned char raw[512];
static int values[16];

static void mix(unsigned long v) { sum = sum * 31 + v; }

NOINLINE static uint32_t get(const void *p) { uint32_t v; memcpy(&v, p, 4); return v; }
NOINLINE static void put(void *p, uint32_t v) { memcpy(p, &v, 4); }
NOINLINE static void put8(void *p, uint64_t v) { memcpy(p, &v, 8); }
NOINLINE static void copy13(struct b13 *d, const struct b13 *s) { *d = *s; }
NOINLINE static void copy40(struct b40 *d, const struct b40 *s) { *d = *s; }
NOINLINE static struct odd step(struct odd o, int k) { o.w += k; o.h ^= o.w; o.d *= 3; o.i -= o.c; o.f += 0.5f; return o; }

NOINLINE static unsigned
swaps(struct odd *p, int n)
{
	unsigned s = 0;

	for (int i = 0; i + 1 < n; i++) {
		struct odd t = p[i];

		p[i] = p[i + 1];
		p[i + 1] = t;
		p[i].w += p[i + 1].h;
		s += p[i].w + (unsigned)p[i].d + (unsigned)p[i].i;
	}
	return s;
}

/* addresses that come out of unaligned words */
NOINLINE static int
walk(struct chain *p)
{
	int s = 0;

	for (; p; p = p->next)
		s += ++*p->where;
	return s;
}

NOINLINE static unsigned
fields(struct bits *b, unsigned k)
{
	b->a = k;
	b->b += k * 77;
	b->c ^= b->b;
	b->d -= b->c;
	b->e = b->e * 3 - b->d;
	return b->a + b->b + b->c + b->d + (unsigned)(b->e >> 7);
}

NOINLINE static void
blocks(unsigned char *d, const unsigned char *s)
{
	memcpy(d, s, 3);
	memcpy(d + 5, s + 1, 7);
	memmove(d + 9, d + 10, 9);
	memcpy(d + 20, s + 3, 16);
	memcpy(d + 41, s + 2, 31);
	memset(d + 80, s[0], 11);
	memset(d + 93, 0, 26);
}

int
main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 9;
	static struct odd o[6];
	static char room[3 + 5 * sizeof(struct chain)];
	struct chain *list = (struct chain *)(room + 3);
	struct bits b = { 1, 2, 3, 4, 5 };

	for (int i = 0; i < 5; i++)
		list[i] = (struct chain){ 1, i < 4 ? &list[i + 1] : NULL, &values[i * 3] };
	for (unsigned i = 0; i < sizeof raw; i++)
		raw[i] = (unsigned char)(i * 11);
	for (int i = 0; i < n; i++) {
		put(raw + i * 3, get(raw + 100 - i) + i);
		put8(raw + 200 + i, (uint64_t)i << 33 | 5);
		copy13((struct b13 *)(raw + 300 + i), (struct b13 *)(raw + 5 * i));
		copy40((struct b40 *)(raw + 330 + i), (struct b40 *)(raw + 7 * i));
		o[i % 6] = step(o[(i + 1) % 6], i);
		mix(swaps(o, 6));
		mix(walk(list));
		mix(fields(&b, i));
		blocks(raw + i, raw + 150);
		mix(raw[i * 5] + get(raw + 331 + i));
	}
	for (unsigned i = 0; i < sizeof raw; i++)
		mix(raw[i]);
	printf("%08lx\n", sum);
	return 0;
}
