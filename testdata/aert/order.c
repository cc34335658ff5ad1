/*
 * Threads for order.t, whose order shows in the addresses that they use: order HOW THREADS ROUNDS. LIBRARY: without main,
 * MAIN: main alone; OPENMP: another program, whose threads a library makes.
 *
 * m, s, r, t, c, p, o: under a mutex (a spin lock, a lock for writers, one that is tried, a mutex of C11, a pipe, a mutex that a function
 * of a library calls back under), each thread writes its number to the next word of `slot`. b: threads write in turn, between
 * barriers. w: turns are waited for with a condition. q: producers hand nodes, which malloc makes, to consumers,
 * who free them. j: each thread is made when the one before it was joined, detached ones signal by a semaphore. What is printed
 * is where `slot` and two functions are, and what has been written to it.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <unistd.h>

#define SLOTS 65536
#define MAX 64

#ifdef OPENMP
static volatile unsigned slot[SLOTS], nslot;

static __attribute__((noinline)) void put(unsigned me)
{
	unsigned n = nslot;

	slot[n] = me;
	nslot = n + 1;
}

int omp_get_thread_num(void);

static void team(void)
{
#pragma omp parallel num_threads(4)
	{
		unsigned me = (unsigned)omp_get_thread_num(), i;

		for (i = 0; i < 50; i++) {
#pragma omp critical
			put(me);
		}
#pragma omp barrier
		if (me == 2)
			put(me);
	}
}

/* A loop that is a parallel region, with another clause each; the thread that begins it goes on when all have ended. */
#define PRAGMA(x) _Pragma(#x)
#define LOOP(clause) \
	PRAGMA(omp parallel for num_threads(4) clause) \
	for (int i = 0; i < 40; i++) { \
		PRAGMA(omp critical) \
		put((unsigned)omp_get_thread_num()); \
	} \
	put(0)

static void loops(void)
{
	LOOP(schedule(static));
	LOOP(schedule(dynamic, 2));
	LOOP(schedule(monotonic:dynamic, 3));
	LOOP(schedule(guided, 2));
	LOOP(schedule(monotonic:guided));
	LOOP(schedule(runtime));
	LOOP(schedule(nonmonotonic:runtime));
	LOOP(schedule(monotonic:runtime));
#pragma omp parallel sections num_threads(4)
	{
#pragma omp critical
		put((unsigned)omp_get_thread_num());
#pragma omp section
#pragma omp critical
		put((unsigned)omp_get_thread_num());
	}
	put(0);
}

int main(void)
{
	unsigned i;

	for (i = 0; i < 20; i++) {
		team();
		put(0);
		loops();
	}
	printf("%p 0x0 0x0 %u\n", (void *)slot, nslot);
	for (i = 0; i < nslot; i++)
		printf("%u\n", slot[i]);
	return 0;
}
#else
int order(int argc, char **argv);

#ifdef MAIN
int main(int argc, char **argv)
{
	return order(argc, argv);
}
#else
struct node { volatile unsigned value; struct node *next; };

static volatile unsigned slot[SLOTS];
static volatile unsigned nslot;
static unsigned threads, rounds;
static char how;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static mtx_t c11;
static int ends[2];
static pthread_barrier_t meet;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER, room = PTHREAD_COND_INITIALIZER;
static volatile unsigned turn, queued, made;
static struct node *volatile queue;
static sem_t done;

static __attribute__((noinline)) void put(unsigned me)
{
	unsigned n = nslot;

	if (n < SLOTS) {
		slot[n] = me;
		nslot = n + 1;
	}
}

/* Under the lock, or what stands for it */
static __attribute__((noinline)) void acquire(void)
{
	char c;

	switch (how) {
	case 's': pthread_spin_lock(&spin); break;
	case 'r': pthread_rwlock_wrlock(&rw); break;
	case 't': while (pthread_mutex_trylock(&lock) != 0) ; break;
	case 'c': mtx_lock(&c11); break;
	case 'p': if (read(ends[0], &c, 1) != 1) abort(); break;
	default: pthread_mutex_lock(&lock);
	}
}

