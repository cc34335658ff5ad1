/*
 * Handlers that return, that call, that are interrupted themselves, that jump out, on the same and
 * on another stack.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static volatile int count, inner;
static sigjmp_buf out;
static char other[65536];

static int
helper(int v)
{
	return v > 2 ? v * 2 : v + 1;
}

static void
plain(int sig)
{
	count += sig == SIGUSR1 ? helper(count) : 1;
	if (!inner++)
		raise(SIGUSR2);
}

static void
leave(int sig)
{
	if (count > sig - 100)
		siglongjmp(out, 2);
	count = 0;
}

static int
work(int n)
{
	int s = 0;

	for (int i = 0; i < n; i++) {
		s += i & 1 ? helper(i) : 2;
		if (i == 3)
			raise(SIGUSR1);
	}
	return s;
}

int
main(void)
{
	struct sigaction a = { .sa_handler = plain };
	stack_t st = { .ss_sp = other, .ss_size = sizeof other };
	int s;

	sigaction(SIGUSR1, &a, NULL);
	sigaction(SIGUSR2, &a, NULL);
	s = work(6);
	sigaltstack(&st, NULL);
	a.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR1, &a, NULL);
	s += work(5);
	a.sa_handler = leave;
	sigaction(SIGHUP, &a, NULL);
	if (sigsetjmp(out, 1) == 0)
		raise(SIGHUP);
	else
		s += work(2);
	return (s + count) & 63;
}
