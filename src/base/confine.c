/* Confinement of this process by a seccomp filter of system calls. See confine.h. */
#include "base/confine.h"

#include <asm/prctl.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/helper.h"
#include "base/memwatch.h"
#include "base/progress.h"

#define ROOM 320u       /* most instructions of the filter */
#define X32  0x40000000u
#define FORK (CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD)

/* Flags of clone(2) with which the C libraries start threads: glibc, musl. */
#define THREAD 0x3d0f00u
#define THREAD_MUSL 0x7d0f00u
#ifndef CLONE_CHILD_SETTID
#define CLONE_CHILD_SETTID   0x01000000
#define CLONE_CHILD_CLEARTID 0x00200000
#endif

struct prog {
	struct sock_filter f[ROOM];
	unsigned n;
};

static pid_t tracee;

/* Allowed whatever their arguments are. */
static const uint16_t plain[] = {
	SYS_read, SYS_write, SYS_readv, SYS_writev, SYS_pread64, SYS_pwrite64, SYS_lseek, SYS_close,
	SYS_fstat, SYS_fsync,
	SYS_poll,
	SYS_stat, SYS_newfstatat,       /* what a file is, not what is in it */
	SYS_ftruncate, SYS_recvmsg,
	SYS_mmap, SYS_mprotect, SYS_munmap, SYS_mremap, SYS_madvise, SYS_brk, SYS_mincore, SYS_memfd_create,
	SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_sigaltstack,
	SYS_futex, SYS_set_robust_list, SYS_rseq, SYS_sched_yield, SYS_sched_getaffinity, SYS_restart_syscall,
	SYS_getpid, SYS_gettid, SYS_getrandom, SYS_getrusage, SYS_sysinfo, SYS_uname, SYS_wait4,
	SYS_clock_gettime, SYS_clock_getres, SYS_clock_nanosleep, SYS_gettimeofday, SYS_time, SYS_nanosleep,
	SYS_exit, SYS_exit_group,
};

/*
 * Calls that no confined tool makes: if one is seen, the replayed program has broken out, and the
 * process ends. All other calls fail with EPERM.
 */
static const uint16_t hostile[] = {
	SYS_execve, SYS_execveat, SYS_fork, SYS_vfork, SYS_clone, SYS_ptrace, SYS_process_vm_readv,
	SYS_process_vm_writev,
	SYS_socket, SYS_connect, SYS_bind, SYS_kill, SYS_tkill, SYS_tgkill, SYS_unlink, SYS_rename,
	SYS_renameat, SYS_renameat2,
	SYS_link, SYS_linkat, SYS_symlink, SYS_symlinkat, SYS_chmod, SYS_fchmodat, SYS_creat, SYS_mount,
	SYS_bpf, SYS_setuid,
};

static void
filter_append(struct prog *p, uint16_t code, uint32_t k, unsigned yes, unsigned no)
{
	if (p->n < ROOM)
		p->f[p->n++] = (struct sock_filter){ code, (uint8_t)yes, (uint8_t)no, k };
}

static void
confine_load(struct prog *p, size_t off)
{
	filter_append(p, BPF_LD | BPF_W | BPF_ABS, (uint32_t)off, 0, 0);
}

static void
confine_ret(struct prog *p, uint32_t what)
{
	filter_append(p, BPF_RET | BPF_K, what, 0, 0);
}

static void
confine_call(struct prog *p, uint32_t nr, uint32_t what)
{
	filter_append(p, BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1);
	confine_ret(p, what);
}

/* Kills the process if the call is of another architecture; otherwise loads its number. */
static void
confine_begin(struct prog *p)
{
	confine_load(p, offsetof(struct seccomp_data, arch));
	filter_append(p, BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0);
	confine_ret(p, SECCOMP_RET_KILL_PROCESS);
	confine_load(p, offsetof(struct seccomp_data, nr));
	/* -1 is no call: a tracer sets it to suppress one */
	confine_call(p, UINT32_MAX, SECCOMP_RET_ALLOW);
	filter_append(p, BPF_JMP | BPF_JGE | BPF_K, X32, 0, 1);
	confine_ret(p, SECCOMP_RET_KILL_PROCESS);
}

