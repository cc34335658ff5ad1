/* For borrow.t: children of vfork that use some of their parent's large memory. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define N ((size_t)4 << 20)

#define STACK 65536     /* for signals: after N, as what is there is not the same in each run */

extern char **environ;
static char *big;

static void
tell(pid_t pid)
{
	unsigned sum = 0;
	int st = -1;

	while (waitpid(pid, &st, 0) < 0 && errno == EINTR)
		;
	for (size_t i = 0; i < N; i += 31)
		sum = sum * 31 + (unsigned char)big[i];
	printf("%x, status %x\n", sum, (unsigned)st);
	fflush(stdout);
}

static void
on_signal(int sig)
{
	char local[3000];

	memset(local, sig, sizeof(local));
	big[N - 1] += local[2999];
}

/* arguments that are all over the memory */
static char **
arguments(int n, size_t each)
{
	char **v = (char **)(big + N / 2 - 8);

	strcpy(big + 4090, "/bin/echo");
	v[0] = big + 4090;
	for (int i = 1; i < n; i++) {
		v[i] = big + 70000 + each * (size_t)i;
		snprintf(v[i], 100, "argument %d", i);
	}
	v[n] = NULL;
	return v;
}

int
main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	char **v, *no[] = {"none", NULL};
	struct sigaction act = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
	volatile pid_t pid;
	int null = open("/dev/null", O_WRONLY);

	big = mmap((void *)0x10000000000, N + STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	for (size_t i = 0; i < N; i += 509)
		big[i] = (char)(i >> 9);
	v = arguments(3, 5000);
	if (!strcmp(what, "many"))
		v = arguments(300, 4200);
	if (!strcmp(what, "long")) {
		memset(v[1], 'l', 100000);
		v[2] = big + 300000;
		strcpy(v[2], "end");
	}
	if (!strcmp(what, "handler")) {
		stack_t s = {.ss_sp = big + N, .ss_size = STACK};

		sigaltstack(&s, NULL);
		sigaction(SIGUSR1, &act, NULL);
	}
	if (!strcmp(what, "spawn")) {
		pid_t child;

		if (posix_spawn(&child, v[0], NULL, NULL, v, environ))
			return 1;
		tell(child);
		return 3;
	}
	for (int i = 0; i < 3; i++) {
		pid = vfork();
		if (!pid) {
			struct iovec io[2] = {{big + 1000000, 0}, {big + 2000000, 5000}};

			big[123456 * i + 77] = (char)(i + 1);
			if (!strcmp(what, "killed"))
				raise(SIGKILL);
			if (!strcmp(what, "handler"))
				raise(SIGUSR1);
			if (!strcmp(what, "writes"))    /* two pages that it has not used, of one mapping */
				_exit(writev(null, io, 2) != 5000);
			if (!strcmp(what, "unmaps"))
				munmap(big + N / 8 * 3, 65536);
			if (!strcmp(what, "exits"))
				_exit(big[N - 4096] + 5);
			if (!strcmp(what, "fails")) {
				execv("/nonexistent", no);
				big[N - 9000] = (char)(errno == ENOENT);
			}
			if (!strcmp(what, "waits") || !strcmp(what, "soon"))
				for (volatile long k = 0; k < (what[0] == 'w' ? 400000000 : 3000000); k++)
					;
			execve(v[0], v, environ);
			_exit(9);
		}
		if (!strcmp(what, "unmaps") && mmap(big + N / 8 * 3, 65536, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
			return 1;
		tell(pid);
	}
	return 3;
}
