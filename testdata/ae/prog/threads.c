/*
 * Threads: the initial one is traced, the others run untraced the same functions; only the output is compared.
 * link: -pthread
 * oracles: none
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long total;
static __thread unsigned long sum;

static void mix(unsigned long v) { sum = sum * 31 + v; }
static int cmp(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

static void *
work(void *arg)
{
	long n = (long)arg;
	int v[50];

	for (int k = 0; k < 200; k++) {
		for (int i = 0; i < 50; i++)
			v[i] = (int)(i * n * 7919 % 101);
		qsort(v, 50, sizeof *v, cmp);
		for (int i = 0; i < 50; i++)
			mix(v[i]);
	}
	pthread_mutex_lock(&lock);
	total += sum;
	pthread_mutex_unlock(&lock);
	return arg;
}

int
main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 4;
	pthread_t t[16];
	void *r;

	for (long i = 0; i < n; i++)
		pthread_create(&t[i], NULL, work, (void *)(i + 1));
	work((void *)100);
	for (long i = 0; i < n; i++) {
		pthread_join(t[i], &r);
		total ^= (unsigned long)r;
	}
	printf("%016lx\n", total);
	return 0;
}
