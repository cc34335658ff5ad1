/*
 * Recursion: deep (a frame for each level), mutual, double, and on structures.
 */
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline, noclone))

static unsigned long sum;
static long calls;

static void mix(unsigned long v) { sum = sum * 31 + v; }

NOINLINE static long
down(long n)
{
	if (n == 0)
		return 1;
	return down(n - 1) * 3 + n;
}

static long pong(long n, long *p);

NOINLINE static long
ping(long n, long *p)
{
	long here = n ^ *p;

	if (n <= 0)
		return here;
	return pong(n - 1, &here) + here;
}

NOINLINE static long
pong(long n, long *p)
{
	long here[2] = { n, *p };

	if (n <= 0)
		return here[1];
	return ping(n - 1, &here[n & 1]) - here[0];
}

NOINLINE static unsigned
ack(unsigned m, unsigned n)
{
	calls++;
	if (m == 0)
		return n + 1;
	if (n == 0)
		return ack(m - 1, 1);
	return ack(m - 1, ack(m, n - 1));
}

NOINLINE static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

NOINLINE static void
hanoi(int n, int from, int to, int via)
{
	if (n == 0)
		return;
	hanoi(n - 1, from, via, to);
	mix(from * 3 + to);
	hanoi(n - 1, via, to, from);
}

static int tak(int x, int y, int z) { return y >= x ? z : tak(tak(x - 1, y, z), tak(y - 1, z, x), tak(z - 1, x, y)); }

static void
permute(char *s, int k, int n)
{
	if (k == n) {
		for (int i = 0; i < n; i++)
			mix(s[i]);
		return;
	}
	for (int i = k; i < n; i++) {
		char t = s[k];

		s[k] = s[i], s[i] = t;
		permute(s, k + 1, n);
		t = s[k], s[k] = s[i], s[i] = t;
	}
}

int
main(int argc, char **argv)
{
	int depth = argc > 1 ? atoi(argv[1]) : 3000;
	long zero = 0;
	char s[] = "abcde";

	mix(down(depth));
	mix(ping(depth / 4, &zero));
	mix(ack(2, 8) + calls);
	mix(fib(12));
	hanoi(8, 1, 2, 3);
	mix(tak(8, 4, 2));
	permute(s, 0, 5);
	printf("%016lx\n", sum);
	return 0;
}