/*
 * Allows call nr only if its argument is one of these. The kernel uses only 32 bits of each of
 * these arguments. Loads the number again at the end.
 */
static void
confine_call_if(struct prog *p, uint32_t nr, unsigned arg, const uint32_t *v, unsigned nv)
{
	filter_append(p, BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 2 + 2 * nv);
	confine_load(p, offsetof(struct seccomp_data, args) + 8 * arg);
	for (unsigned i = 0; i < nv; i++)
		confine_call(p, v[i], SECCOMP_RET_ALLOW);
	confine_load(p, offsetof(struct seccomp_data, nr));
}
#define CALL_IF(p, nr, arg, ...) \
	confine_call_if(p, nr, arg, (const uint32_t[]){ __VA_ARGS__ }, \
	    sizeof(const uint32_t[]){ __VA_ARGS__ } / sizeof(uint32_t))

/*
 * Allows tracing of one process: its registers, its memory, and its end. A tool that verifies a
 * replay also forks other replays.
 */
static void
confine_tracing(struct prog *p)
{
	uint32_t pid = (uint32_t)tracee;
	enum { NREQUEST = 8 };
	static const uint32_t request[NREQUEST] = { PTRACE_GETREGS, PTRACE_SETREGS, PTRACE_GETREGSET,
		PTRACE_SETREGSET, PTRACE_SINGLESTEP, PTRACE_SYSCALL, PTRACE_CONT, PTRACE_GETSIGINFO };

	CALL_IF(p, SYS_kill, 0, pid);
	CALL_IF(p, SYS_process_vm_readv, 0, pid);
	/* tests both arguments: a request in the list goes on to the test of the process */
	filter_append(p, BPF_JMP | BPF_JEQ | BPF_K, SYS_ptrace, 0, NREQUEST + 5);
	confine_load(p, offsetof(struct seccomp_data, args));
	for (unsigned i = 0; i < NREQUEST; i++)
		filter_append(p, BPF_JMP | BPF_JEQ | BPF_K, request[i], NREQUEST - i, 0);
	confine_ret(p, SECCOMP_RET_TRAP);
	confine_load(p, offsetof(struct seccomp_data, args) + 8);
	confine_call(p, pid, SECCOMP_RET_ALLOW);
	confine_load(p, offsetof(struct seccomp_data, nr));
	CALL_IF(p, SYS_clone, 0, FORK);
	confine_call(p, SYS_pipe, SECCOMP_RET_ALLOW);
	confine_call(p, SYS_pipe2, SECCOMP_RET_ALLOW);
}

static void
confine_filter(struct prog *p)
{
	confine_begin(p);
	for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
		confine_call(p, plain[i], SECCOMP_RET_ALLOW);
	CALL_IF(p, SYS_fcntl, 1, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL);
	CALL_IF(p, SYS_ioctl, 1, TCGETS, TIOCGWINSZ, TIOCGPGRP);
	CALL_IF(p, SYS_arch_prctl, 0, ARCH_SET_GS, ARCH_SET_FS);
	CALL_IF(p, SYS_tgkill, 0, (uint32_t)getpid());
	CALL_IF(p, SYS_clone, 0, THREAD, THREAD_MUSL);
	/*
	 * clone3 passes its flags in memory, which a filter cannot see: the C library falls back to clone
	 */
	confine_call(p, SYS_clone3, SECCOMP_RET_ERRNO | ENOSYS);
	if (tracee)
		confine_tracing(p);
	for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++)
		confine_call(p, hostile[i], SECCOMP_RET_TRAP);
	confine_ret(p, SECCOMP_RET_ERRNO | EPERM);
}

