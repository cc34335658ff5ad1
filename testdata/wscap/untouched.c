/* For untouched.t: memory that nobody has used stays so while a capture looks for changes, and what changes there is found. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define N ((size_t)64 << 20)
#define STEP ((size_t)9 << 20)
#define FROM ((size_t)70000)             /* the first place that is written to, across pages */

static char *big;

/* Far more than there is memory, as a program with sanitizers maps. */
static void
far(void)
{
	static const size_t at[] = {0, 5000, (size_t)77 << 30, ((size_t)77 << 30) + 8192, ((size_t)512 << 30) - 4096};
	char *p = mmap(NULL, (size_t)512 << 30, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	unsigned sum = 0;
	int st = 0;

	if (p == MAP_FAILED)
		exit(77);
	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++)
		p[at[i]] = (char)(i + 1);
	for (int k = 0; k < 2; k++)
		if (!(k ? fork() : vfork())) {
			for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++)
				p[at[i] + 808] += p[at[i]]++;
			_exit(p[at[3]]);
		} else {
			wait(&st);
			sum = sum * 31 + (unsigned)st;
			for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++)
				sum = sum * 31 + (unsigned char)p[at[i]] * 7 + (unsigned char)p[at[i] + 808];
		}
	printf("far: no pages counted, %x\n", sum);
	exit(3);
}

/* How many pages exist? */
static size_t
pages(void)
{
	static unsigned char there[N / 4096];
	size_t n = 0;

	if (mincore(big, N, there))
		exit(1);
	for (size_t i = 0; i < sizeof(there); i++)
		n += there[i] & 1;
	return n;
}

/* What is there, and behind it, which was never written to. */
static void
tell(const char *what)
{
	size_t had = pages();
	unsigned sum = 0;

	for (size_t i = 0; i < 7; i++)
		for (size_t k = 0; k < 9000; k++)
			sum = sum * 31 + (unsigned char)big[FROM + i * STEP + k];
	printf("%s: %zu pages, %x\n", what, had, sum);
	fflush(stdout);
}

static void
child(size_t i)
{
	pid_t pid = vfork();

	if (!pid) {
		memset(big + FROM + i * STEP, (int)i + 1, 5000);
		if (i & 1)
			execl("/bin/true", "true", (char *)NULL);
		_exit(3);
	}
	waitpid(pid, NULL, 0);
}

/* Writes to memory of a process, which may be this one. */
static void
poke(pid_t pid, size_t i)
{
	char text[5000];
	struct iovec from = {text, sizeof(text)}, to = {big + FROM + i * STEP, sizeof(text)};

	memset(text, 'a' + (int)i, sizeof(text));
	if (process_vm_writev(pid, &from, 1, &to, 1, 0) != (ssize_t)sizeof(text))
		exit(77);
}

static void *
thread(void *arg)
{
	(void)arg;
	pause();
	return NULL;
}

int
main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	pthread_t t;

	if (!strcmp(what, "far"))
		far();
	big = mmap((void *)0x10000000000, N, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
	if (big == MAP_FAILED || madvise(big, N, MADV_NOHUGEPAGE))
		return 1;
	if (!strcmp(what, "thread") && pthread_create(&t, NULL, thread, NULL))
		return 1;
	if (!strcmp(what, "self")) {
		poke(getpid(), 1);
		poke(getpid(), 4);
	} else if (!strcmp(what, "other")) {
		pid_t pid = fork();

		if (!pid) {
			poke(getppid(), 2);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	} else {
		for (size_t i = 0; i < 5; i++)
			child(i);
	}
	tell(what);
	child(5);
	tell(what);
	return 3;
}
