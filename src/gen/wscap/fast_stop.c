/* What stops of a process mean while the recorder is in it. */
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/bytes.h"
#include "gen/wscap/fast.h"
#include "gen/wscap/hold.h"
#include "gen/wscap/signal.h"
#include "gen/wscap/thread.h"

#define SUD_CODE 2              /* si_code of the SIGSYS: SYS_USER_DISPATCH */
#define STEPS 100000u           /* steps out of the recorder, at most */
#define TRAP_FLAG 0x100u
#define POPF 0x9d
#define NOTED 7u                /* bytes of the code from when it was seen that it shall stop to fast_noted */

/* The process is at a place of the program that a jump has replaced: leads it into the stub. */
static void
fast_lead(struct cap *c, struct user_regs_struct *g)
{
	struct fast_site *s = fast_site_of(c->fast, g->rip);

	if (!s || !s->in || g->rip == s->addr)
		return;
	for (unsigned i = 0; i < s->nmoved; i++)
		if (g->rip == s->addr + s->from[i]) {
			g->rip = s->stub + s->to[i];
			tracee_setregs(&c->t, g);
			return;
		}
	fast_forget(c, s->addr, s->addr + 1);   /* no instruction that we know begins there */
}

/* What the recorder kept of the action that the present call sets, which may be overwritten by now. */
static void
fast_kept(struct cap *c)
{
	const struct fast *f = c->fast;
	uint64_t at = f->a->head + sizeof(struct fast_rec) + sizeof(struct fast_piece);

	if (f->a->r[0] == SYS_rt_sigaction && f->a->arg[1] && at <= FAST_ROOM - sizeof(c->newact))
		memcpy(c->newact, f->p + FAST_RING + at, sizeof(c->newact));
}

/* The recorder's call has been made, or was interrupted: does what it had still to do. */
static void
fast_finish(struct cap *c, struct user_regs_struct *g, uint64_t ret)
{
	struct fast *f = c->fast;

	fast_view(f, g);
	g->orig_rax = f->a->r[0];
	g->rax = ret;
	tracee_setregs(&c->t, g);
	c->in = *g;
	c->in.rax = (uint64_t)-38;      /* ENOSYS, as at an entry */
	if (f->a->withheld && f->a->nlate < FAST_PROTECTS && (int64_t)ret >= 0)
		f->a->late[f->a->nlate++] = (struct fast_protect){ret, f->a->arg[1], f->a->arg[2], 0};
	f->a->withheld = 0;
	if (f->a->r[0] == SYS_arch_prctl)
		c->in.fs_base = f->a->fsbase;   /* which it has set */
	c->compare = COMPARE_NOT;
	c->denied = 0;
	c->inside = 1;
	fast_kept(c);
	call_leave(c);
}

/* The call of the recorder is made under ptrace instead. */
static void
fast_redo(struct cap *c, struct user_regs_struct *g)
{
	struct fast *f = c->fast;

	fast_view(f, g);
	g->rip = fast_place(f, fast_asked) - 2;
	g->orig_rax = UINT64_MAX;
	tracee_setregs(&c->t, g);
	f->calling = 1;
}

/*
 * A call was made while another process began to write to memory of this one; or what it has mapped had to be looked
 * at, which has been done.
 */
static void
fast_noticed(struct cap *c, struct user_regs_struct *g)
{
	struct fast *f = c->fast;

	if (!(f->a->note & FAST_SHARED)) {
		f->a->note = f->a->mapped = 0;
		g->rip = fast_place(f, f->a->nlate ? fast_late : fast_goes_on);
		if (hold_many(c->all))
			f->a->late_before = 0;
		g->orig_rax = UINT64_MAX;
		tracee_setregs(&c->t, g);
		return;
	}
	fast_view(f, g);
	g->rax = f->a->ret;
	tracee_setregs(&c->t, g);
	f->a->note = 0;
	compare_shared(c);
	fast_pause(c);
}

/* May the recorder make the call that it has asked for? Then it begins again, with an empty buffer. */
static int
fast_grants(struct cap *c, struct user_regs_struct *g)
{
	struct fast *f = c->fast;
	struct call k = {g->rax, {g->rdi, g->rsi, g->rdx, g->r10, g->r8, g->r9}, 0};

	if (f->granted || f->lent || g->rip != fast_place(f, fast_asked) || f->a->slow || c->t.nheld || c->all->leaving ||
	    c->all->failed || !fast_grant(c, &k))
		return 0;
	f->granted = 1;
	f->a->grant = 1;
	f->tail = *(volatile uint64_t *)&f->a->head = f->a->begun = f->a->mapped = 0;
	g->rip = fast_place(f, fast_entry);
	g->rcx = f->a->r[1];
	g->r11 = f->a->back;
	g->orig_rax = UINT64_MAX;
	tracee_setregs(&c->t, g);
	return 1;
}

