/* Launches a process under ptrace. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/diag.h"
#include "replay/ptrace/tracee.h"

#define OPTIONS (PTRACE_O_EXITKILL | TRACEE_OPTIONS)

/*
 * The child: waits to be seized, then becomes the program.  An error goes into the pipe.  It
 * must not run exit handlers, which belong to the parent.
 */
static void
tracee_become(char *const argv[], int fixed, int go, int tell)
{
	char c;
	int err;

	if (read(go, &c, 1) == 1) {
		close(go);
		diag_child();
		if (fixed)              /* where this is refused, addresses stay random */
			personality((unsigned long)personality(0xffffffff) | ADDR_NO_RANDOMIZE);
		execvp(argv[0], argv);
		err = errno;
		if (write(tell, &err, sizeof(err)) < 0)
			err = 0;
	}
	for (;;)
		raise(SIGKILL);
}

/* Runs to the stop after execve; signals that come before are held. */
static int
until_exec(struct tracee *t)
{
	int status, err, seen = 0;
	siginfo_t si;

	for (;;) {
		err = tracee_wait(t, &status);
		if (err == EINTR)
			continue;
		if (err)
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

static int
tracee_seize(struct tracee *t, int go)
{
	if (ptrace(PTRACE_SEIZE, t->pid, NULL, (void *)OPTIONS) < 0)
		return errno;
	if (write(go, "", 1) != 1)
		return errno;
	int err = until_exec(t);
	if (err)
		return err;
	t->mem = tracee_open(t->pid, "mem", O_RDWR);
	return t->mem < 0 ? errno : 0;
}

int
tracee_start(struct tracee *t, char *const argv[], int fixed, int *atexec)
{
	int go[2], tell[2], err, why, status;

	memset(t, 0, sizeof(*t));
	t->mem = -1;
	*atexec = 0;
	if (pipe2(go, O_CLOEXEC) < 0)
		return errno;
	if (pipe2(tell, O_CLOEXEC) < 0) {
		err = errno;
		close(go[0]);
		close(go[1]);
		return err;
	}
	t->pid = fork();
	if (t->pid == 0) {
		close(go[1]);
		close(tell[0]);
		tracee_become(argv, fixed, go[0], tell[1]);
	}
	err = t->pid < 0 ? errno : 0;
	close(go[0]);
	close(tell[1]);
	if (!err) {
		err = tracee_seize(t, go[1]);
		if (err) {
			kill(t->pid, SIGKILL);
			while (waitpid(t->pid, &status, __WALL) == t->pid && WIFSTOPPED(status))
				;
		}
		if (err && read(tell[0], &why, sizeof(why)) == (ssize_t)sizeof(why)) {
			err = why;
			*atexec = 1;
		}
	}
	close(go[1]);
	close(tell[0]);
	return err;
}

void
tracee_close(struct tracee *t)
{
	if (t->mem >= 0)
		close(t->mem);
	t->mem = -1;
}
