/* A process that wscap -p stops amid its work: attach KIND; its first line of output is "ready" */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

static volatile sig_atomic_t hits, over;

static void
on_usr1(int sig)
{
	(void)sig;
	hits++;
}

static void
on_usr2(int sig)
{
	(void)sig;
	over = 1;
}

static void
ready(void)
{
	puts("ready");
	fflush(stdout);
}

static unsigned
code_sum(void)
{
	const unsigned char *p = (const unsigned char *)getauxval(AT_SYSINFO_EHDR);
	unsigned sum = 1;

	for (int i = 0; p && i < 4096; i++)
		sum = sum * 31 + p[i];
	return sum;
}

/* Computes, reads clocks and forks until SIGUSR2. */
static int
busy(void)
{
	unsigned sum = 1, code = code_sum();
	unsigned long long tsc = 0;
	struct timespec t, last = {0, 0};
	struct timeval v;
	int status, back = 0;

	ready();
	while (!over) {
		for (int i = 0; i < 20000; i++)
			sum = sum * 31 + (unsigned)i;
		clock_gettime(CLOCK_MONOTONIC, &t);
		gettimeofday(&v, NULL);
		back += t.tv_sec < last.tv_sec || (t.tv_sec == last.tv_sec && t.tv_nsec < last.tv_nsec);
		last = t;
		back += __rdtsc() < tsc;
		tsc = __rdtsc();
		if (sum % 64 == 0) {
			pid_t pid = fork();

			if (!pid)
				_exit(time(NULL) > 1000 ? 7 : 8);
			waitpid(pid, &status, 0);
			back += WEXITSTATUS(status) != 7;
		}
	}
	printf("%s, the clock went back %d times, %s code\n", sum ? "done" : "strange", back,
	    code == code_sum() ? "the same" : "other");
	return 3;
}

/* Does nothing but read the clock until SIGUSR2. */
static int
clock_only(void)
{
	unsigned long long sum = 1;

	ready();
	while (!over)
		for (int i = 0; i < 100; i++)
			sum += __rdtsc();
	puts(sum ? "done" : "strange");
	return 3;
}

/* One call that waits; what it gives. */
static int
blocked(const char *what)
{
	struct timespec t = {1, 500000000}, a, b;
	int ret = -2, fd[2], e;
	struct pollfd p;
	struct epoll_event ev = {.events = EPOLLIN};
	char c = 0;
	sigset_t set;
	fd_set fds;

	if (pipe(fd))
		return 1;
	sigemptyset(&set);
	dup2(0, fd[0]);
	p.fd = fd[0];
	p.events = POLLIN;
	e = epoll_create1(0);
	epoll_ctl(e, EPOLL_CTL_ADD, 0, &ev);
	FD_ZERO(&fds);
	FD_SET(0, &fds);
	clock_gettime(CLOCK_MONOTONIC, &a);
	ready();
	errno = 0;
	if (!strcmp(what, "read"))
		ret = (int)read(0, &c, 1);
	else if (!strcmp(what, "sleep"))
		ret = nanosleep(&t, NULL);
	else if (!strcmp(what, "poll"))
		ret = poll(&p, 1, 100000);
	else if (!strcmp(what, "polltime"))
		ret = poll(NULL, 0, 1500);
	else if (!strcmp(what, "select"))
		ret = select(1, &fds, NULL, NULL, NULL);
	else if (!strcmp(what, "epoll"))
		ret = epoll_wait(e, &ev, 1, -1);
	else if (!strcmp(what, "pause"))
		ret = pause();
	else if (!strcmp(what, "suspend"))
		ret = sigsuspend(&set);
	else if (!strcmp(what, "sigwait")) {
		sigaddset(&set, SIGUSR1);
		sigprocmask(SIG_BLOCK, &set, NULL);
		ret = sigtimedwait(&set, NULL, &(struct timespec){100, 0});
	}
	printf("%s: %d, %s, byte %d, hits %d\n", what, ret, strerror(errno), c, (int)hits);
	clock_gettime(CLOCK_MONOTONIC, &b);
	t.tv_sec = b.tv_sec - a.tv_sec;
	t.tv_nsec = b.tv_nsec - a.tv_nsec;
	if (!strcmp(what, "sleep") || !strcmp(what, "polltime"))
		puts((double)t.tv_sec + (double)t.tv_nsec / 1e9 < 1.4 ? "too short" : "long enough");
	return 4;
}