/*
 * The program has stopped at a `syscall` of its own: is that replaced now, so that the recorder makes the call?  Where
 * the descriptor of a write is not known to us, it is made under ptrace first.
 */
static int
fast_replaces(struct cap *c, struct user_regs_struct *g)
{
	struct fast *f = c->fast;
	struct call k = {g->rax, {g->rdi, g->rsi, g->rdx, g->r10, g->r8, g->r9}, 0};
	unsigned knows = fast_knows(f, &k);

	if (!knows || fast_may_wait(f, &k, knows) || f->a->slow || c->t.nheld || c->all->leaving || c->all->failed ||
	    (knows & FAST_WRITES && (k.arg[0] >= FAST_FILES || !(f->a->file[k.arg[0]] & FAST_WRITES))) ||
	    fast_place_add(c, g->rip - 2))
		return 0;
	/* not back to the place: the instruction has overwritten rcx and r11, which a signal there would show */
	g->rip = fast_site_of(f, g->rip - 2)->stub;
	g->orig_rax = UINT64_MAX;
	tracee_setregs(&c->t, g);
	return 1;
}

/* A call that the recorder does not make. */
static void
fast_asks(struct cap *c, struct user_regs_struct *g)
{
	struct fast *f = c->fast;

	signal_forced(c, SIGSYS);
	if (g->rip == fast_place(f, fast_noted)) {
		fast_noticed(c, g);
		return;
	}
	if (g->rip - f->core >= FAST_CODE && g->rsp - f->core > FAST_STACK ? fast_replaces(c, g) : fast_grants(c, g))
		return;
	f->granted = 0;
	f->slow++;
	if (g->rsp - f->core <= FAST_STACK) {
		if (!f->a->looking)     /* the vdso cannot tell the time */
			f->a->clock = 0;
		f->a->looking = 0;
		fast_redo(c, g);
		return;
	}
	g->rip -= 2;
	g->orig_rax = UINT64_MAX;
	tracee_setregs(&c->t, g);
	f->calling = 1;
}

static int
fast_faulted(struct cap *c, struct user_regs_struct *g, const siginfo_t *si)
{
	struct fast *f = c->fast;

	if ((si->si_signo != SIGSEGV && si->si_signo != SIGBUS) || si->si_code <= 0)
		return 0;
	f->a->clock = 0;
	signal_forced(c, si->si_signo);
	if (f->a->made)
		fast_finish(c, g, f->a->ret);
	else
		fast_redo(c, g);
	return 1;
}

/* The buffer was full at a rdtsc, and is read now. */
static void
fast_again(struct cap *c, struct user_regs_struct *g)
{
	struct fast *f = c->fast;
	const struct fast_site *s = fast_site_in(f, f->a->back);

	g->rip = s ? s->stub : 0;
	g->orig_rax = UINT64_MAX;
	tracee_setregs(&c->t, g);
}

/* The process stands in a stub, where the program goes on: at the program's place for that. */
static void
fast_to_program(struct cap *c, struct user_regs_struct *g)
{
	uint64_t rip = fast_outside(c->fast, g->rip);

	if (!rip)
		return;
	g->rip = rip;
	tracee_setregs(&c->t, g);
}

/* A signal.  1: it is done with, *sig is passed on. */
static int
fast_signal(struct cap *c, int *sig)
{
	struct fast *f = c->fast;
	struct user_regs_struct g;
	uint64_t rip;
	siginfo_t si;

	if (tracee_regs(&c->t, &g) || ptrace(PTRACE_GETSIGINFO, c->t.pid, NULL, &si))
		return 0;
	if (si.si_signo == SIGSYS && si.si_code == SUD_CODE) {
		fast_asks(c, &g);
		*sig = 0;
		return 1;
	}
	if (si.si_signo == SIGSEGV && si.si_code == SEGV_ACCERR && fast_is_late(f, g.rip)) {
		signal_forced(c, SIGSEGV);
		*sig = 0;
		return 1;
	}
	if ((si.si_signo == SIGTRAP || si.si_signo == SIGILL) && si.si_code > 0) {
		rip = g.rip - (si.si_signo == SIGTRAP);
		if (fast_covers(c, rip)) {
			g.rip = rip;
			g.orig_rax = UINT64_MAX;
			tracee_setregs(&c->t, &g);
			signal_forced(c, si.si_signo);
			*sig = 0;
			return 1;
		}
	}
	if (g.rip == fast_place(f, fast_made)) {
		fast_finish(c, &g, g.rax);
		return 0;
	}
	if (g.rip == fast_place(f, fast_full) && si.si_signo == SIGILL) {
		fast_again(c, &g);
		signal_forced(c, SIGILL);
		*sig = 0;
		return 1;
	}
	if (fast_inside(f, &g) || f->calling) {
		*sig = fast_faulted(c, &g, &si) ? 0 : signal_wait(c, &si);
		return 1;
	}
	fast_to_program(c, &g);
	return 0;
}

