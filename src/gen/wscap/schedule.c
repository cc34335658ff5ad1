/*
 * Which thread of a process runs.  One at a time has the turn.  It gives it away when a system call waits,
 * when it ends, after sched_yield, and, if others are ready, some milliseconds after it got it: after a call,
 * or elsewhere, at a place that is found as that of a signal.
 */
#include <errno.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "base/bytes.h"
#include "base/diag.h"
#include "gen/wscap/amid.h"
#include "gen/wscap/fast.h"
#include "gen/wscap/signal.h"
#include "gen/wscap/thread.h"

enum { WATCH_SPINS = 20 };              /* looks at a call that may wait before wscap rests */

static void
ready_add(struct thread *t)
{
	struct threads *th = t->c->th;

	t->state = THREAD_READY;
	t->behind = NULL;
	*th->last = t;
	th->last = &t->behind;
	th->nready++;
}

static void
ready_remove(struct thread *t)
{
	struct threads *th = t->c->th;
	struct thread **p = &th->ready;

	if (t->state != THREAD_READY)
		return;
	while (*p != t)
		p = &(*p)->behind;
	*p = t->behind;
	if (!*p)
		th->last = p;
	th->nready--;
}

void
sched_ready(struct thread *t)
{
	ready_add(t);
	spin_ready(t->c);
	cap_set_timer(1);
}

/* The turn goes from the thread that ran last to t, which is loaded: records that. */
static void
put_switch(struct cap *c, const struct thread *t)
{
	struct threads *th = c->th;
	struct ws_rec r = {.kind = WS_SIG, .u.sig = th->sig};

	if (!th->placed)
		r.u.sig = (struct ws_rec_sig){.icount = WS_UNKNOWN, .at = th->at};
	r.u.sig.sig = WS_SWITCH;
	r.u.sig.thread = t->number;
	r.u.sig.to = t->place;
	r.u.sig.nxsave = get_xsave(c);
	r.u.sig.xsave = c->all->xsave;
	wscap_put(c, &r);
	if (th->pi)
		put_mem(c, th->pi, 4);
}

static void
turn_give(struct cap *c, struct thread *t)
{
	struct threads *th = c->th;

	ready_remove(t);
	t->state = THREAD_TURN;
	th->turn = t;
	th->due = 0;
	thread_load(c, t);
	lately_again(c);
	if (th->ran != t) {
		put_switch(c, t);
		random_fork(c);
		spin_turn(c);
		spin_resumed(c, t);
	}
	t->after = 0;
	th->ran = t;
	th->placed = 0;
	th->pi = 0;
}

/* The thread with the turn no longer has it; it stopped at w. */
static void
turn_take(struct cap *c, const struct ws_regs *w)
{
	struct threads *th = c->th;

	th->at = th->turn->place = *w;
	thread_save(c, th->turn);
	th->turn = NULL;
}

void
sched_begin(struct cap *c)
{
	struct threads *th = c->th;
	struct thread *t = th ? th->from : NULL, *first = th ? th->turn : NULL;
	struct ws_regs w;

	if (!t || t == first)
		return;
	amid_settle(&c->t);
	thread_place(c, &w);
	turn_take(c, &w);
	ready_add(first);
	turn_give(c, t);
	th->due = -1;                   /* the timer may have expired while memory was read */
}

int
sched_next(struct cap *c)
{
	struct thread *t = c->th->ready;

	if (c->th->turn || !t || !turn_threads(c))
		return 0;
	if (t->stopped)
		t->status = overdue_end(&t->own.t, &t->own.overdue, t->status);
	turn_give(c, t);
	if (t->stopped) {
		t->stopped = 0;
		tree_stopped(c, t->status);
	} else {
		share_catch_up(c);
		tree_resume(c, 0);
	}
	return 1;
}

/* Is the turn of the thread that has it over?  It is stopped. */
static int
sched_is_over(const struct cap *c)
{
	const struct threads *th = c->th;

	if (c->inside || c->restart || !th->nready || c->listen)
		return 0;
	return th->placed || (th->called && (th->due > 0 || c->in.orig_rax == SYS_sched_yield));
}

