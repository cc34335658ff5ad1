/* For lend.t: children of vfork that make the calls which posix_spawn makes, and what may come between. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define N ((size_t)4 << 20)

extern char **environ;
static unsigned sum, came;

struct action {                 /* the kernel's */
	void (*handler)(int);
	unsigned long flags;
	void (*restorer)(void);
	unsigned long mask;
};

static void
add(unsigned long v)
{
	sum = sum * 31 + (unsigned)v;
}

static void
on_signal(int sig)
{
	came += (unsigned)sig;
}

/* asks and sets all actions, at p; and calls that have no memory */
static void
actions(struct action *p)
{
	for (int sig = 1; sig <= 64; sig++) {
		add((unsigned long)syscall(SYS_rt_sigaction, sig, NULL, p, 8));
		add((unsigned long)p->handler + p->flags);
		p->handler = sig % 3 ? SIG_DFL : SIG_IGN;
		add((unsigned long)syscall(SYS_rt_sigaction, sig, p, p + 1, 8));
		add((unsigned long)p[1].handler + p[1].mask);
	}
	p->mask = 0x5555;
	add((unsigned long)syscall(SYS_rt_sigprocmask, SIG_SETMASK, &p->mask, &p[1].mask, 8));
	add(p[1].mask);
	for (int i = 0; i < 5; i++) {
		add((unsigned long)dup2(1, 20 + i));
		add((unsigned long)fcntl(20 + i, F_SETFD, FD_CLOEXEC));
		add((unsigned long)close(20 + i));
		add((unsigned long)close(40 + i));
	}
}

static void
tell(const char *who, pid_t pid)
{
	int st = -1;

	while (waitpid(pid, &st, 0) < 0 && errno == EINTR)
		;
	for (int i = 0; i < 20; i++)
		add((unsigned long)dup2(1, 30));
	printf("%s: status %x, %x, %u\n", who, (unsigned)st, sum, came);
	fflush(stdout);
}

static void
child(const char *what, char *big)
{
	struct action near[2] = {0}, *far = (struct action *)(big + N / 2);
	struct sigaction act = {.sa_handler = on_signal};
	struct rlimit most = {(rlim_t)1 << 44, (rlim_t)1 << 44};
	char *const args[] = {"true", NULL};
	volatile pid_t pid;

	memset(near, 0, sizeof(near));
	if (!strcmp(what, "far"))
		actions(far);
	else
		actions(near);
	if (!strcmp(what, "bad")) {
		add((unsigned long)syscall(SYS_rt_sigaction, SIGUSR2, 8, near, 8) + (unsigned long)errno);
		add((unsigned long)syscall(SYS_rt_sigaction, SIGUSR2, near, 16, 8) + (unsigned long)errno);
		add((unsigned long)syscall(SYS_rt_sigaction, 65, near, near, 8) + (unsigned long)errno);
		add((unsigned long)syscall(SYS_rt_sigaction, SIGSYS, near, near, 8) + (unsigned long)errno);
	}
	if (!strcmp(what, "signals"))
		for (int i = 0; i < 10; i++) {
			sigset_t none;

			sigemptyset(&none);
			sigaction(i % 2 ? SIGUSR1 : SIGSYS, &act, NULL);
			sigprocmask(SIG_SETMASK, &none, NULL);
			raise(i % 2 ? SIGUSR1 : SIGUSR2);
			actions(near);
		}
	if (!strcmp(what, "limits"))
		setrlimit(RLIMIT_AS, &most);
	if (!strcmp(what, "sigsys"))
		kill(getpid(), SIGSYS);
	if (!strcmp(what, "nested") || !strcmp(what, "forks")) {
		pid = what[0] == 'n' ? vfork() : fork();
		if (!pid) {
			actions(near);
			execve("./true", args, environ);
			_exit(1);
		}
		add(pid > 0);
		actions(near);
		waitpid(pid, NULL, 0);
	}
	if (!strcmp(what, "maps"))
		for (int i = 0; i < 8; i++) {
			char *m = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

			m[5]++;
			actions(near);
			munmap(m, 65536);
		}
	if (!strcmp(what, "killed"))
		kill(getpid(), SIGKILL);
	if (!strcmp(what, "fault"))
		near[0].handler = *(void (**)(int))(near[0].mask - 0x5555);
	if (!strcmp(what, "shows"))
		for (int i = 0, fd = open("/proc/self/maps", O_RDONLY); i < 4; i++)
			add((unsigned long)read(fd, big, 1) + (unsigned long)lseek(fd, 0, SEEK_SET));
	actions(near);
	if (what[0] > 'm')
		execve("./true", args, environ);
	_exit(7);
}

/* for half a second nearly always in a call, with SIGTRAP blocked and ignored: what it is in the end */
static int
blocked(void)
{
	struct sigaction act = {.sa_handler = SIG_IGN};
	struct timespec now, begin;
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	sigaction(SIGTRAP, &act, NULL);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	do {
		for (int i = 0; i < 200; i++)
			getppid();
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - begin.tv_sec) * 1000000000l + now.tv_nsec - begin.tv_nsec < 500000000l);
	sigprocmask(SIG_SETMASK, NULL, &all);
	sigaction(SIGTRAP, NULL, &act);
	printf("blocked %d, ignored %d\n", sigismember(&all, SIGTRAP), act.sa_handler == SIG_IGN);
	return 3;
}

int
main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	char *const args[] = {"true", NULL};
	struct sigaction act = {.sa_handler = SIG_IGN};
	char *big;

	if (!strcmp(what, "blocked"))
		return blocked();
	/* large memory is hidden from children */
	big = mmap((void *)0x10000000000, N, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	if (big == MAP_FAILED)
		return 1;
	for (size_t i = 0; i < N; i += 509)
		big[i] = (char)(i >> 9);
	if (!strcmp(what, "small"))
		munmap(big, N);
	sigaction(SIGUSR2, &act, NULL);
	for (int i = 0; i < 100; i++)   /* so that there is a recorder */
		add((unsigned long)dup2(1, 30) + (unsigned long)getppid() % 1);
	for (int i = 0; i < 4; i++) {
		volatile pid_t pid;
		pid_t spawned;

		if (!strcmp(what, "spawn")) {
			posix_spawn_file_actions_t f;
			int err;

			posix_spawn_file_actions_init(&f);
			posix_spawn_file_actions_adddup2(&f, 1, 50);
			posix_spawn_file_actions_addclose(&f, 50);
			err = posix_spawn(&spawned, i % 2 ? "/nonexistent" : "./true", &f, NULL, args, environ);
			add((unsigned)err);
			posix_spawn_file_actions_destroy(&f);
			if (!err)
				tell(what, spawned);
			continue;
		}
		pid = vfork();
		if (!pid)
			child(what, big);
		tell(what, pid);
	}
	return 3;
}