/* A call is about to be made under ptrace: at the program's place. */
static void
fast_entered(struct cap *c)
{
	struct fast *f = c->fast;
	struct user_regs_struct g;

	if (tracee_regs(&c->t, &g))
		return;
	f->calling = 0;
	f->a->note &= (uint8_t)~FAST_AFTER;
	if (g.rip != fast_place(f, fast_asked))
		return;
	g.rip = g.rcx = f->a->r[1];
	tracee_setregs(&c->t, &g);
}

/* One step on the way out of the recorder.  A fault there ends its work; other signals are held.  -1: the process ended. */
static int
fast_step(struct cap *c)
{
	struct user_regs_struct g;
	siginfo_t si;
	int status = place_run(c, PTRACE_SINGLESTEP);

	if (status <= 0)
		return -1;
	if (status >> 16 || ptrace(PTRACE_GETSIGINFO, c->t.pid, NULL, &si))
		return 0;
	if (!signal_is_fault(&si)) {
		tracee_hold(&c->t, &si);
		cap_set_timer(1);
	} else if (si.si_signo != SIGTRAP && !tracee_regs(&c->t, &g)) {
		fast_faulted(c, &g, &si);
	}
	return 0;
}

/*
 * The process is in the recorder; a popf there is done for it.  If that is stepped, the kernel takes the trap flag that it steps with
 * for the program's own from then on.  0: no popf is there.
 */
static int
fast_popf(struct cap *c, struct user_regs_struct *g)
{
	uint8_t b = 0, flags[8];

	if (tracee_read(&c->t, g->rip, &b, 1) != 1 || b != POPF ||
	    tracee_read(&c->t, g->rsp, flags, sizeof(flags)) != sizeof(flags))
		return 0;
	g->eflags = get_le64(flags) & ~(uint64_t)TRAP_FLAG;
	g->rsp += sizeof(flags);
	g->rip++;
	return !tracee_setregs(&c->t, g);
}

/*
 * Brings the process out of the recorder, to a place of the program.  Before a call, rcx and r11 are no longer the
 * program's, as a signal there would show: the call is made under ptrace first; if all ends here, it is the last one.
 */
static void
fast_out(struct cap *c)
{
	struct fast *f = c->fast;
	struct user_regs_struct g;
	int calls = f->calling;

	f->a->note = 0;
	for (unsigned i = 0; i < STEPS && !tracee_regs(&c->t, &g); i++) {
		if (g.rip == fast_place(f, fast_made)) {
			fast_finish(c, &g, g.rax);
			break;
		}
		if (g.rip == fast_place(f, fast_made) - 2 || g.rip == fast_place(f, fast_asked) - 2) {
			fast_view(f, &g);
			g.rip = c->all->leaving ? g.rip - 2 : fast_place(f, fast_asked) - 2;
			tracee_setregs(&c->t, &g);
			calls = 1;
			break;
		}
		if (fast_place(f, fast_noted) - g.rip <= NOTED) {
			fast_view(f, &g);
			g.rax = f->a->ret;
			tracee_setregs(&c->t, &g);
			break;
		}
		if (!fast_inside(f, &g)) {
			fast_to_program(c, &g);
			break;
		}
		if (!fast_popf(c, &g) && fast_step(c))
			break;
	}
	f->calling = calls && !c->all->leaving;
	fast_drain(c);
	signal_forced(c, SIGTRAP);      /* of the steps; only now is it known whether the program blocks it */
	if (calls && c->all->leaving && !tracee_regs(&c->t, &g)) {
		c->in = g;
		c->in.orig_rax = g.rax;
		c->in.rip += 2;
		c->restart = RESTART_KERNEL;
	}
}

int
fast_leave(struct cap *c)
{
	const struct fast *f = c->fast;
	struct user_regs_struct g;

	if (!f || !f->on)
		return 1;
	if (f->calling || tracee_regs(&c->t, &g) || fast_inside(f, &g) || fast_outside(f, g.rip))
		return 0;
	fast_pause(c);
	return 1;
}

/* Is the turn to go to another thread, or process? */
static int
fast_is_due(const struct cap *c)
{
	return sched_due(c) || turn_ends(c);
}

