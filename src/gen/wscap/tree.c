/* All processes: waits for them, and runs each from stop to stop. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/mem.h"
#include "gen/wscap/amid.h"
#include "gen/wscap/fast.h"
#include "gen/wscap/signal.h"
#include "gen/wscap/thread.h"
#include "gen/wscap/touch.h"

#define AGAIN ((uint64_t)-512)  /* the result of a call that is made again, as in the kernel */
#define PEEKED 8                /* pending signals that are looked at: faults come first */
#define IMAGE_EVERY 64          /* events, after which some of an image is read however busy the processes are */

static struct cap **
tree_bucket(struct tree *a, pid_t pid)
{
	return &a->bucket[(unsigned)pid % NBUCKETS];
}

struct cap *
tree_add(struct tree *a, struct cap *c)
{
	struct cap **b;

	c->pid = c->t.pid;
	b = tree_bucket(a, c->pid);
	c->all = a;
	c->next = *b;
	*b = c;
	a->ncap++;
	return c;
}

struct cap *
tree_find(const struct tree *a, pid_t pid)
{
	struct cap *c = a->bucket[(unsigned)pid % NBUCKETS];

	while (c && c->pid != pid)
		c = c->next;
	return c;
}

void
tree_remove(struct cap *c)
{
	struct cap **b = tree_bucket(c->all, c->pid);

	turn_leave(c);
	fork_return(c);
	image_end(c);
	threads_free(c);
	if (c->borrower)                /* its memory lives on with the child */
		c->borrower->lender = NULL;
	while (*b != c)
		b = &(*b)->next;
	*b = c->next;
	c->all->ncap--;
	c->all->nleft++;
	tracee_close(&c->t);
	fast_free(c);
	hold_free(c);
	free(c->args);
	free(c->reg.p);
	free(c->after.p);
	free(c->hidden.p);
	free(c->site);
	free(c->shadow.p);
	free(c->shadow.range);
	common_free(&c->common);
	lately_free(c);
	free(c);
}

uint64_t
tree_now(const struct tree *a)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)((t.tv_sec - a->began.tv_sec) * 1000000000 + (t.tv_nsec - a->began.tv_nsec));
}

int
tree_begin(struct cap *c, struct cap *parent, enum ws_began began)
{
	struct ws_run run = {.began = (uint32_t)began, .pid = (uint64_t)c->pid};

	if (began != WS_FIRST) {
		run.parent = ws_run_writer_number(parent->run);
		run.trigger = ws_triggers(parent->w);
		run.start = tree_now(c->all);
	}
	c->run = ws_runs_begin(c->all->runs, &run);
	if (!c->run)
		put_failed(c, ENOSPC);
	return c->run ? 0 : -1;
}

/* The last part of the program's path, for messages; what the kernel calls the process, if the path is not told. */
static const char *
tree_name(const struct cap *c)
{
	static char exe[4096];
	const char *slash;
	ssize_t n;
	int fd;

	start_exe(c->pid, exe, sizeof(exe));
	if (!*exe && (fd = tracee_open(c->pid, "comm", O_RDONLY)) >= 0) {
		n = read(fd, exe, sizeof(exe) - 1);
		exe[n > 0 ? n - 1 : 0] = 0;
		close(fd);
		return exe;
	}
	slash = strrchr(exe, '/');
	return slash ? slash + 1 : exe;
}

void
tree_warn(const struct cap *c, const char *text, const char *why)
{
	if (c->all->first == c->pid && (!c->run || ws_run_writer_number(c->run) == 1))
		warn("%s: %s", text, why);
	else
		warn("%s[%ld]: %s: %s", tree_name(c), (long)c->pid, text, why);
}

void
tree_early(struct tree *a, pid_t pid, int status)
{
	a->early = mem_xgrow(a->early, &a->capearly, a->nearly + 1, sizeof(*a->early));
	a->early[a->nearly++] = (struct stopped){pid, status};
}

int
tree_first_stop(struct tree *a, pid_t pid)
{
	int status;

	/* how a thread ends, in the place of an id (wait_shares): 0 would be any process */
	if (pid <= 0)
		return -1;
	for (size_t i = 0; i < a->nearly; i++)
		if (a->early[i].pid == pid) {
			a->early[i] = a->early[--a->nearly];
			return 0;
		}
	while (waitpid(pid, &status, __WALL) < 0)
		if (errno != EINTR)
			return -1;
	return WIFSTOPPED(status) ? 0 : -1;
}

