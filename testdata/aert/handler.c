/*
 * Handlers of signals that interrupt traced code: handler NAME does one thing. Nothing but
 * handlers calls the functions one_* (and two_*: of those that interrupt these), so a test can tell their references from the
 * others of a capture.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#ifdef REGION
#include "tracemill.h"
#endif

#define ALONE __attribute__((noinline))
#define PAGE 4096

static char **args;
static unsigned table[256];
static unsigned ring[64];
static unsigned long mark;                      /* written once in each handler that comes at any time, and not elsewhere */
static volatile unsigned long hits, inner;
static volatile char *page[8];
static sigjmp_buf out;

static void set(int sig, void (*h)(int), int flags)
{
	struct sigaction a;

	memset(&a, 0, sizeof a);
	a.sa_handler = h;
	a.sa_flags = flags;
	sigaction(sig, &a, NULL);
}

static void setinfo(int sig, void (*h)(int, siginfo_t *, void *), int flags)
{
	struct sigaction a;

	memset(&a, 0, sizeof a);
	a.sa_sigaction = h;
	a.sa_flags = flags | SA_SIGINFO;
	sigaction(sig, &a, NULL);
}

/* Work with events, before and after */
static __attribute__((noinline)) unsigned work(unsigned n)
{
	unsigned s = n, odd = 0;

	for (unsigned i = 0; i < n; i++) {
		s = s * 1103515245u + 12345u;
		table[s >> 24] += s;
		if (s >> 16 & 1)
			odd += table[(s >> 8) & 255];
	}
	return odd;
}

