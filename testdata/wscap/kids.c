/* Other processes and threads: kids NAME */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
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

/* A child that has the parent's memory until it executes a program changes the parent's mappings. */
static void
borrows(void)
{
	char *gone = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *volatile *made = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *end = sbrk(0);
	int st;
	pid_t pid;

	gone[0] = 1;
	pid = vfork();
	if (!pid) {
		made[0] = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		made[0][7] = 9;
		munmap(gone, 4096);
		mprotect(gone + 4096, 4096, PROT_READ);
		if (sbrk(65536) != end)
			_exit(1);
		end[60000] = 5;
		execl("/bin/sh", "sh", "-c", "exit 4", (char *)NULL);
		_exit(127);
	}
	waitpid(pid, &st, 0);
	printf("%d %d %d %d", WEXITSTATUS(st), made[0][7], end[60000], gone[4096]);
	printf(" %d\n", mmap(gone, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
	    -1, 0) == gone && !gone[0]);
}

/* Two processes count in memory that they share, in turn. */
static void
count(volatile int *p, int in, int out)
{
	char c;

	for (int i = 0; i < 20; i++) {
		if (read(in, &c, 1) != 1)
			exit(9);
		p[0]++;
		p[100 + i] = p[0] * 3;
		if (write(out, &c, 1) != 1)
			exit(9);
	}
}

static void
counts(int late)
{
	volatile int *p = NULL;
	int a[2], b[2], st, fd = open("shared", O_RDWR | O_CREAT | O_TRUNC, 0666);
	pid_t pid;

	if (fd < 0 || ftruncate(fd, 4096) || pipe(a) || pipe(b))
		exit(9);
	if (!late)
		p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid = fork();
	if (late)
		p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (!pid) {
		count(p, a[0], b[1]);
		_exit(39);
	}
	if (write(a[1], "", 1) != 1)
		exit(9);
	count(p, b[0], a[1]);
	waitpid(pid, &st, 0);
	printf("%d %d %d %d\n", p[0], p[105], p[119], WEXITSTATUS(st));
}

static void shares(void) { counts(0); }
static void maps(void) { counts(1); }

/* A server that forks for each connection, and its clients. */
static void
client(const struct sockaddr_in *at, int i)
{
	char line[64];
	int fd = socket(AF_INET, SOCK_STREAM, 0), n;

	if (connect(fd, (const struct sockaddr *)at, sizeof(*at)))
		_exit(9);
	n = snprintf(line, sizeof(line), "%d", i);
	if (write(fd, line, (size_t)n) != n || shutdown(fd, SHUT_WR) || (n = (int)read(fd, line, 63)) < 1)
		_exit(9);
	line[n] = 0;
	_exit(atoi(line));
}

static void
serve(int fd)
{
	char line[64];
	ssize_t n = read(fd, line, 63);

	if (n < 1)
		_exit(9);
	line[n] = 0;
	n = snprintf(line, sizeof(line), "%d", atoi(line) * 7);
	_exit(write(fd, line, (size_t)n) != n);
}

static void
servers(void)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t n = sizeof(at);
	int s = socket(AF_INET, SOCK_STREAM, 0), sum = 0, st;

	if (bind(s, (struct sockaddr *)&at, n) || listen(s, 9) || getsockname(s, (struct sockaddr *)&at, &n))
		exit(9);
	for (int i = 1; i <= 5; i++)
		if (!fork())
			client(&at, i);
	for (int i = 1; i <= 5; i++) {
		int c = accept(s, NULL, NULL);

		if (!fork())
			serve(c);
		close(c);
	}
	while (wait(&st) > 0)
		sum += WIFEXITED(st) ? WEXITSTATUS(st) : 1000;
	printf("%d\n", sum);
}

/* Children that are killed at any place of their system calls, their beginnings included */
static void
struck(void)
{
	for (int i = 0, k, st, p[2]; i < 20; i++) {
		pid_t pid;
		char c = 0;

		if (pipe(p))
			exit(9);
		if (!(pid = fork()))
			for (;;)
				if (write(p[1], &c, 1) != 1)
					exit(9);
		for (k = 0; k < 20 + i; k++)
			if (read(p[0], &c, 1) != 1)
				exit(9);
		kill(pid, SIGKILL);
		waitpid(pid, &st, 0);
		printf("%d\n", WTERMSIG(st));
		close(p[0]);
		close(p[1]);
	}
}

/* Children that are killed, stop themselves, and outlive their parent. */
static void
kills(void)
{
	int st, p[2];
	pid_t pid;
	char c = 0;

	if (pipe(p))
		exit(9);
	pid = fork();
	if (!pid)
		for (;;)
			if (write(p[1], &c, 1) != 1)
				exit(9);
	if (read(p[0], &c, 1) != 1)
		exit(9);
	kill(pid, SIGKILL);
	waitpid(pid, &st, 0);
	printf("%d\n", WTERMSIG(st));
	if (!(pid = fork())) {
		raise(SIGSTOP);
		_exit(3);
	}
	waitpid(pid, &st, WUNTRACED);
	printf("%d\n", WIFSTOPPED(st) ? WSTOPSIG(st) : -1);
	kill(pid, SIGCONT);
	waitpid(pid, &st, 0);
	printf("%d\n", WEXITSTATUS(st));
	if (pipe(p))
		exit(9);
	if (!(pid = fork())) {
		if (!fork()) {
			/* an orphan, which ends when its parent has */
			close(p[1]);
			_exit(read(p[0], &c, 1) != 0);
		}
		_exit(abs(*(volatile int *)8));
	}
	close(p[0]);
	waitpid(pid, &st, 0);
	printf("%d\n", WTERMSIG(st));
}

