/* Signals to wscap, stops of a process, and the end of its run. */
#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "base/diag.h"
#include "gen/wscap/fast.h"
#include "gen/wscap/signal.h"
#include "gen/wscap/thread.h"
#include "gen/wscap/touch.h"

#define CUT_EVERY 1000000000ull         /* nanoseconds */

static volatile sig_atomic_t ticks, told;
static pid_t program;
static int fast;                        /* the timer runs every 10 milliseconds, not four times a second */

static void
on_alarm(int sig)
{
	(void)sig;
	ticks = 1;
}

/* The user wants to end wscap: the signal goes to the program, which decides. */
static void
on_end(int sig, siginfo_t *si, void *ctx)
{
	(void)ctx;
	if (si->si_code <= 0 && program > 0)
		kill(program, sig);
}

/* The same when the program has ended, and other processes have not. */
static void
on_told(int sig)
{
	(void)sig;
	told = 1;
}

/* Signals while the program runs, with their former actions. */
static struct { int sig; struct sigaction before; } ours[] = {
	{ .sig = SIGALRM }, { .sig = SIGINT }, { .sig = SIGQUIT }, { .sig = SIGPIPE }, { .sig = SIGTERM },
	{ .sig = SIGHUP },
};

void
cap_signals(pid_t pid)
{
	program = pid;
	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++) {
		struct sigaction sa;

		memset(&sa, 0, sizeof(sa));
		if (ours[i].sig == SIGALRM) {
			sa.sa_handler = on_alarm;
		} else if (ours[i].sig == SIGTERM || ours[i].sig == SIGHUP) {
			sa.sa_sigaction = on_end;
			sa.sa_flags = SA_SIGINFO;
		/* The terminal sends them to the program as well; SIGPIPE is reported by write(2). */
		} else {
			sa.sa_handler = SIG_IGN;
		}
		sigaction(ours[i].sig, &sa, &ours[i].before);
	}
}

void
cap_signals_first_gone(void)
{
	struct sigaction sa;

	program = 0;
	memset(&sa, 0, sizeof(sa));
	sa.sa_handler = on_told;
	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
		/* a shell starts commands of the background without these two, and so they stay */
		if (ours[i].sig != SIGALRM && ours[i].sig != SIGPIPE && ours[i].before.sa_handler != SIG_IGN)
			sigaction(ours[i].sig, &sa, NULL);
}

int
cap_told(void)
{
	return told;
}

void
cap_signals_back(void)
{
	static const struct itimerval off;

	setitimer(ITIMER_REAL, &off, NULL);
	program = 0;
	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
		sigaction(ours[i].sig, &ours[i].before, NULL);
}

void
cap_set_timer(int on)
{
	struct itimerval v = {{0, on ? 10000 : 250000}, {0, on ? 10000 : 250000}};
	static int begun;

	if (begun && on == fast)        /* a running timer is not restarted by further signals */
		return;
	begun = 1;
	fast = on;
	setitimer(ITIMER_REAL, &v, NULL);
}

/* Sends held signals; writes what is recorded so far, to be safe if wscap is killed. */
void
cap_tick(struct tree *a)
{
	static uint64_t cut_at;         /* when what is recorded was written last */
	static int waits;               /* ... or else */
	int held, cut;

	if (!ticks)
		return;
	ticks = 0;
	cut = !waits && tree_now(a) - cut_at >= CUT_EVERY;
	if (cut)
		cut_at = tree_now(a);
	hold_memory_gone(a);
	held = turn_tick(a);
	for (size_t i = 0; i < NBUCKETS; i++)
		for (struct cap *c = a->bucket[i]; c; c = c->next) {
			if (!fast_waits(c))
				fast_drain(c);
			if (c->th && sched_tick(c))
				held = 1;
			if (c->t.nheld) {
				held = 1;
				signals_force(c);
			} else if (cut) {
				put_cut(c);
			}
		}
	waits = held;
	cap_set_timer(pin_tick(a) || held);
}

void
cap_finish(struct cap *c, enum ws_how how, unsigned status)
{
	struct ws_rec r = {.kind = WS_END, .u.end = {how, status, WS_UNKNOWN}};
	int err;

	fast_drain(c);
	hold_settle(c, 0);
	start_nothing(c);
	if (c->w) {
		wscap_put(c, &r);
		if (!c->all->failed && ws_finish(c->w) < 0)
			put_failed(c, 0);
		ws_free(c->w);
		c->w = NULL;
	}
	if (c->run && !c->all->failed && (err = ws_run_end(c->run, tree_now(c->all))) != 0)
		put_failed(c, err);
	c->run = NULL;
}

void
cap_warn_stop(struct cap *c, const char *why)
{
	fast_drain(c);
	hold_settle(c, 0);              /* a reader looks for the note where the end is */
	if (why) {
		tree_warn(c, "the capture ends here, the program continues", why);
		start_nothing(c);
		put_note(c, why);
	}
	cap_finish(c, WS_STOPPED, 0);
}

void
cap_stop(struct cap *c, const char *why)
{
	cap_warn_stop(c, why);
	tracee_cancel_call(&c->t, &c->in);
	if (c->all->touch)
		touch_all(c);
	cap_release(c);
}

/* A new process. */
static void
stop_child(struct cap *c, pid_t pid)
{
	if (tree_first_stop(c->all, pid))
		return;
	if (c->w && c->in.orig_rax != SYS_vfork && c->in.orig_rax != SYS_fork &&
	    clone_flags(c, &(struct call){.nr = c->in.orig_rax, .arg = {c->in.rdi}}) & CLONE_THREAD)
		thread_new(c, pid);
	else if (c->all->alone || c->all->failed || c->all->leaving || !c->w)
		child_free(c, pid);
	else
		child_capture(c, pid);
}

int
cap_stop_at(struct cap *c, int status)
{
	int sig = WSTOPSIG(status);
	unsigned long msg;

	c->listen = 0;
	if (sig == (SIGTRAP | 0x80)) {
		if (c->inside)
			call_leave(c);
		else
			call_enter(c);
		return 0;
	}
	switch (status >> 16) {
	case 0:
		return on_signal(c, sig);
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
	case PTRACE_EVENT_CLONE:
		if (!ptrace(PTRACE_GETEVENTMSG, c->t.pid, NULL, &msg))
			stop_child(c, (pid_t)msg);
		return 0;
	case PTRACE_EVENT_EXIT:
		if (!ptrace(PTRACE_GETEVENTMSG, c->t.pid, NULL, &msg) && WIFSIGNALED((int)msg))
			signal_deadly(c, WTERMSIG((int)msg));
		if (!c->th || WIFSIGNALED((int)msg))
			hold_final(c);
		if (c->th)
			thread_exit(c);
		return 0;
	case PTRACE_EVENT_EXEC:
		exec_leave(c);
		return 0;
	case PTRACE_EVENT_STOP:
		c->listen = sig != SIGTRAP;
		if (c->listen)
			return 0;
		if (turn_due(c))
			return turn_interrupted(c);
		return c->th ? sched_interrupted(c) : 0;
	}
	return 0;
}
