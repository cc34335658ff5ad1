/* Processes that are not captured: children, and the program itself when the capture ends before it. */
#include <asm/prctl.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/diag.h"
#include "gen/wscap/amid.h"
#include "gen/wscap/fast.h"
#include "gen/wscap/signal.h"
#include "gen/wscap/touch.h"
#include "gen/wscap/wscap.h"

uint64_t
find_site(pid_t pid, struct tracee *t)
{
	static uint8_t text[4 * PAGE];
	struct tracee_maps m = {0};
	uint64_t site = 0;

	if (!tracee_maps(pid, &m)) {
		for (size_t i = 0; i < m.n && !site; i++) {
			size_t n, j;

			if (strcmp(m.text + m.map[i].name, "[vdso]"))
				continue;
			n = tracee_read(t, m.map[i].lo, text, sizeof(text));
			if (n > m.map[i].hi - m.map[i].lo)
				n = m.map[i].hi - m.map[i].lo;
			for (j = 0; j + 1 < n && !site; j++)
				if (text[j] == 0x0f && text[j + 1] == 0x05)
					site = m.map[i].lo + j;
		}
	}
	tracee_maps_free(&m);
	return site;
}

/* Runs to the next stop: the signal that comes, 0 for another stop, -1: the process has ended or is stopped. */
static int
child_next(struct tracee *t, siginfo_t *si)
{
	int status;

	if (tracee_resume(t, PTRACE_CONT, 0))
		return -1;
	while (tracee_wait(t, &status))
		if (errno != EINTR)
			return -1;
	if (!WIFSTOPPED(status) || (status >> 16 == PTRACE_EVENT_STOP && WSTOPSIG(status) != SIGTRAP))
		return -1;
	return status >> 16 || ptrace(PTRACE_GETSIGINFO, t->pid, NULL, si) ? 0 : WSTOPSIG(status);
}

/* Waits until the signal, which was sent, is delivered; it gets the information of its sender.  0 or -1. */
static int
child_until(struct tracee *t, const siginfo_t *si)
{
	siginfo_t other;
	int sig;

	while ((sig = child_next(t, &other)) >= 0) {
		if (sig == si->si_signo && tracee_sent(&other))
			return ptrace(PTRACE_SETSIGINFO, t->pid, NULL, si) ? -1 : 0;
		if (sig > 0)
			tracee_hold(t, &other);
	}
	return -1;
}

/*
 * Detaches, with the signals that were held.  Two of one number are delivered one after the other, when
 * the handler has returned: two that are pending would become one.
 */
void
child_deliver(struct tracee *t, pid_t process)
{
	uint64_t mask = 0;
	int status;

	for (unsigned i = 0; i < t->nheld; i++) {
		int sig = t->held[i].si_signo, last = i + 1 == t->nheld;

		ptrace(PTRACE_GETSIGMASK, t->pid, sizeof(mask), &mask);
		syscall(SYS_tgkill, process, t->pid, sig);
		if (last && mask >> (sig - 1) & 1)
			break;
		if (child_until(t, &t->held[i]))
			break;
		if (i + 1 == t->nheld) {
			tracee_resume(t, PTRACE_DETACH, sig);
			return;
		}
		if (!tracee_resume(t, PTRACE_SINGLESTEP, sig))
			while (tracee_wait(t, &status) && errno == EINTR)
				;
	}
	t->nheld = 0;
	amid_detach(t);
}

/* Allows a thread again what the kernel was told to refuse.  shared: its memory is that of another process. */
void
child_allow(const struct cap *c, struct tracee *t, int shared)
{
	long ret;

	c->all->strays = 1;
	pin_release(c, t->pid);
	if (!shared)
		amid_restore(c, t);
	if (c->notsc)
		tracee_call(t, &ret, SYS_prctl, PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0, 0);
	if (c->nocpuid)
		tracee_call(t, &ret, SYS_arch_prctl, ARCH_SET_CPUID, 1, 0, 0, 0, 0);
}

/* The process has stopped for the first time. */
void
child_free(struct cap *c, pid_t pid)
{
	struct tracee t = {.pid = pid, .site = c->t.site};

	struct call k = {.nr = c->in.orig_rax, .arg = {c->in.rdi}};

	t.mem = tracee_open(pid, "mem", O_RDWR);
	borrow_leave(c);
	random_child(c, &t);
	child_allow(c, &t, (clone_flags(c, &k) & CLONE_VM) != 0);
	child_deliver(&t, pid);
	tracee_close(&t);
}

void
child_free_stray(const struct tree *a, pid_t pid)
{
	pin_stray(a, pid);
	warn("process %ld is not captured: its parent was killed when it began", (long)pid);
	ptrace(PTRACE_DETACH, pid, NULL, NULL);
}

void
cap_release(struct cap *c)
{
	int shared = c->lender != NULL;

	fast_give_back(c);
	fast_off(c);
	if (shared)
		borrow_leave(c->lender);
	borrow_show(c);                 /* also to a parent that has not gone on yet */
	if (shared) {                   /* its parent will write the breakpoints again */
		random_child(c, &c->t);
		fork_return(c);
	} else {
		random_off(c);
	}
	if (c->th)
		threads_release(c, shared);
	fast_end(c);
	child_allow(c, &c->t, shared);
	if (c->th)                      /* only now: each call takes long while many of them compute */
		threads_go(c);
	child_deliver(&c->t, c->pid);
	c->traced = 0;
}

uint64_t
clone_flags(struct cap *c, const struct call *k)
{
	uint8_t b[8];

	switch (k->nr) {
	case SYS_clone:
		return k->arg[0];
	case SYS_clone3:
		return tracee_read(&c->t, k->arg[0], b, 8) == 8 ? get_le64(b) : 0;
	case SYS_vfork:
		return CLONE_VM | CLONE_VFORK;
	}
	return 0;
}
