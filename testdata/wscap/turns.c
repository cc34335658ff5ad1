/* Processes that share memory, and wait for each other in it: what each prints is what it read. */
#define _GNU_SOURCE
#include <cpuid.h>
#include <fcntl.h>
#include <pthread.h>
#include <linux/futex.h>
#include <sched.h>
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

struct area {
	volatile int flag;              /* whose turn it is, without any call */
	volatile uint32_t count, word, ready, pad[60];
	volatile uint32_t many[4096];
};
static struct area *area;
static __thread uint32_t hash = 2166136261u;
static int reads[2];                    /* a pipe */
static int memory;                      /* a file, */
static volatile uint32_t *pages;        /* mapped */

static void
mix(uint32_t v)
{
	hash = (hash ^ v) * 16777619u;
}

static void
map(int fd)
{
	area = mmap(NULL, sizeof(*area), PROT_READ | PROT_WRITE, MAP_SHARED | (fd < 0 ? MAP_ANONYMOUS : 0), fd, 0);
	if (area == MAP_FAILED)
		exit(9);
}

/* Each waits in a loop until the other has written. */
static void
spin(int me, int n)
{
	for (int i = 0; i < n; i++) {
		while (area->flag != me)
			;
		area->many[i % 4096] += (uint32_t)(i + me);
		mix(area->many[i % 4096]);
		area->flag = 1 - me;
	}
}

/* A lock that is taken by an instruction, and waited for with sched_yield; it is given back before any call. */
static void
yield(int me, int n)
{
	for (int i = 0; i < n; i++) {
		while (__atomic_exchange_n(&area->word, 1, __ATOMIC_ACQUIRE))
			sched_yield();
		area->count += (uint32_t)me + 1;
		area->many[area->count % 4096] = area->count;
		mix(area->count);
		__atomic_store_n(&area->word, 0, __ATOMIC_RELEASE);
		if (i % 64 == 0)
			getppid();
	}
}

static void
futex(int me, int n)
{
	for (int i = 0; i < n; i++) {
		uint32_t had = 0;

		if (!__atomic_compare_exchange_n(&area->word, &had, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			while (__atomic_exchange_n(&area->word, 2, __ATOMIC_ACQUIRE))
				syscall(SYS_futex, &area->word, FUTEX_WAIT, 2, NULL, NULL, 0);
		mix(++area->count);
		area->many[area->count % 4096] ^= area->count * (uint32_t)(me + 3);
		mix(area->many[(area->count * 7) % 4096]);
		if (__atomic_exchange_n(&area->word, 0, __ATOMIC_RELEASE) == 2)
			syscall(SYS_futex, &area->word, FUTEX_WAKE, 1, NULL, NULL, 0);
	}
}

/* No lock: what is read depends on when the others run. */
static void
race(int me, int n)
{
	for (int i = 0; i < n; i++) {
		uint32_t v = area->count;

		for (int k = 0; k < 200; k++)
			v = v * 1664525u + area->many[(v >> 20) % 4096] + (uint32_t)me;
		mix(v);
		area->many[v % 4096] = v;
		area->count = v;
		if (i % 1000 == 0)
			getppid();
	}
}

/* Passes of a loop that differ only in memory, which is far from where its mapping begins, and to which no register points. */
static struct far {
	struct far *volatile next;
	volatile uint32_t n, seen;
	uint8_t pad[1 << 20];
} far[2];

static __attribute__((noinline)) void
passes_inner(struct far *f)
{
	uint64_t x = 1;

	for (int i = 0; i < 20000; i++)
		x = x * 6364136223846793005u + 1442695040888963407u;
	__asm__ volatile("" : : "r"(x), "r"(f));
}

static void
passes(int me, int n)
{
	struct far *f = far;

	f->next = f + 1;
	while (f->next->n < (uint32_t)n) {
		area->many[me] = ++f->next->n;
		f->next->seen = f->next->seen * 31 + area->many[1 - me];
		passes_inner(f);
	}
	mix(f->next->seen);
}

/* The same with an instruction that is recorded in the process, where the turn often ends. */
static void
ids(int me, int n)
{
	for (int i = 0; i < n; i++) {
		uint32_t v = area->count + (uint32_t)me, a, b, c, d;

		for (int k = 0; k < 20; k++)
			v = v * 1664525u + area->many[(v >> 20) % 4096];
		__cpuid_count(0xb, 0, a, b, c, d);
		mix(v + b);
		area->many[v % 4096] = v;
		area->count = v;
	}
}

static void
on_alarm(int sig)
{
	(void)sig;
	mix(area->count);
	area->count++;
}

/* Handlers that read and write what is shared, while others do. */
static void
alarms(int me, int n)
{
	struct itimerval v = {{0, 3000}, {0, 3000}};
	struct sigaction sa = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};

	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &v, NULL);
	race(me, n);
	memset(&v, 0, sizeof(v));
	setitimer(ITIMER_REAL, &v, NULL);
}

