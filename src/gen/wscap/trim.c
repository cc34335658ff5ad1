/*
 * Trims a capture from all memory that the program could have used to what it has used, which a
 * replay finds out.  This runs in a process of its own: the replayed program's memory has a
 * fixed address, its faults must not affect wscap, and it can be ended at any time.  The result
 * goes to an unnamed file, which is copied on success.
 */
#include "gen/wscap/trim.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/out.h"
#include "base/temp.h"
#include "replay/guest/replay.h"

#define SHOWN 10000000u         /* instructions between two lines of progress */

static volatile sig_atomic_t came;      /* a signal that interrupts */
static volatile pid_t worker;

void
trim_warn_untrimmed(const char *path, const char *why)
{
	warn("%s: not trimmed, left as it was captured: %s", path, why);
}

struct shown {
	uint64_t due, all;              /* in instructions; all: of the run, once it is known */
	int pass;
};

static void
on_progress(void *arg, uint64_t n, int pass)
{
	struct shown *s = arg;

	if (pass != s->pass) {
		s->pass = pass;
		s->due = s->due > SHOWN ? 0 : UINT64_MAX;       /* a short run needs no progress */
	}
	if (pass == 1)
		s->all = n;
	if (n < s->due)
		return;
	s->due = n + SHOWN;
	if (pass == 1)
		fprintf(stderr, "\r%s: trimming: %llu million instructions", diag_name(),
		    (unsigned long long)(n / 1000000));
	else
		fprintf(stderr, "\r%s: trimming: %llu%% of %llu million instructions", diag_name(),
		    (unsigned long long)(n * 100 / (s->all + 1)), (unsigned long long)(s->all / 1000000));
}

static void
clear_progress(void)
{
	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
}

static _Noreturn void
wscap_trim_work(const char *path, int fd, pid_t parent)
{
	struct shown shown = { .due = 2 * SHOWN, .pass = 1 };
	struct trim_opts o = { .level = WS_SMALL, .share = 20, .middle = 2500, .arg = &shown };
	struct trim_stats s;
	struct fault f;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	if (isatty(STDERR_FILENO))
		o.progress = on_progress;
	if (replay_trim(path, fd, &o, &s, &f) < 0) {
		clear_progress();
		trim_warn_untrimmed(path, f.err);
		_exit(1);
	}
	_exit(0);
}

static void
wscap_trim_interrupt(int sig)
{
	came = sig;
	if (worker > 0)
		kill(worker, SIGKILL);
}

static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
#define NENDS (sizeof(ends) / sizeof(ends[0]))

/* Starts the worker.  From now on, signals interrupt it, but not within the worker itself. */
static pid_t
wscap_trim_start(const char *path, int fd, struct sigaction before[NENDS])
{
	struct sigaction sa = { .sa_handler = wscap_trim_interrupt };
	pid_t parent = getpid(), pid;
	sigset_t set, old;

	sigemptyset(&set);
	for (size_t i = 0; i < NENDS; i++)
		sigaddset(&set, ends[i]);
	sigprocmask(SIG_BLOCK, &set, &old);
	pid = fork();
	if (pid > 0) {
		worker = pid;
		for (size_t i = 0; i < NENDS; i++)
			if (!sigaction(ends[i], NULL, &before[i]) && before[i].sa_handler != SIG_IGN)
				sigaction(ends[i], &sa, NULL);
	}
	sigprocmask(SIG_SETMASK, &old, NULL);
	if (!pid)
		wscap_trim_work(path, fd, parent);
	return pid;
}

/* Returns the worker's wait status. */
static int
wait_worker(pid_t pid, const struct sigaction before[NENDS])
{
	int status;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	worker = 0;
	for (size_t i = 0; i < NENDS; i++)
		sigaction(ends[i], &before[i], NULL);
	return status;
}

/* Returns 0 or an errno. */
static int
wscap_trim_replace(const char *path, int fd)
{
	struct out *o = out_open(path);
	int to = out_fd(o), err = 0;
	char b[1 << 16];
	ssize_t n = 0;

	for (off_t at = 0; !err && (n = pread(fd, b, sizeof(b), at)) > 0; at += n)
		err = ws_write_fd(&to, b, (size_t)n);
	if (!err && (n < 0 || out_publish(o) < 0))
		err = errno;
	out_discard(o);
	return err;
}

void
trim_capture(const char *path)
{
	struct sigaction before[NENDS];
	int fd = temp_unnamed("wscap"), status, err = 0;
	pid_t pid = fd < 0 ? -1 : wscap_trim_start(path, fd, before);

	if (pid < 0) {
		trim_warn_untrimmed(path, strerror(errno));
		if (fd >= 0)
			close(fd);
		return;
	}
	status = wait_worker(pid, before);
	clear_progress();
	if (!status && (err = wscap_trim_replace(path, fd)))
		trim_warn_untrimmed(path, strerror(err));
	if (status && came)
		trim_warn_untrimmed(path, "interrupted");
	else if (WIFSIGNALED(status))
		trim_warn_untrimmed(path, strsignal(WTERMSIG(status)));
	close(fd);
	if (status && came) {
		signal(came, SIG_DFL);
		raise(came);
	}
}