/* Counts signals, computing. */
static int
counting(void)
{
	unsigned sum = 1;

	ready();
	while (!over)
		for (int i = 0; i < 100; i++)
			sum = sum * 31 + (unsigned)i;
	printf("%d signals%s\n", (int)hits, sum ? "" : ".");
	return 5;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int backs;

/* Computes, locks and reads the clock until SIGUSR2. */
static void *
clocked(void *arg)
{
	struct timespec t, last = {0, 0};
	unsigned sum = 1;

	while (!over) {
		for (int i = 0; i < 2000; i++)
			sum = sum * 31 + (unsigned)i;
		clock_gettime(CLOCK_MONOTONIC, &t);
		pthread_mutex_lock(&lock);
		backs += t.tv_sec < last.tv_sec || (t.tv_sec == last.tv_sec && t.tv_nsec < last.tv_nsec);
		backs += __rdtsc() == sum;
		pthread_mutex_unlock(&lock);
		last = t;
	}
	return arg;
}

/* Begins threads when it gets a byte. */
static int
spawn(void)
{
	unsigned code = code_sum();
	pthread_t t[3];
	char c;

	ready();
	if (read(0, &c, 1) != 1)
		return 1;
	for (int i = 0; i < 3; i++)
		if (pthread_create(&t[i], NULL, clocked, NULL))
			return 1;
	puts("threads");
	fflush(stdout);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	printf("the clocks went back %d times, %s code\n", backs, code == code_sum() ? "the same" : "other");
	return 8;
}

#define SPARSE (16ull << 30)

/* The sum of bytes of some pages, most of which nobody has touched. */
static unsigned
sparse_sum(const unsigned char *p)
{
	unsigned sum = 1;

	for (unsigned long long at = 0; at < SPARSE; at += 512ull << 20)
		for (int k = -2; k < 3; k++)
			if (at || k >= 0)
				sum = sum * 31 + p[at + (unsigned long long)((long long)k * 4096) + 7];
	return sum * 31 + p[SPARSE - 1];
}

/* Much memory, hardly any of which is used; a child has the same. */
static int
sparse(void)
{
	unsigned char *p = mmap(NULL, SPARSE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	unsigned sum;
	int status;
	char c;

	if (p == MAP_FAILED)
		return 1;
	for (unsigned long long at = 0; at < SPARSE; at += 1ull << 30)
		p[at + 7] = p[at + 4096 + 7] = (unsigned char)(at >> 30) | 0x40;
	p[SPARSE - 1] = 0x5a;
	ready();
	if (read(0, &c, 1) != 1)
		return 1;
	if (fork() == 0)
		_exit(sparse_sum(p) & 127);
	p[(3ull << 30) + 7]++;
	sum = sparse_sum(p);
	wait(&status);
	printf("%u %d\n", sum, WEXITSTATUS(status));
	return sum & 127;
}

#define LARGE (40u << 20)
#define PART  (1u << 20)

static unsigned char *
filled(size_t n, int advice)
{
	unsigned char *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint32_t x = 1 + (uint32_t)advice;

	if (p == MAP_FAILED || (advice && madvise(p, n, advice)))
		exit(1);
	for (size_t i = 0; i < n; i++)
		p[i] = (unsigned char)((x = x * 1664525 + 1013904223) >> 24) & (i / 65536 % 3 ? 255 : 0);
	return p;
}

/* Much memory, some of which children do not have; reads and writes here and there, in a thread as well. */
static void *
large_part(void *arg)
{
	unsigned char *p = arg;
	unsigned sum = 1;
	char c;

	while (!over) {
		for (unsigned i = 0; i < 3000; i++) {
			sum = sum * 1103515245 + 12345;
			sum += p[sum % PART];
			if (i % 10 == 0)
				p[(sum >> 8) % PART]++;
		}
		if (pread(-1, &c, 1, 0) != -1)
			backs++;
	}
	return arg;
}

static int
large(void)
{
	unsigned char *p = filled(LARGE, 0), *wiped = filled(PART, MADV_WIPEONFORK), *alone = filled(PART, MADV_DONTFORK);
	unsigned sum = 1;
	pthread_t t;

	if (pthread_create(&t, NULL, large_part, p))
		return 1;
	ready();
	while (!over)
		for (unsigned i = 0; i < 100; i++) {
			sum = sum * 1103515245 + 12345;
			sum += wiped[sum % PART] + alone[(sum >> 4) % PART];
			sum += p[PART + sum % (LARGE - PART)]++;
			backs += sum % 1000 == 0 && getppid() == 1;
		}
	pthread_join(t, NULL);
	printf("it went wrong %d times, %s\n", backs,
	    waitpid(-1, NULL, WNOHANG | __WALL) == -1 && errno == ECHILD ? "no child" : "a child");
	return 2;
}

int
main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "busy";
	struct sigaction sa;

	memset(&sa, 0, sizeof(sa));
	sa.sa_handler = on_usr1;
	sigaction(SIGUSR1, &sa, NULL);
	sa.sa_handler = on_usr2;
	sigaction(SIGUSR2, &sa, NULL);
	if (!strcmp(what, "busy"))
		return busy();
	if (!strcmp(what, "clock"))
		return clock_only();
	if (!strcmp(what, "signals"))
		return counting();
	if (!strcmp(what, "spawn"))
		return spawn();
	if (!strcmp(what, "sparse"))
		return sparse();
	if (!strcmp(what, "large"))
		return large();
	return blocked(what);
}
