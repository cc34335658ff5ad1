/* Stops and registers of a traced process, and system calls on its behalf. */
#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "replay/ptrace/tracee.h"

#define PEEKED 16               /* pending signals that are looked at together */

void
tracee_stopped(struct tracee *t)
{
	t->known = 0;
}

int
tracee_resume(struct tracee *t, int how, int sig)
{
	t->known = 0;
	return ptrace((enum __ptrace_request)how, t->pid, NULL, (void *)(intptr_t)sig) < 0 ? errno : 0;
}

int
tracee_wait(struct tracee *t, int *status)
{
	t->known = 0;
	return waitpid(t->pid, status, __WALL) < 0 ? errno : 0;
}

int
tracee_regs(struct tracee *t, struct user_regs_struct *g)
{
	if (!t->known && ptrace(PTRACE_GETREGS, t->pid, NULL, &t->now) < 0)
		return errno;
	t->known = 1;
	*g = t->now;
	return 0;
}

int
tracee_setregs(struct tracee *t, const struct user_regs_struct *g)
{
	t->known = 0;                   /* the kernel may not take all of them */
	return ptrace(PTRACE_SETREGS, t->pid, NULL, g) < 0 ? errno : 0;
}

int
tracee_xsave(struct tracee *t, void *p, size_t *n)
{
	struct iovec v = {p, *n};

	if (ptrace(PTRACE_GETREGSET, t->pid, (void *)NT_X86_XSTATE, &v) < 0)
		return errno;
	*n = v.iov_len;
	return 0;
}

int
tracee_sent(const siginfo_t *si)
{
	/* 0 in a namespace of process ids that we are not in */
	return si->si_code == SI_TKILL && (si->si_pid == getpid() || si->si_pid == 0);
}

int
tracee_pending(const struct tracee *t, int shared, int (*is)(const siginfo_t *si), uint64_t *set)
{
	struct __ptrace_peeksiginfo_args args = {.nr = PEEKED, .flags = shared ? PTRACE_PEEKSIGINFO_SHARED : 0};
	siginfo_t si[PEEKED];
	long n;

	*set = 0;
	while ((n = ptrace(PTRACE_PEEKSIGINFO, t->pid, &args, si)) > 0) {
		for (long i = 0; i < n; i++)
			if (!is || is(&si[i]))
				*set |= 1ull << (si[i].si_signo - 1);
		args.off += (uint64_t)n;
	}
	return n ? -1 : 0;
}

/*
 * One that this process sent again is in the queue already.  A full queue drops the newest signal:
 * there are at most 31 standard signals, and longer bursts of real-time signals are rare.
 */
void
tracee_hold(struct tracee *t, const siginfo_t *si)
{
	for (unsigned i = 0; i < t->nheld && tracee_sent(si); i++)
		if (t->held[i].si_signo == si->si_signo)
			return;
	if (t->nheld < TRACEE_HELD)
		t->held[t->nheld++] = *si;
}

/*
 * Resumes and waits for the next syscall stop, or with PTRACE_CONT for an int3; holds signals and ignores job control.  A
 * fault instead of the call means that the process may not execute a `syscall` instruction there; it would fault again
 * for ever.
 */
static int
next_stop(struct tracee *t, int how)
{
	siginfo_t si;
	int err, status;

	for (;;) {
		err = tracee_resume(t, how, 0);
		if (err)
			return err;
		while ((err = tracee_wait(t, &status)) == EINTR)
			;
		if (err)
			return err;
		if (!WIFSTOPPED(status)) {
			t->gone = 1;
			t->status = status;
			return ESRCH;
		}
		if (WSTOPSIG(status) == (SIGTRAP | 0x80))
			return 0;
		if (status >> 16 != 0 || ptrace(PTRACE_GETSIGINFO, t->pid, NULL, &si))
			continue;
		if ((si.si_signo == SIGSEGV || si.si_signo == SIGBUS || si.si_signo == SIGILL) &&
		    si.si_code > 0)
			return EFAULT;
		if (how == PTRACE_CONT && si.si_signo == SIGTRAP && si.si_code == SI_KERNEL)
			return 0;
		tracee_hold(t, &si);
	}
}

