/*
 * Processes that share memory run one at a time, as the threads of one process do: what one of them reads is what the
 * others had written when it got the turn, which is recorded then.  Of its threads, if it has several, one runs then.
 * The turn goes on when a system call waits, when its process ends, after sched_yield, and, if others are ready, some
 * milliseconds after it came: after a call, or elsewhere, at a place that is found as that of a signal.
 */
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#include "gen/wscap/fast.h"
#include "gen/wscap/signal.h"
#include "gen/wscap/thread.h"

static void
turn_add(struct cap *c, enum turn_ready ready)
{
	struct turns *t = &c->all->turns;

	c->turn.ready = ready;
	c->turn.behind = NULL;
	if (t->last)
		t->last->turn.behind = c;
	else
		t->first = c;
	t->last = c;
	/* it executes those instructions undisturbed, as no other was ready */
	if (t->has && t->has->spin.unwatched && t->due <= 0)
		t->due = 1;
	cap_set_timer(1);
}

static void
turn_remove(struct cap *c)
{
	struct turns *t = &c->all->turns;
	struct cap **p = &t->first, *before = NULL;

	if (!c->turn.ready)
		return;
	for (; *p != c; p = &(*p)->turn.behind)
		before = *p;
	*p = c->turn.behind;
	if (t->last == c)
		t->last = before;
	c->turn.ready = TURN_NOT;
}

/* c has the turn, which nobody had. */
static void
turn_get(struct cap *c)
{
	struct turns *t = &c->all->turns;

	t->has = c;
	t->due = 0;
	if (!c->th)
		lately_again(c);
	if (t->ran != c) {
		c->all->nran++;
		spin_turn(c);
	}
	c->spin.passed |= c->turn.joins;        /* where it is will be recorded */
	c->spin.round = 0;
	t->ran = c;
}

/* c, which has the turn, has it no longer; it goes on only when it has it again. */
static void
turn_give(struct cap *c)
{
	c->all->turns.has = NULL;
	share_keep(c);
}

/* Does c run without the turn, since it began to take part? */
static int
turn_is_loose(const struct cap *c)
{
	return share_any(c) && c->all->turns.has != c && !c->turn.ready && !c->inside && !c->listen &&
	    (!c->th || c->th->turn);
}

void
turn_join(struct cap *c)
{
	if (c->all->leaving || !turn_is_loose(c))
		return;
	ptrace(PTRACE_INTERRUPT, c->t.pid, NULL, NULL);
	c->all->turns.joined = 1;
}

/* Do some still run that have joined?  Until they stop, nobody gets the turn. */
static int
turn_waits(struct tree *a)
{
	if (!a->turns.joined)
		return 0;
	for (size_t b = 0; b < NBUCKETS; b++)
		for (const struct cap *c = a->bucket[b]; c; c = c->next)
			if (turn_is_loose(c))
				return 1;
	return a->turns.joined = 0;
}

void
turn_leave(struct cap *c)
{
	struct turns *t = &c->all->turns;

	turn_remove(c);
	if (t->has == c)
		t->has = NULL;
	if (t->ran == c)
		t->ran = NULL;
}

void
turn_lend(struct cap *c)
{
	if (c->all->turns.has == c)
		turn_give(c);
}

int
turn_stopped(struct cap *c, int status)
{
	struct turns *t = &c->all->turns;
	int due;

	if (overdue_event(&c->t, &c->overdue, status))
		return 1;
	c->turn.joins = c->turn.called = c->turn.placed = 0;
	if (!share_any(c))
		return 0;
	/* where it stands must be found before others write, as it may execute some more instructions for that */
	c->turn.joins = turn_is_loose(c);
	turn_remove(c);                 /* it was killed while it waited for the turn */
	if (!t->has && !t->joined)
		turn_get(c);
	due = c->inside && overdue_is(c, &c->t, &c->in, status);
	if (c->turn.joins || (t->has == c && !(t->first && due)))
		return 0;
	if (t->has == c)                /* it has waited, and nobody has seen that */
		turn_give(c);
	c->turn.status = status;
	turn_add(c, TURN_STOPPED);
	if (due)
		overdue_begin(c, &c->t, &c->overdue, c->dispatched);
	return 1;
}

/* Records where c is, which waits for the turn from now on: 0; or a signal came instead. */
static int
turn_place(struct cap *c)
{
	int other;

	if (signal_after_call(c))
		return 0;
	c->behind = 0;
	other = signal_find_place(c);
	if (!other)
		signal_place(c);
	return other;
}

int
turn_calls(struct cap *c)
{
	struct user_regs_struct g;

	return !tracee_regs(&c->t, &g) && call_is_at(c, g.rip);
}

int
turn_settle(struct cap *c, int sig)
{
	int other;

	if (!c->turn.joins || c->inside || c->restart || c->listen || c->hasended || !share_any(c) ||
	    c->all->leaving)
		return sig;
	if (!sig && (!fast_leave(c) || turn_calls(c)))  /* it stops by itself */
		return sig;
	if (!sig) {
		other = turn_place(c);
		c->turn.placed = other == 0;
		if (other > 0)
			sig = on_signal(c, other);
	}
	if (c->turn.placed)
		share_catch_up(c);
	else if (!c->hasended)          /* it is for the signal first */
		ptrace(PTRACE_INTERRUPT, c->t.pid, NULL, NULL);
	return sig;
}

