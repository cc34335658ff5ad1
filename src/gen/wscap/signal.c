/*
 * Signals.  A replay must find the place where a signal is delivered.  Directly after a system
 * call it is certain to.  A signal with a handler that arrives elsewhere is therefore held
 * until the next call, or for some milliseconds: then it is delivered where the program is, and
 * that place is identified by registers and stack.
 */
#include <errno.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bytes.h"
#include "gen/wscap/amid.h"
#include "gen/wscap/fast.h"
#include "gen/wscap/point.h"
#include "gen/wscap/signal.h"
#include "gen/wscap/thread.h"
#include "gen/wscap/touch.h"

/*
 * Offsets in struct rt_sigframe of x86-64 from the handler's rsp: saved registers, address of
 * the saved processor state.
 */
enum { FRAME_RAX = 152, FRAME_RIP = 176, FRAME_FP = 232, FRAME_HEAD = 240 };
enum { FP_MAGIC = 464, FP_SIZE = 468, FP_HEAD = 472 };  /* offsets in the processor state */
#define FRAME_MAX (2 * WS_XSAVE_MAX)

static uint64_t
signal_bit(int sig)
{
	return 1ull << (sig - 1);
}

int
put_emulated(struct cap *c, const struct ws_rec *r, struct user_regs_struct *g)
{
	g->orig_rax = UINT64_MAX;
	if (tracee_setregs(&c->t, g))
		return -1;
	wscap_put(c, r);
	c->behind = 0;
	return 0;
}

/* Emulates an instruction that faults because wscap made it fault; 1: it was one. */
static int
signal_emulate(struct cap *c)
{
	struct user_regs_struct g;
	uint8_t b[3] = {0};
	unsigned len;
	uint64_t at;

	if (tracee_regs(&c->t, &g) || tracee_read(&c->t, g.rip, b, 3) < 2 || b[0] != 0x0f)
		return 0;
	at = g.rip;
	len = b[1] == 0x31 ? 2 : b[1] == 0x01 && b[2] == 0xf9 ? 3 : 0;
	if (c->notsc && len) {
		if (!put_tsc(c, &g, len))
			fast_tsc_made(c, at);
	} else if (c->nocpuid && b[1] == 0xa2) {
		put_cpuid(c, &g);
	} else {
		return 0;
	}
	return 1;
}

void
signal_mask(struct cap *c)
{
	ptrace(PTRACE_GETSIGMASK, c->t.pid, sizeof(c->mask), &c->mask);
}

/* Signals that wscap causes in the program, and that must not reach it. */
static int
forced_index(int sig)
{
	static const int of[FORCED] = { SIGILL, SIGTRAP, SIGBUS, SIGSEGV, SIGSYS };
	int i = FORCED - 1;

	while (i >= 0 && of[i] != sig)
		i--;
	return i;
}

void
signal_action(struct cap *c, int sig, const uint8_t act[32])
{
	int forced = forced_index(sig);

	c->handler[sig] = get_le64(act);
	c->actflags[sig] = get_le64(act + 8);
	if (forced >= 0)
		memcpy(c->forced[forced], act, sizeof(c->forced[0]));
}

void
signal_forced(struct cap *c, int sig)
{
	static const uint8_t none[32];
	const uint8_t *act = c->forced[forced_index(sig)];
	struct user_regs_struct g;
	uint8_t kept[32];
	uint64_t at;
	long ret;

	if (!(c->mask & signal_bit(sig)) && c->handler[sig] != 1)
		return;
	/* first: one that the program has sent itself, and blocks, would come in the call */
	ptrace(PTRACE_SETSIGMASK, c->t.pid, sizeof(c->mask), &c->mask);
	if (memcmp(act, none, 32) && !tracee_regs(&c->t, &g)) {
		at = (g.rsp - 1024) & ~15ull;
		if (tracee_read(&c->t, at, kept, 32) == 32 && tracee_write(&c->t, at, act, 32) == 32) {
			tracee_call(&c->t, &ret, SYS_rt_sigaction, sig, at, 0, 8, 0, 0);
			tracee_write(&c->t, at, kept, 32);
		}
	}
}

/* Records the frame that the kernel wrote for the handler. */
static void
put_frame(struct cap *c, uint64_t sp)
{
	uint8_t head[FRAME_HEAD], fp[FP_HEAD];
	uint64_t end = sp + FRAME_HEAD + 256, at;

	if (tracee_read(&c->t, sp, head, sizeof(head)) == sizeof(head)) {
		at = get_le64(head + FRAME_FP);
		if (at > sp && at - sp < FRAME_MAX && tracee_read(&c->t, at, fp, sizeof(fp)) == sizeof(fp))
			end = at + (get_le32(fp + FP_MAGIC) == 0x46505853 ? get_le32(fp + FP_SIZE) : 512);
	}
	if (end - sp < FRAME_MAX)
		put_mem(c, sp, end - sp);
}

