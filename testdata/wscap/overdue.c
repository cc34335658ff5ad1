/* One waits for a futex for a microsecond, again and again, and another one wakes who waits then: overdue HOW WHAT. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 12
#define MOST   5000             /* waits that are over in a row: then nobody will ever wake it */
#define FEW    100              /* ... in all */

static struct area {
	volatile uint32_t word, other, woken, done, over;
	volatile pid_t waiter;
	uint8_t much[4 << 20];          /* what is compared when the other process gets the turn */
} *area;
static const char *what;
static volatile int signals;

static void
on_alarm(int sig)
{
	(void)sig;
	signals++;
}

/* The same wait in two ways: for a while, and until a time. */
static long
wait_once(int way)
{
	struct timespec t = {0, 1000};

	if (!way)
		return syscall(SYS_futex, &area->word, FUTEX_WAIT, 0, &t, NULL, 0);
	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_nsec += 1000;
	if (t.tv_nsec >= 1000000000) {
		t.tv_sec++;
		t.tv_nsec -= 1000000000;
	}
	return syscall(SYS_futex, &area->word, FUTEX_WAIT_BITSET, 0, &t, NULL, 1);
}

static void *
waits(void *arg)
{
	struct itimerval v = {{0, 2000}, {0, 2000}};
	int over = 0;

	(void)arg;
	signal(SIGALRM, on_alarm);
	if (!strcmp(what, "signals"))
		setitimer(ITIMER_REAL, &v, NULL);
	area->waiter = getpid();
	while (area->woken < ROUNDS && over < MOST) {
		long r = wait_once(area->woken % 2);

		over = r ? over + 1 : 0;
		area->over += r != 0;
		area->woken += !r;
		if (r && errno != ETIMEDOUT && errno != EINTR)
			exit(9);
	}
	if (!strcmp(what, "exit") || !strcmp(what, "kill"))
		while (over < MOST)
			over += wait_once(0) == 0 ? 0 : 1;
	memset(&v, 0, sizeof(v));
	setitimer(ITIMER_REAL, &v, NULL);
	area->done = 1;
	return NULL;
}

static void
wakes(int n)
{
	while (!area->done && area->woken < ROUNDS)
		syscall(SYS_futex, &area->word, FUTEX_WAKE, 1, NULL, NULL, 0);
	for (int i = 0; i < n; i++)
		syscall(SYS_futex, &area->other, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* Stops the waiter, and lets it go on, between other things. */
static void
stops(void)
{
	while (!area->done && area->woken < ROUNDS) {
		if (area->waiter)
			kill(area->waiter, SIGSTOP);
		for (int i = 0; i < 20; i++)
			syscall(SYS_futex, &area->word, FUTEX_WAKE, 1, NULL, NULL, 0);
		if (area->waiter)
			kill(area->waiter, SIGCONT);
		for (int i = 0; i < 20000; i++)
			syscall(SYS_futex, &area->word, FUTEX_WAKE, 1, NULL, NULL, 0);
	}
}

static void *
others(void *arg)
{
	(void)arg;
	if (!strcmp(what, "stop"))
		stops();
	wakes(3000);
	if (!strcmp(what, "exit"))
		_exit(3);
	if (!strcmp(what, "exec"))
		execl("/bin/sh", "sh", "-c", "echo executed", (char *)NULL);
	if (!strcmp(what, "kill"))
		kill(area->waiter, SIGKILL);
	return NULL;
}

int
main(int argc, char **argv)
{
	void *(*const f[2])(void *) = {waits, others};
	int first = argc > 3;           /* the first thread, or process, is the one that wakes */
	pthread_t t;

	area = mmap(NULL, sizeof(*area), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (argc < 3 || area == MAP_FAILED)
		return 2;
	memset(area->much, 1, sizeof(area->much));
	what = argv[2];
	if (!strcmp(argv[1], "threads")) {
		pthread_create(&t, NULL, f[!first], NULL);
		f[first](NULL);
		pthread_join(t, NULL);
	} else {
		pid_t pid = fork();
		int status = 0;

		f[pid ? first : !first](NULL);
		if (!pid)
			_exit(0);
		waitpid(pid, &status, 0);
		printf("%x\n", status);
	}
	printf("%s %u %s\n", what, area->woken, area->over < FEW ? "few" : "many");
	return 0;
}