int
sched_stopped(struct cap *c, int sig)
{
	struct threads *th = c->th;
	struct thread *t = th->turn;
	struct ws_regs w;
	int over = !sig && sched_is_over(c);

	if (th->called)
		c->spin.spins = 0;
	th->called = 0;
	if (th->over) {
		th->over = 0;
	} else if (!over) {
		c->spin.passed |= th->placed;   /* what was to be recorded is not */
		th->placed = 0;
		t->after = 0;
		return 0;
	} else {
		thread_place(c, &w);
		turn_take(c, th->placed ? &th->sig.at : &w);
		ready_add(t);
	}
	sched_next(c);
	return 1;
}

int
sched_state(pid_t tid)
{
	char path[40], text[512], *at;
	FILE *f;
	int state = 0;

	snprintf(path, sizeof(path), "/proc/%ld/stat", (long)tid);
	f = fopen(path, "re");
	if (f && fgets(text, sizeof(text), f) && (at = strrchr(text, ')')) != NULL)
		state = at[1] == ' ' ? at[2] : 0;
	if (f)
		fclose(f);
	return state;
}

int
sched_sleeps(pid_t tid)
{
	return sched_state(tid) == 'S';
}

/* While these wait, no other thread may run: what they do to memory would not be found. */
static int
sched_holds(const struct cap *c)
{
	if (c->compare == COMPARE_WRITES)
		return 1;
	switch (c->in.orig_rax) {
	case SYS_clone: case SYS_clone3: case SYS_fork: case SYS_vfork: case SYS_execve: case SYS_execveat:
	case SYS_exit: case SYS_exit_group: case SYS_mmap: case SYS_munmap: case SYS_mremap: case SYS_brk:
	case SYS_mprotect: case SYS_madvise:
		return 1;
	}
	return 0;
}

/* Is a thread in a call that could wait, while others could run?  One that has stopped, and waits for the turn, is not. */
static int
sched_must_watch(const struct cap *c)
{
	return c->th && c->th->turn && c->inside && c->th->nready && c->turn.ready != TURN_STOPPED && !sched_holds(c);
}

/* The kernel changes some futexes as soon as a call waits for them. */
static uint64_t
sched_pi(const struct cap *c)
{
	unsigned op = (unsigned)c->in.rsi & FUTEX_CMD_MASK;

	return c->in.orig_rax == SYS_futex && (op == FUTEX_LOCK_PI || op == 13 /* FUTEX_LOCK_PI2 */) ?
	    c->in.rdi : 0;
}

/*
 * Will the call wait?  A futex has the value for that, and no other thread runs that could change it.  If one of another
 * process does, the call ends at once, as any that has waited.
 */
static int
sched_will_sleep(struct cap *c)
{
	unsigned op = (unsigned)c->in.rsi & FUTEX_CMD_MASK;
	uint8_t b[4];

	return c->in.orig_rax == SYS_futex && (op == FUTEX_WAIT || op == FUTEX_WAIT_BITSET) &&
	    tracee_read(&c->t, c->in.rdi, b, 4) == 4 && get_le32(b) == (uint32_t)c->in.rdx;
}

/* The thread with the turn waits: it has it no longer. */
static void
sched_lose(struct cap *c)
{
	struct ws_regs w;

	c->compare = COMPARE_NOT;       /* the others write in the meantime */
	c->th->pi = sched_pi(c);
	c->th->turn->state = THREAD_WAITS;
	thread_place(c, &w);
	turn_take(c, &w);
}

static int
sched_check(struct cap *c)
{
	if (!sched_must_watch(c) || (!sched_will_sleep(c) && !sched_sleeps(c->t.pid)))
		return 0;
	sched_lose(c);
	return sched_next(c);
}

int
sched_watching(const struct tree *a)
{
	if (turn_watching(a))
		return 1;
	for (size_t i = 0; i < NBUCKETS && a->nthreads; i++)
		for (const struct cap *c = a->bucket[i]; c; c = c->next)
			if (sched_must_watch(c))
				return 1;
	return 0;
}

void
sched_watch(struct tree *a)
{
	static unsigned spins;
	int some = turn_watch(a);

	for (size_t i = 0; i < NBUCKETS && a->nthreads && !some; i++)
		for (struct cap *c = a->bucket[i]; c && !some; c = c->next)
			some = sched_check(c);
	spins = some ? 0 : spins + 1;
	if (spins > WATCH_SPINS)
		nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
}

