/*
 * Calls of every kind: known, through pointers, to another traced file, to an untraced file that calls back, tail
 * calls, mutual recursion, aliases, weak symbols, functions of fewer than five bytes and loops that begin in them.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

/* calls.2.c */
extern long far_add(long, long);
extern long far_loop(const long *, int);
extern long (*far_table[3])(long, long);
extern int far_even(int), far_odd(int);
extern long far_tail(long (*)(long), long);
extern long weak_here(long);
/* calls.plain.c */
extern long plain_twice(long (*)(long), long);
extern long plain_through(long (*)(long (*)(long), long), long);
extern long (*plain_give(int))(long, long);

static unsigned long sum;

static void mix(unsigned long v) { sum = sum * 31 + v; }

NOINLINE long weak_here(long x) { return x ^ 0x55; }    /* calls.2.c has a weak one */
extern long missing(long) __attribute__((weak));        /* nobody has this one */

NOINLINE void tiny(void) { }                            /* one byte: a ret */
NOINLINE int tiny1(int x) { return x; }
NOINLINE long inc(long x) { return x + 1; }
NOINLINE static long dbl(long x) { return 2 * x; }
long alias_of_inc(long) __attribute__((alias("inc")));

/* The loop's header is within the first five bytes at -O1 and higher */
NOINLINE static long
countdown(long n)
{
	do
		n -= 3;
	while (n > 0);
	return n;
}

NOINLINE static unsigned long
spin(unsigned long x)
{
	while (x & 1)
		x >>= 1;
	return x;
}

NOINLINE static long tail_to(long x) { return inc(x * 3); }
NOINLINE static long tail_ptr(long (*f)(long), long x) { return f(x - 1); }
NOINLINE static long tail_far(long x) { return far_add(x, 7); }
NOINLINE static long tail_plain(long x) { return plain_twice(tail_to, x); }
NOINLINE static long tail_chain(long x) { return tail_ptr(x & 1 ? tail_far : tail_to, x); }

static int is_odd(int n);
NOINLINE static int is_even(int n) { return n == 0 ? 1 : is_odd(n - 1) & 1; }
NOINLINE static int is_odd(int n) { return n == 0 ? 0 : is_even(n - 1) & 1; }

NOINLINE static long
sum8(long a, long b, long c, long d, long e, long f, long g, long h)
{
	return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h;
}

struct ops {
	const char *name;
	long (*f)(long);
	const struct ops *next;
};
static const struct ops op3 = { "inc", inc, NULL };
static const struct ops op2 = { "dbl", dbl, &op3 };
static const struct ops op1 = { "tail", tail_to, &op2 };
static const struct ops *const chain[] = { &op1, &op2, &op3 };

NOINLINE static long
run_chain(const struct ops *o, long x)
{
	for (; o; o = o->next)
		x = o->f(x);
	return x;
}

/* a callback that itself goes out and back in */
NOINLINE static long nested(long x) { return x <= 0 ? 0 : plain_twice(nested, x - 4) & 1; }
NOINLINE static long outer(long (*f)(long), long x) { return f(x) + plain_twice(f, x + 1); }

NOINLINE static long
by_number(int k, long x)
{
	long (*f)(long) = k == 0 ? inc : k == 1 ? dbl : k == 2 ? tail_to : k == 3 ? tail_plain : alias_of_inc;

	return f(x);
}

int
main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 20;
	long v[8];

	for (int i = 0; i < n; i++) {
		for (int k = 0; k < 8; k++)
			v[k] = (long)(sum >> k) % 100 + i;
		tiny();
		mix(tiny1(i));
		mix(far_add(i, v[0]));
		mix(far_loop(v, 8));
		mix(far_table[i % 3](v[1], v[2]));
		mix(far_even(i) + 2 * far_odd(i));
		mix(far_tail(inc, i) + far_tail(tail_chain, i));
		mix(weak_here(i));
		mix(countdown(i) + spin(i));
		mix(tail_to(i) + tail_ptr(dbl, i) + tail_far(i) + tail_plain(i) + tail_chain(i));
		mix(is_even(i) * 2 + is_odd(i));
		mix(sum8(v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]));
		mix(run_chain(chain[i % 3], i));
		mix(nested(i % 12));
		mix(plain_through(outer, i));
		mix(plain_give(i)(v[3], v[4]));
		mix(by_number(i % 5, i));
		if (missing)
			mix(missing(i));
	}
	printf("%016lx\n", sum);
	return 0;
}