static int
run_call(struct tracee *t, struct user_regs_struct *g, long *ret)
{
	int err = tracee_setregs(t, g);

	if (!err)
		err = next_stop(t, PTRACE_SYSCALL);
	if (!err)
		err = next_stop(t, PTRACE_SYSCALL);
	if (!err)
		err = tracee_regs(t, g);
	*ret = (long)g->rax;
	return err;
}

int
tracee_call(struct tracee *t, long *ret, long nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e,
    uint64_t f)
{
	static const uint8_t insn[2] = {0x0f, 0x05};
	struct user_regs_struct old, g;
	uint8_t kept[2], now[2];
	int err = tracee_regs(t, &old), poked = 0;

	if (err)
		return err;
	g = old;
	if (t->site && (tracee_read(t, t->site, now, 2) != 2 || memcmp(now, insn, 2)))
		t->site = 0;
	g.rip = t->site;
	if (!t->site) {
		g.rip = old.rip;
		if (tracee_read(t, g.rip, kept, 2) != 2 || tracee_write(t, g.rip, insn, 2) != 2)
			return EFAULT;
		poked = 1;
	}
	g.rax = (uint64_t)nr;
	g.orig_rax = UINT64_MAX;        /* no system call to restart */
	g.cs = TRACEE_CS_64;            /* in 32-bit code the instruction is an illegal one, or makes another call */
	g.rdi = a;
	g.rsi = b;
	g.rdx = c;
	g.r10 = d;
	g.r8 = e;
	g.r9 = f;
	err = run_call(t, &g, ret);
	if (poked && !err && tracee_write(t, old.rip, kept, 2) != 2)
		err = EFAULT;
	if (!err)
		err = tracee_setregs(t, &old);
	if (err == ESRCH) {             /* it was killed at one of these stops, and has still to tell of its end */
		t->lost = 1;
		t->had = old;
	}
	return err;
}

int
tracee_run(struct tracee *t, const struct user_regs_struct *from)
{
	struct user_regs_struct old;
	int err = tracee_regs(t, &old);

	if (err)
		return err;
	err = tracee_setregs(t, from);
	if (!err)
		err = next_stop(t, PTRACE_CONT);
	if (!err)
		err = tracee_setregs(t, &old);
	if (err == ESRCH) {
		t->lost = 1;
		t->had = old;
	}
	return err;
}

int
tracee_cancel_call(struct tracee *t, const struct user_regs_struct *g)
{
	struct user_regs_struct s = *g;
	int err;

	s.orig_rax = UINT64_MAX;        /* an invalid number: the call does nothing */
	err = tracee_setregs(t, &s);
	if (!err)
		err = next_stop(t, PTRACE_SYSCALL);
	s.rax = g->orig_rax;
	s.rip -= 2;
	if (!err)
		err = tracee_setregs(t, &s);
	return err;
}

void
tracee_to_user(struct user_regs_struct *g, const struct ws_regs *w)
{
	unsigned long long *const r[16] = {
		&g->rax, &g->rcx, &g->rdx, &g->rbx, &g->rsp, &g->rbp, &g->rsi, &g->rdi,
		&g->r8, &g->r9, &g->r10, &g->r11, &g->r12, &g->r13, &g->r14, &g->r15,
	};

	for (int i = 0; i < 16; i++)
		*r[i] = w->r[i];
	g->rip = w->rip;
	g->eflags = w->rflags;
	g->fs_base = w->fsbase;
	g->gs_base = w->gsbase;
	g->orig_rax = UINT64_MAX;
}

void
tracee_from_user(struct ws_regs *w, const struct user_regs_struct *g, uint64_t rax)
{
	const uint64_t r[16] = {
		rax, g->rcx, g->rdx, g->rbx, g->rsp, g->rbp, g->rsi, g->rdi,
		g->r8, g->r9, g->r10, g->r11, g->r12, g->r13, g->r14, g->r15,
	};

	memcpy(w->r, r, sizeof(r));
	w->rip = g->rip;
	w->rflags = g->eflags;
	w->fsbase = g->fs_base;
	w->gsbase = g->gs_base;
}
