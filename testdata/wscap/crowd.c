/* Threads that compute, lock, wait in several ways, and begin others, until SIGUSR2; the first line is "ready". */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SPIN, LOCK, COND, WRITE, READ, POLL, BEGIN, KINDS };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static volatile sig_atomic_t over;
static volatile unsigned long n[KINDS];
static unsigned long locked, counted;
static int out[2], failed;

static void
on_usr2(int sig)
{
	(void)sig;
	over = 1;
}

static void *
spin(void *arg)
{
	struct timespec t, last = {0, 0};

	while (!over)
		if (++n[SPIN] % 10000 == 0) {
			clock_gettime(CLOCK_MONOTONIC, &t);
			failed |= t.tv_sec < last.tv_sec || (t.tv_sec == last.tv_sec && t.tv_nsec < last.tv_nsec);
			last = t;
		}
	return arg;
}

static void *
locks(void *arg)
{
	while (!over) {
		pthread_mutex_lock(&lock);
		locked++;
		pthread_cond_signal(&cond);
		pthread_mutex_unlock(&lock);
		counted++;
		n[LOCK]++;
	}
	return arg;
}

static void *
conds(void *arg)
{
	pthread_mutex_lock(&lock);
	while (!over) {
		pthread_cond_wait(&cond, &lock);
		n[COND]++;
	}
	pthread_mutex_unlock(&lock);
	return arg;
}

static void *
writes(void *arg)
{
	while (!over) {
		char c = (char)n[WRITE];

		failed |= write(out[1], &c, 1) != 1;
		n[WRITE]++;
		usleep(1000);
	}
	close(out[1]);
	return arg;
}

static void *
reads(void *arg)
{
	char c;

	for (; read(out[0], &c, 1) == 1; n[READ]++)
		failed |= c != (char)n[READ];
	return arg;
}

static void *
polls(void *arg)
{
	while (!over) {
		struct pollfd p = {.fd = -1};

		failed |= poll(&p, 1, 20) != 0;
		n[POLL]++;
	}
	return arg;
}

static _Thread_local int own = 7;

static void *
short_one(void *arg)
{
	own++;
	*(int *)arg = own;
	return arg;
}

static void *
begins(void *arg)
{
	while (!over) {
		int result = 0;
		pthread_t t;

		failed |= pthread_create(&t, NULL, short_one, &result) || pthread_join(t, NULL) || result != 8;
		n[BEGIN]++;
		usleep(3000);
	}
	return arg;
}

int
main(void)
{
	static void *(*const f[])(void *) = {spin, locks, conds, writes, reads, polls, begins, conds};
	enum { N = sizeof(f) / sizeof(f[0]) };
	pthread_t t[N];
	struct sigaction sa;
	sigset_t set;

	memset(&sa, 0, sizeof(sa));
	sa.sa_handler = on_usr2;
	sigaction(SIGUSR2, &sa, NULL);
	/* only this thread gets it: no call of another one fails */
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	if (pipe(out))
		return 1;
	for (int i = 0; i < N; i++)
		if (pthread_create(&t[i], NULL, f[i], NULL))
			return 1;
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	puts("ready");
	fflush(stdout);
	while (!over)
		usleep(20000);
	for (int i = 0; i < N; i++) {
		pthread_mutex_lock(&lock);      /* who waits sees that it is over */
		pthread_cond_broadcast(&cond);
		pthread_mutex_unlock(&lock);
		pthread_join(t[i], NULL);
	}
	for (int i = 0; i < KINDS; i++)
		failed |= !n[i];
	failed |= n[READ] != n[WRITE] || locked != counted;
	puts(failed ? "failed" : "all worked");
	return 9;
}