size_t
confine_memory_only(struct sock_filter *f)
{
	struct prog p = { .n = 0 };

	confine_begin(&p);
	confine_call(&p, SYS_munmap, SECCOMP_RET_ALLOW);
	confine_call(&p, SYS_mprotect, SECCOMP_RET_ALLOW);
	confine_call(&p, SYS_mremap, SECCOMP_RET_ALLOW);
	/* mmap without a file */
	filter_append(&p, BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 3);
	confine_load(&p, offsetof(struct seccomp_data, args) + 24);
	filter_append(&p, BPF_JMP | BPF_JSET | BPF_K, MAP_ANONYMOUS, 0, 1);
	confine_ret(&p, SECCOMP_RET_ALLOW);
	confine_ret(&p, SECCOMP_RET_KILL_PROCESS);
	memcpy(f, p.f, p.n * sizeof *f);
	return p.n;
}

/*
 * Handler of SIGSYS: a call that no tool makes. Nothing can be trusted any more, so it writes the
 * message and ends.
 */
static void
confine_on_violation(int sig, siginfo_t *si, void *ctx)
{
	char line[128], digit[12], *d = digit + sizeof digit;
	static const char what[] = ": what is replayed broke out and tried system call ";
	size_t n = 0, k = strlen(diag_name());
	unsigned nr = (unsigned)si->si_syscall;

	(void)sig;
	(void)ctx;
	k = k < 40 ? k : 40;
	memcpy(line, diag_name(), k);
	n = k;
	memcpy(line + n, what, sizeof what - 1);
	n += sizeof what - 1;
	*--d = '\n';
	do
		*--d = (char)('0' + nr % 10);
	while ((nr /= 10) != 0);
	k = (size_t)(digit + sizeof digit - d);
	memcpy(line + n, d, k);
	progress_clear();
	(void)!write(STDERR_FILENO, line, n + k);
	_exit(diag_exit_status());
}

/*
 * A core file would hold the memory of the replayed program. A limit of 1 byte is too small for a
 * file, and, unlike 0, it also tells the kernel not to pipe the core to a program (core(5)).
 */
static void
no_core(void)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_CORE, &r) == 0 && r.rlim_cur > 1) {
		r.rlim_cur = 1;
		(void)setrlimit(RLIMIT_CORE, &r);
	}
}

static int
confine_install(void)
{
	static struct prog p;
	struct sock_fprog f;

	p.n = 0;
	confine_filter(&p);
	f = (struct sock_fprog){ (unsigned short)p.n, p.f };
	if (p.n == ROOM || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return -1;
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &f) == 0 ? 0 : -1;
}

int
confine_process(void (*forget)(void *arg), void *arg, const char **why)
{
	static int done;
	const char *env = getenv("TRACEMILL_CONFINE");
	struct sigaction sa = { .sa_sigaction = confine_on_violation, .sa_flags = SA_SIGINFO | SA_NODEFER };

	if (done)
		return 0;
	no_core();
	*why = memwatch_start();
	if (*why)
		return -1;
	if (!env || strcmp(env, "no") != 0) {
		*why = "cannot be confined: the helper process cannot be started";
		if (helper_start(forget, arg) != 0)
			return -1;
		*why = "this system does not allow system calls to be filtered (seccomp): "
		    "TRACEMILL_CONFINE=no does without that protection";
		if (sigaction(SIGSYS, &sa, NULL) != 0 || confine_install() != 0)
			return -1;
	}
	*why = NULL;
	done = 1;
	return 0;
}

void
confine_tracee(pid_t pid)
{
	tracee = pid;
}

void
confine_jobs(unsigned n)
{
	memwatch_jobs(n);
}

const char *
confine_memory_exceeded(void)
{
	return memwatch_exceeded();
}

void
confine_exit(void)
{
	_exit(0);
}
