/*
 * Reads the time stamp counter often: tsc HOW.  Prints the sum of differences, which must be that of the replay, and how
 * often it was stopped: "few" or "often".
 */
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

enum { MANY = 5000 };

static long
switches(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_nvcsw + u.ru_nivcsw;
}

static unsigned long
work(long n)
{
	unsigned long sum = 0, last = __rdtsc();
	struct timespec t;
	unsigned aux;

	for (long i = 0; i < n; i++) {
		unsigned long now = i & 1 ? __rdtsc() : __rdtscp(&aux);

		sum += now - last;
		last = now;
		if (i % 16 == 0) {
			clock_gettime(CLOCK_MONOTONIC, &t);
			sum += (unsigned long)t.tv_nsec;
		}
	}
	return sum;
}

static void *
thread(void *arg)
{
	unsigned long *sum = arg;

	for (int i = 0; i < 20; i++) {
		*sum += work(MANY / 20);
		sched_yield();
	}
	return NULL;
}

/* Some threads have begun when the first of them has executed rdtsc often; children of them are made. */
static unsigned long
threads(void)
{
	unsigned long sum[4] = {0};
	pthread_t t[4];
	pid_t pid;

	for (int i = 0; i < 4; i++)
		if (pthread_create(&t[i], NULL, thread, &sum[i]))
			exit(1);
	pid = fork();
	if (pid == 0)
		_exit(work(MANY) == 0);
	waitpid(pid, NULL, 0);
	pid = vfork();
	if (pid == 0) {
		(void)work(MANY / 10);
		execl("/bin/true", "true", (char *)NULL);
		_exit(1);
	}
	waitpid(pid, NULL, 0);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	return sum[0] + sum[1] + sum[2] + sum[3] + work(MANY);
}

/* A filter that kills for prctl, before rdtsc has been executed often, and in a thread after that. */
static unsigned long
filtered(int late)
{
	struct sock_filter f[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
	struct sock_fprog p = {4, f};
	unsigned long sum = late ? work(MANY) : 0;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p))
		exit(1);
	return sum + work(MANY / 10);
}

/* Code that the program has written, in memory that is executable already; and in between that of the program. */
static unsigned long
written(void)
{
	static const unsigned char code[] = {0x0f, 0x31, 0x48, 0xc1, 0xe2, 0x20, 0x48, 0x09, 0xd0, 0xc3};
	unsigned char *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned long (*asked)(void), sum = 0;

	if (p == MAP_FAILED)
		exit(1);
	memcpy(p, code, sizeof(code));
	memcpy(&asked, &p, sizeof(asked));
	sum = work(MANY / 2);
	for (int i = 0; i < 200; i++)
		sum += asked() + work(1);
	return sum;
}

static volatile sig_atomic_t faulted;

static void
fault(int sig)
{
	(void)sig;
	faulted = 1;
	prctl(PR_SET_TSC, PR_TSC_ENABLE);
}

int
main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	long before = switches();
	unsigned long sum = 0;

	if (!strcmp(how, "faults")) {
		signal(SIGSEGV, fault);
		if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV) == 0)
			(void)__rdtsc();
		return !faulted;
	}
	if (!strcmp(how, "alone"))
		sum = work(MANY);
	else if (!strcmp(how, "blocked")) {
		sigset_t all;

		signal(SIGSEGV, SIG_IGN);
		sigfillset(&all);
		sigprocmask(SIG_BLOCK, &all, NULL);
		sum = work(MANY);
	} else if (!strcmp(how, "threads"))
		sum = threads();
	else if (!strcmp(how, "filtered") || !strcmp(how, "late"))
		sum = filtered(*how == 'l');
	else if (!strcmp(how, "written"))
		sum = written();
	fprintf(stderr, "%s\n", switches() - before < MANY / 4 ? "few" : "often");
	printf("%lx\n", sum);
	return sum == 0;
}
