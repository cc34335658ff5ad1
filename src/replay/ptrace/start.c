/* Launches a process under ptrace. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/diag.h"
#include "replay/ptrace/tracee.h"

#define OPTIONS (PTRACE_O_EXITKILL | TRACEE_OPTIONS)
#define PATH_DEFAULT "/bin:/usr/bin"    /* as of execvp(3) */

/*
 * The child has our memory until it executes the program: a copy of it would cost milliseconds, most of them for
 * the pages that are copied when they are written to.  So it leaves alone what threads have for themselves, such
 * as errno, and has a stack of its own.
 */
struct becoming {
	char *const *argv;
	char **script;                  /* room for the arguments of a shell that executes a file without a format */
	const char *path;
	int fixed, go[2];
	int err;                        /* why it could not be executed */
	char name[PATH_MAX + NAME_MAX + 2];
};

/* A system call: its result, or -errno, as the kernel gives it. */
static long
tracee_raw(long nr, long a, long b, long c, long d)
{
	register long r10 __asm__("r10") = d;

	__asm__ volatile("syscall" : "+a"(nr) : "D"(a), "S"(b), "d"(c), "r"(r10) : "rcx", "r11", "memory");
	return nr;
}

static int
become_file(struct becoming *b, const char *file)
{
	long err = tracee_raw(SYS_execve, (long)file, (long)b->argv, (long)environ, 0);

	if (err != -ENOEXEC)
		return (int)-err;
	b->script[0] = (char *)"/bin/sh";
	b->script[1] = (char *)file;
	return (int)-tracee_raw(SYS_execve, (long)"/bin/sh", (long)b->script, (long)environ, 0);
}

/* Executes the program, which is looked for as by execvp(3): why that cannot be. */
static int
become_program(struct becoming *b)
{
	const char *file = b->argv[0], *p = b->path, *end;
	size_t n = strlen(file), k;
	int err = ENOENT, denied = 0;

	if (!n || strchr(file, '/'))
		return n ? become_file(b, file) : ENOENT;
	if (n > NAME_MAX)
		return ENAMETOOLONG;
	for (;; p = end + 1) {
		end = strchrnul(p, ':');
		k = (size_t)(end - p);
		if (k < PATH_MAX) {
			memcpy(b->name, p, k);
			b->name[k] = '/';
			memcpy(b->name + k + (k > 0), file, n + 1);
			err = become_file(b, b->name);
			denied |= err == EACCES;
			if (err != EACCES && err != ENOENT && err != ESTALE && err != ENOTDIR && err != ENODEV &&
			    err != ETIMEDOUT)
				return err;
		}
		if (!*end)
			return denied ? EACCES : err;
	}
}

/*
 * The child: waits to be seized, then becomes the program.  It must not run exit handlers, which belong to the
 * parent, nor the parent's handlers of signals: they are blocked.
 */
static int
tracee_become(void *arg)
{
	struct becoming *b = arg;
	char c;

	tracee_raw(SYS_close, b->go[1], 0, 0, 0);
	if (tracee_raw(SYS_read, b->go[0], (long)&c, 1, 0) == 1) {
		tracee_raw(SYS_close, b->go[0], 0, 0, 0);
		diag_child();
		if (b->fixed)           /* where this is refused, addresses stay random */
			tracee_raw(SYS_personality,
			    (long)((unsigned)tracee_raw(SYS_personality, 0xffffffff, 0, 0, 0) | ADDR_NO_RANDOMIZE), 0, 0, 0);
		b->err = become_program(b);
	}
	tracee_raw(SYS_kill, tracee_raw(SYS_getpid, 0, 0, 0, 0), SIGKILL, 0, 0);
	return 0;
}

/* Runs to the stop after execve; signals that come before are held. */
static int
until_exec(struct tracee *t)
{
	int status, err, seen = 0;
	siginfo_t si;

	for (;;) {
		err = (int)-tracee_raw(SYS_wait4, t->pid, (long)&status, __WALL, 0);
		if (err == EINTR)
			continue;
		if (err > 0)
			return err;
		if (!WIFSTOPPED(status))
			return ECHILD;
		if (status >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8))
			seen = 1;
		else if (seen && WSTOPSIG(status) == (SIGTRAP | 0x80))
			return 0;
		else if (status >> 16 == 0 && WSTOPSIG(status) != (SIGTRAP | 0x80) &&
		    !ptrace(PTRACE_GETSIGINFO, t->pid, NULL, &si))
			tracee_hold(t, &si);
		/* skip the system calls of the search in PATH */
		err = tracee_resume(t, seen ? PTRACE_SYSCALL : PTRACE_CONT, 0);
		if (err)
			return err;
	}
}

/* mask: the signals that the program is to have blocked, for the kernel. */
static int
tracee_seize(struct tracee *t, int go, const sigset_t *mask)
{
	if (ptrace(PTRACE_SEIZE, t->pid, NULL, (void *)OPTIONS) < 0)
		return errno;
	if (write(go, "", 1) != 1)
		return errno;
	int err = until_exec(t);
	if (err)
		return err;
	if (ptrace(PTRACE_SETSIGMASK, t->pid, (void *)8, mask) < 0)
		return errno;
	t->mem = tracee_open(t->pid, "mem", O_RDWR);
	return t->mem < 0 ? errno : 0;
}

/* Begins the child, with all signals blocked; *mask: those that were. */
static pid_t
tracee_clone(struct becoming *b, sigset_t *mask)
{
	static uint8_t stack[16 << 10] __attribute__((aligned(16)));
	sigset_t all;
	int err;
	pid_t pid;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, mask);
	pid = clone(tracee_become, stack + sizeof(stack), CLONE_VM | SIGCHLD, b);
	err = errno;
	pthread_sigmask(SIG_SETMASK, mask, NULL);
	errno = err;
	return pid;
}

int
tracee_start(struct tracee *t, char *const argv[], int fixed, int *atexec)
{
	static struct becoming b;
	const char *path = getenv("PATH");
	size_t argc = 0;
	sigset_t mask;
	int err, status;

	memset(t, 0, sizeof(*t));
	t->mem = -1;
	*atexec = 0;
	while (argv[argc])
		argc++;
	b.argv = argv;
	b.path = path ? path : PATH_DEFAULT;
	b.fixed = fixed;
	b.err = 0;
	b.script = malloc((argc + 2) * sizeof(*b.script));
	if (!b.script || pipe2(b.go, O_CLOEXEC) < 0) {
		err = errno;
		free(b.script);
		return err;
	}
	memcpy(b.script + 1, argv, (argc + 1) * sizeof(*argv));
	t->pid = tracee_clone(&b, &mask);
	err = t->pid < 0 ? errno : 0;
	close(b.go[0]);
	if (!err) {
		err = tracee_seize(t, b.go[1], &mask);
		if (err) {
			kill(t->pid, SIGKILL);
			/* a stop at its exit, where a signal does not end it, is one of those */
			while (waitpid(t->pid, &status, __WALL) == t->pid && WIFSTOPPED(status))
				ptrace(PTRACE_CONT, t->pid, NULL, NULL);
		}
		if (err && b.err) {
			err = b.err;
			*atexec = 1;
		}
	}
	close(b.go[1]);
	free(b.script);
	return err;
}

void
tracee_close(struct tracee *t)
{
	if (t->mem >= 0)
		close(t->mem);
	t->mem = -1;
}
