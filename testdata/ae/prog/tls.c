/*
 * Thread-local storage of the initial thread: local and of another file, arrays, pointers into it, errno.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

extern __thread long tls_far;                   /* tls.2.c */
extern __thread int tls_array[10];
extern long *tls_address(int);
extern _Thread_local long tls_here;             /* defined below, used there */

_Thread_local long tls_here = 5;
static __thread unsigned long sum;
static __thread struct { int n; char c[40]; long *p; } state = { 3, "abc", 0 };

static void mix(unsigned long v) { sum = sum * 31 + v; }

NOINLINE static long
walk(int n)
{
	long s = 0;

	for (int i = 0; i < n; i++) {
		state.c[i % 40] += i;
		tls_array[i % 10] += state.c[(i * 7) % 40];
		s += tls_array[(i + 3) % 10];
	}
	return s;
}

NOINLINE static int
fails(const char *s)
{
	errno = 0;
	strtol(s, NULL, 10);
	return errno == ERANGE;
}

int
main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 50;

	for (int i = 0; i < n; i++) {
		tls_here += i;
		tls_far ^= tls_here * 3;
		mix(tls_far);
		state.p = tls_address(i);
		*state.p += i;
		mix(tls_here + ++state.n);
		mix(walk(i % 30));
		mix(fails(i & 1 ? "99999999999999999999999" : "12"));
	}
	printf("%016lx %ld\n", sum, tls_here);
	return 0;
}
