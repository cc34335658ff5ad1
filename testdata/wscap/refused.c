/* For refused.t: system calls that the kernel answers with SIGSYS, as a filter or a dispatch of the program wants it. */
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

static volatile char selector;
static volatile unsigned long seen;

static void
on_sigsys(int sig, siginfo_t *si, void *ctx)
{
	ucontext_t *u = ctx;

	selector = SYSCALL_DISPATCH_FILTER_ALLOW;
	seen = seen * 31 + (unsigned)si->si_syscall + (unsigned)sig;
	u->uc_mcontext.gregs[REG_RAX] = (long)(seen % 1000);
}

static long
ask(long nr)
{
	long ret;

	__asm__ volatile("syscall" : "=a"(ret) : "a"(nr) : "rcx", "r11", "memory");
	return ret;
}

int
main(int argc, char **argv)
{
	struct sigaction sa = {.sa_sigaction = on_sigsys, .sa_flags = SA_SIGINFO};
	long sum = 0;

	sigaction(SIGSYS, &sa, NULL);
	if (argc > 1 && !strcmp(argv[1], "trap")) {
		struct sock_filter f[] = {
			BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
			BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		};
		struct sock_fprog prog = {sizeof(f) / sizeof(f[0]), f};

		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog, 0, 0))
			return 77;
		for (int i = 0; i < 20; i++)
			sum = sum * 7 + ask(SYS_getppid);
	} else {
		if (prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, 0, 0, &selector))
			return 77;
		for (int i = 0; i < 20; i++) {
			selector = SYSCALL_DISPATCH_FILTER_BLOCK;
			sum = sum * 7 + ask(i % 2 ? 5000 : SYS_getppid);
		}
	}
	printf("%lx %lx\n", sum, seen);
	return 0;
}
