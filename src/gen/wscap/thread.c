/* Threads begin and end. */
#include <linux/sched.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <stdio.h>
#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/diag.h"
#include "base/mem.h"
#include "gen/wscap/fast.h"
#include "gen/wscap/signal.h"
#include "gen/wscap/thread.h"

#define ROBUST_MOST 2048u               /* entries of a robust list: the kernel looks at no more */

static struct thread **
thread_bucket(struct tree *a, pid_t tid)
{
	return &a->thread[(unsigned)tid % NBUCKETS];
}

struct thread *
thread_find(const struct tree *a, pid_t tid)
{
	struct thread *t = a->thread[(unsigned)tid % NBUCKETS];

	while (t && t->tid != tid)
		t = t->chain;
	return t;
}

void
thread_save(struct cap *c, struct thread *t)
{
#define X(f) memcpy(&t->own.f, &c->f, sizeof(c->f));
	THREAD_OWN(X)
#undef X
}

void
thread_load(struct cap *c, struct thread *t)
{
#define X(f) memcpy(&c->f, &t->own.f, sizeof(c->f));
	THREAD_OWN(X)
#undef X
	tracee_stopped(&c->t);
}

struct thread *
thread_add(struct cap *c, pid_t tid)
{
	struct thread *t = xcalloc(1, sizeof(*t)), **b = thread_bucket(c->all, tid);
	struct threads *th = c->th;

	t->c = c;
	t->tid = tid;
	t->number = ++th->began;
	t->chain = *b;
	*b = t;
	t->next = th->all;
	th->all = t;
	th->nalive++;
	c->all->nthreads++;
	return t;
}

static void
thread_spare(struct threads *th, struct thread *t)
{
	if (!t->room.size)
		return;
	th->spare = mem_xgrow(th->spare, &th->capspare, th->nspare + 1, sizeof(*th->spare));
	th->spare[th->nspare++] = t->room;
}

static void
thread_unlink(struct cap *c, struct thread *t)
{
	struct thread **b = thread_bucket(c->all, t->tid), **p = &c->th->all;

	while (*b != t)
		b = &(*b)->chain;
	*b = t->chain;
	while (*p != t)
		p = &(*p)->next;
	*p = t->next;
	c->all->nthreads--;
}

void
thread_free(struct cap *c, struct thread *t)
{
	struct threads *th = c->th;

	if (t->state != THREAD_DYING)
		th->nalive--;
	thread_spare(th, t);
	thread_unlink(c, t);
	if (th->ran == t)
		th->ran = NULL;
	free(t->aside.piece);
	free(t);
}

void
threads_free(struct cap *c)
{
	if (!c->th)
		return;
	while (c->th->all) {
		struct thread *t = c->th->all;

		thread_unlink(c, t);
		free(t->aside.piece);
		free(t);
	}
	free(c->th->spare);
	free(c->th);
	c->th = NULL;
}

void
thread_first(struct cap *c)
{
	struct thread *t;

	c->th = xcalloc(1, sizeof(*c->th));
	c->th->last = &c->th->ready;
	t = thread_add(c, c->t.pid);
	t->state = THREAD_TURN;
	c->th->turn = c->th->ran = t;
}

/* The arguments of the clone that c is in: the address that the kernel clears at the thread's end; 0: none. */
uint64_t
thread_cleartid(struct cap *c, uint64_t flags)
{
	uint8_t b[8];

	if (!(flags & CLONE_CHILD_CLEARTID))
		return 0;
	if (c->in.orig_rax == SYS_clone)
		return c->in.r10;
	return tracee_read(&c->t, c->in.rdi + 16, b, 8) == 8 ? get_le64(b) : 0;
}

