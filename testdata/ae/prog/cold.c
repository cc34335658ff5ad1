/*
 * Cold partitions and functions that do not return: __builtin_expect, attributes cold and noreturn, code that falls
 * into a call that never comes back, loops in the cold part, an unlikely path that is taken all the same.
 */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))
#define unlikely(x) __builtin_expect(!!(x), 0)

static unsigned long sum;
static jmp_buf out;
static const char *last = "";

static void mix(unsigned long v) { sum = sum * 31 + v; }

__attribute__((noreturn, cold, noinline)) static void
panic(const char *why, int code)
{
	last = why;
	mix(code);
	longjmp(out, code);
}

__attribute__((cold, noinline)) static int
rare(int x)
{
	for (int i = 0; i < 5; i++)
		x = x * 3 + i;
	return x;
}

NOINLINE static int
check(const int *p, int n)
{
	int s = 0;

	if (unlikely(n < 0))
		panic("negative", 3);
	for (int i = 0; i < n; i++) {
		if (unlikely(p[i] == 13)) {
			s += rare(i);
			for (int k = 0; k < i; k++)
				s ^= p[k] << k % 8;
			continue;
		}
		if (unlikely(p[i] > 1000))
			panic("too large", p[i]);
		s += p[i];
	}
	return s;
}

/* ends with the call: nothing follows it in this function */
NOINLINE static int
last_call(int x)
{
	if (x < 7)
		return x + 1;
	panic("last", x);
}

NOINLINE static int
unreachable(int k)
{
	switch (k & 3) {
	case 0: return 5;
	case 1: return 9;
	case 2: return k;
	case 3: return -k;
	}
	__builtin_unreachable();
}

NOINLINE static long
many(long a, long b, int k)
{
	if (unlikely(k == 1)) {
		mix(a);
		return rare((int)b) + a;
	}
	if (unlikely(k == 2))
		return rare(k) * many(b, a, 0);
	if (unlikely(b == 0))
		panic("zero", 11);
	return a / b;
}

int
main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 30;
	int v[20];
	volatile int i;

	for (i = 0; i < n; i++) {
		for (int k = 0; k < 20; k++)
			v[k] = k * i % 29;
		if (i % 11 == 10)
			v[i % 20] = 2000 + i;
		int r = setjmp(out);
		if (r == 0) {
			mix(check(v, i % 21 - 1));
			mix(last_call(i % 9));
			mix(many(i * 100, i % 8, i % 4));
		} else
			mix(r + last[0]);
		mix(unreachable(i));
	}
	printf("%016lx %s\n", sum, last);
	return 0;
}
