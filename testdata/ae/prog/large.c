/*
 * Values that are recorded as short values: pointers below and above 2^31, on the stack, in mappings; the bounds of 31, 63
 * and 64 bits, and negative numbers; of all registers, as arguments through pointers, and enough of them to fill the buffer.
 *
 * oracles: qemu
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define NOINLINE __attribute__((noinline))

struct node { struct node *next; unsigned long v; };

static const unsigned long bound[] = {
	0, 1, 0x7ffffffe, 0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe, 0xffffffff, 0x100000000, 0x7ffffffeffffffff,
	0x7fffffff00000000, 0x7fffffff7fffffff, 0x7fffffffffffffff, 0x8000000000000000, 0x80000000ffffffff, 0xffffffff00000000,
	0xffffffff7fffffff, 0xffffffffffffffff
};
#define N (sizeof bound / sizeof *bound)

static volatile unsigned long box[N];
static unsigned char bytes[256];

/* the values are needed as addresses, and fall on a byte of the table by the mask */
NOINLINE static unsigned
look(unsigned long a, unsigned long b, unsigned long c, unsigned long d, unsigned long e, unsigned long f)
{
	return bytes[a & 255] + bytes[b >> 56] + bytes[c >> 24 & 255] + bytes[d >> 31 & 255] + bytes[e >> 63] + bytes[f >> 32 & 255];
}

static unsigned (*volatile call)(unsigned long, unsigned long, unsigned long, unsigned long, unsigned long, unsigned long) = look;

NOINLINE static unsigned long
walk(const struct node *n)
{
	unsigned long s = 0;

	for (; n; n = n->next)
		s += n->v;
	return s;
}

/* many values at once, so that registers of all kinds hold them */
NOINLINE static unsigned
many(unsigned i)
{
	unsigned long a = box[i % N], b = box[(i + 1) % N], c = box[(i + 2) % N], d = box[(i + 3) % N], e = box[(i + 4) % N],
	    f = box[(i + 5) % N], g = box[(i + 6) % N], h = box[(i + 7) % N], j = box[(i + 8) % N], k = box[(i + 9) % N];

	return bytes[(a + b) >> 7 & 255] + bytes[(c ^ d) >> 33 & 255] + bytes[(e - f) & 255] + bytes[(g | h) >> 60] +
	    bytes[(j & k) >> 3 & 255] + bytes[a % 251] + bytes[h % 241] + bytes[k % 239];
}

int
main(void)
{
	struct node low[8], *map, *heap = malloc(8 * sizeof *heap);
	unsigned long s = 0;

	map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (map == MAP_FAILED || !heap)
		return 1;
	for (unsigned i = 0; i < 256; i++)
		bytes[i] = (unsigned char)(i * 7);
	for (unsigned i = 0; i < N; i++)
		box[i] = bound[i];
	for (unsigned i = 0; i < 8; i++) {      /* stack, mapping, heap, and again */
		low[i] = (struct node){map + i, i};
		map[i] = (struct node){heap + i, 2 * i};
		heap[i] = (struct node){i < 7 ? low + i + 1 : NULL, 3 * i};
	}
	for (unsigned i = 0; i < 12000; i++) {
		s += walk(low) + many(i);
		s += call(box[i % N], box[(i + 5) % N], box[(i + 7) % N], box[(i + 11) % N], box[(i + 13) % N], box[(i + 17) % N]);
	}
	printf("%lu\n", s);
	return 0;
}
