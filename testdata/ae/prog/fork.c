/*
 * Children: fork in the middle of traced calls; the child works on, calls back and leaves by exit or _exit; pipes; a
 * child of a child; the parent ends with a status of its own.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static unsigned long sum;

static void mix(unsigned long v) { sum = sum * 31 + v; }
static int cmp(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

NOINLINE static int
work(int n)
{
	int v[20];

	for (int i = 0; i < 20; i++)
		v[i] = i * n % 17;
	qsort(v, 20, sizeof *v, cmp);
	for (int i = 0; i < 20; i++)
		mix(v[i] + n);
	return v[10];
}

NOINLINE static int
split(int depth, int fd)
{
	pid_t pid;
	int status = 0;

	mix(depth);
	fflush(stdout);
	pid = fork();
	if (pid < 0)
		return -1;
	if (pid == 0) {
		mix(work(depth + 3));
		if (depth > 0)
			mix(split(depth - 1, fd));
		if (write(fd, &sum, sizeof sum) != sizeof sum)
			_exit(9);
		if (depth & 1)
			_exit(depth + 20);
		exit(depth + 10);
	}
	work(depth);
	while (waitpid(pid, &status, 0) < 0)
		;
	return WEXITSTATUS(status);
}

int
main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 2, fd[2];
	unsigned long got;

	if (pipe(fd) != 0)
		return 1;
	work(5);
	mix(split(n, fd[1]));
	close(fd[1]);
	while (read(fd[0], &got, sizeof got) == sizeof got)
		mix(got);
	printf("%016lx\n", sum);
	return 42;
}
