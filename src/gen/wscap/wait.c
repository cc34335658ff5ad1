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
#include "gen/wscap/wscap.h"

#define EARLY_CALLS 2000        /* system calls among which the C library registers its rseq */

_Noreturn void
wait_fail(struct cap *c, const char *option, const struct where *w, const char *why)
{
	struct tree *a = c->all;
	pid_t pid = c->t.pid;
	int status = 0;

	warn("%s %s: %s; the program continues", option, w->text, why);
	cap_release(c);
	out_discard(a->dest);
	if (a->first)
		while (waitpid(pid, &status, __WALL) < 0 && errno == EINTR)
			;
	exit(125);
}

/* A process that is not captured; the points are not in its memory, or not while it uses that of its parent. */
static void
wait_child(struct cap *c, int event, int *lent)
{
	unsigned long msg = 0;
	uint64_t group = 0;
	struct tracee t = {0};

	if (ptrace(PTRACE_GETEVENTMSG, c->t.pid, NULL, &msg) || tree_first_stop(c->all, (pid_t)msg))
		return;
	t.pid = (pid_t)msg;
	if (event == PTRACE_EVENT_CLONE) {
		if (amid_status(t.pid, "Tgid", 10, &group) || group == (uint64_t)c->t.pid ||
		    syscall(SYS_kcmp, c->t.pid, t.pid, 1, 0, 0) == 0) {
			random_off(c);
			ptrace(PTRACE_DETACH, t.pid, NULL, NULL);
			wait_fail(c, "--from", &c->all->from, "it starts a thread, and a region can begin only with one");
		}
	}
	t.mem = tracee_open(t.pid, "mem", O_RDWR);
	random_child(c, &t);
	*lent |= event == PTRACE_EVENT_VFORK;
	ptrace(PTRACE_DETACH, t.pid, NULL, NULL);
	tracee_close(&t);
}

/* Another program: what was found in the old one is gone. */
static void
wait_exec(struct cap *c)
{
	int status;

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
	for (size_t i = 0; i < c->nsite; i++)
		if (c->site[i].addr + 1 == g.rip) {
			g.rip--;
			g.orig_rax = UINT64_MAX;
			tracee_setregs(&c->t, &g);
			return point_hit(c, &c->site[i], pass);
		}
	return 0;
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
		return wait_signal(c, WSTOPSIG(status), pass);
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
	    "and had no such place");
	out_discard(a->dest);
	(void)status;
	exit(125);
}

void
wait_region(struct cap *c)
{
	struct tree *a = c->all;
	int status, pass = 0, lent = 0;
	pid_t pid;

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
	for (;;) {
		if (!c->hasended)
			tracee_resume(&c->t, c->listen ? PTRACE_LISTEN : a->early_calls ? PTRACE_SYSCALL : PTRACE_CONT, pass);
		do {
			if (c->hasended)
				wait_ended(c, c->ended);
			pid = waitpid(-1, &status, __WALL);
			if (pid < 0 && a->attached && cap_told())
				wait_told(c);
			if (pid > 0 && pid != c->t.pid && WIFSTOPPED(status))
				tree_early(a, pid, status);
		} while (pid != c->t.pid);
		if (!WIFSTOPPED(status))
			wait_ended(c, status);
		if (wait_stop(c, status, &pass, &lent))
			break;
	}
	random_off(c);
	ptrace(PTRACE_SETOPTIONS, c->t.pid, NULL, (void *)a->options);
	a->waiting = 0;
	a->nseen = 0;
	a->early_calls = 0;
	if (pass) {                     /* it is delivered in the region */
		siginfo_t si;

		if (!ptrace(PTRACE_GETSIGINFO, c->t.pid, NULL, &si))
			tracee_hold(&c->t, &si);
	}
}