static void pages(void)
{
	char *p = mmap(NULL, 8 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (int i = 0; i < 8; i++)
		page[i] = p + i * PAGE;
}

static void shut(int i) { mprotect((char *)page[i], PAGE, PROT_NONE); }

/* n accesses that fault: to page i */
static __attribute__((noinline)) unsigned faults(unsigned n, int i)
{
	unsigned sum = 0;

	for (unsigned k = 0; k < n; k++) {
		sum += work(k % 7);
		page[i][k % PAGE]++;
		shut(i);
	}
	return sum;
}

ALONE static unsigned one_mixed(unsigned n)
{
	unsigned s = (unsigned)hits;

	for (unsigned i = 0; i < n; i++) {
		s = s * 69069u + 1;
		if (s >> 20 & 1)
			ring[s >> 26]++;
	}
	return s;
}

ALONE static void one_open(int sig)
{
	hits++;
	one_mixed((unsigned)sig);
	mprotect((char *)page[0], PAGE, PROT_READ | PROT_WRITE);
}

static int do_fault(void)
{
	set(SIGSEGV, one_open, 0);
	printf("%u", faults(1000, 0));
	return 0;
}

ALONE static void one_info(int sig, siginfo_t *si, void *uc)
{
	const ucontext_t *u = uc;
	uintptr_t sp = (uintptr_t)u->uc_mcontext.gregs[REG_RSP];

	hits += (unsigned long)sig + ((uintptr_t)si->si_addr & 15) + (sp & 7);
	mprotect((char *)si->si_addr - (uintptr_t)si->si_addr % PAGE, PAGE, PROT_READ | PROT_WRITE);
}

static int do_info(void)
{
	setinfo(SIGSEGV, one_info, 0);
	printf("%u", faults(300, 0));
	return 0;
}

/* a handler that faults: its own handler interrupts it */
ALONE static void two_open(int sig)
{
	inner++;
	for (int i = 0; i < sig; i++)
		ring[i] += (unsigned)inner;
	mprotect((char *)page[1], PAGE, PROT_READ | PROT_WRITE);
}
ALONE static void one_nest(int sig)
{
	hits += (unsigned long)sig;
	set(SIGSEGV, two_open, SA_NODEFER);
	page[1][hits % PAGE]++;
	set(SIGSEGV, one_nest, SA_NODEFER);
	one_mixed(5);
	mprotect((char *)page[1], PAGE, PROT_NONE);
	mprotect((char *)page[0], PAGE, PROT_READ | PROT_WRITE);
}
static int do_nest(void)
{
	set(SIGSEGV, one_nest, SA_NODEFER);
	printf("%u", faults(200, 0));
	return 0;
}

/* it calls libc, which calls it back; it raises a signal; it jumps within itself */
ALONE static int one_less(const void *a, const void *b)
{
	return *(const int *)a < *(const int *)b ? -1 : *(const int *)a > *(const int *)b;
}
ALONE static void one_raised(int sig) { ring[7] += (unsigned)sig; }
ALONE static void one_busy(int sig)
{
	int v[20];
	sigjmp_buf in;

	for (unsigned i = 0; i < 20; i++)
		v[i] = (int)(hits * 7919u + i * 31u) % 37 * sig;
	qsort(v, 20, sizeof *v, one_less);
	ring[0] += (unsigned)v[3];
	raise(SIGUSR1);
	if (sigsetjmp(in, 1) == 0) {
		ring[1]++;
		siglongjmp(in, 1);
	}
	ring[2] += ring[1];
	hits++;
	mprotect((char *)page[0], PAGE, PROT_READ | PROT_WRITE);
}
static int do_busy(void)
{
	set(SIGUSR1, one_raised, 0);
	set(SIGSEGV, one_busy, 0);
	printf("%u", faults(100, 0));
	return 0;
}

static int do_altstack(void)
{
	stack_t s = { .ss_sp = malloc(65536), .ss_size = 65536 };

	sigaltstack(&s, NULL);
	set(SIGSEGV, one_busy, SA_ONSTACK);
	set(SIGUSR1, one_raised, SA_ONSTACK);
	printf("%u", faults(100, 0));
	return 0;
}

/* more than a buffer in a handler, and before and after */
ALONE static void one_large(int sig)
{
	one_mixed(2500000);
	one_open(sig);
}
static int do_large(void)
{
	unsigned n;

	set(SIGSEGV, one_large, 0);
	n = work(300000);
	n += faults(2, 0);
	printf("%u", n + work(300000));
	return 0;
}

/* ends in a handler */
ALONE static void one_exit(int sig) { one_mixed(50); printf("%lu", ++hits); exit(sig); }
ALONE static void one_quickly(int sig) { one_mixed(50); _exit(sig); }
ALONE static void one_abort(int sig) { one_mixed(50 + (unsigned)sig); abort(); }
ALONE static void one_fatal(int sig) { one_mixed(50 + (unsigned)sig); ring[*(volatile int *)page[3] & 1]++; }
ALONE static void one_exec(int sig) { one_mixed(50 + (unsigned)sig); execlp("sh", "sh", "-c", "exit 13", (char *)NULL); }
ALONE static void one_badexec(int sig)
{
	char *v[] = { (char *)"x", NULL };

	hits += execv("/nonexistent", v) == -1;
	one_open(sig);
}
static int ends(void (*h)(int), int flags) { set(SIGSEGV, h, flags); printf("%u", faults(3, 0)); return 0; }
static int do_exit(void) { return ends(one_exit, 0); }
static int do__exit(void) { return ends(one_quickly, 0); }
static int do_abort(void) { return ends(one_abort, 0); }
static int do_fatal(void) { return ends(one_fatal, (int)SA_RESETHAND | SA_NODEFER); }
static int do_exec(void) { return ends(one_exec, 0); }
static int do_badexec(void) { return ends(one_badexec, 0); }

ALONE static void one_fork(int sig)
{
	pid_t p = fork();
	int st = 0;

	one_open(sig);
	if (p == 0)
		return;
	waitpid(p, &st, 0);
	hits += (unsigned)st;
}
static int do_fork(void) { return ends(one_fork, 0); }

/* leaves what it interrupted */
ALONE static void one_jump(int sig) { one_mixed((unsigned)sig); siglongjmp(out, 1); }
static int returns(void)
{
	unsigned n = 0;

	for (volatile int i = 0; i < 3; i++)
		if (sigsetjmp(out, 1) == 0)
			n += faults(3, 0);
		else
			n += work(100);
	printf("%u", n);
	return 0;
}
static int jumps(int flags)
{
	stack_t s = { .ss_sp = malloc(65536), .ss_size = 65536 };

	sigaltstack(&s, NULL);
	set(SIGSEGV, one_jump, flags);
	return returns();
}
static int do_jump(void) { return jumps(0); }
static int do_jumpalt(void) { return jumps(SA_ONSTACK); }
ALONE static void one_skip(int sig, siginfo_t *si, void *uc)
{
	((ucontext_t *)uc)->uc_mcontext.gregs[REG_RAX] = sig + si->si_code;
	hits++;
	mprotect((char *)page[0], PAGE, PROT_READ | PROT_WRITE);
}
static int do_registers(void)
{
	setinfo(SIGSEGV, one_skip, 0);
	printf("%d", faults(1, 0) + work(100) != 0);
	return 0;
}

/* makes what it interrupted go on elsewhere, and that leaves by a jump */
ALONE static void elsewhere(void)
{
	one_open(SIGSEGV);
	siglongjmp(out, 1);
}
static int called;
ALONE static void one_recover(int sig, siginfo_t *si, void *uc)
{
	greg_t *r = ((ucontext_t *)uc)->uc_mcontext.gregs;

	ring[sig & 1] += (unsigned)si->si_code;
	r[REG_RSP] = ((r[REG_RSP] - 256) & -16) - 8;
	*(long *)r[REG_RSP] = called ? (long)r[REG_RIP] : 0;    /* as if that had called it */
	r[REG_RIP] = (greg_t)(uintptr_t)elsewhere;
}
static int do_recover(void)
{
	setinfo(SIGSEGV, one_recover, 0);
	return returns();
}

static int do_inject(void) { called = 1; return do_recover(); }

/* jumps to a frame of libc, which the signal had not interrupted: from a comparison function */
static int faulty(const void *a, const void *b)
{
	if (sigsetjmp(out, 1) == 0)
		page[0][0]++;
	return *(const char *)a - *(const char *)b;
}
static int do_jumpback(void)
{
	char v[] = "signals";

	set(SIGSEGV, one_jump, 0);
	qsort(v, 7, 1, faulty);
	printf("%s%u", v, work(100));
	return 0;
}

/* handlers that come at any time */
static void timer(long us)
{
	struct itimerval t = { { 0, us }, { 0, us } };

	setitimer(ITIMER_REAL, &t, NULL);
}
ALONE static void one_tick(int sig)
{
	one_mixed((unsigned)sig & 3);
	mark++;
	hits++;
}
static int do_timer(void)
{
	unsigned n = 0;
	int i;

	set(SIGALRM, one_tick, SA_RESTART);
	if (args[2])
		timer(atol(args[2]));
	for (i = 0; i < 800; i++)
		n += work(4000);
	timer(0);
	printf("%u\n", n);
	fprintf(stderr, "%lu\n", hits);
	return 0;
}

/* one that interrupts itself, n deep */
ALONE static void one_deeper(int sig)
{
	unsigned long n = ++hits;

	mark++;
	if (n < 12) {
		mprotect((char *)page[n & 7], PAGE, PROT_NONE);
		page[n & 7][n] += (char)sig;
	}
	mprotect((char *)page[(n - 1) & 7], PAGE, PROT_READ | PROT_WRITE);
}
static int do_deep(void)
{
	set(SIGSEGV, one_deeper, SA_NODEFER);
	printf("%u", faults(1, 0));
	fprintf(stderr, "%lu\n", hits);
	return 0;
}

ALONE static void one_storm(int sig)
{
	__atomic_fetch_add(&mark, 1, __ATOMIC_RELAXED);
	one_mixed(40);
	hits = mark + (sig < 0);
}
static int do_storm(void)
{
	struct itimerval t = { { 0, 150 }, { 0, 150 } };
	unsigned n = 0;
	char buf[64];

	set(SIGALRM, one_storm, SA_RESTART | SA_NODEFER);
	set(SIGPROF, one_storm, SA_RESTART | SA_NODEFER);
	set(SIGUSR2, one_storm, SA_RESTART);
	setitimer(ITIMER_REAL, &t, NULL);
	setitimer(ITIMER_PROF, &t, NULL);
	while (hits < 1000) {
		n += work(500);
		snprintf(buf, sizeof buf, "%u", n);
		n += (unsigned)buf[0];
		raise(SIGUSR2);
	}
	memset(&t, 0, sizeof t);
	setitimer(ITIMER_REAL, &t, NULL);
	setitimer(ITIMER_PROF, &t, NULL);
	fprintf(stderr, "%lu\n", mark);
	return 0;
}

/* in threads, with handlers of their own pages */
static __thread volatile char *mine;
ALONE static void one_openmine(int sig) { ring[sig]++; mprotect((char *)mine, PAGE, PROT_READ | PROT_WRITE); }
static void *worker(void *p)
{
	unsigned n = 0;

	mine = p;
	for (unsigned k = 0; k < 50; k++) {
		n += work(k % 5);
		mine[k]++;
		mprotect((char *)mine, PAGE, PROT_NONE);
	}
	return (void *)(uintptr_t)n;
}
static int do_threads(void)
{
	pthread_t t[3];
	void *r;

	set(SIGSEGV, one_openmine, 0);
	for (int i = 0; i < 3; i++) {
		pthread_create(t + i, NULL, worker, (void *)(uintptr_t)page[i]);
		pthread_join(t[i], &r);
		printf("%u ", (unsigned)(uintptr_t)r);
	}
	return 0;
}
ALONE static void one_leave(int sig) { ring[sig]++; pthread_exit((void *)(uintptr_t)4); }
static int do_threadexit(void)
{
	pthread_t t;
	void *r;

	set(SIGSEGV, one_leave, 0);
	pthread_create(&t, NULL, worker, (void *)(uintptr_t)page[0]);
	pthread_join(t, &r);
	printf("%u %u", (unsigned)(uintptr_t)r, work(100));
	return 0;
}

#ifdef REGION
ALONE static void one_region(int sig) { ae_stop(); ae_start(); one_open(sig); }
static __attribute__((noinline)) int recorded(void) { return (int)faults(10, 0); }
static int do_region(void)
{
	set(SIGSEGV, one_region, 0);
	faults(10, 0);
	ae_start();
	printf("%d", qsort ? recorded() : 0);
	return 0;
}
#endif

static const struct { const char *name; int (*f)(void); } acts[] = {
#define A(x) { #x, do_##x }
	A(fault), A(info), A(nest), A(busy), A(altstack), A(large), A(exit), A(_exit), A(abort), A(fatal), A(exec), A(badexec),
	A(fork), A(jump), A(jumpalt), A(registers), A(recover), A(inject), A(jumpback), A(timer), A(deep), A(storm), A(threads), A(threadexit),
#ifdef REGION
	A(region),
#endif
};

int main(int argc, char **argv)
{
	int r = 99;

	args = argv;
	pages();
	setvbuf(stdout, NULL, _IONBF, 0);
	for (size_t i = 0; i < sizeof acts / sizeof acts[0]; i++)
		if (argc > 1 && strcmp(acts[i].name, argv[1]) == 0)
			r = acts[i].f();
	printf("\n%u\n", work(10));
	return r;
}
