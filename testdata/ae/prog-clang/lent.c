/*
 * r15 of the program, in assembly and in what clang compiles: see lent.s. Callbacks, jumps out of functions and unwinding
 * find the program's value.
 */
#define _GNU_SOURCE
#include <execinfo.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

long moves(long *, long), memory(long *, long), full(long *, long), calls(long *, long), jumps(long *, long);
long gotos(long *, long), pic(long *, long), base(long *, long), tail(long *, long), leaves(long *);
long plain_calls(long (*)(long), long);         /* not traced; changes each register that it keeps */

static jmp_buf buf;
static long a[16] __attribute__((aligned(256))), deep;

long outside(long n) { a[n & 7] += n; return n + deep; }

__attribute__((noinline)) static long
leaver(long n)
{
	if (n > 3)
		longjmp(buf, (int)n);
	return n;
}

/* as many values as there are registers, kept over calls that leave by a jump */
__attribute__((noinline)) static long
keeps(const long *p, long n)
{
	long b = p[0], c = p[1], d = p[2], e = p[3], f = p[4], g = p[5];
	volatile long sum = 0;

	for (volatile int i = 0; i < 4; i++) {
		int r = setjmp(buf);

		if (!r)
			sum += plain_calls(leaver, n + i);
		else
			sum -= r;
		sum += b * c + d * e + f * g;
	}
	return sum + a[b & 7] + a[c & 7] + a[d & 7] + a[e & 7] + a[f & 7] + a[g & 7];
}

__attribute__((noinline)) static long
unwinds(long n)
{
	void *at[40];
	long k = backtrace(at, 40);

	return n + (k > 3);
}

extern volatile long seen;
void look(int sig, siginfo_t *si, void *uc);        /* not traced */

/* a trap, whose handler sees the program's r15 */
__attribute__((noinline)) static long
handled(long n)
{
	long r = 0;

	__asm__ volatile("movq\t%1, %%r15\n\tmovq\t%1, %%r12\n\tmovq\t%1, %%r13\n\tmovq\t%1, %%r14\n\taddq\t%%r12, %0\n\taddq\t%%r13, %0\n\t"
	    "addq\t%%r14, %0\n\taddq\t%%r12, %0\n\taddq\t%%r13, %0\n\taddq\t%%r14, %0\n\tint3\n\taddq\t%%r15, %0" : "+r"(r) : "r"(n) :
	    "r12", "r13", "r14", "r15", "cc", "memory");
	return r;
}

int
main(void)
{
	static long (*const all[])(long *, long) = { moves, memory, full, calls, jumps, gotos, pic, base, tail };
	struct sigaction act = { .sa_sigaction = look, .sa_flags = SA_SIGINFO };
	long sum = 0, pair[2];

	for (long n = 0; n < 40; n++)
		for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
			a[n % 16] += n;
			sum = sum * 31 + all[i](a, n);
		}
	printf("%ld\n", sum);
	pair[0] = 5;
	pair[1] = (long)outside;
	printf("%ld\n", leaves(pair));
	printf("%ld\n", keeps(a, 2));
	printf("%ld\n", plain_calls(unwinds, 8));
	sigaction(SIGTRAP, &act, NULL);
	sum = handled(4711);
	printf("%ld %ld\n", sum, seen);
	for (int i = 0; i < 16; i++)
		printf("%ld ", a[i]);
	printf("\n");
	return 0;
}
