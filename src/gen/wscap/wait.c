/* --from: the program runs at its own speed up to where its region begins. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/diag.h"
#include "gen/wscap/amid.h"
#include "gen/wscap/point.h"
#include "gen/wscap/signal.h"
#include "gen/wscap/thread.h"

#define EARLY_CALLS 2000        /* system calls among which the C library registers its rseq */

/* There is nothing to wait for any more, and no point: NULL, or why the process cannot be captured. */
static const char *
wait_leave(struct cap *c)
{
	struct tree *a = c->all;
	const char *why = NULL;

	if (c->th) {
		why = wait_gather(c);
	} else {
		random_off(c);
		ptrace(PTRACE_SETOPTIONS, c->t.pid, NULL, (void *)a->options);
	}
	a->waiting = 0;
	a->nseen = 0;
	a->early_calls = 0;
	return why;
}

_Noreturn void
wait_fail(struct cap *c, const char *option, const struct where *w, const char *why)
{
	struct tree *a = c->all;
	pid_t pid = c->t.pid;
	int status = 0;

	warn("%s %s: %s; the program continues", option, w->text, why);
	if (a->waiting)
		(void)wait_leave(c);
	cap_release(c);
	out_discard(a->dest);
	if (a->first)
		while (waitpid(pid, &status, __WALL) < 0 && errno == EINTR)
			;
	exit(125);
}

/*
 * Does it share the memory, without being a thread? The points would be met by it. There may be no such process: of a thread
 * that is killed meanwhile, as another one executes a program, the kernel tells how it ends in the place of a process's id: 0.
 */
static int
wait_shares(const struct cap *c, pid_t pid)
{
	uint64_t group = 0;

	return !amid_status(pid, "Tgid", 10, &group) && group != (uint64_t)c->pid &&
	    syscall(SYS_kcmp, c->pid, pid, 1, 0, 0) == 0;
}

int
wait_begun(struct cap *c, pid_t pid)
{
	struct tracee t = {.pid = pid};
	uint64_t group = 0;

	if (tree_first_stop(c->all, pid))
		return 0;
	if (!amid_status(pid, "Tgid", 10, &group) && group == (uint64_t)c->pid)
		return 1;
	t.mem = tracee_open(t.pid, "mem", O_RDWR);
	random_child(c, &t);
	ptrace(PTRACE_DETACH, t.pid, NULL, NULL);
	tracee_close(&t);
	return 0;
}

/* A process that is not captured; the points are not in its memory, or not while it uses that of its parent. */
static void
wait_child(struct cap *c, int event, int *lent)
{
	unsigned long msg = 0;

	if (ptrace(PTRACE_GETEVENTMSG, c->t.pid, NULL, &msg))
		return;
	if (event != PTRACE_EVENT_VFORK && wait_shares(c, (pid_t)msg)) {
		if (tree_first_stop(c->all, (pid_t)msg))
			return;
		(void)wait_leave(c);
		ptrace(PTRACE_DETACH, (pid_t)msg, NULL, NULL);
		wait_fail(c, "--from", &c->all->from, "it begins a process that shares its memory");
	}
	if (event == PTRACE_EVENT_VFORK) {
		*lent = !wait_freeze(c);
	}
	if (wait_begun(c, (pid_t)msg)) {
		wait_thread(c, (pid_t)msg);
		c->all->early_calls = 0;
	}
}

/* Another program: what was found in the old one is gone. */
static void
wait_exec(struct cap *c)
{
	int status;

	if (c->th)
		wait_load(c, thread_find(c->all, c->pid));
	threads_free(c);
	c->listen = 0;
	tracee_resume(&c->t, PTRACE_SYSCALL, 0);
	while (tracee_wait(&c->t, &status))
		;
	tracee_close(&c->t);
	c->t.mem = tracee_open(c->t.pid, "mem", O_RDWR);
	c->t.site = 0;
	c->nsite = 0;
	if (!WIFSTOPPED(status) || c->t.mem < 0)
		return;
	start_hide_vdso(c);
	point_program(c, 0);
	c->all->early_calls = EARLY_CALLS;
}

/* Until the C library has tried to register its restartable sequences, which are denied as in any capture. */
static void
wait_call(struct cap *c)
{
	struct user_regs_struct g;

	c->all->early_calls--;
	if (tracee_regs(&c->t, &g) || g.orig_rax != SYS_rseq || (int64_t)g.rax != -ENOSYS)
		return;
	g.orig_rax = UINT64_MAX;
	tracee_setregs(&c->t, &g);
	c->all->early_calls = 0;
}

static int
signal_is_default(pid_t pid, int sig)
{
	uint64_t caught = 0, ignored = 0;

	amid_status(pid, "SigCgt", 16, &caught);
	amid_status(pid, "SigIgn", 16, &ignored);
	return !((caught | ignored) >> (sig - 1) & 1);
}

/* A signal: returns 1 if the region begins here; else *pass is the signal to continue with. */
static int
wait_signal(struct cap *c, int sig, int *pass)
{
	struct user_regs_struct g;
	struct site *s;
	siginfo_t si;

	*pass = sig;
	if (point_signal(c, sig)) {
		*pass = signal_is_default(c->t.pid, sig) ? 0 : sig;
		return 1;
	}
	if (c->all->from.kind == WHERE_SIGNAL && c->all->from.sig == sig && signal_is_default(c->t.pid, sig))
		*pass = 0;
	if (sig != SIGTRAP || ptrace(PTRACE_GETSIGINFO, c->t.pid, NULL, &si) || si.si_code <= 0 ||
	    tracee_regs(&c->t, &g))
		return 0;
	s = point_passed(c, g.rip);
	if (!s)
		return 0;
	point_back(&c->t, &g);
	*pass = 0;
	return wait_freeze(c) ? 0 : point_hit(c, s, pass);
}

