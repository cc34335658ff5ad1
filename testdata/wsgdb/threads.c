/* Four threads that wait for one another, and take turns with a lock. */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t together;
static int total;
static __thread int mine;

static int
work(int id, int k)
{
	int own = id * 1000 + k;

	pthread_mutex_lock(&lock);
	total += own;
	pthread_mutex_unlock(&lock);
	return own;
}

static void *
worker(void *arg)
{
	int id = (int)(long)arg, sum = 0;

	mine = id * 7;
	pthread_barrier_wait(&together);
	for (int k = 0; k < 3; k++)
		sum += work(id, k);
	pthread_barrier_wait(&together);
	return (void *)(long)sum;
}

int
main(void)
{
	pthread_t t[3];
	void *sum, *all = NULL;

	pthread_barrier_init(&together, NULL, 4);
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, worker, (void *)(long)(i + 1));
	pthread_barrier_wait(&together);
	pthread_barrier_wait(&together);
	for (int i = 0; i < 3; i++) {
		pthread_join(t[i], &sum);
		all = (void *)((long)all + (long)sum);
	}
	printf("%d %ld\n", total, (long)all);
	return 0;
}
