/*
 * Threads for thread.t: what each does depends on its number alone, so that its references are the same in every run.
 * thread N runs N threads at a time; they meet at a barrier, call back through qsort, leave by longjmp, return,
 * pthread_exit or cancellation, and are joined or detached.
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
#include <threads.h>
#include <unistd.h>

#define MAX 16

static pthread_barrier_t meet, two;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t key;
static unsigned total[MAX + 1], destroyed, detached;
static __thread unsigned mine[64];
static __thread jmp_buf back;
static volatile unsigned shared[1024];
static unsigned size = 100;

static __attribute__((noinline)) unsigned step(unsigned v)
{
	mine[v % 64] += v;
	return v * 1103515245u + 12345u;
}

static int cmp(const void *a, const void *b)
{
	unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;

	return x < y ? -1 : x > y;
}

static int cmp_out(const void *a, const void *b)
{
	if (*(const unsigned *)a % 64 == 5)
		longjmp(back, 1);
	return cmp(a, b);
}

/* Branches and addresses from values, in a buffer of its own or in memory that all threads write */
static __attribute__((noinline)) unsigned work(unsigned me, unsigned n)
{
	unsigned v = me * 7919, sum = 0, own[128] = { 0 };

	while (n-- > 0) {
		v = step(v);
		switch (v >> 8 & 7) {
		case 0: sum ^= own[v >> 16 & 127]; break;
		case 1: own[v >> 16 & 127] += v; break;
		case 2: shared[(v >> 16) % 1024 / MAX * MAX + me % MAX]++; break;
		case 3: sum += mine[v >> 20 & 63]; break;
		case 4: sum += (unsigned)__builtin_popcount(v); break;
		case 5: sum = sum << 1 | sum >> 31; break;
		case 6: if (v & 1 << 20) sum += step(v); break;
		default: __atomic_fetch_add(&shared[me % MAX], 1, __ATOMIC_SEQ_CST);
		}
	}
	return sum;
}

static unsigned sort(unsigned me)
{
	unsigned v[60], i;

	for (i = 0; i < 60; i++)
		v[i] = (i + me) * 7919 % 101;
	qsort(v, 60, sizeof *v, cmp);
	if (setjmp(back) == 0)
		qsort(v, 60, sizeof *v, cmp_out);
	return v[me % 60];
}

static _Noreturn void deep(unsigned n, void *r)
{
	if (n == 0)
		pthread_exit(r);
	mine[n % 64]++;
	deep(n - 1, r);
	abort();
}

static void destroy(void *p)
{
	__atomic_fetch_add(&destroyed, (unsigned)(uintptr_t)p, __ATOMIC_SEQ_CST);
}

static void cleanup(void *p)
{
	*(unsigned *)p += 1;
}

static void *body(void *arg)
{
	unsigned me = (unsigned)(uintptr_t)arg;

	pthread_setspecific(key, arg);
	total[me] = work(me, size);
	pthread_barrier_wait(&meet);
	total[me] += sort(me);
	pthread_barrier_wait(&meet);
	pthread_mutex_lock(&lock);
	total[0] += total[me];
	pthread_mutex_unlock(&lock);
	if (me % 4 == 1)
		deep(me, arg);
	if (me % 4 == 2) {
		pthread_cleanup_push(cleanup, &total[me]);
		pthread_cancel(pthread_self());
		for (;;)
			pause();
		pthread_cleanup_pop(0);
	}
	return arg;
}

static int body11(void *arg)
{
	return (int)work((unsigned)(uintptr_t)arg, size) & 127;
}

static void *lone(void *arg)
{
	unsigned r = work((unsigned)(uintptr_t)arg, size);

	detached = r;
	pthread_barrier_wait(&two);
	return NULL;
}

static void others(void)
{
	pthread_attr_t attr;
	pthread_t id;
	thrd_t t;
	int r;

	pthread_barrier_init(&two, NULL, 2);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_create(&id, &attr, lone, (void *)(uintptr_t)50);
	pthread_barrier_wait(&two);
	thrd_create(&t, body11, (void *)(uintptr_t)60);
	thrd_join(t, &r);
	printf("detached %u, C11 %d\n", detached, r);
}

int main(int argc, char **argv)
{
	unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 4, i, sum = 0;
	pthread_t t[MAX + 1];
	void *r;

	size = argc > 2 ? (unsigned)atoi(argv[2]) : size;
	pthread_key_create(&key, destroy);
	pthread_barrier_init(&meet, NULL, n + 1);
	for (i = 1; i <= n; i++)
		pthread_create(t + i, NULL, body, (void *)(uintptr_t)i);
	pthread_barrier_wait(&meet);
	pthread_barrier_wait(&meet);
	for (i = 1; i <= n; i++) {
		pthread_join(t[i], &r);
		sum += r == PTHREAD_CANCELED ? 1000 : (unsigned)(uintptr_t)r;
	}
	for (i = 0; i <= n; i++)
		printf("%u ", total[i]);
	for (i = 0; i < 1024; i++)
		sum += shared[i];
	printf("%u %u\n", sum, destroyed);
	if (argc > 3)
		others();
	return 0;
}
