/*
 * Threads that call a function, also in threads and children of their own, which end; `herd`: 84 calls in this process, then
 * prints a sum and exits with 3; `herd serve`: until SIGTERM; then exits with 4; `herd share`: the same, with a process
 * that shares its memory and exits; `herd leave`: as the first, after the first thread has ended.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile sig_atomic_t over, seen;
static long total;

__attribute__((noinline)) long
work(long k)
{
	long s = 0;

	for (long i = 0; i < 300; i++)
		s = s * 31 + i * k;
	return s;
}

__attribute__((noinline)) long
place(long k)
{
	__asm__ volatile ("");          /* each call is made, whether its result is used or not */
	return work(k) ^ 5;
}

static void
handler(int sig)
{
	if (sig == SIGTERM)
		over = 1;
	else
		seen = seen + 1;
}

static void *
child(void *arg)
{
	place((long)arg);
	return NULL;
}

static void
begin(long i, void *arg)
{
	char *argv[] = {"true", NULL};
	pthread_t t;
	pid_t p;

	if (i % 50 == 7 && !pthread_create(&t, NULL, child, arg))
		pthread_join(t, NULL);
	if (i % 100 == 9 && !posix_spawnp(&p, "true", NULL, NULL, argv, environ))
		waitpid(p, NULL, 0);
	if (i % 100 == 60) {
		p = fork();
		if (!p) {
			place(1);
			_exit(0);
		}
		waitpid(p, NULL, 0);
	}
	if (i % 100 == 80)
		pthread_kill(pthread_self(), SIGUSR1);
}

static int leaves;

/* Has the first thread ended? */
static int
left(void)
{
	char name[64], text[256] = "";
	FILE *f;

	snprintf(name, sizeof(name), "/proc/self/task/%ld/stat", (long)getpid());
	f = fopen(name, "r");
	if (f && !fgets(text, sizeof(text), f))
		text[0] = 0;
	if (f)
		fclose(f);
	return strstr(text, ") Z") != NULL;
}

static void *
run(void *arg)
{
	while (leaves && !left())
		usleep(1000);
	for (long i = 0; i < 400; i++) {
		long s = i % 20 == 5 ? place(i) : work(i + (long)arg);

		pthread_mutex_lock(&lock);
		total += s & 255;
		pthread_mutex_unlock(&lock);
		begin(i, arg);
	}
	return NULL;
}

static void *
serve(void *arg)
{
	for (long i = 0; !over; i++) {
		if (i % 20 == 5)
			place(i + (long)arg);
		if (i % 7 == 3)
			usleep(100);
	}
	return NULL;
}

static int
share(void *arg)
{
	place((long)arg);
	return 0;
}

int
main(int argc, char **argv)
{
	static char stack[1 << 16];
	int shares = argc > 1 && !strcmp(argv[1], "share"), serves = shares || (argc > 1 && !strcmp(argv[1], "serve"));
	pthread_t t[3];

	leaves = argc > 1 && !strcmp(argv[1], "leave");
	signal(SIGUSR1, handler);
	signal(SIGTERM, handler);
	for (long i = 0; i < 3; i++)
		if (pthread_create(&t[i], NULL, serves ? serve : run, (void *)i))
			return 1;
	if (argc > 1 && !strcmp(argv[1], "exec")) {
		execlp("printf", "printf", "executed", NULL);
		return 1;
	}
	if (leaves)
		pthread_exit(NULL);
	if (shares) {
		waitpid(clone(share, stack + sizeof stack, CLONE_VM | SIGCHLD, NULL), NULL, 0);
		over = 1;
	}
	if (serves && write(1, "begun\n", 6) != 6)
		return 1;
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	printf("%ld\n", total);
	return serves ? 4 : 3;
}
