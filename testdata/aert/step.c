/*
 * A signal at each instruction that work() needs: the processor traps after it while `stepped` has set the flag for that. So
 * handlers interrupt the traced code, and the runtime, everywhere.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

long stepped(long (*f)(long), long n);                          /* not traced */
#ifdef LENT                                                     /* ../ae/prog-clang/lent.s: all ways to use r15 */
long moves(long *, long), memory(long *, long), full(long *, long), calls(long *, long), jumps(long *, long);
long gotos(long *, long), pic(long *, long), base(long *, long), tail(long *, long);
static long (*const some[])(long *, long) = { moves, memory, full, calls, jumps, gotos, pic, base, tail };
#else
NOINLINE static long down(long *p, long n) { return n ? p[n & 15] + down(p, n - 1) : *p; }
NOINLINE static long sorted(long *p, long n);
static long (*const some[])(long *, long) = { down, sorted };
#endif

static long a[16] __attribute__((aligned(256))), kept[64];
static volatile long hits;
volatile long mark;
long outside(long n);

long outside(long n) { a[n & 7] += n; return n; }

#ifndef LENT
static int order(const void *x, const void *y) { return *(const long *)x < *(const long *)y ? -1 : *(const long *)x > *(const long *)y; }
static long sorted(long *p, long n) { qsort(p, 5, sizeof *p, order); return p[n & 3]; }
#endif

static void
one_step(int sig)
{
	hits++;
	kept[hits & 63] += sig;
	kept[(kept[hits & 63] + 3) & 63]++;
	mark = hits;
}

NOINLINE static long
work(long n)
{
	long sum = 0;

	for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
		for (int k = 0; k < 16; k++)
			a[k] = k ^ n;
		sum = sum * 3 + some[i](a, n);
	}
	return sum;
}

int
main(int argc, char **argv)
{
	long sum = 0;

	(void)argv;
	signal(SIGTRAP, one_step);
	for (long n = 0; n < 6; n++)
		sum = sum * 7 + (argc > 1 ? stepped(work, n) : work(n));
	printf("%ld\n", sum);
	fprintf(stderr, "%ld\n", hits);
	return 0;
}