static __attribute__((noinline)) void release(void)
{
	switch (how) {
	case 's': pthread_spin_unlock(&spin); break;
	case 'r': pthread_rwlock_unlock(&rw); break;
	case 'c': mtx_unlock(&c11); break;
	case 'p': if (write(ends[1], "x", 1) != 1) abort(); break;
	default: pthread_mutex_unlock(&lock);
	}
}

static __attribute__((noipa, aligned(64))) void node_write(struct node *n, unsigned v)
{
	n->value = v;
}

static __attribute__((noipa, aligned(64))) unsigned node_read(const struct node *n)
{
	return n->value;
}

static __attribute__((aligned(64))) int by_value(const void *a, const void *b)
{
	return (int)*(const unsigned *)a - (int)*(const unsigned *)b;
}

static void in_turn(unsigned me, unsigned i)
{
	pthread_mutex_lock(&lock);
	while (turn != me)
		pthread_cond_wait(&more, &lock);
	put(me);
	turn = (me + 1) % threads;
	pthread_cond_broadcast(&more);
	pthread_mutex_unlock(&lock);
	(void)i;
}

/* A node is written once, and read once before it is freed: where one is made again, the same happens. */
static void produce(unsigned me, unsigned i)
{
	struct node *n = malloc(sizeof *n + me % 3 * 16);

	node_write(n, i);
	pthread_mutex_lock(&lock);
	while (queued == 8)
		pthread_cond_wait(&room, &lock);
	n->next = queue;
	queue = n;
	queued++;
	pthread_cond_signal(&more);
	pthread_mutex_unlock(&lock);
}

static void consume(unsigned me)
{
	struct node *n;
	unsigned v;

	pthread_mutex_lock(&lock);
	while (!queue)
		pthread_cond_wait(&more, &lock);
	n = queue;
	queue = n->next;
	queued--;
	pthread_cond_signal(&room);
	pthread_mutex_unlock(&lock);
	v = node_read(n);
	free(n);
	made += v & 0;
	(void)me;
}

static void *body(void *arg)
{
	unsigned me = (unsigned)(uintptr_t)arg, i, v[16];

	for (i = 0; i < rounds; i++)
		switch (how) {
		case 'b':
			if (i % threads == me)
				put(me);
			pthread_barrier_wait(&meet);
			break;
		case 'w':
			in_turn(me, i);
			break;
		case 'q':
			if (me % 2 == 0)
				produce(me, i);
			else
				consume(me);
			break;
		case 'j':
			put(me);
			break;
		case 'o':
			memset(v, (int)i, sizeof v);
			qsort(v, 16, sizeof *v, by_value);
			/* fallthrough */
		default:
			acquire();
			put(me);
			release();
		}
	if (how == 'j' && me % 3 == 2)
		sem_post(&done);
	return NULL;
}

static void one_by_one(void)
{
	pthread_t id;
	unsigned i;

	for (i = 0; i < threads; i++) {
		pthread_create(&id, NULL, body, (void *)(uintptr_t)i);
		if (i % 3 == 2) {
			pthread_detach(id);
			sem_wait(&done);
		} else
			pthread_join(id, NULL);
		put(99);
	}
}

int order(int argc, char **argv)
{
	pthread_t id[MAX];
	unsigned i;

	how = argc > 1 ? *argv[1] : 'm';
	threads = argc > 2 ? (unsigned)atoi(argv[2]) : 4;
	rounds = argc > 3 ? (unsigned)atoi(argv[3]) : 100;
	pthread_spin_init(&spin, 0);
	pthread_barrier_init(&meet, NULL, threads);
	mtx_init(&c11, mtx_plain);
	sem_init(&done, 0, 0);
	if (pipe(ends) != 0)
		return 1;
	if (how == 'p')
		release();
	if (how == 'j')
		one_by_one();
	for (i = 0; how != 'j' && i < threads && i < MAX; i++)
		pthread_create(id + i, NULL, body, (void *)(uintptr_t)i);
	for (i = 0; how != 'j' && i < threads && i < MAX; i++)
		pthread_join(id[i], NULL);
	put(77);
	printf("%p %p %p %u\n", (void *)slot, (void *)node_write, (void *)node_read, nslot);
	for (i = 0; i < nslot; i++)
		printf("%u\n", slot[i]);
	return 0;
}

#ifndef LIBRARY
int main(int argc, char **argv)
{
	return order(argc, argv);
}
#endif
#endif
#endif
