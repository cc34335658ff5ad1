/* wscap -p: stops a process that runs already. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/mem.h"
#include "gen/wscap/wscap.h"

static _Noreturn void
attach_fail(pid_t pid, const char *why)
{
	die("process %ld cannot be captured: %s", (long)pid, why);
}

/* Why may it not be traced? */
static const char *
attach_refused(pid_t pid, int err)
{
	uint64_t tracer = 0;

	if (err == ESRCH)
		return "there is no such process";
	if (pid == getpid())
		return "it is wscap itself";
	if (!amid_status(pid, "TracerPid", 10, &tracer) && tracer)
		return "it is traced by another process";
	return err == EPERM ? "the system does not permit it, see ptrace(2)" : strerror(err);
}

/* Runs to the stop that was asked for; signals that come before are held. */
static int
attach_stop(struct cap *c)
{
	siginfo_t si;
	int status, err;

	if (ptrace(PTRACE_INTERRUPT, c->t.pid, NULL, NULL) < 0)
		return errno;
	for (;;) {
		err = tracee_wait(&c->t, &status);
		if (err == EINTR && !cap_told())
			continue;
		if (err)
			return err;
		if (!WIFSTOPPED(status))
			return ESRCH;
		if (status >> 16 == PTRACE_EVENT_STOP)
			return 0;
		if (status >> 16 == 0 && !ptrace(PTRACE_GETSIGINFO, c->t.pid, NULL, &si))
			tracee_hold(&c->t, &si);
		err = tracee_resume(&c->t, PTRACE_CONT, 0);
		if (err)
			return err;
	}
}

struct cap *
attach_seize(struct tree *a, pid_t pid)
{
	struct cap *c = xcalloc(1, sizeof(*c));
	const char *why = amid_check(pid);
	int err;

	if (why)
		attach_fail(pid, why);
	c->t.pid = pid;
	/* before it is stopped: what takes time */
	(void)tracee_tsc_faults();
	(void)tracee_has_watchpoints();
	if (ptrace(PTRACE_SEIZE, pid, NULL, (void *)TRACEE_OPTIONS) < 0)      /* it lives on if wscap is killed */
		attach_fail(pid, attach_refused(pid, errno));
	c->t.mem = tracee_open(pid, "mem", O_RDWR);
	err = c->t.mem < 0 ? errno : attach_stop(c);
	if (err)
		attach_fail(pid, err == EINTR ? "wscap was told to end" : strerror(err));
	/* a thread may have been started in between */
	why = amid_check(pid);
	if (why)
		attach_fail(pid, why);
	c->traced = 1;
	return tree_add(a, c);
}