int
sched_tick(struct cap *c)
{
	struct threads *th = c->th;

	if (!th->nready)
		return 0;
	if (th->turn && !c->inside && !c->listen) {
		if (th->due <= 0 && ++th->due > 0)
			fast_hurry(c);
		if (th->due > 0)
			ptrace(PTRACE_INTERRUPT, c->t.pid, NULL, NULL);
	}
	return 1;
}

int
sched_due(const struct cap *c)
{
	return c->th && c->th->due > 0 && c->th->nready;
}

int
sched_interrupted(struct cap *c)
{
	struct threads *th = c->th;
	struct user_regs_struct g;
	int other;

	if (!sched_due(c) || c->inside || c->restart)
		return 0;
	if (signal_after_call(c)) {
		th->called = 1;
		return 0;
	}
	if (c->fast && c->fast->on && (!fast_leave(c) || turn_calls(c)))        /* it stops by itself */
		return 0;
	/* what it changes from now on tells where it will be interrupted, at the next tick */
	if (lately_begin(c)) {
		spin_learn_here(c);
		return 0;
	}
	if (!lately_long(c) || signals_sent(c))
		return 0;
	c->behind = 0;
	other = signal_find_place(c);
	if (other)
		return other > 0 ? on_signal(c, other) : 0;
	if (tracee_regs(&c->t, &g))
		return 0;
	memset(&th->sig, 0, sizeof(th->sig));
	th->sig.icount = WS_UNKNOWN;
	tracee_from_user(&th->sig.at, &g, g.rax);
	place_record(c, &th->sig, g.rsp);
	th->placed = 1;
	c->spin.spins = 0;
	spin_learn(c, g.rip);
	return 0;
}

/* A stop of a thread that has not the turn.  1: it has no effect, and the thread has been resumed. */
static int
sched_passes(struct thread *t, int status)
{
	int job = WSTOPSIG(status) != SIGTRAP;

	if (status >> 16 == PTRACE_EVENT_EXIT) {
		ready_remove(t);
		t->c->th->nalive -= t->state != THREAD_DYING;
		t->state = THREAD_DYING;
		ptrace(PTRACE_CONT, t->tid, NULL, NULL);
		return 1;
	}
	if (status >> 16 == PTRACE_EVENT_STOP && !t->c->all->leaving) {
		ptrace(job ? PTRACE_LISTEN : PTRACE_SYSCALL, t->tid, NULL, NULL);
		return 1;
	}
	return 0;
}

/* A thread without the turn has stopped. */
static void
sched_stands(struct thread *t, int status)
{
	struct cap *c = t->c;
	int first = !c->th->turn && !c->th->nready && (!share_any(c) || !c->all->turns.has || c->all->turns.has == c);

	t->stopped = 1;
	t->status = status;
	sched_ready(t);
	if (!first && t->own.inside && overdue_is(c, &t->own.t, &t->own.in, status))
		overdue_begin(c, &t->own.t, &t->own.overdue, t->own.dispatched);
	sched_next(c);
}

struct cap *
sched_event(struct tree *a, pid_t pid, int status, int *handled)
{
	struct thread *t = thread_find(a, pid);
	struct cap *c;

	*handled = 0;
	if (!t)
		return NULL;
	c = t->c;
	if (!WIFSTOPPED(status)) {
		*handled = t->tid != c->pid;
		if (*handled && t->state == THREAD_TURN) {      /* it was killed */
			c->th->turn = NULL;
			c->th->ran = NULL;
			turn_leave(c);
		}
		if (*handled)
			thread_free(c, t);
		return c;
	}
	if (t->state == THREAD_TURN && sched_must_watch(c) && overdue_is(c, &c->t, &c->in, status))
		sched_lose(c);          /* it has waited, and nobody has seen that */
	if (status >> 16 != PTRACE_EVENT_EXEC && t->state != THREAD_TURN) {
		*handled = 1;
		if (!overdue_event(&t->own.t, &t->own.overdue, status) && !sched_passes(t, status))
			sched_stands(t, status);
	}
	return c;
}
