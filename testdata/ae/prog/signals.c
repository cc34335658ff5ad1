/*
 * Signal handlers as callbacks: through raise and kill, with siginfo, left by siglongjmp, a handler that
 * calls qsort.  They run on an alternate stack, because the system's frame below them is larger here than there.
 * diff: -a 1
 * oracles: lackey
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define ALT (64 << 10)

static unsigned long sum;
static volatile sig_atomic_t hits;
static sigjmp_buf top;

static void mix(unsigned long v) { sum = sum * 31 + v; }
static int cmp(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

static void on_usr(int sig) { hits += sig == SIGUSR1 ? 1 : 100; }

static void
on_info(int sig, siginfo_t *si, void *uc)
{
	(void)uc;
	hits += 1000 * (sig == si->si_signo);
}

static void
on_sort(int sig)
{
	int v[] = { 5, 3, 9, sig, 1, 7 };

	qsort(v, 6, sizeof *v, cmp);
	mix(v[0] * 10 + v[5]);
}

static void
on_jump(int sig)
{
	mix(sig);
	siglongjmp(top, hits % 7 + 1);
}

static void
set(int sig, void (*h)(int))
{
	struct sigaction sa = { .sa_handler = h, .sa_flags = SA_ONSTACK };

	sigaction(sig, &sa, NULL);
}

static int
work(int n)
{
	int s = 0;

	for (int i = 0; i < n; i++) {
		s += i;
		if (i % 5 == 4)
			raise(SIGUSR1);
	}
	return s;
}

int
main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 20;
	stack_t st = { .ss_size = ALT };
	struct sigaction sa = { .sa_sigaction = on_info, .sa_flags = SA_SIGINFO | SA_ONSTACK };
	volatile int i;

	st.ss_sp = mmap(NULL, ALT + (1 << 26), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (st.ss_sp == MAP_FAILED || sigaltstack(&st, NULL) != 0)
		return 1;
	set(SIGUSR1, on_usr);
	set(SIGUSR2, on_usr);
	set(SIGWINCH, on_sort);
	set(SIGCHLD, on_jump);
	sigaction(SIGRTMIN, &sa, NULL);
	mix(work(n));
	for (i = 0; i < n / 4; i++) {
		kill(getpid(), SIGUSR2);
		raise(SIGWINCH);
		raise(SIGRTMIN);
		int r = sigsetjmp(top, 1);
		if (r == 0)
			raise(SIGCHLD);
		mix(r);
	}
	mix(hits);
	printf("%016lx\n", sum);
	return 0;
}