/*
 * The result of the system call that the signal interrupted: it fails, or is restarted when the
 * handler returns.
 */
static void
put_interrupted(struct cap *c, struct user_regs_struct *at, uint64_t sp)
{
	uint8_t head[FRAME_HEAD];
	uint64_t ret = (uint64_t)-4;    /* EINTR */

	if (at->rip != c->in.rip) {     /* an earlier signal went elsewhere, and the kernel has gone back to the call */
		at->rip = c->in.rip;
		ret = (uint64_t)-512;
	} else if (tracee_read(&c->t, sp, head, sizeof(head)) == sizeof(head)) {
		ret = get_le64(head + FRAME_RIP) == at->rip ? get_le64(head + FRAME_RAX) : (uint64_t)-512;
	}
	put_sys(c, &c->in, ret);
	if (c->th)
		aside_interrupted(c, ret);
	at->rax = ret;
	c->restart = RESTART_NOT;
}

/*
 * Delivers a signal with a handler: the kernel makes the frame, and stops at the handler's
 * first instruction.  amid: the program is not at a system call.  Returns the signal to
 * continue with.
 */
static int
signal_deliver(struct cap *c, const siginfo_t *si, int amid)
{
	struct user_regs_struct at, to;
	struct ws_rec r = {.kind = WS_SIG, .u.sig.icount = WS_UNKNOWN};
	int status, sig = si->si_signo;

	if (tracee_regs(&c->t, &at))
		return 0;
	if (amid) {
		place_record(c, &r.u.sig, at.rsp);
		/* the process has stopped for other signals since, and has their sender's information */
		ptrace(PTRACE_SETSIGINFO, c->t.pid, NULL, si);
	}
	if (tracee_resume(&c->t, PTRACE_SINGLESTEP, sig))
		return 0;
	while (tracee_wait(&c->t, &status))
		;
	if (!WIFSTOPPED(status)) {
		c->ended = status;
		c->hasended = 1;
		return 0;
	}
	if (status >> 8 != SIGTRAP)     /* no room for the frame: another signal */
		return status >> 16 ? 0 : on_signal(c, WSTOPSIG(status));
	if (tracee_regs(&c->t, &to))
		return 0;
	if (c->restart)
		put_interrupted(c, &at, to.rsp);
	r.u.sig.sig = (uint32_t)sig;
	tracee_from_user(&r.u.sig.at, &at, at.rax);
	tracee_from_user(&r.u.sig.to, &to, to.rax);
	r.u.sig.nxsave = get_xsave(c);
	r.u.sig.xsave = c->all->xsave;
	wscap_put(c, &r);
	put_frame(c, to.rsp);
	if (c->actflags[sig] & SA_RESETHAND)
		c->handler[sig] = 0;
	signal_mask(c);
	c->behind = 0;
	return 0;
}

/*
 * Is it a held signal that was sent again? Then restores its sender's information and returns
 * 1: deliver it at once.
 */
static int
signal_is_resent(struct cap *c, siginfo_t *si)
{
	struct tracee *t = &c->t;

	if (!tracee_sent(si) || !(c->sent & signal_bit(si->si_signo)))
		return 0;
	for (unsigned i = 0; i < t->nheld; i++) {
		if (t->held[i].si_signo != si->si_signo)
			continue;
		*si = t->held[i];
		memmove(t->held + i, t->held + i + 1, (--t->nheld - i) * sizeof(*t->held));
		ptrace(PTRACE_SETSIGINFO, t->pid, NULL, si);
		break;
	}
	c->sent &= ~signal_bit(si->si_signo);
	if (!t->nheld && !c->th)
		cap_set_timer(0);
	return 1;
}

int
signal_is_fault(const siginfo_t *si)
{
	switch (si->si_signo) {
	case SIGSEGV: case SIGBUS: case SIGFPE: case SIGILL: case SIGTRAP: case SIGSYS:
		return si->si_code > 0;
	}
	return 0;
}

/* Has nothing run since the system call? */
int
signal_after_call(struct cap *c)
{
	struct user_regs_struct g;

	if (c->restart)
		return 1;
	if (!c->behind || c->unsure || tracee_regs(&c->t, &g))
		return 0;
	g.orig_rax = c->out.orig_rax;
	return !memcmp(&g, &c->out, sizeof(g));
}

