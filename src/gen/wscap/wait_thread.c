/*
 * --from in a process with several threads, which all run at their own speed.  While one is at a point the others stand,
 * as the breakpoint is not there then.  One of them is loaded, as in a capture: struct cap has its state.  Those that run
 * are in state THREAD_WAITS; those that stand in THREAD_READY, with a stop that was not handled.
 */
#include <errno.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gen/wscap/amid.h"
#include "gen/wscap/point.h"
#include "gen/wscap/signal.h"
#include "gen/wscap/thread.h"

/* The wait status of a thread that was interrupted. */
#define STANDS (PTRACE_EVENT_STOP << 16 | SIGTRAP << 8 | 0x7f)

static int
wait_of(pid_t tid, int *status)
{
	pid_t got;

	do
		got = waitpid(tid, status, __WALL);
	while (got < 0 && errno == EINTR);
	return got == tid ? 0 : -1;
}

void
wait_load(struct cap *c, struct thread *t)
{
	if (t == c->th->turn)
		return;
	thread_save(c, c->th->turn);
	thread_load(c, t);
	c->th->turn = t;
}

static struct thread *
wait_add(struct cap *c, pid_t tid)
{
	struct thread *t = thread_add(c, tid);

	t->own.t.pid = tid;
	t->own.t.mem = c->t.mem;
	return t;
}

void
wait_thread(struct cap *c, pid_t tid)
{
	if (!c->th)
		thread_first(c);
	c->th->turn->state = THREAD_WAITS;
	(void)wait_add(c, tid);
	ptrace(PTRACE_CONT, tid, NULL, NULL);
}

void
wait_thread_ended(struct cap *c, struct thread *t)
{
	struct thread *other = c->th->all;

	while (other && (other == t || other->state == THREAD_DYING))
		other = other->next;
	if (t == c->th->turn && other)
		wait_load(c, other);
	thread_free(c, t);
}

void
wait_stranger(struct cap *c, pid_t pid, int status)
{
	if (WIFSTOPPED(status) && status >> 16 == PTRACE_EVENT_EXIT)
		ptrace(PTRACE_CONT, pid, NULL, NULL);
	else if (WIFSTOPPED(status))
		tree_early(c->all, pid, status);
}

/* A thread has stopped, or ended: whether it was asked to. */
static unsigned
wait_froze(struct cap *c, struct thread *t, int status)
{
	unsigned asked = t->state == THREAD_WAITS;

	if (!WIFSTOPPED(status) && t->tid != c->pid) {
		thread_free(c, t);
		return asked;
	}
	/* one that executes a program waits in the kernel for the ends of the others */
	if (WIFSTOPPED(status) && status >> 16 == PTRACE_EVENT_EXIT && t->tid != c->pid) {
		t->state = THREAD_DYING;
		ptrace(PTRACE_CONT, t->tid, NULL, NULL);
		return asked;
	}
	t->state = asked ? THREAD_READY : t->state;
	t->stopped = 1;
	t->status = status;
	return asked;
}

int
wait_freeze(struct cap *c)
{
	unsigned n = 0;
	int status;
	pid_t pid;

	for (struct thread *t = c->th ? c->th->all : NULL; t; t = t->next)
		if (t != c->th->turn && t->state == THREAD_WAITS && !ptrace(PTRACE_INTERRUPT, t->tid, NULL, NULL))
			n++;
	while (n) {
		struct thread *t;

		pid = waitpid(-1, &status, __WALL);
		if (pid < 0 && errno != EINTR)
			return -1;
		t = pid > 0 ? thread_find(c->all, pid) : NULL;
		if (t && t == c->th->turn) {
			c->hasended = !WIFSTOPPED(status) && pid == c->pid;
			c->ended = status;
			return -1;
		}
		if (t)
			n -= wait_froze(c, t, status);
		else if (pid > 0)
			wait_stranger(c, pid, status);
	}
	return 0;
}

struct thread *
wait_standing(struct cap *c)
{
	struct thread *t = c->th ? c->th->all : NULL;

	while (t && !t->stopped)
		t = t->next;
	if (t) {
		t->stopped = 0;
		t->state = THREAD_WAITS;
	}
	return t;
}

/* The other threads, which were stopped before there was a region to wait for, run. */
void
wait_threads(struct cap *c)
{
	struct threads *th = c->th;

	if (!th)
		return;
	th->ready = NULL;
	th->last = &th->ready;
	th->nready = 0;
	th->turn->state = THREAD_WAITS;
	for (struct thread *t = th->all; t; t = t->next) {
		if (t == th->turn)
			continue;
		t->state = THREAD_WAITS;
		ptrace(PTRACE_SETOPTIONS, t->tid, NULL, (void *)(c->all->options | PTRACE_O_TRACEVFORKDONE));
		for (unsigned i = 0; i < t->own.t.nheld; i++)
			syscall(SYS_tgkill, c->pid, t->tid, t->own.t.held[i].si_signo);
		t->own.t.nheld = 0;
		amid_settle(&t->own.t);
		ptrace(PTRACE_CONT, t->tid, NULL, NULL);
	}
}

