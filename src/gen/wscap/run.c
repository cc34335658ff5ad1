/* Runs the program from stop to stop, to its end. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "base/diag.h"
#include "gen/wscap/wscap.h"

static volatile sig_atomic_t ticks;
static pid_t program;

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

/* Signals while the program runs, with their former actions. */
static struct { int sig; struct sigaction before; } ours[] = {
	{ .sig = SIGALRM }, { .sig = SIGINT }, { .sig = SIGQUIT }, { .sig = SIGPIPE }, { .sig = SIGTERM },
	{ .sig = SIGHUP },
};

void
cap_signals(struct cap *c)
{
	program = c->t.pid;
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

/* The program has ended: restores our signal actions. */
static void
signals_back(void)
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
	struct itimerval v = {{!on, on ? 10000 : 0}, {!on, on ? 10000 : 0}};
	static int now = -1;

	if (on == now)          /* a running timer is not restarted by further signals */
		return;
	now = on;
	setitimer(ITIMER_REAL, &v, NULL);
}

/* Writes what is recorded so far, to be safe if wscap is killed. */
static void
wscap_tick(struct cap *c)
{
	if (!ticks)
		return;
	ticks = 0;
	if (c->t.nheld) {
		signals_force(c);
		return;
	}
	if (c->w && c->dirty && !c->failed && ws_end_group(c->w) < 0)
		c->failed = 1;
	c->dirty = 0;
}

static void
wscap_finish(struct cap *c, enum ws_how how, unsigned status)
{
	struct ws_rec r = {.kind = WS_END, .u.end = {how, status, WS_UNKNOWN}};

	if (!c->w)
		return;
	wscap_put(c, &r);
	if (!c->failed && ws_finish(c->w) < 0)
		c->failed = 1;
	if (c->failed)
		warn("%s: %s", out_name(c->dest), ws_write_fault(c->w)->err);
	ws_free(c->w);
	c->w = NULL;
}

/* Ends the records; reports a failure, but does not exit. */
static void
cap_warn_stop(struct cap *c, const char *why)
{
	if (why) {
		warn("the capture ends here, the program continues: %s", why);
		put_note(c, why);
	}
	wscap_finish(c, WS_STOPPED, 0);
}

void
cap_stop(struct cap *c, const char *why)
{
	cap_warn_stop(c, why);
	tracee_cancel_call(&c->t, &c->in);
	if (c->touch)
		touch_all(c);
	cap_release(c);
}

/* The program executes another one: that would need a new capture. */
static void
on_exec(struct cap *c)
{
	int status;

	put_sys(c, &c->in, 0);
	cap_warn_stop(c, "it executes another program");
	tracee_resume(&c->t, PTRACE_SYSCALL, 0);
	while (tracee_wait(&c->t, &status) == EINTR)
		;
	if (!WIFSTOPPED(status)) {
		c->ended = status;
		c->hasended = 1;
		return;
	}
	c->nsite = 0;                   /* gone with the program's memory */
	c->t.site = find_site(c->t.pid, &c->t);
	cap_release(c);
}

/* Handles a stop; returns the signal to continue with. */
static int
on_stop(struct cap *c, int status)
{
	int sig = WSTOPSIG(status);
	unsigned long pid;

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
		if (!ptrace(PTRACE_GETEVENTMSG, c->t.pid, NULL, &pid))
			child_free(c, (pid_t)pid);
		return 0;
	case PTRACE_EVENT_EXIT:
		if (!ptrace(PTRACE_GETEVENTMSG, c->t.pid, NULL, &pid) && WIFSIGNALED((int)pid))
			signal_deadly(c, WTERMSIG((int)pid));
		return 0;
	case PTRACE_EVENT_EXEC:
		on_exec(c);
		return 0;
	case PTRACE_EVENT_STOP:
		c->listen = sig != SIGTRAP;
		return 0;
	}
	return 0;
}

static int
wait_end(struct cap *c)
{
	int status;

	while (!c->hasended) {
		if (tracee_wait(&c->t, &status))
			continue;
		if (!WIFSTOPPED(status)) {
			c->ended = status;
			c->hasended = 1;
		}
	}
	return c->ended;
}

int
cap_run(struct cap *c)
{
	int sig = 0, status, err;

	cap_set_timer(0);
	while (c->traced && !c->hasended) {
		if (c->t.nheld && !c->sent)
			cap_set_timer(1);
		err = tracee_resume(&c->t, c->listen ? PTRACE_LISTEN : PTRACE_SYSCALL, sig);
		if (err && err != ESRCH)
			die("cannot continue the program: %s", strerror(err));
		do {
			wscap_tick(c);
			err = tracee_wait(&c->t, &status);
		} while (err == EINTR);
		if (err)
			die("cannot wait for the program: %s", strerror(err));
		if (!WIFSTOPPED(status)) {
			c->ended = status;
			c->hasended = 1;
		} else {
			sig = on_stop(c, status);
		}
	}
	wait_end(c);
	signals_back();
	if (WIFEXITED(c->ended))
		wscap_finish(c, WS_EXITED, (unsigned)WEXITSTATUS(c->ended));
	else
		wscap_finish(c, WS_KILLED, (unsigned)WTERMSIG(c->ended));
	return c->ended;
}
