/*
 * Signals of every kind that a capture must get right: sig NAME; all but some print what came and
 * leave with status 0
 */
#define _GNU_SOURCE
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t got;
static volatile double fp = 1;
static sigjmp_buf jb;

static void
count(int sig)
{
	double x = fp;

	for (int i = 0; i < 10; i++)
		x = x * 1.5 + sig;      /* the handler has vector registers of its own */
	fp = x > 1e9 ? 1 : x;
	got++;
}

static void
jump(int sig)
{
	siglongjmp(jb, sig);
}

static void
info(int sig, siginfo_t *si, void *ctx)
{
	(void)ctx;
	got += sig == SIGUSR2 && si->si_code == SI_QUEUE ? si->si_value.sival_int : 1000;
}

/* A page fault mends itself */
static char *page;
static void
mend(int sig, siginfo_t *si, void *ctx)
{
	(void)sig;
	(void)ctx;
	got++;
	if (mprotect((void *)((uintptr_t)si->si_addr & ~4095ul), 4096, PROT_READ | PROT_WRITE))
		_exit(9);
}

static void
handle(int sig, void (*f)(int), int flags)
{
	struct sigaction sa = {.sa_handler = f, .sa_flags = flags};

	sigaction(sig, &sa, NULL);
}

static void
every(long us)
{
	struct itimerval v = {{0, us}, {0, us}};

	setitimer(ITIMER_REAL, &v, NULL);
}

static double
work(long n)
{
	double x = 1;

	for (long i = 0; i < n; i++)
		x = x * 1.0000001 + (double)(i & 3);
	return x;
}

static void
raises(void)
{
	handle(SIGUSR1, count, 0);
	handle(SIGUSR2, count, SA_RESETHAND);
	for (int i = 0; i < 5; i++)
		raise(SIGUSR1);
	raise(SIGUSR2);
	signal(SIGUSR2, SIG_IGN);
	raise(SIGUSR2);
}

static void
queues(void)
{
	struct sigaction sa = {.sa_sigaction = info, .sa_flags = SA_SIGINFO};
	sigset_t set;

	sigaction(SIGUSR2, &sa, NULL);
	sigqueue(getpid(), SIGUSR2, (union sigval){.sival_int = 5});
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, NULL);
	sigqueue(getpid(), SIGUSR2, (union sigval){.sival_int = 7});
	work(1000);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static void
