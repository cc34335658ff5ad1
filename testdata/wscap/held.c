/* For held.t: signals that come while the program computes, and what it does next. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t n;
static volatile long outer, spins;
static siginfo_t got[3];

static void
handler(int sig)
{
	(void)sig;
	n++;
}

/* The signal may be delivered as late as at the call, after the program has looked at n */
static void
says(int sig)
{
	n++;
	syscall(SYS_write, 1, sig == SIGALRM ? "alarm\n" : "?\n", sig == SIGALRM ? 6 : 2);
}

static void
tells(int sig, siginfo_t *si, void *ctx)
{
	(void)sig;
	(void)ctx;
	if (n < 3)
		got[n] = *si;
	n++;
}

static void
spin(long k)
{
	for (spins = 0; spins < k; spins++)
		;
}

/* spins for about so many milliseconds of the processor, without a system call */
static void
spin_ms(double ms)
{
	static double each;
	struct timespec a, b;

	if (!each) {
		/* not by the time that passes, of which others take a part: too few passes would end before the signal */
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
		spin(4000000);
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
		each = ((double)(b.tv_sec - a.tv_sec) * 1e3 + (double)(b.tv_nsec - a.tv_nsec) / 1e6) / 4000000;
	}
	spin((long)(ms / each));
}

/* SIGALRM comes now, before what follows */
static void
alarm_comes(void)
{
	struct itimerval t = {{0, 0}, {0, 1000}};

	spin_ms(0);
	signal(SIGALRM, says);
	setitimer(ITIMER_REAL, &t, NULL);
	spin_ms(8);
}

static int
timers(void)
{
	struct itimerval t = {{0, 1500}, {0, 1500}}, off = {{0, 0}, {0, 0}};

	signal(SIGALRM, handler);
	setitimer(ITIMER_REAL, &t, NULL);
	/* only a word of memory tells the passes of the outer loop apart */
	for (outer = 0; outer < 200; outer++)
		for (long i = 0; i < 1000000; i++)
			__asm__ volatile("");
	setitimer(ITIMER_REAL, &off, NULL);
	puts(n > 5 ? "often" : "seldom");
	return 0;
}

static int
values(void)
{
	struct sigaction a = {.sa_sigaction = tells, .sa_flags = SA_SIGINFO};
	struct sigevent e = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1, .sigev_value.sival_int = 4242};
	struct itimerspec v = {{0, 30000000}, {0, 30000000}};
	timer_t t;

	sigaction(SIGUSR1, &a, NULL);
	timer_create(CLOCK_MONOTONIC, &e, &t);
	timer_settime(t, 0, &v, NULL);
	while (n < 3)
		spin(1000);
	for (int i = 0; i < 3; i++)
		printf("code %d value %d\n", got[i].si_code, got[i].si_value.sival_int);
	return 0;
}

/* Bad pointers, and calls, and many times the clock, with all blocked: the recorder has faults. */
static int
blocked(void)
{
	static const int sigs[] = {SIGSEGV, SIGTRAP, SIGILL, SIGBUS, SIGSYS};
	struct sigaction a;
	sigset_t s;
	int e = 0;

	for (int i = 0; i < 5; i++)
		signal(sigs[i], handler);
	sigfillset(&s);
	sigprocmask(SIG_SETMASK, &s, NULL);
	for (int i = 0; i < 100; i++)
		syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &s, 8);
	for (int i = 0; i < 40; i++)
		if (syscall(SYS_rt_sigprocmask, SIG_BLOCK, (void *)8, NULL, 8) < 0)
			e = errno;
	for (int i = 0; i < 60000; i++)
		__asm__ volatile("rdtsc" ::: "rax", "rdx");
	sigprocmask(SIG_BLOCK, NULL, &s);
	printf("%s,", strerror(e));
	for (int i = 0; i < 5; i++) {
		sigaction(sigs[i], NULL, &a);
		printf(" %d%d", sigismember(&s, sigs[i]), a.sa_handler == handler);
	}
	puts("");
	return 0;
}

int
main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	sigset_t s;

	if (!strcmp(what, "timers"))
		return timers();
	if (!strcmp(what, "values"))
		return values();
	if (!strcmp(what, "blocked"))
		return blocked();
	alarm_comes();
	if (!strcmp(what, "exec"))
		execl("/bin/echo", "echo", "executed", (char *)0);
	if (!strcmp(what, "default"))
		signal(SIGALRM, SIG_DFL);
	if (!strcmp(what, "ignored"))
		signal(SIGALRM, SIG_IGN);
	if (!strcmp(what, "mask")) {
		sigfillset(&s);
		sigprocmask(SIG_BLOCK, &s, NULL);
	}
	if (!strcmp(what, "exit"))
		_exit(3);
	syscall(SYS_write, 1, "end\n", 4);
	return 0;
}