void
thread_new(struct cap *c, pid_t tid)
{
	uint64_t flags = clone_flags(c, &(struct call){.nr = c->in.orig_rax, .arg = {c->in.rdi}});
	uint64_t cleartid = thread_cleartid(c, flags);
	struct user_regs_struct g;
	struct thread *t, *turn;

	if (!c->th)
		thread_first(c);
	turn = c->th->turn;
	thread_save(c, turn);
	t = thread_add(c, tid);
	pin_begun(c, tid);
	c->t.pid = tid;
	tracee_stopped(&c->t);
	c->t.nheld = 0;
	c->listen = c->inside = c->behind = c->denied = 0;
	c->restart = RESTART_NOT;
	c->oldadvice = c->sent = c->again = 0;
	c->cleartid = cleartid;
	c->amid.early = c->amid.early || c->amid.rseq;  /* its creator may have told it to register before that stopped */
	c->amid.rseq = 0;
	memset(&g, 0, sizeof(g));
	tracee_regs(&c->t, &g);
	tracee_from_user(&t->place, &g, g.rax);
	signal_mask(c);
	random_fork(c);
	fast_thread(c);
	aside_room(c, t);
	if (!turn->room.size)
		aside_room(c, turn);
	thread_save(c, t);
	thread_load(c, turn);
	sched_ready(t);
}

void
thread_place(struct cap *c, struct ws_regs *w)
{
	struct user_regs_struct g;

	if (c->inside || c->restart) {          /* before the call */
		tracee_from_user(w, &c->in, c->in.orig_rax);
		w->rip -= 2;
	} else if (c->behind) {
		tracee_from_user(w, &c->out, c->out.rax);
	} else {
		memset(&g, 0, sizeof(g));
		tracee_regs(&c->t, &g);
		tracee_from_user(w, &g, g.rax);
	}
}

/* Words that the kernel changes when a thread ends: those of locks that it holds, and its id. */
struct ending {
	uint64_t word[ROBUST_MOST];
	size_t n;
};

static uint64_t
thread_word(struct cap *c, uint64_t addr)
{
	uint8_t b[8];

	return tracee_read(&c->t, addr, b, 8) == 8 ? get_le64(b) : 0;
}

static void
thread_robust(struct cap *c, struct ending *e)
{
	uint64_t head = 0, at, offset, pending;
	size_t len = 0;

	if (syscall(SYS_get_robust_list, c->t.pid, &head, &len) || !head)
		return;
	offset = thread_word(c, head + 8);
	pending = thread_word(c, head + 16) & ~1ull;
	for (at = thread_word(c, head) & ~1ull; at && at != head && e->n + 2 < ROBUST_MOST;
	    at = thread_word(c, at) & ~1ull)
		e->word[e->n++] = at + offset;
	if (pending)
		e->word[e->n++] = pending + offset;
}

/* The leader of the process stays as a zombie until the others have ended. */
int
thread_is_zombie(pid_t tid)
{
	char path[40], text[512], *at;
	FILE *f;
	int zombie = 1;

	snprintf(path, sizeof(path), "/proc/%ld/stat", (long)tid);
	f = fopen(path, "re");
	if (f && fgets(text, sizeof(text), f) && (at = strrchr(text, ')')) != NULL)
		zombie = at[1] == ' ' && (at[2] == 'Z' || at[2] == 'X');
	if (f)
		fclose(f);
	return zombie;
}

static void
thread_await_end(struct cap *c)
{
	int status;

	ptrace(PTRACE_CONT, c->t.pid, NULL, NULL);
	if (c->t.pid == c->pid) {
		while (!thread_is_zombie(c->pid))
			nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
		return;
	}
	for (;;) {
		if (waitpid(c->t.pid, &status, __WALL) < 0) {
			if (errno != EINTR)
				return;
		} else if (!WIFSTOPPED(status)) {
			return;
		} else {
			ptrace(PTRACE_CONT, c->t.pid, NULL, NULL);
		}
	}
}

