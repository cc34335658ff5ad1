/*
 * setjmp and longjmp: several sites, in a loop, out of nested calls, out of callbacks and nested callbacks of libc and
 * of an untraced file, and a longjmp made by untraced code.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

extern long plain_call(long (*)(long), long);
extern int plain_try(void (*)(int), int);       /* sets its own jump target */
extern void plain_throw(jmp_buf, int);

static unsigned long sum;
static jmp_buf top, inner;
static int countdown;

static void mix(unsigned long v) { sum = sum * 31 + v; }

NOINLINE static void
deep(int n, jmp_buf env)
{
	volatile char pad[32];

	pad[n & 31] = n;
	if (n == 0)
		longjmp(env, 7);
	if (n > 0)
		deep(n - 1, env);
	mix(pad[0]);
}

NOINLINE static long
thrower(long x)
{
	if (x > 5)
		longjmp(top, (int)x);
	return plain_call(thrower, x + 1) + 1;
}

static int
cmp_throw(const void *a, const void *b)
{
	if (--countdown == 0)
		longjmp(top, 42);
	return *(const int *)a - *(const int *)b;
}

/* catches what its own callback throws, then throws further out */
NOINLINE static long
catcher(long x)
{
	volatile long y = x;
	int r = setjmp(inner);

	if (r == 0)
		deep(3, inner);
	mix(r + y);
	if (x & 1)
		longjmp(top, 9);
	return y * 2;
}

NOINLINE static void
two_sites(int k)
{
	jmp_buf a, b;
	volatile int step = 0;
	int r = setjmp(a);

	mix(r * 10 + step);
	step++;
	if (step < 3)
		deep(2, a);
	r = setjmp(b);
	mix(r * 100 + step);
	step++;
	if (step < 4 + k)
		deep(step, step & 1 ? b : a);
}

NOINLINE static void throw_from_plain(int k) { mix(k); plain_throw(top, k + 20); }

int
main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 8;
	volatile int i;
	int v[30], r;

	for (i = 0; i < n; i++) {               /* one site, many times */
		r = setjmp(top);
		if (r == 0)
			deep(i % 5, top);
		mix(r);
	}
	for (i = 0; i < n; i++) {               /* out of nested callbacks of an untraced function */
		if ((r = setjmp(top)) == 0)
			mix(plain_call(thrower, i));
		else
			mix(r);
	}
	for (i = 0; i < n; i++) {               /* out of qsort */
		for (int k = 0; k < 30; k++)
			v[k] = k * 7919 % 31;
		countdown = 5 + i * 20;
		if (setjmp(top) == 0)
			qsort(v, 30, sizeof *v, cmp_throw);
		else
			mix(v[0] >= 0);
		mix(countdown);
	}
	for (i = 0; i < n; i++) {               /* a setjmp in a callback, one outside */
		if ((r = setjmp(top)) == 0)
			mix(plain_call(catcher, i));
		mix(r);
	}
	for (i = 0; i < 3; i++)
		two_sites(i);
	for (i = 0; i < 3; i++) {               /* longjmp called by untraced code */
		if ((r = setjmp(top)) == 0)
			throw_from_plain(i);
		mix(r);
	}
	for (i = 0; i < 3; i++)                 /* callbacks given up by untraced code that goes on itself */
		mix(plain_try(throw_from_plain, i));
	printf("%016lx\n", sum);
	return 0;
}
