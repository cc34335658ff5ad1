/*
 * What a regenerator must survive: recursion a hundred thousand deep, callbacks
 * from qsort left by longjmp, longjmp over traced and untraced frames, jump
 * tables, string instructions, an unknown callee that jumps on.
 */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static jmp_buf env;
static int ncmp, stop;
volatile long sink;

static int
cmp(const void *a, const void *b)
{
	if (++ncmp == stop)
		longjmp(env, ncmp);
	return *(const int *)a - *(const int *)b;
}

__attribute__((noinline)) static long
down(long n)
{
	long r = n ? down(n - 1) : 0;

	return r + n % 3;
}

__attribute__((noinline)) static int
sorted(int n)
{
	int v[40], i;
	volatile int tries = 0;

	for (i = 0; i < n; i++)
		v[i] = i * 7919 % 41;
	ncmp = 0;
	stop = 10 + n;
	if (setjmp(env)) {
		tries++;
		stop = tries < 3 ? ncmp + 5 : -1;
	}
	qsort(v, (size_t)n, sizeof *v, cmp);
	return tries * 100 + v[0];
}

__attribute__((noinline)) static int
kind(int c)
{
	switch (c) {
	case 'a': return 3;
	case 'b': return sink & 1;
	case 'c': return 7;
	case 'd': return 9 - (int)sink;
	case 'e': return 11;
	case 'f': return 2 * (int)sink;
	case 'g': return 15;
	default: return 0;
	}
}

static long twice(long x) { return 2 * x + kind((int)x); }
static long (*volatile fp)(long) = twice;
__attribute__((noinline)) static long pass(long x) { return fp(x + 1); }

int
main(int argc, char **argv)
{
	char buf[300], copy[300];
	long sum = 0;

	(void)argv;
	memset(buf, 'a' + argc, sizeof buf);
	memcpy(copy, buf, sizeof copy);
	for (int i = 0; i < 20; i++)
		sum += kind('a' + i % 8) + pass(i);
	sum += memcmp(buf, copy, sizeof buf) + (long)strlen("abc");
	sum += down(100000);
	sum += sorted(20) + sorted(30);
	printf("%ld\n", sum);
	return 0;
}
