/* Other processes and threads: kids NAME */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <x86intrin.h>

extern char **environ;
static int shared[4096];

static void
forks(void)
{
	int *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0), st;
	unsigned a;
	pid_t pid = fork();

	if (!pid) {
		/* nothing of ours may be left in it */
		*p = __rdtsc() != 0 && __rdtscp(&a) != 0;
		shared[0] = 77;
		_exit(5);
	}
	printf("%d\n", waitpid(pid, &st, 0) == pid);
	printf("%d %d %d %d\n", WEXITSTATUS(st), shared[0], getppid() != pid, *p);
}

static void
vforks(void)
{
	volatile int on_stack = 0;
	int st;
	pid_t pid = vfork();

	if (!pid) {
		on_stack = 12;
		shared[1] = 34;
		shared[4000] = 5;
		_exit(on_stack);
	}
	waitpid(pid, &st, 0);
	printf("%d %d %d %d\n", WEXITSTATUS(st), on_stack, shared[1], shared[4000]);
}

static void
spawns(void)
{
	char *const argv[] = {"sh", "-c", "echo spawned; exit 3", NULL}, *const none[] = {"x", NULL};
	int st;
	pid_t pid;

	if (posix_spawnp(&pid, "sh", NULL, NULL, argv, environ))
		exit(9);
	waitpid(pid, &st, 0);
	printf("%d\n", WEXITSTATUS(st));
	printf("%d\n", posix_spawn(&pid, "/no/such/program", NULL, NULL, none, environ) == ENOENT);
	fflush(stdout);
	printf("%d\n", system("echo system; kill -9 $$"));
}

static void
pipes(void)
{
	char line[64];
	FILE *f = popen("echo from a pipe; date +%Y | wc -c", "r");

	while (fgets(line, sizeof(line), f))
		fputs(line, stdout);
	printf("%d\n", pclose(f));
}

static void *
thread(void *arg)
{
	return (char *)arg + __rdtsc() % 2 + 1;
}

static void
threads(void)
{
	pthread_t t;
	void *r;

	puts("before");
	if (pthread_create(&t, NULL, thread, NULL))
		exit(9);
	pthread_join(t, &r);
	printf("after %d\n", r != NULL);
	exit(7);
}

static void
execs(void)
{
	puts("before");
	fflush(stdout);
	execlp("sh", "sh", "-c", "echo after; exit 6", (char *)NULL);
}

int
main(int argc, char **argv)
{
	static const struct { const char *name; void (*f)(void); } test[] = {
		{"fork", forks}, {"vfork", vforks}, {"spawn", spawns}, {"popen", pipes}, {"thread", threads},
		    {"exec", execs},
	};

	for (size_t i = 0; argc > 1 && i < sizeof(test) / sizeof(test[0]); i++) {
		if (strcmp(argv[1], test[i].name))
			continue;
		test[i].f();
		return 0;
	}
	return 2;
}