/* Many short processes, some at a time. */
static void
many(void)
{
	int sum = 0, st;

	for (int i = 0; i < 60; i++) {
		if (!fork())
			_exit(i);
		if (i % 10 == 9)
			while (wait(&st) > 0)
				sum += WEXITSTATUS(st);
	}
	printf("%d\n", sum);
}

static int answer;
static volatile int *area;

/* It works in a signal handler, while the process waits. */
static void
on_request(int sig)
{
	(void)sig;
	area[9000000] += area[0];
	area[20]++;
	if (write(answer, "", 1) != 1)
		_exit(9);
}

static void
worker(int i, int in, int out)
{
	char c;

	answer = out;
	sigaction(i ? SIGUSR1 : SIGUSR2, &(struct sigaction){.sa_handler = on_request}, NULL);  /* it ends read */
	area[1000000 * (i + 1)] = i + 1;
	if (i == 2 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT))
		_exit(9);
	if (write(out, "", 1) != 1)
		_exit(9);
	while (i == 2)
		if (read(in, &c, 1) <= 0)
			syscall(SYS_exit, 5);
	for (;;) {
		/* it ends with the pipe; a signal ends it as well */
		ssize_t n = read(in, &c, 1);

		if (!n)
			_exit(area[3000000]);
		/* the other one makes calls meanwhile, and looks at it when this one waits */
		for (volatile int k = 0; k < 500000; k++)
			;
		area[40]++;
	}
}

/* S: the process waits. */
static int
state(pid_t pid)
{
	char path[40], text[400] = "", *at;
	int fd;

	snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
	fd = open(path, O_RDONLY);
	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		exit(9);
	close(fd);
	at = strrchr(text, ')');
	return at ? at[2] : 0;
}

/* Kilobytes that are used, of all that is shared. */
static int
used(void)
{
	char line[200];
	int kb = 0;
	FILE *f = fopen("/proc/self/status", "r");

	while (f && fgets(line, sizeof(line), f))
		(void)sscanf(line, "RssShmem: %d", &kb);
	if (f)
		fclose(f);
	return kb;
}

static pid_t
begin(int i, const int *in, const int *out)
{
	pid_t pid = fork();
	char c;

	if (!pid) {
		close(in[1]);
		worker(i, in[0], out[1]);
	}
	if (read(out[0], &c, 1) != 1)
		exit(9);
	return pid;
}

/* Large memory that is shared and hardly used, by processes that wait most of the time. */
static void
large(void)
{
	int in[2], out[2], st, sum = 0, little;
	pid_t pid[2];
	char c;

	area = mmap(NULL, 64 << 20, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	area[5000000] = 1;
	if (area == MAP_FAILED || pipe(in) || pipe(out))
		exit(9);
	for (int i = 0; i < 2; i++)
		pid[i] = begin(i, in, out);
	for (int i = 0; i < 60; i++) {
		area[0] = i;
		if (kill(pid[i % 2], i % 2 ? SIGUSR1 : SIGUSR2) || read(out[0], &c, 1) != 1)
			exit(9);
		sum += area[9000000] + area[20];
		for (int k = 0; k < 5; k++)
			sum += getppid() == 0;
		while (state(pid[i % 2]) != 'S')
			;
		sum += lseek(-1, area[40], SEEK_SET) == 0;
	}
	area[3000000] = 7;
	little = used() < 8192;
	if (system("exit 3") < 0)
		exit(9);
	little &= used() < 8192;
	begin(2, in, out);              /* it must not make other calls than read and write */
	close(in[1]);
	while (wait(&st) > 0)
		sum += WEXITSTATUS(st);
	printf("%d %d %d\n", sum, little, area[1000000] + area[2000000] + area[5000000]);
}

/* Children of a process that nobody may read. */
static void
secret(void)
{
	int st;

	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	if (fork() == 0)
		_exit(getppid() == 0);
	wait(&st);
	printf("%x\n", st);
}

/* Twenty children at a time. */
static void
crowd(void)
{
	int p[2], st, sum = 0;
	char c;

	if (pipe(p))
		exit(9);
	for (int i = 0; i < 20; i++)
		if (fork() == 0) {
			close(p[1]);
			_exit((int)read(p[0], &c, 1));
		}
	close(p[1]);
	while (wait(&st) > 0)
		sum += st == 0;
	printf("%d\n", sum);
}

/* Between children of vfork, a process counts in large memory that it shares with its parent. */
static void
lends_shared(void)
{
	volatile int *n = mmap(NULL, 64 << 20, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (fork() == 0) {
		while (*n < 5) {
			pid_t pid = vfork();

			if (pid == 0)
				_exit(0);
			waitpid(pid, NULL, 0);
			++*n;
		}
		_exit(0);
	}
	wait(NULL);
	printf("%d\n", *n);
}

int
main(int argc, char **argv)
{
	static const struct { const char *name; void (*f)(void); } test[] = {
		{"fork", forks}, {"vfork", vforks}, {"spawn", spawns}, {"popen", pipes}, {"thread", threads},
		    {"exec", execs}, {"borrow", borrows}, {"share", shares}, {"map", maps}, {"server", servers},
		    {"kill", kills}, {"struck", struck}, {"many", many}, {"large", large}, {"secret", secret}, {"crowd", crowd},
		    {"counts", lends_shared},
	};

	for (size_t i = 0; argc > 1 && i < sizeof(test) / sizeof(test[0]); i++) {
		if (strcmp(argv[1], test[i].name))
			continue;
		test[i].f();
		return 0;
	}
	return 2;
}
