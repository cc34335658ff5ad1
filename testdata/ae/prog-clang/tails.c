/* Calls at the end of functions, which clang 19 writes as conditional jumps: to functions of this file, of libc, to themselves. */
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

static long table[16], rest;

NOINLINE static long sum(const long *p, long n) { long s = 0; while (n-- > 0) s = s * 3 + *p++; return s; }
NOINLINE static long add(const long *p, long n) { rest += p[n & 15]; return rest; }

NOINLINE static long
either(const long *p, long n)
{
	if (n > 8)
		return sum(p, n);
	if (n == 3)
		return add(p, n);
	if (n > 4)
		return labs(p[n]);
	return n;
}

NOINLINE static long
away(long n)
{
	table[n & 15] += n;
	if (n & 1)
		return random();
	return -n;
}

NOINLINE static void
down(long n, long *at)
{
	*at += n;
	if (n > 0)
		down(n - 2, at + (n & 1));
	else if (n == 0)
		add(at, *at);
}

int
main(void)
{
	long s = 0, two[40] = {0};

	for (long i = 0; i < 40; i++) {
		s = s * 31 + either(table, i % 17) + away(i - 20);
		down(i % 7, two + i % 9);
	}
	printf("%ld %ld %ld\n", s, two[3], rest);
	return 0;
}