/* c stands until it is told to continue; it must not be moved to a better place. */
static void
turn_stand(struct cap *c)
{
	if (!c->inside && !c->restart && !signal_after_call(c))
		signal_place(c);
	turn_give(c);
	c->turn.late = 1;
}

/* Is the turn of c over, which has it?  It is after a call, or at a place that is recorded, or neither. */
static int
turn_is_over(const struct cap *c, int called, int placed)
{
	const struct turns *t = &c->all->turns;

	if (c->inside || c->restart)
		return 0;
	if (t->joined)
		return called || placed;
	return t->first && (placed || (called && (t->due > 0 || c->in.orig_rax == SYS_sched_yield)));
}

void
turn_resume(struct cap *c, int sig)
{
	struct turns *t = &c->all->turns;
	int called = c->turn.called, placed = c->turn.placed, loose = c->turn.joins && !placed && !called, goes;

	c->turn.joins = c->turn.called = c->turn.placed = 0;
	if (called)
		c->spin.spins = 0;
	if (!share_any(c)) {
		turn_leave(c);
		tree_resume(c, sig);
		return;
	}
	if (!t->has && !t->joined)
		turn_get(c);
	if (c->all->leaving) {          /* its next stop is its end: until then, no other begins */
		tree_resume(c, sig);
		return;
	}
	if (t->has == c) {
		if (c->turn.late && !c->inside)
			share_catch_up(c);
		c->turn.late = 0;
		goes = sig || c->listen || !turn_is_over(c, called, placed);
		if (c->listen)
			turn_stand(c);
		else if (!goes)
			turn_give(c);
	} else {
		goes = c->inside || c->listen || loose;
	}
	if (goes) {
		tree_resume(c, sig);
		return;
	}
	c->turn.sig = sig;
	turn_add(c, TURN_HANDLED);
}

int
turn_threads(struct cap *c)
{
	struct turns *t = &c->all->turns;

	if (!share_any(c) || t->has == c)
		return 1;
	if (!t->has && !t->joined) {
		turn_get(c);
		return 1;
	}
	if (!c->turn.ready)
		turn_add(c, TURN_THREADS);
	return 0;
}

/* The first in the queue has the turn now. */
static void
turn_begin(struct cap *c)
{
	enum turn_ready ready = c->turn.ready;

	if (ready == TURN_STOPPED)
		c->turn.status = overdue_end(&c->t, &c->overdue, c->turn.status);
	turn_remove(c);
	turn_get(c);
	if (ready == TURN_STOPPED) {
		tree_stopped(c, c->turn.status);
	} else if (ready == TURN_HANDLED) {
		c->placed |= c->all->leaving;   /* the capture ends where it stands */
		share_catch_up(c);
		turn_resume(c, c->turn.sig);
	} else {
		sched_next(c);
	}
}

void
turn_next(struct tree *a)
{
	struct turns *t = &a->turns;

	if (t->has && !share_any(t->has))
		t->has = NULL;
	if (t->has && t->has->th && !t->has->th->turn)          /* all its threads wait */
		turn_give(t->has);
	/* at the end of the capture, each ends before the next begins: who is released writes as it likes */
	for (;;) {
		if (t->has)
			(void)tree_reap(t->has);        /* it was killed while its memory was compared */
		if (!t->first || t->has || turn_waits(a))
			return;
		turn_begin(t->first);
	}
}

int
turn_watching(const struct tree *a)
{
	return a->turns.first && a->turns.has && a->turns.has->inside;
}

int
turn_watch(struct tree *a)
{
	struct cap *c = a->turns.has;

	if (!turn_watching(a) || (c->th && c->th->nready) || !sched_sleeps(c->t.pid))
		return 0;
	turn_give(c);
	return 1;
}

int
turn_tick(struct tree *a)
{
	struct turns *t = &a->turns;

	if (!t->first)
		return 0;
	if (t->has && !t->has->inside && !t->has->listen) {
		if (t->due <= 0 && ++t->due > 0)
			fast_hurry(t->has);
		if (t->due > 0)
			ptrace(PTRACE_INTERRUPT, t->has->t.pid, NULL, NULL);
	}
	return 1;
}

int
turn_ends(const struct cap *c)
{
	return turn_others(c) && c->all->turns.due > 0;
}

int
turn_others(const struct cap *c)
{
	const struct turns *t = &c->all->turns;

	return t->has == c && t->first;
}

int
turn_due(struct cap *c)
{
	return turn_ends(c) && !c->inside && !c->restart && fast_leave(c);
}

int
turn_interrupted(struct cap *c)
{
	int other, called = signal_after_call(c);

	/* what it changes from now on tells where it will be interrupted, at the next tick */
	if (!called && lately_begin(c)) {
		spin_learn_here(c);
		return 0;
	}
	if (!called && (!lately_long(c) || signals_sent(c)))
		return 0;
	other = turn_place(c);
	if (other)
		return other > 0 ? on_signal(c, other) : 0;
	if (!called)
		spin_learn_here(c);
	c->spin.spins = 0;
	c->turn.placed = 1;
	return 0;
}
