/*
 * Handlers throw exceptions out of traced code that they interrupt: one that is not recorded, as the region has ended, and
 * recorded ones, of which the first ends the recording.
 */
#include <csignal>
#include <cstdio>
#include <cstring>
#include "lib/tracemill.h"

static void
thrower(int sig)
{
	throw sig;
}

struct Counts {
	long &n;
	~Counts() { n += 100; }
};

__attribute__((noinline)) static long
faults(const volatile long *p, long a, long b, long &n, int stop)
{
	Counts g{n};
	long c = a * b, d = a + b, e = a ^ b;

	if (stop)
		ae_stop();
	for (int i = 0; i < 3; i++) {
		c += d;
		d ^= e;
		if (i == 2)
			c += *p;
	}
	return c + d + e;
}

int
main(int argc, char **argv)
{
	struct sigaction act;
	long n = 0;

	(void)argv;
	memset(&act, 0, sizeof act);
	act.sa_handler = thrower;
	act.sa_flags = SA_NODEFER;
	sigaction(SIGSEGV, &act, nullptr);
	for (int i = 0; i < 5; i++) {
		ae_start();
		try {
			n += faults(nullptr, i, n, n, argc > 1);
		} catch (int sig) {
			n += sig;
		}
	}
	printf("%ld\n", n);
	return 0;
}