/* Who is the parent of a process, for the kernel? */
static pid_t
tree_parent(pid_t pid)
{
	char path[40], text[512], *at;
	FILE *f;
	long parent = 0;

	snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
	f = fopen(path, "re");
	if (f && fgets(text, sizeof(text), f) && (at = strrchr(text, ')')) != NULL)
		(void)sscanf(at + 1, " %*c %ld", &parent);
	if (f)
		fclose(f);
	return (pid_t)parent;
}

/* A parent that was killed in its call never told of its child, which waits to be released. */
static void
early_strays(struct tree *a)
{
	for (size_t i = 0; i < a->nearly; i++) {
		pid_t pid = a->early[i].pid;

		if (tree_find(a, tree_parent(pid)))
			continue;
		a->early[i--] = a->early[--a->nearly];
		a->strays = 1;
		child_free_stray(a, pid);
	}
}

static void
tree_first_ended(struct tree *a, int status)
{
	a->first = 0;
	a->status = status;
	cap_signals_first_gone();
}

static void
tree_ended(struct cap *c)
{
	struct tree *a = c->all;

	if (c->pid == a->first)
		tree_first_ended(a, c->ended);
	if (WIFEXITED(c->ended))
		cap_finish(c, WS_EXITED, (unsigned)WEXITSTATUS(c->ended));
	else
		cap_finish(c, WS_KILLED, (unsigned)WTERMSIG(c->ended));
	tree_remove(c);
	early_strays(a);
}

void
tree_resume(struct cap *c, int sig)
{
	int err;

	if (c->sent)
		signals_lost(c);
	if (c->t.nheld && !c->sent)
		cap_set_timer(1);
	if (c->all->leaving)            /* any other stop, as of a call made on its behalf, has undone that of tree_interrupt */
		ptrace(PTRACE_INTERRUPT, c->t.pid, NULL, NULL);
	err = tracee_resume(&c->t, c->listen ? PTRACE_LISTEN : fast_resume(c), sig);
	if (err && err != ESRCH)
		die("cannot continue the program: %s", strerror(err));
}

/* The capture ends at the beginning or the end of a system call; one that will be made again is its last. */
static void
leave_call(struct cap *c)
{
	struct user_regs_struct g;
	int again = c->restart;

	if (tracee_regs(&c->t, &g))
		return;
	if (!c->inside) {
		if (!again || g.rip != c->in.rip)
			c->in = g;
		tracee_cancel_call(&c->t, &g);
		again = 1;
	} else if (amid_broken(&c->t, &g)) {
		c->out = g;
		if (c->th)
			aside_leave(c, 0);
		g = c->out;
		amid_repeat(&c->t, &g);
		again = 1;
	} else {
		call_leave(c);
		again = c->restart;
	}
	c->inside = 0;
	if (again)
		put_sys(c, &c->in, AGAIN);
}

/* wscap ends, or its capture: releases a process at a stop. */
static void
tree_leave(struct cap *c, int status)
{
	static const char told[] = "wscap was told to end";
	siginfo_t si;

	if (WSTOPSIG(status) == (SIGTRAP | 0x80)) {
		leave_call(c);
	} else {
		if (status >> 16 == 0 && !ptrace(PTRACE_GETSIGINFO, c->t.pid, NULL, &si))
			tracee_hold(&c->t, &si);
		if (c->restart)
			put_sys(c, &c->in, AGAIN);
		else
			signal_leave(c);
	}
	if (c->hasended)
		return;
	if (c->all->imaged == c) {      /* it is not to wait until all its memory has been read */
		hold_final(c);
		cap_release(c);
	}
	if (c->all->over && c->w) {     /* as the user wished: no warning */
		hold_settle(c, 0);
		put_note(c, c->all->over);
		cap_warn_stop(c, NULL);
	} else {
		cap_warn_stop(c, c->w ? told : NULL);
	}
	if (!c->traced)
		return;
	if (c->all->touch)
		touch_all(c);
	cap_release(c);
}

void
tree_interrupt(struct tree *a)
{
	a->leaving = 1;
	if (a->attached && !a->over)
		a->over = "wscap was told to end";
	for (size_t i = 0; i < NBUCKETS; i++)
		for (struct cap *c = a->bucket[i]; c; c = c->next)
			if (c->th)
				threads_interrupt(c);
			else
				ptrace(PTRACE_INTERRUPT, c->t.pid, NULL, NULL);
}

/* At a breakpoint of ours or the like, and at a fault of the program, the instruction comes first. */
static int
tree_faults(struct cap *c, int status)
{
	siginfo_t si;

	return status >> 16 == 0 && WSTOPSIG(status) != (SIGTRAP | 0x80) &&
	    !ptrace(PTRACE_GETSIGINFO, c->t.pid, NULL, &si) && signal_is_fault(&si);
}