/* Each is stopped while it computes, and continued, by the next one. */
static void
jobs(int me, int n)
{
	area->pad[me] = (uint32_t)getpid();
	race(me, n);
	if (area->pad[1 - me % 2] && !area->ready) {
		area->ready = 1;
		kill((pid_t)area->pad[1 - me % 2], SIGSTOP);
		race(me, n);
		kill((pid_t)area->pad[1 - me % 2], SIGCONT);
	}
	race(me, n);
}

static void
rest(long us)
{
	nanosleep(&(struct timespec){.tv_nsec = us * 1000}, NULL);
}

static void *
rests(void *arg)
{
	(void)arg;
	while (!area->pad[0]) {
		rest(2000);
		race(9, 2);
	}
	return NULL;
}

/*
 * A thread waits for a futex that has the value it waits for when it is woken, too: that of the other process is in a
 * loop then, and meanwhile another thread wakes.
 */
static void
woken(int me, int n)
{
	pthread_t t;

	if (me) {
		while (!area->pad[0]) {
			rest(1000);
			syscall(SYS_futex, &area->word, FUTEX_WAKE, 9, NULL, NULL, 0);
			for (int i = 0; i < 8; i++)
				race(me, 900);
		}
		return;
	}
	pthread_create(&t, NULL, rests, NULL);
	for (int i = 0; i < n; i++) {
		syscall(SYS_futex, &area->word, FUTEX_WAIT, 0, NULL, NULL, 0);
		race(me, 2);
	}
	area->pad[0] = 1;
	pthread_join(t, NULL);
}

/* Two set words back, while the kernel may write what a third one reads. */
static void
back(int me, int n)
{
	char c = 0;

	if (me < 2)
		for (int i = 0; i < n; i++) {
			while (area->flag != me)
				;
			mix(area->word);
			area->word = me ? 0 : (uint32_t)i + 1;
			area->flag = 1 - me;
		}
	if (me == 1 && write(reads[1], &c, 1) != 1)
		exit(1);
	if (me == 2 && read(reads[0], (void *)&area->many[2000], 1) != 1)
		exit(1);
}

/* A file that has another size in each round: what is beyond its end is gone, and zero when it comes back. */
static void
sizes(int me, int n)
{
	const size_t page = 4096, most = 60;

	for (int i = 0; i < n; i++) {
		size_t has = (size_t)i * 37 % most + 1;

		while (area->flag != me)
			;
		if (!me && ftruncate(memory, (off_t)(has * page)))
			exit(1);
		for (size_t k = 0; k < has; k++) {
			mix(pages[k * page / 4]);
			mix(pages[k * page / 4 + 1]);
			pages[k * page / 4 + (size_t)me] = (uint32_t)(i + 1);
		}
		area->flag = 1 - me;
	}
}

static uint32_t hashes[2];
static const char *manner;
static int times;

static void *
helper(void *arg)
{
	int me = *(int *)arg;

	(void)arg;
	hash = 2166136261u;
	if (!strcmp(manner, "threads"))
		futex(me, times);
	else
		race(me, times);
	hashes[1] = hash;
	return NULL;
}

/* The same by two threads of each process. */
static void
threads(int me, int n)
{
	pthread_t t;
	int other = me + 8;

	times = n;
	pthread_create(&t, NULL, helper, &other);
	if (!strcmp(manner, "threads"))
		futex(me, n);
	else
		race(me, n);
	pthread_join(t, NULL);
	mix(hashes[1]);
}

static void
work(const char *how, int me, int n)
{
	char line[80];
	int len;

	manner = how;
	if (!strcmp(how, "spin"))
		spin(me, n);
	else if (!strcmp(how, "yield"))
		yield(me, n);
	else if (!strcmp(how, "race"))
		race(me, n);
	else if (!strcmp(how, "passes"))
		passes(me, n);
	else if (!strcmp(how, "alarms"))
		alarms(me, n);
	else if (!strcmp(how, "ids"))
		ids(me, n);
	else if (!strcmp(how, "threads") || !strcmp(how, "threads-race"))
		threads(me, n);
	else if (!strcmp(how, "woken"))
		woken(me, n);
	else if (!strcmp(how, "back"))
		back(me, n);
	else if (!strcmp(how, "sizes"))
		sizes(me, n);
	else if (!strcmp(how, "jobs"))
		jobs(me, n);
	else
		futex(me, n);
	len = snprintf(line, sizeof(line), "%d %08x\n", me, hash);
	if (write(1, line, (size_t)len) != len)
		exit(1);
}

int
main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "futex";
	int n = argc > 2 ? atoi(argv[2]) : 1000, np = argc > 3 ? atoi(argv[3]) : 2, late = argc > 4;
	int fd = late ? memfd_create("area", 0) : -1;

	if (late && ftruncate(fd, sizeof(*area)))
		return 1;
	if (pipe(reads))
		return 1;
	memory = memfd_create("memory", 0);
	pages = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
	if (!late)
		map(-1);
	for (int i = 0; i < np; i++)
		if (fork() == 0) {
			if (late)
				map(fd);
			work(how, i, n);
			_exit(0);
		}
	for (int i = 0, st; i < np; i++) {
		wait(&st);
		if (st)
			return 2;
	}
	return 0;
}