/* Length of the repeated string instruction at g's rip; 0: it is none. */
static unsigned
string_length(struct cap *c, const struct user_regs_struct *g)
{
	uint8_t b[5] = {0};
	int rep = 0;

	if (tracee_read(&c->t, g->rip, b, sizeof(b)) == 0)
		return 0;
	for (unsigned i = 0; i < sizeof(b); i++) {
		if (b[i] == 0xf2 || b[i] == 0xf3)
			rep = 1;
		else if (b[i] != 0x66 && b[i] != 0x67 && (b[i] & 0xf0) != 0x40)
			return rep && ((b[i] >= 0xa4 && b[i] <= 0xa7) || (b[i] >= 0xaa && b[i] <= 0xaf)) ?
			    i + 1 : 0;
	}
	return 0;
}

/*
 * Runs a repeated string instruction to its end.  Within it, flags are those from before the
 * instruction, so a replay could not recognize the place, and would have to check each of
 * possibly a million elements.  0, or the signal that stopped the program before.
 */
static int
end_string(struct cap *c)
{
	struct user_regs_struct g;
	uint8_t was, trap = 0xcc;
	uint64_t end;
	int status;

	if (tracee_regs(&c->t, &g) || (end = string_length(c, &g)) == 0)
		return 0;
	end += g.rip;
	if (tracee_read(&c->t, end, &was, 1) != 1 || tracee_write(&c->t, end, &trap, 1) != 1)
		return 0;
	status = place_run(c, PTRACE_CONT);
	if (status < 0)
		return -1;
	tracee_write(&c->t, end, &was, 1);
	if (tracee_regs(&c->t, &g) || WSTOPSIG(status) != SIGTRAP || g.rip != end + 1)
		return WSTOPSIG(status);
	g.rip = end;
	tracee_setregs(&c->t, &g);
	return 0;
}

/* Does its default action end a program? */
static int
signal_ends(int sig)
{
	switch (sig) {
	case SIGCHLD: case SIGCONT: case SIGURG: case SIGWINCH: case SIGSTOP: case SIGTSTP: case SIGTTIN:
	case SIGTTOU:
		return 0;
	default:
		return 1;
	}
}

/*
 * Runs the program, which is not at a system call, to a place that can be identified.  0, or
 * the signal that came instead.
 */
int
signal_find_place(struct cap *c)
{
	int other = end_string(c);

	return other ? other : place_search(c);
}

/* A handler has returned into the middle of a function of the vDSO, where the process was before the capture. */
static int
signal_in_vdso(struct cap *c)
{
	struct user_regs_struct g;

	if (!c->amid.vdso || tracee_regs(&c->t, &g) || !vdso_has(&c->all->vdso, g.rip))
		return 0;
	cap_warn_stop(c, "it returned into its vDSO, where a signal had interrupted it before");
	signal_forced(c, SIGSEGV);
	if (c->all->touch)
		touch_all(c);
	cap_release(c);
	return 1;
}

int
on_signal(struct cap *c, int sig)
{
	siginfo_t si;
	int ours, other = 0;

	if (ptrace(PTRACE_GETSIGINFO, c->t.pid, NULL, &si))
		return sig;
	if (sig == SIGSEGV && ((si.si_code == SI_KERNEL && signal_emulate(c)) ||
	    (si.si_code == SEGV_ACCERR && touch_hides(c) && touch_fault(c, (uint64_t)(uintptr_t)si.si_addr)))) {
		signal_forced(c, SIGSEGV);
		return 0;
	}
	if (sig == SIGSEGV && si.si_code == SI_KERNEL && signal_in_vdso(c))
		return 0;
	if (sig == SIGTRAP && si.si_code > 0 && random_trap(c, &si)) {
		if (c->hasended)
			return 0;
		if (c->later) {
			int later = c->later;

			c->later = 0;
			return on_signal(c, later);
		}
		signal_forced(c, SIGTRAP);
		return 0;
	}
	ours = signal_is_resent(c, &si);
	if (!ours && point_signal(c, sig)) {
		point_end(c->all);
		if (!c->handler[sig])
			return 0;
	}
	if (sig > 64 || c->handler[sig] == 1)   /* SIG_IGN: the program does not notice it */
		return sig;
	if (!c->handler[sig]) {                 /* SIG_DFL: it ends the program */
		if (!signal_ends(sig) || signal_is_fault(&si) || signal_after_call(c) ||
		    (other = signal_find_place(c)) == 0)
			return sig;
	} else if (signal_is_fault(&si) || signal_after_call(c)) {
		return signal_deliver(c, &si, 0);
	} else if (ours && (other = signal_find_place(c)) == 0) {
		return signal_deliver(c, &si, 1);
	}
	if (other >= 0) {
		tracee_hold(&c->t, &si);
		lately_begin(c);
	}
	cap_set_timer(1);
	return other > 0 ? on_signal(c, other) : 0;
}

