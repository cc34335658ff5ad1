/* wscap -p: stops a process that runs already, with all its threads. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/mem.h"
#include "gen/wscap/amid.h"
#include "gen/wscap/thread.h"

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
	if (thread_is_zombie(pid))
		return "it has ended";
	if (pid == getpid())
		return "it is wscap itself";
	if (!amid_status(pid, "TracerPid", 10, &tracer) && tracer)
		return "it is traced by another process";
	return err == EPERM ? "the system does not permit it, see ptrace(2)" : strerror(err);
}

/* Runs to the stop that it is asked for, or was; signals that come before are held. */
static int
attach_stop(struct tracee *t, int asked)
{
	siginfo_t si;
	int status, err;

	for (;;) {
		/* again after each stop, which makes the kernel forget it */
		if (!asked && ptrace(PTRACE_INTERRUPT, t->pid, NULL, NULL) < 0)
			return errno;
		asked = 0;
		err = tracee_wait(t, &status);
		if (err == EINTR && !cap_told())
			continue;
		if (err)
			return err;
		if (!WIFSTOPPED(status))
			return ESRCH;
		if (status >> 16 == PTRACE_EVENT_STOP)
			return 0;
		if (status >> 16 == 0 && !ptrace(PTRACE_GETSIGINFO, t->pid, NULL, &si))
			tracee_hold(t, &si);
		err = tracee_resume(t, PTRACE_CONT, 0);
		if (err)
			return err;
	}
}

/* Threads that are about to stop. */
struct asked {
	pid_t *tid;                     /* owned */
	size_t n, cap;
};

/* Asks another thread to stop, which may be traced as its creator is: 0; ESRCH: it is ending; another errno. */
static int
attach_ask(struct asked *a, pid_t tid)
{
	uint64_t tracer = 0;

	if (amid_status(tid, "TracerPid", 10, &tracer))
		return ESRCH;
	if ((tracer != (uint64_t)getpid() && ptrace(PTRACE_SEIZE, tid, NULL, (void *)TRACEE_OPTIONS) < 0) ||
	    ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) < 0)
		return thread_is_zombie(tid) ? ESRCH : errno;
	a->tid = mem_xgrow(a->tid, &a->cap, a->n + 1, sizeof(*a->tid));
	a->tid[a->n++] = tid;
	return 0;
}

/* Waits until such a thread stops: 0; ESRCH: it is ending; another errno. */
static int
attach_thread(struct cap *c, pid_t tid)
{
	struct tracee other = {.pid = tid, .mem = c->t.mem};
	struct thread *t;
	int err = attach_stop(&other, 1);

	if (err)
		return err;
	if (!c->th)
		thread_first(c);
	t = thread_add(c, tid);
	t->own.t = other;
	sched_ready(t);
	return 0;
}

/* Stops all threads that were not known; *n of them.  All are asked first: many that compute take long to get a processor. */
static int
attach_look(struct cap *c, size_t *n)
{
	struct asked a = {0};
	char path[40];
	struct dirent *e;
	int err = 0;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%ld/task", (long)c->pid);
	d = opendir(path);
	if (!d)
		return errno;
	while (!err && (e = readdir(d)) != NULL) {
		pid_t tid = (pid_t)strtol(e->d_name, NULL, 10);

		if (tid <= 0 || tid == c->pid || thread_find(c->all, tid))
			continue;
		err = attach_ask(&a, tid);
		if (err == ESRCH)
			err = 0;
	}
	closedir(d);
	for (size_t i = 0; i < a.n && !err; i++) {
		err = attach_thread(c, a.tid[i]);
		if (!err)
			++*n;
		else if (err == ESRCH)
			err = 0;
	}
	free(a.tid);
	return err;
}

/* As long as one runs, there can be new ones. */
static int
attach_threads(struct cap *c)
{
	size_t n;
	int err;

	do {
		n = 0;
		err = attach_look(c, &n);
	} while (!err && n);
	return err;
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
	err = c->t.mem < 0 ? errno : attach_stop(&c->t, 0);
	tree_add(a, c);
	if (!err)
		err = attach_threads(c);
	if (err)
		attach_fail(pid, err == EINTR ? "wscap was told to end" : strerror(err));
	/* it may have done something in between */
	why = amid_check(pid);
	if (why)
		attach_fail(pid, why);
	if (c->th && a->touch)
		attach_fail(pid, "it has several threads, and --first-touch is for one");
	c->traced = 1;
	return c;
}