int
fast_stopped(struct cap *c, int status, int *sig)
{
	struct fast *f = c->fast;
	struct user_regs_struct g;
	int done = 0;

	if (!f || !f->a)
		return 0;
	fast_drain(c);
	f->a->selector = f->a->grant = 0;
	f->halted = status >> 16 == 0 && WSTOPSIG(status) != (SIGTRAP | 0x80);
	if (!f->on)
		return 0;
	if (WSTOPSIG(status) == (SIGTRAP | 0x80)) {
		if (!c->inside)
			fast_entered(c);
	} else if (status >> 16 == 0) {
		done = fast_signal(c, sig);
	} else if (status >> 16 == PTRACE_EVENT_STOP && WSTOPSIG(status) != SIGTRAP && !c->all->leaving) {
		/* it must not be stepped: it could not stand stopped any more */
		if (!tracee_regs(&c->t, &g) && !fast_inside(f, &g))
			fast_to_program(c, &g);
	} else if (status >> 16 == PTRACE_EVENT_STOP &&
	    (c->all->leaving || c->turn.joins || fast_is_due(c))) {
		fast_out(c);
	}
	if (status >> 16 != PTRACE_EVENT_EXIT && !tracee_regs(&c->t, &g) && !fast_busy(f, &g))
		f->tail = *(volatile uint64_t *)&f->a->head = f->a->mapped = 0;
	return done;
}

static void
fast_add_guard(struct fast_area *a, uint64_t lo, uint64_t hi)
{
	if (a->nguard && a->nguard <= FAST_GUARDS && a->guard[a->nguard - 1].hi == (lo & ~(uint64_t)FAST_KEEP) &&
	    !((a->guard[a->nguard - 1].lo ^ lo) & FAST_KEEP)) {
		a->guard[a->nguard - 1].hi = hi;
		return;
	}
	if (a->nguard++ < FAST_GUARDS) {
		a->guard[a->nguard - 1].lo = lo;
		a->guard[a->nguard - 1].hi = hi;
	}
}

/* The recorder shall leave these mappings alone; if they are too many, all. */
static void
fast_guard(struct cap *c)
{
	struct fast *f = c->fast;
	struct fast_area *a = f->a;

	a->held = c->hold.held.n > 0;
	if (f->guarded == c->reg.version)
		return;
	f->guarded = c->reg.version;
	a->nguard = 0;
	for (size_t i = 0; i < c->reg.n; i++) {
		const struct region *r = &c->reg.p[i];

		if (r->prot & PROT_EXEC || r->shared || r->stack)
			fast_add_guard(a, r->lo, r->hi);
	}
	for (size_t i = 0; i < c->hold.held.n; i++)
		fast_add_guard(a, c->hold.held.p[i].lo | FAST_KEEP, c->hold.held.p[i].hi);
	for (size_t i = 0; i < c->nsite; i++)
		fast_add_guard(a, c->site[i].addr, c->site[i].addr + 1);
	fast_add_guard(a, f->core, f->core + FAST_SIZE);
	for (size_t i = 0; i < f->ntext; i++) {
		fast_add_guard(a, f->text[i].lo, f->text[i].hi);
		if (f->text[i].p)
			fast_add_guard(a, f->text[i].at, f->text[i].at + f->text[i].size);
	}
	if (a->nguard > FAST_GUARDS)
		a->nguard = 0;
}

static int
fast_restarts(const struct user_regs_struct *g)
{
	int64_t ret = (int64_t)g->rax;

	return (int64_t)g->orig_rax >= 0 && ret <= -512 && ret >= -516;
}

/*
 * Has the process several threads now, or memory that it shares with others?  Which descriptors do not wait is to be
 * found again then.
 */
static void
fast_threads(const struct cap *c)
{
	struct fast_area *a = c->fast->a;
	uint8_t threads = (c->th && c->th->nalive > 1) || share_any(c);

	if (threads && !a->threads)
		memset(a->file, 0, sizeof(a->file));
	a->threads = threads;
}

int
fast_resume(struct cap *c)
{
	struct fast *f = c->fast;
	struct user_regs_struct g;

	if (!f || !f->a || !f->on)
		return PTRACE_SYSCALL;
	if (!c->dispatched) {           /* another thread has turned it on while this one waited */
		fast_pause(c);
		return PTRACE_SYSCALL;
	}
	fast_threads(c);
	f->a->slow = c->t.nheld != 0 || fast_is_due(c) || (share_any(c) && !share_quiet(c));
	f->a->selector = 0;
	if (f->halted && f->a->nlate && !tracee_regs(&c->t, &g) && g.rip != fast_place(f, fast_late))
		fast_late_end(c);
	if (c->inside || f->calling || tracee_regs(&c->t, &g))
		return PTRACE_SYSCALL;
	f->a->fsbase = g.fs_base;
	f->a->gsbase = g.gs_base;
	if (f->mapped && fast_learned(c, 0))
		fast_jumps(c, 1);
	f->mapped = 0;
	fast_guard(c);
	fast_shown(c, g.rsp);
	if (!fast_restarts(&g))
		fast_lead(c, &g);
	f->a->selector = 1;
	return PTRACE_CONT;
}