void
thread_exit(struct cap *c)
{
	static struct ending e;
	struct threads *th = c->th;
	struct thread *t = th->turn;

	if (!c->inside || c->in.orig_rax != SYS_exit || th->nalive < 2)
		return;
	e.n = 0;
	thread_robust(c, &e);
	if (c->cleartid)
		e.word[e.n++] = c->cleartid;
	thread_await_end(c);
	for (size_t i = 0; i < e.n; i++)
		put_mem(c, e.word[i], 4);
	tracee_from_user(&th->at, &c->in, 0);
	th->turn = th->ran = NULL;
	th->over = 1;
	if (t->tid == c->pid) {                 /* its end is told when the process ends */
		t->state = THREAD_DYING;
		th->nalive--;
		t->own.inside = 1;
	} else {
		thread_free(c, t);
	}
}

void
threads_interrupt(struct cap *c)
{
	for (struct thread *t = c->th->all; t; t = t->next)
		if (t->state == THREAD_WAITS || t->state == THREAD_TURN)
			ptrace(PTRACE_INTERRUPT, t->tid, NULL, NULL);
}

/* Stops a thread that waits in a call: its wait status, or -1: it is gone. */
static int
thread_stop(struct thread *t)
{
	int status;

	if (t->state == THREAD_READY)
		return t->stopped ? overdue_end(&t->own.t, &t->own.overdue, t->status) : 0;
	ptrace(PTRACE_INTERRUPT, t->tid, NULL, NULL);
	for (;;) {
		if (waitpid(t->tid, &status, __WALL) < 0) {
			if (errno != EINTR)
				return -1;
		} else if (!WIFSTOPPED(status)) {
			return -1;
		} else {
			return status;
		}
	}
}

/* The loaded thread stopped with this status, outside of what is captured. */
static void
thread_release(struct cap *c, int status, int shared)
{
	siginfo_t si;

	if (WIFSTOPPED(status) && WSTOPSIG(status) == (SIGTRAP | 0x80)) {
		tracee_regs(&c->t, &c->out);
		if ((int64_t)c->out.rax >= -516 && (int64_t)c->out.rax <= -512) {
			aside_leave(c, 0);
			c->out.rax = c->in.orig_rax;
			c->out.orig_rax = UINT64_MAX;
			c->out.rip = c->in.rip - 2;
			tracee_setregs(&c->t, &c->out);
		} else {
			aside_leave(c, 1);
		}
	} else if (WIFSTOPPED(status) && status >> 16 == 0 && !ptrace(PTRACE_GETSIGINFO, c->t.pid, NULL, &si)) {
		tracee_hold(&c->t, &si);
	}
	fast_untell(c);
	ptrace(PTRACE_POKEUSER, c->t.pid, offsetof(struct user, u_debugreg) + 7 * sizeof(long), 0);
	for (unsigned i = 0; i < c->t.nheld; i++)       /* none runs yet, so none can be waited for */
		syscall(SYS_tgkill, c->pid, c->t.pid, c->t.held[i].si_signo);
	c->t.nheld = 0;
	child_allow(c, &c->t, shared);
}

void
threads_release(struct cap *c, int shared)
{
	struct threads *th = c->th;
	struct thread *turn = th->turn;
	struct cap *other = xmalloc(sizeof(*other));
	int status;

	memcpy(other, c, sizeof(*other));
	for (struct thread *t = th->all; t; t = t->next) {
		if (t == turn || t->state == THREAD_DYING || (status = thread_stop(t)) < 0)
			continue;
		thread_load(other, t);
		th->turn = t;
		thread_release(other, status, shared);
		thread_save(other, t);
		t->own.dispatched = 0;
		t->state = THREAD_RELEASED;
	}
	th->turn = turn;
	free(other);
}

void
threads_go(struct cap *c)
{
	for (struct thread *t = c->th->all; t; t = t->next)
		if (t->state == THREAD_RELEASED)
			child_deliver(&t->own.t, c->pid);
}
