/*
 * Jumps inside a function through the register that calls leave the return address in, beside returns through it.
 * targets: mipsel mips
 */
#include <alloca.h>
#include <stdio.h>

#define NOINLINE __attribute__((noinline))

static unsigned long sum;

NOINLINE static void
add(unsigned long v)
{
	sum = sum * 31 + v;
}

/* the compiler keeps the target in $31 */
#define GO(to) do { \
	register void *link __asm__("$31") = (to); \
	__asm__ volatile("" : "+r"(link)); \
	goto *link; \
} while (0)

NOINLINE static int
steps(const unsigned char *p)
{
	static void *const table[] = { &&one, &&two, &&three, &&end };
	int n = 0;

	if (!*p)
		return -1;      /* perhaps before there is a frame */
	GO(table[*p++ & 3]);
one:
	n += 1;
	GO(table[*p++ & 3]);
two:
	add(n);
	GO(table[*p++ & 3]);
three:
	n *= 3;
	if (n > 1000)
		return n;
	GO(table[*p++ & 3]);
end:
	add(n + 7);
	return n;
}

/* the size of the frame is not known */
NOINLINE static int
frame(const unsigned char *p, int size)
{
	static void *const table[] = { &&up, &&down, &&end };
	char *q = alloca(size);
	int i = 0, n = 0;

	for (int k = 0; k < size; k++)
		q[k] = k;
	GO(table[*p++ % 3]);
up:
	if (++i == size)
		return -2;
	n += q[i];
	GO(table[*p++ % 3]);
down:
	n -= q[i];
	add(n);
	GO(table[*p++ % 3]);
end:
	return n;
}

/* leaves with large frames: the return address is never saved, the frame is given back by a register */
NOINLINE static int
large(int k, int n)
{
	volatile char b[100000];
	int s = 0;

	for (int i = 0; i < n; i++)
		b[i * 1000 % 99999] = i;
	switch (k) {
	case 0: s = b[3000]; break;
	case 1: s = b[2000] * 3; break;
	case 2: s = 7; break;
	case 3: s = b[1000]; break;
	case 4: return b[5000] + 1;
	case 5: s = 9; break;
	case 6: s = b[7000];
	}
	return s + b[n * 1000 - 1000];
}

/* ... and with calls */
NOINLINE static int
larger(int k, int n)
{
	volatile char b[100000];
	int s = 0;

	for (int i = 0; i < n; i++)
		b[i * 1000 % 99999] = large(i, 9) & 63;
	switch (k) {
	case 0: s = b[3000]; break;
	case 1: add(b[2000] * 3); break;
	case 2: s = 7; break;
	case 3: s = b[1000]; break;
	case 4: return b[5000] + 1;
	case 5: s = large(1, 9); break;
	case 6: s = b[7000];
	}
	return s + b[n * 1000 - 1000];
}

int
main(void)
{
	static const unsigned char text[][16] = { { 4, 1, 2, 1, 2, 5, 3 }, { 0 }, { 2, 2, 2, 2, 1, 0, 3 }, { 4, 2, 2, 2, 2, 2, 2, 2, 2, 3 } };
	unsigned char way[64];

	for (int i = 0; i < 4; i++)
		printf("%d ", steps(text[i]));
	for (int i = 0; i < 64; i++)
		way[i] = i % 7 == 6 ? 1 : i > 50 ? 2 : 0;
	for (int size = 1; size < 100; size += 24)
		printf("%d ", frame(way, size));
	for (int k = 0; k < 8; k++)
		add((unsigned long)large(k, 8) + (unsigned long)larger(k, 8));
	printf("%lu\n", sum);
	return 0;
}