/*
 * A process that was to stop may have a fault that the kernel has not told yet, as that of a breakpoint of ours, behind
 * which it stands: that comes first.  The new status.
 */
static int
tree_fault_first(struct cap *c, int status)
{
	struct __ptrace_peeksiginfo_args args = {.nr = PEEKED};
	siginfo_t si[PEEKED];
	uint64_t mask = 0;
	long n, i = 0;
	int fault;

	if (status >> 16 != PTRACE_EVENT_STOP || WSTOPSIG(status) != SIGTRAP ||
	    ptrace(PTRACE_GETSIGMASK, c->t.pid, sizeof(mask), &mask))
		return status;
	n = ptrace(PTRACE_PEEKSIGINFO, c->t.pid, &args, si);
	while (i < n && (!signal_is_fault(&si[i]) || mask >> (si[i].si_signo - 1) & 1))
		i++;
	if (i >= n)
		return status;
	fault = place_run(c, PTRACE_CONT);
	return fault > 0 ? fault : status;
}

/* Has it ended while a call was made on its behalf? */
static int
tree_gone(struct cap *c)
{
	if (!c->t.gone || c->hasended || c->th)
		return 0;
	c->ended = c->t.status;
	return c->hasended = 1;
}

int
tree_reap(struct cap *c)
{
	if (!tree_gone(c))
		return 0;
	tree_ended(c);
	return 1;
}

/* There are no processes, but some whose end was not dealt with: how many? */
static int
tree_all_gone(struct tree *a)
{
	int n = 0;

	for (size_t i = 0; i < NBUCKETS; i++)
		for (struct cap *c = a->bucket[i], *next; c; c = next) {
			next = c->next;
			n += tree_reap(c);
		}
	return n;
}

void
tree_stopped(struct cap *c, int status)
{
	int faults, sig = 0;

	c->nstops++;
	tracee_stopped(&c->t);
	status = tree_fault_first(c, status);
	faults = c->all->leaving && tree_faults(c, status);
	if (fast_stopped(c, status, &sig))
		;
	else if (c->all->leaving && !faults && status >> 16 != PTRACE_EVENT_FORK && status >> 16 != PTRACE_EVENT_VFORK &&
	    status >> 16 != PTRACE_EVENT_CLONE && status >> 16 != PTRACE_EVENT_EXEC &&
	    status >> 16 != PTRACE_EVENT_EXIT)
		tree_leave(c, status);
	else
		sig = cap_stop_at(c, status);
	if (c->all->until.calls && until_over(c->all))
		tree_interrupt(c->all);
	sig = turn_settle(c, sig);
	tree_gone(c);
	if (!c->hasended)
		hold_relieve(c);
	if (c->hasended)
		tree_ended(c);
	else if (!c->traced)
		tree_remove(c);
	else if (!c->th || !sched_stopped(c, sig))
		turn_resume(c, sig);
}

static void
tree_event(struct tree *a, pid_t pid, int status)
{
	int handled;
	struct cap *c = sched_event(a, pid, status, &handled);

	if (handled)
		return;
	if (!c)
		c = tree_find(a, pid);
	if (!c && WIFSTOPPED(status) && status >> 16 == PTRACE_EVENT_EXIT) {
		ptrace(PTRACE_CONT, pid, NULL, NULL);   /* a thread that was killed when it began */
	} else if (!c && WIFSTOPPED(status)) {
		tree_early(a, pid, status);
		if (!a->ncap)
			early_strays(a);
	} else if (!c) {
		/* it was released before; or it is no process of ours */
		if (pid == a->first)
			tree_first_ended(a, status);
	} else if (WIFSTOPPED(status)) {
		if (!turn_stopped(c, status))
			tree_stopped(c, status);
	} else {
		c->ended = status;
		c->hasended = 1;
		tree_ended(c);
	}
}

int
tree_run(struct tree *a)
{
	unsigned events = 0;
	int status, watch;
	pid_t pid;

	while (a->ncap || a->first) {
		cap_tick(a);
		if (!a->leaving && (until_over(a) || (!a->first && cap_told())))
			tree_interrupt(a);
		turn_next(a);
		watch = sched_watching(a);
		pid = waitpid(-1, &status, __WALL | (watch || a->imaged ? WNOHANG : 0));
		if (pid == 0 || ++events % IMAGE_EVERY == 0)
			image_step(a);
		if (pid > 0)
			tree_event(a, pid, status);
		else if (pid == 0 && watch)
			sched_watch(a);
		else if (pid < 0 && errno != EINTR && !tree_all_gone(a))
			die("cannot wait for the program: %s", strerror(errno));
	}
	until_end(a);
	cap_signals_back();
	return a->status;
}