faults(void)
{
	struct sigaction sa = {.sa_sigaction = mend, .sa_flags = SA_SIGINFO};

	page = mmap(NULL, 3 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sigaction(SIGSEGV, &sa, NULL);
	page[10] = 1;
	page[5000] = 2;
	page[9000] = page[10] + page[5000];
	printf("%d\n", page[9000]);
	handle(SIGFPE, jump, 0);
	if (!sigsetjmp(jb, 1)) {
		volatile int zero = 0;
		printf("%d\n", 5 / zero);
	} else {
		puts("fpe");
	}
	handle(SIGILL, jump, SA_NODEFER);
	if (!sigsetjmp(jb, 1))
		__builtin_trap();
	else
		puts("ill");
}

static void
stacks(void)
{
	static char alt[65536];
	stack_t ss = {.ss_sp = alt, .ss_size = sizeof(alt)};

	sigaltstack(&ss, NULL);
	handle(SIGUSR1, count, SA_ONSTACK);
	raise(SIGUSR1);
	sigaltstack(NULL, &ss);
	printf("%zu %d\n", ss.ss_size, ss.ss_flags);
}

/* A read that a signal interrupts, with and without restart */
static void
restart(void)
{
	int p[2], n;
	char c;

	if (pipe(p))
		exit(9);
	handle(SIGALRM, count, 0);
	every(20000);
	n = (int)read(p[0], &c, 1);
	printf("read %d %s\n", n, n < 0 && errno == EINTR ? "EINTR" : "");
	every(0);
	handle(SIGALRM, count, SA_RESTART);
	if (!fork()) {
		usleep(150000);
		if (write(p[1], "x", 1) != 1)
			_exit(1);
		_exit(0);
	}
	every(30000);
	n = (int)read(p[0], &c, 1);
	every(0);
	printf("read %d %c %d\n", n, c, got > 2);
	got = 0;
	fp = 1;
}

/* nanosleep: the rest of the time, and stops that it does not notice */
static void
sleeps(void)
{
	struct timespec t = {0, 200000000}, rest = {0, 0};

	handle(SIGALRM, count, SA_RESTART);
	every(50000);
	printf("%d %d\n", nanosleep(&t, &rest) < 0 && errno == EINTR, rest.tv_nsec > 0);
	every(0);
	if (!fork()) {
		usleep(50000);
		kill(getppid(), SIGSTOP);
		usleep(50000);
		kill(getppid(), SIGCONT);
		_exit(0);
	}
	t.tv_nsec = 300000000;
	printf("%d\n", nanosleep(&t, &rest));
	got = 0;
	fp = 1;
}

/* Asynchronous: in the middle of computing */
/* nothing but long string instructions: a signal comes amid one */
static void
scan(void)
{
	static char zero[1 << 15];      /* each byte is a step of the native replay */

	handle(SIGALRM, count, SA_RESTART);
	every(15000);
	while (got < 2) {
		char *p = zero;
		unsigned long n = sizeof(zero);

		__asm__ volatile("cmp $1, %%al; repne scasb" : "+D"(p), "+c"(n) : "a"(7) : "cc", "memory");
	}
	every(0);
	got = 0;
}

static void
timer(void)
{
	double x;

	handle(SIGALRM, count, SA_RESTART);
	every(3000);
	x = work(4000000);
	for (int i = 0; i < 2000; i++)
		x += getppid() > 0;
	every(0);
	printf("%.6g %d\n", x, got > 0);
	got = 0;
}

static void
spin(void)
{
	handle(SIGALRM, count, 0);
	alarm(1);
	while (!got)
		;
	puts("spun");
}

/* The registers are the same in every iteration: what distinguishes the places of signals is on the stack. */
static void
tally(void)
{
	volatile unsigned long n = 0, last = 0, sum = 0;
	int seen = 0;

	handle(SIGALRM, count, SA_RESTART);
	every(3000);
	while (got < 4) {
		n++;
		for (volatile int i = 0; i < 20; i++)
			;
		if (got != seen) {
			seen = got;
			sum = sum * 31 + n - last;
			last = n;
		}
	}
	every(0);
	printf("%lu %lu\n", n, sum);
	got = 0;
	fp = 1;
}

static void
waits(void)
{
	sigset_t set, none;
	siginfo_t si;

	handle(SIGUSR1, count, 0);
	sigemptyset(&none);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	raise(SIGUSR1);
	sigsuspend(&none);
	raise(SIGUSR1);
	printf("%d\n", sigwaitinfo(&set, &si));
}

int
main(int argc, char **argv)
{
	static const struct { const char *name; void (*f)(void); } test[] = {
		{"raise", raises}, {"queue", queues}, {"fault", faults}, {"altstack", stacks},
		    {"restart", restart},
		{"sleep", sleeps}, {"timer", timer}, {"scan", scan}, {"spin", spin}, {"tally", tally},
		    {"wait", waits},
	};
	const char *name = argc > 1 ? argv[1] : "";

	if (!strcmp(name, "segv"))
		*(volatile int *)8 = 1;
	if (!strcmp(name, "abort"))
		abort();
	if (!strcmp(name, "term")) {
		work(1000);
		kill(getpid(), SIGTERM);
	}
	if (!strcmp(name, "stack"))
		return (int)work(10) + main(argc, argv);
	for (size_t i = 0; i < sizeof(test) / sizeof(test[0]); i++) {
		if (strcmp(name, test[i].name))
			continue;
		test[i].f();
		printf("%s %d %g\n", name, got, fp);
		return 0;
	}
	return 2;
}
