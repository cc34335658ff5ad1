/* For borrow.t: children of vfork that use some of their parent's large memory. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define N ((size_t)4 << 20)

#define STACK 65536     /* for signals: after N, as what is there is not the same in each run */

extern char **environ;
static char *big, *above;         /* above: N bytes of the stack, behind what main has there */
static char beside[8192];          /* with a heap: in one mapping with it, as far as wscap knows */

static void
tell(pid_t pid)
{
	unsigned sum = 0;
	int st = -1;

	while (waitpid(pid, &st, 0) < 0 && errno == EINTR)
		;
	for (size_t i = 0; i < N; i += 31)
		sum = sum * 31 + (unsigned char)big[i];
	for (size_t i = 0; above && i < N; i += 31)
		sum = sum * 31 + (unsigned char)above[i];
	for (size_t i = 0; i < sizeof(beside); i++)
		sum = sum * 31 + (unsigned char)beside[i];
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

/* mprotect ends the process; the filter is at p */
static int
forbid(void *p)
{
	static const struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = {sizeof(f) / sizeof(f[0]), memcpy(p, f, sizeof(f))};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog, 0, 0);
}

static int
messages(pid_t parent)
{
	char near[10] = "near";
	struct iovec io[2] = {{near, 10}, {big + 2000000, 10}}, more = {big + 3000000, 20};
	struct mmsghdr m[2] = {{.msg_hdr = {.msg_iov = io, .msg_iovlen = 1}}, {.msg_hdr = {.msg_iov = io + 1, .msg_iovlen = 1}}};
	int s[2];

	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, s) || sendmmsg(s[0], m, 2, 0) != 2)
		return 1;
	io[1].iov_base = big + 2200000;
	return recvmmsg(s[1], m, 2, MSG_DONTWAIT, NULL) != 2 || process_vm_readv(parent, &more, 1, io, 2, 0) != 20;
}

/* A new mapping in the place of an old one: not by MAP_FIXED alone, which would replace it at once. */
static void
renew(char *at, size_t n)
{
	char first = *at;

	munmap(at, n);
	if (mmap(at, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		_exit(8);
	*at = (char)(first + 1);
}

static int
run(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	char **v, *no[] = {"none", NULL};
	struct sigaction act = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
	volatile pid_t pid;
	int null = open("/dev/null", O_WRONLY);

	if (!strncmp(what, "heap", 4))
		big = sbrk(N + STACK);
	else
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
	if (!strncmp(what, "spawn", 5)) {
		pid_t child;

		if (above)
			v[1] = strcpy(above + N / 2, "on the stack");

		if (posix_spawn(&child, v[0], NULL, NULL, v, environ))
			return 1;
		tell(child);
		return 3;
	}
	if (!strcmp(what, "filtered") && forbid(big + 4000000))
		return 1;
	for (int i = 0; i < 3; i++) {
		pid = vfork();
		if (!pid) {
			struct iovec io[2] = {{big + 1000000, 0}, {big + 2000000, 5000}};

			big[123456 * i + 77] = (char)(i + 1);
			if (above)
				above[654321 * i + 77] = (char)(i + 1);
			if (!strcmp(what, "killed"))
				raise(SIGKILL);
			if (!strcmp(what, "handler"))
				raise(SIGUSR1);
			if (!strcmp(what, "writes"))    /* two pages that it has not used, of one mapping */
				_exit(writev(null, io, 2) != 5000);
			if (!strcmp(what, "messages"))  /* likewise, in nested arrays, and its parent's name for them */
				_exit(messages(getppid()));
			if (!strcmp(what, "unmaps"))
				munmap(big + N / 8 * 3, 65536);
			if (!strcmp(what, "discards"))
				madvise(big + N / 8 * 3, 65536, MADV_DONTNEED);
			if (!strcmp(what, "replaces"))
				renew(big + N / 8 * 3, 65536);
			if (!strcmp(what, "removes"))
				renew(big, N + STACK);
			if (!strcmp(what, "heap"))
				beside[i * 4000 + 7]++;
			if (!strcmp(what, "heap, and trims it")) {
				sbrk(-(STACK + 65536));
				sbrk(STACK + 65536);
			}
			if (!strcmp(what, "filters"))   /* and use memory after that */
				_exit(forbid(big + 3000000) || big[N - 4096]++);
			if (!strcmp(what, "filtered"))
				_exit(big[N - 4096]++);
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

static int __attribute__((noinline))
deep(int argc, char **argv)
{
	char room[N];

	memset(room, 7, N);
	for (size_t i = 0; i < N; i += 257)
		room[i] = (char)(i >> 8);
	above = room;
	return run(argc, argv);
}

int
main(int argc, char **argv)
{
	return argc > 1 && strstr(argv[1], "deep") ? deep(argc, argv) : run(argc, argv);
}
