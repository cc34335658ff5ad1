/*
 * Waits for a futex that end before the others had their turn.  On a machine with several processors, who wakes it runs while
 * another one waits.  Here, it runs later: a wait of some microseconds would be over before that, each time.  So one whose time
 * is over goes on waiting in the kernel, without a time, until its thread or process gets the turn.  That is no later than
 * it would have gone on anyway.  If it was woken meanwhile, that is the result of the call; if not, that its time is over.
 */
#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "gen/wscap/fast.h"
#include "gen/wscap/thread.h"

/* From the stop at the end of a call to that at the beginning of the next one, and on to the end of that. */
enum { OVERDUE_NOT, OVERDUE_ENTERS, OVERDUE_WAITS };

static int
overdue_is_call(int status)
{
	return WIFSTOPPED(status) && WSTOPSIG(status) == (SIGTRAP | 0x80);
}

int
overdue_is(const struct cap *c, struct tracee *t, const struct user_regs_struct *in, int status)
{
	unsigned op = (unsigned)in->rsi & FUTEX_CMD_MASK;
	struct user_regs_struct g;

	if (!overdue_is_call(status) || in->orig_rax != SYS_futex || (op != FUTEX_WAIT && op != FUTEX_WAIT_BITSET) || !in->r10 ||
	    t->nheld || c->all->leaving)
		return 0;
	tracee_stopped(t);
	return !tracee_regs(t, &g) && (int64_t)g.rax == -ETIMEDOUT;
}

void
overdue_begin(struct cap *c, struct tracee *t, struct overdue *l, int dispatched)
{
	static const uint64_t all = UINT64_MAX;
	struct user_regs_struct g;

	/* a signal finds it as one that stands: it comes when it has the turn */
	if (tracee_regs(t, &l->was) || ptrace(PTRACE_GETSIGMASK, t->pid, sizeof(l->mask), &l->mask) ||
	    ptrace(PTRACE_SETSIGMASK, t->pid, sizeof(all), &all))
		return;
	g = l->was;
	g.rax = SYS_futex;
	g.orig_rax = UINT64_MAX;
	g.r10 = 0;
	/* while another thread runs in the recorder's care, calls elsewhere are dispatched */
	g.rip = dispatched && c->fast && c->fast->a ? fast_place(c->fast, fast_made) - 2 : g.rip - 2;
	if (!tracee_setregs(t, &g) && !tracee_resume(t, PTRACE_SYSCALL, 0))
		l->state = OVERDUE_ENTERS;
}

/* It stands at the end of the call again. */
static void
overdue_over(struct tracee *t, struct overdue *l, int woken)
{
	l->state = OVERDUE_NOT;
	if (woken)
		l->was.rax = 0;
	(void)tracee_setregs(t, &l->was);
	ptrace(PTRACE_SETSIGMASK, t->pid, sizeof(l->mask), &l->mask);
}

int
overdue_event(struct tracee *t, struct overdue *l, int status)
{
	struct user_regs_struct g;
	siginfo_t si;

	if (!l->state)
		return 0;
	tracee_stopped(t);
	if (!WIFSTOPPED(status) || status >> 16 == PTRACE_EVENT_EXIT) {
		l->state = OVERDUE_NOT;
		return 0;
	}
	if (overdue_is_call(status) && l->state == OVERDUE_ENTERS) {
		l->state = OVERDUE_WAITS;
		(void)tracee_resume(t, PTRACE_SYSCALL, 0);
		return 1;
	}
	/* SIGSTOP cannot be blocked */
	if (!overdue_is_call(status) && status >> 16 == 0 && WSTOPSIG(status) == SIGSTOP &&
	    !ptrace(PTRACE_GETSIGINFO, t->pid, NULL, &si))
		tracee_hold(t, &si);
	overdue_over(t, l, overdue_is_call(status) && !tracee_regs(t, &g) && g.rax == 0);
	return 1;
}

/* Has it stopped or ended?  1, or 0: not yet; -1: it has ended, which others will be told. */
static int
overdue_look(const struct tracee *t)
{
	siginfo_t si = {0};

	if (waitid(P_PID, (id_t)t->pid, &si, WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL))
		return errno == EINTR ? 0 : -1;
	/* the first thread may have ended while others have not: that is not told */
	if (!si.si_pid)
		return thread_is_zombie(t->pid) ? -1 : 0;
	return si.si_code == CLD_EXITED || si.si_code == CLD_KILLED || si.si_code == CLD_DUMPED ? -1 : 1;
}

int
overdue_end(struct tracee *t, struct overdue *l, int status)
{
	int asked = 0, is, now;

	while (l->state && (is = overdue_look(t)) >= 0) {
		if (is) {
			asked = 0;
			if (waitpid(t->pid, &now, __WALL) == t->pid && !overdue_event(t, l, now))
				return now;
			continue;
		}
		if (!asked)
			ptrace(PTRACE_INTERRUPT, t->pid, NULL, NULL);
		asked = 1;
		nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
	}
	l->state = OVERDUE_NOT;
	return status;
}