/* Stops it from anywhere, to be released. */
static void
wait_told(struct cap *c)
{
	siginfo_t si;
	int status, pass = 0;

	ptrace(PTRACE_INTERRUPT, c->t.pid, NULL, NULL);
	while (tracee_wait(&c->t, &status))
		;
	if (!WIFSTOPPED(status))
		die("--from %s: the process has ended before it came there", c->all->from.text);
	if (status >> 16 == 0 && WSTOPSIG(status) != (SIGTRAP | 0x80))
		(void)wait_signal(c, WSTOPSIG(status), &pass);
	if (pass && !ptrace(PTRACE_GETSIGINFO, c->t.pid, NULL, &si))
		tracee_hold(&c->t, &si);
	wait_fail(c, "--from", &c->all->from, "wscap was told to end");
}

/* 1: the region begins here, with a signal that is to come if *pass is not 0 */
static int
wait_stop(struct cap *c, int status, int *pass, int *lent)
{
	*pass = 0;
	c->listen = 0;
	if (WSTOPSIG(status) == (SIGTRAP | 0x80)) {
		wait_call(c);
		return 0;
	}
	switch (status >> 16) {
	case 0:
		return wait_signal(c, WSTOPSIG(status), pass) && !wait_freeze(c);
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
	case PTRACE_EVENT_CLONE:
		wait_child(c, status >> 16, lent);
		break;
	case PTRACE_EVENT_VFORK_DONE:
		if (*lent)
			random_restore(c);
		*lent = 0;
		break;
	case PTRACE_EVENT_EXEC:
		wait_exec(c);
		break;
	case PTRACE_EVENT_EXIT:
		if (c->th && c->th->turn->state != THREAD_DYING) {
			c->th->turn->state = THREAD_DYING;
			c->th->nalive--;
		}
		break;
	case PTRACE_EVENT_STOP:
		c->listen = WSTOPSIG(status) != SIGTRAP;
		break;
	}
	return 0;
}

static _Noreturn void
wait_ended(struct cap *c, int status)
{
	struct tree *a = c->all;

	warn("--from %s: the program ended %s", a->from.text, a->found.n || a->from.kind == WHERE_SIGNAL ?
	    a->from.n > 1 ? "before it came there so often" : "and did not come there" :
	    a->from.kind == WHERE_NAME ? "and had no such function, or only inlined" : "and had no such place");
	out_discard(a->dest);
	(void)status;
	exit(125);
}

/* The next thread that stops or ends is loaded: its wait status.  frozen: the others stand for now. */
static int
wait_any(struct cap *c, int frozen)
{
	struct tree *a = c->all;
	struct thread *t = frozen ? NULL : wait_standing(c);
	int status;
	pid_t pid;

	if (t) {
		wait_load(c, t);
		return t->status;
	}
	for (;;) {
		pid = waitpid(-1, &status, __WALL);
		if (pid < 0 && errno == ECHILD)
			return 0;               /* as that of a process that has ended */
		if (pid < 0 && a->attached && cap_told())
			wait_told(c);
		t = pid > 0 && c->th ? thread_find(a, pid) : NULL;
		if (t && !WIFSTOPPED(status) && pid != c->pid)
			wait_thread_ended(c, t);
		else if (t)
			wait_load(c, t);
		if (t ? WIFSTOPPED(status) || pid == c->pid : pid == c->t.pid)
			return status;
		if (pid > 0 && !t)
			wait_stranger(c, pid, status);
	}
}

/* The region begins at the loaded thread, with a signal that is to come if pass is not 0. */
static void
wait_over(struct cap *c, int pass)
{
	const char *why;
	siginfo_t si;

	if (pass && !ptrace(PTRACE_GETSIGINFO, c->t.pid, NULL, &si))    /* it is delivered in the region */
		tracee_hold(&c->t, &si);
	why = wait_leave(c);
	if (!why && c->all->touch && c->th)
		why = "it has several threads, and --first-touch is for one";
	if (why)
		wait_fail(c, "--from", &c->all->from, why);
}

void
wait_region(struct cap *c)
{
	struct tree *a = c->all;
	int status, pass = 0, lent = 0;

	a->waiting = 1;
	ptrace(PTRACE_SETOPTIONS, c->t.pid, NULL, (void *)(a->options | PTRACE_O_TRACEVFORKDONE));
	point_program(c, a->attached);
	a->early_calls = a->attached ? 0 : EARLY_CALLS;
	if (!a->attached)
		start_hide_vdso(c);
	for (unsigned i = 0; i < c->t.nheld; i++)
		syscall(SYS_tgkill, c->t.pid, c->t.pid, c->t.held[i].si_signo);
	c->t.nheld = 0;
	amid_settle(&c->t);
	wait_threads(c);
	do {
		if (!c->hasended)
			tracee_resume(&c->t, c->listen ? PTRACE_LISTEN : a->early_calls ? PTRACE_SYSCALL : PTRACE_CONT, pass);
		status = c->hasended ? c->ended : wait_any(c, lent);
		if (!WIFSTOPPED(status))
			wait_ended(c, status);
	} while (!wait_stop(c, status, &pass, &lent));
	wait_over(c, pass);
}
