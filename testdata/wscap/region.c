/* A region: calls of work, between markers and outside */
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "lib/tracemill.h"

static char a[4096], b[4096];

__attribute__((noinline)) int
work(int k)
{
	int s = 0;

	for (int i = 0; i < 1000; i++)
		s = s * 31 + i * k;
	memcpy(a, b, (size_t)(100 + k));
	return s;
}

static void *
thread(void *arg)
{
	for (int i = 0; i < 200; i++)
		sched_yield();
	for (int i = 0; i < 10; i++)
		*(int *)arg += work(i);
	return arg;
}

/* Threads begin in the region. */
static int
threads(int begun)
{
	pthread_t t[3];
	int s[3] = {0};

	if (begun)
		work(1);
	for (int i = 0; i < 3; i++)
		if (pthread_create(&t[i], NULL, thread, &s[i]))
			return 1;
	if (!begun)
		work(1);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	TRACEMILL_END();
	return write(1, s[0] == s[1] && s[1] == s[2] ? "done\n" : "none\n", 5) == 5 ? 4 : 5;
}

int
main(int argc, char **argv)
{
	int s = argc;

	if (argc > 1)
		return threads(!strcmp(argv[1], "later"));
	for (int i = 0; i < 10; i++)
		s += work(i);
	TRACEMILL_BEGIN();
	for (int i = 0; i < 3; i++)
		s += work(i);
	TRACEMILL_END();
	return write(1, s ? "done\n" : "none\n", 5) == 5 ? 4 : 5;
}