/* Records a place that the program comes to, as that of a signal that does nothing. */
void
signal_place(struct cap *c)
{
	struct user_regs_struct g;
	struct ws_rec r = {.kind = WS_SIG, .u.sig = {.icount = WS_UNKNOWN, .sig = SIGSTOP}};

	if (!c->w || tracee_regs(&c->t, &g))
		return;
	tracee_from_user(&r.u.sig.at, &g, g.rax);
	r.u.sig.to = r.u.sig.at;
	place_record(c, &r.u.sig, g.rsp);
	wscap_put(c, &r);
	c->behind = 0;
}

/* Is it the SIGTRAP of an int3 of the program's own?  Then goes back, so that it comes again. */
static int
signal_int3(struct cap *c, const siginfo_t *si)
{
	struct user_regs_struct g;
	uint8_t b = 0;

	if (si->si_code != SI_KERNEL || tracee_regs(&c->t, &g) || tracee_read(&c->t, g.rip - 1, &b, 1) != 1 || b != 0xcc)
		return 0;
	g.rip--;
	return !tracee_setregs(&c->t, &g);
}

void
signal_leave(struct cap *c)
{
	siginfo_t si;
	int other;

	if (c->inside || c->placed || signal_after_call(c))
		return;
	other = place_search_far(c);
	if (!other)
		other = end_string(c);
	if (other > 0 && !ptrace(PTRACE_GETSIGINFO, c->t.pid, NULL, &si)) {
		/* a fault of the program comes again when it goes on; one that wscap causes must not reach it */
		if (!signal_is_fault(&si))
			tracee_hold(&c->t, &si);
		else if (other == SIGSEGV && si.si_code == SI_KERNEL && signal_emulate(c))
			signal_forced(c, SIGSEGV);
		else if (other == SIGTRAP && (random_trap(c, &si) || signal_int3(c, &si)))
			signal_forced(c, SIGTRAP);
	}
	if (!c->hasended)
		signal_place(c);
}

int
signal_wait(struct cap *c, const siginfo_t *si)
{
	int sig = si->si_signo;

	if (sig > 64 || c->handler[sig] == 1 || (!c->handler[sig] && !signal_ends(sig)))
		return sig;
	/* a held one that was sent again is still held */
	if (tracee_sent(si) && c->sent & signal_bit(sig))
		c->sent &= ~signal_bit(sig);
	else
		tracee_hold(&c->t, si);
	cap_set_timer(1);
	return 0;
}

/* Was it killed at the beginning of a system call, before we were told of that? */
static int
signal_before_call(struct cap *c, const struct user_regs_struct *g)
{
	return (long long)g->orig_rax >= 0 && (long long)g->rax == -ENOSYS && !signal_after_call(c);
}

/* Records the place of a fatal signal: a replay ends there. In a system call, it ends at that. */
void
signal_deadly(struct cap *c, int sig)
{
	struct user_regs_struct g;
	struct ws_rec r = {.kind = WS_SIG, .u.sig.icount = WS_UNKNOWN};

	if (c->inside || c->restart || tracee_regs(&c->t, &g))
		return;
	if (c->t.lost)
		g = c->t.had;
	if (fast_dead(c, &g) || signal_before_call(c, &g))
		return;
	g.rip = random_trapped(c, g.rip);
	r.u.sig.sig = (uint32_t)sig;
	tracee_from_user(&r.u.sig.at, &g, g.rax);
	r.u.sig.to = r.u.sig.at;
	r.u.sig.nxsave = get_xsave(c);
	r.u.sig.xsave = c->all->xsave;
	lately_forget(c);               /* the kernel may have written for a call that is not to be seen any more */
	place_record(c, &r.u.sig, g.rsp);
	wscap_put(c, &r);
}

int
signals_due(const struct cap *c)
{
	for (unsigned i = 0; i < c->t.nheld; i++) {
		uint64_t bit = signal_bit(c->t.held[i].si_signo);

		if (!(c->sent & bit) && !(c->mask & bit))
			return 1;
	}
	return 0;
}

void
signals_send(struct cap *c)
{
	for (unsigned i = 0; i < c->t.nheld; i++) {
		int sig = c->t.held[i].si_signo;

		if (c->sent & signal_bit(sig))
			continue;
		c->sent |= signal_bit(sig);
		syscall(SYS_tgkill, c->pid, c->t.pid, sig);
	}
}

int
signals_sent(const struct cap *c)
{
	return (c->sent & ~c->mask) != 0;
}

void
signals_lost(struct cap *c)
{
	uint64_t pending;

	(void)tracee_pending(&c->t, 0, tracee_sent, &pending);
	c->sent &= pending;
}

void
signals_force(struct cap *c)
{
	/* where the processor is busy, it may not have run since they came */
	if (!c->inside && (lately_long(c) || sched_sleeps(c->t.pid)))
		signals_send(c);
}