/*
 * Has it come to a breakpoint, whose instruction it has not executed? It is stopped by that; or it was stopped before,
 * and the signal is pending, and comes now.
 */
static void
wait_unhit(struct cap *c, struct thread *t)
{
	struct user_regs_struct g;
	uint64_t pending = 0;

	tracee_stopped(&t->own.t);
	if (tracee_regs(&t->own.t, &g) || !point_passed(c, g.rip))
		return;
	if (t->status >> 8 != SIGTRAP) {
		if (amid_status(t->tid, "SigPnd", 16, &pending) || !(pending >> (SIGTRAP - 1) & 1))
			return;
		ptrace(PTRACE_CONT, t->tid, NULL, NULL);
		if (wait_of(t->tid, &t->status) || t->status >> 8 != SIGTRAP)
			return;
	}
	point_back(&t->own.t, &g);
	t->status = STANDS;
}

/* Begins with t, whatever stop that was: stops it where it was asked to.  1: it has ended. */
static int
wait_settle(struct cap *c, struct thread *t, const char **why)
{
	struct tracee *p = &t->own.t;
	int status = t->status;
	unsigned long msg;
	siginfo_t si;

	for (;;) {
		if (!WIFSTOPPED(status))
			return 1;
		if (status >> 16 == PTRACE_EVENT_STOP)
			return 0;
		if (status >> 16 == 0 && WSTOPSIG(status) != (SIGTRAP | 0x80) &&
		    !ptrace(PTRACE_GETSIGINFO, t->tid, NULL, &si))
			tracee_hold(p, &si);
		if (status >> 16 == PTRACE_EVENT_EXEC)
			*why = "another of its threads executes a program";
		if (status >> 16 == PTRACE_EVENT_CLONE || status >> 16 == PTRACE_EVENT_FORK ||
		    status >> 16 == PTRACE_EVENT_VFORK)
			if (!ptrace(PTRACE_GETEVENTMSG, t->tid, NULL, &msg) && wait_begun(c, (pid_t)msg))
				wait_add(c, (pid_t)msg)->status = STANDS;
		/* any stop makes the kernel forget that another was asked for */
		ptrace(PTRACE_INTERRUPT, t->tid, NULL, NULL);
		if (ptrace(PTRACE_CONT, t->tid, NULL, NULL) < 0 || wait_of(t->tid, &status))
			return 1;
	}
}

/* Numbers are given in the order of beginnings, from 1 on. */
static void
wait_number(struct threads *th)
{
	uint32_t n = 0, below = 0;

	for (;;) {                      /* the list has the newest first */
		struct thread *least = NULL;

		for (struct thread *t = th->all; t; t = t->next)
			if (t->number > below && (!least || t->number < least->number))
				least = t;
		if (!least)
			break;
		below = least->number;
		least->number = ++n;
	}
	th->began = n;
}

/* The turn is that of t; others are ready. */
static void
wait_turn(struct cap *c, struct thread *t)
{
	struct threads *th = c->th;

	wait_load(c, t);
	t->state = THREAD_TURN;
	th->ran = t;
	th->ready = NULL;
	th->last = &th->ready;
	th->nready = 0;
	for (struct thread *o = th->all; o; o = o->next) {
		ptrace(PTRACE_SETOPTIONS, o->tid, NULL, (void *)c->all->options);
		if (o != t && o->state != THREAD_DYING)
			sched_ready(o);
	}
}

const char *
wait_gather(struct cap *c)
{
	struct threads *th = c->th;
	struct thread *at = th->turn, *first = thread_find(c->all, c->pid), *next;
	const char *why = NULL;

	(void)wait_freeze(c);
	thread_save(c, at);
	at->status = STANDS;
	for (struct thread *t = th->all; t; t = t->next)
		if (t != at && t->stopped)
			wait_unhit(c, t);
	random_off(c);
	for (struct thread *t = th->all; t; t = next) {
		next = t->next;
		t->stopped = 0;
		if (t == at || (t->state != THREAD_DYING && !wait_settle(c, t, &why)))
			continue;
		if (t == first) {
			why = "its first thread has ended, and others have not";
			continue;
		}
		while (t->state == THREAD_DYING && !wait_of(t->tid, &t->status) && WIFSTOPPED(t->status))
			ptrace(PTRACE_CONT, t->tid, NULL, NULL);
		thread_free(c, t);
	}
	wait_number(th);
	wait_turn(c, why ? at : first);
	th->from = at;
	return why;
}
