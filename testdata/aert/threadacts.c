/* What threads do to a recording: threadacts ACT, for threadacts.t. The message on standard output is the same untraced. */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef REGION
#include <tracemill.h>
#else
#define ae_start()
#define ae_stop()
#endif

static volatile unsigned seed = 1, spun, stop;
static volatile sig_atomic_t hits;
static pthread_barrier_t meet;
static char **args;

static __attribute__((noinline)) unsigned work(unsigned n)
{
	unsigned odd = 0, v = seed;

	while (n-- > 0) {
		v = v * 1103515245u + 12345u;
		if (v >> 16 & 1)
			odd += v >> 20;
	}
	return odd;
}

static void *worker(void *p)
{
	return (void *)(uintptr_t)(work(1000 + (unsigned)(uintptr_t)p) & 255);
}

/* Runs traced code for ever */
static void *spinner(void *p)
{
	pthread_barrier_wait(&meet);
	while (!stop)
		spun = work(100);
	return p;
}

/* Waits for ever in libc */
static void *sleeper(void *p)
{
	work(500);
	pthread_barrier_wait(&meet);
	for (;;)
		pause();
	return p;
}

static void *run(void *(*f)(void *), void *arg)
{
	pthread_t t;
	void *r = NULL;

	pthread_create(&t, NULL, f, arg);
	pthread_join(t, &r);
	return r;
}

/* A spinner and a sleeper */
static void both(void)
{
	pthread_t t;

	pthread_barrier_init(&meet, NULL, 3);
	pthread_create(&t, NULL, spinner, NULL);
	pthread_create(&t, NULL, sleeper, NULL);
	pthread_barrier_wait(&meet);
}

static void *exits(void *p)
{
	work(10);
	exit(12);
	return p;
}
static void *exits_(void *p)
{
	work(10);
	_exit(13);
	return p;
}
static void *aborts(void *p)
{
	work(10);
	abort();
	return p;
}
static void *faults(void *p)
{
	volatile int *q = p;

	work(10);
	return (void *)(uintptr_t)*q;
}
static int do_exit(void) { both(); return 5; }
static int do_threadexit(void) { both(); run(exits, NULL); return 1; }
static int do_thread_exit(void) { both(); run(exits_, NULL); return 1; }
static int do_abort(void) { both(); run(aborts, NULL); return 1; }
static int do_fault(void) { both(); run(faults, (void *)8); return 1; }

static void *forks(void *p)
{
	pid_t pid;
	int st = 0;

	work(700);
	pid = fork();
	if (pid == 0) {
		run(worker, p);
		exit((int)(work(300) & 1) + 5);
	}
	waitpid(pid, &st, 0);
	printf("%d\n", WEXITSTATUS(st));
	return (void *)(uintptr_t)work(200);
}
static int do_fork(void) { both(); run(worker, NULL); run(forks, NULL); return 0; }

static void *execs(void *p)
{
	work(20);
	fflush(stdout);
	execl(args[0], args[0], "exec2", (char *)NULL);
	return p;
}
static int do_exec(void) { both(); run(execs, NULL); return 1; }
static int do_exec2(void) { return work(10) > 100000000; }
static void *badexecs(void *p)
{
	work(20);
	execl("/none", "/none", (char *)NULL);
	return (void *)(uintptr_t)work(2200000);
}
static int do_badexec(void)
{
	void *r;

	both();
	r = run(badexecs, NULL);
	run(worker, NULL);
	return r == (void *)1;
}

static void hit(int sig) { hits += sig == SIGUSR1; work(10); }
static void *raises(void *p)
{
	for (int i = 0; i < 20; i++) {
		work(10);
		pthread_kill(pthread_self(), SIGUSR1);
	}
	return p;
}
static int do_raise(void)
{
	signal(SIGUSR1, hit);
	run(raises, NULL);
	printf("%d\n", (int)hits);
	return 0;
}
/* Signals into traced code, of several buffers */
static int do_storm(void)
{
	pthread_t t;

	signal(SIGUSR1, hit);
	pthread_barrier_init(&meet, NULL, 2);
	pthread_create(&t, NULL, spinner, NULL);
	pthread_barrier_wait(&meet);
	for (int i = 0; i < 300; i++) {
		pthread_kill(t, SIGUSR1);
		usleep(20);
	}
	stop = 1;
	pthread_join(t, NULL);
	puts(hits ? "hits" : "none");
	return 0;
}
static int do_many(void)
{
	unsigned sum = 0;

	for (int i = 0; i < 300; i++)
		sum += (unsigned)(uintptr_t)run(worker, (void *)(uintptr_t)i);
	printf("%u\n", sum);
	return 0;
}
static int do_mainexits(void)
{
	pthread_t t;

	pthread_create(&t, NULL, worker, NULL);
	work(100);
	pthread_exit(NULL);
}
static void *cancelled(void *p)
{
	int old;

	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old);
	return spinner(p);
}
static int do_cancel(void)
{
	pthread_t t;

	pthread_barrier_init(&meet, NULL, 2);
	pthread_create(&t, NULL, cancelled, NULL);
	pthread_barrier_wait(&meet);
	usleep(10000);
	pthread_cancel(t);
	pthread_join(t, NULL);
	puts("cancelled");
	return 0;
}
static int do_region(void)
{
	run(worker, NULL);
	ae_start();
	run(worker, (void *)5);
	ae_stop();
	run(worker, (void *)7);
	return 0;
}
static int do_limit(void) { both(); usleep(100000); run(worker, NULL); stop = 1; return 3; }
static int do_segv(void)
{
	sigset_t all;
	void *r;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	r = run(badexecs, NULL);
	return r == (void *)1;
}

#define A(name) { #name, do_##name }
static const struct { const char *name; int (*f)(void); } acts[] = {
	A(exit), A(threadexit), A(thread_exit), A(abort), A(fault), A(fork), A(exec), A(exec2), A(badexec), A(raise),
	A(storm), A(many), A(mainexits), A(cancel), A(limit), A(segv), A(region),
};

int main(int argc, char **argv)
{
	args = argv;
	for (size_t i = 0; i < sizeof acts / sizeof acts[0]; i++)
		if (argc > 1 && strcmp(acts[i].name, argv[1]) == 0)
			return acts[i].f();
	return 99;
}
