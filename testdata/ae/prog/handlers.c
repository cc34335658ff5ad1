/*
 * Handlers on the program's own stack, nested, and siglongjmp out of one: only the output is compared, as the frames
 * that the system pushes have another size under an oracle.
 * oracles: none
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

static unsigned long sum;
static volatile sig_atomic_t hits, ticks;
static volatile unsigned long spin;
static sigjmp_buf top;

static void mix(unsigned long v) { sum = sum * 31 + v; }

static void
nested(int sig)
{
	hits += sig == SIGUSR1 ? 1 : 100;
	if (sig == SIGUSR1 && hits % 100 < 4)
		raise(SIGUSR2);
}

static void jump(int sig) { siglongjmp(top, sig); }

/* arrives wherever the program happens to be */
static void
tick(int sig)
{
	(void)sig;
	ticks++;
}

int
main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 5, want = 20;
	struct itimerval it = { { 0, 2000 }, { 0, 2000 } };
	volatile int i;

	signal(SIGUSR1, nested);
	signal(SIGUSR2, nested);
	signal(SIGHUP, jump);
	for (i = 0; i < n; i++) {
		int r = sigsetjmp(top, 1);

		raise(SIGUSR1);
		if (r == 0)
			raise(SIGHUP);
		mix(r + hits);
	}
	signal(SIGALRM, tick);
	setitimer(ITIMER_REAL, &it, NULL);
	while (ticks < want) {          /* interrupted in traced code, in libc and in system calls */
		for (int k = 0; k < 1000; k++)
			spin = spin * 3 + k;
		if (spin % 7 == 0)
			usleep(100);
		free(malloc(spin % 500));
	}
	it.it_value.tv_usec = 0;
	setitimer(ITIMER_REAL, &it, NULL);
	printf("%016lx %d\n", sum, ticks >= want);
	return 0;
}
