/* aec -b: writes the files to a temporary folder, runs make there, and moves the program to its place. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/mem.h"
#include "base/out.h"
#include "base/temp.h"
#include "gen/aec/aec.h"

#define SAIDMAX 65536u  /* bytes kept of the output of make and the compiler */

static volatile sig_atomic_t caught;

static void
on_signal(int sig)
{
	caught = sig;
}

/* Signals that end aec; it then ends make, with all its children. */
static const int sigs[] = {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGALRM, SIGTERM, SIGUSR1, SIGUSR2, SIGXCPU};
#define NSIGS (sizeof sigs / sizeof sigs[0])

/* The child: runs in a process group of its own, which can be ended as a whole, and reads no terminal. */
_Noreturn static void
build_become(char *const argv[], int said, const sigset_t *mask, const struct sigaction *old, pid_t parent)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(127);
	if (null >= 0)
		dup2(null, 0);
	dup2(said, 1);
	dup2(said, 2);
	signal(SIGTTOU, SIG_IGN);
	for (size_t i = 0; i < NSIGS; i++)
		signal(sigs[i], old[i].sa_handler == SIG_IGN ? SIG_IGN : SIG_DFL);
	sigprocmask(SIG_SETMASK, mask, NULL);
	diag_child();
	execvp(argv[0], argv);
	_exit(127);
}

/*
 * Reads the output of make and its children, up to a limit, until the last of them has closed
 * it or a signal has come.  Signals are unblocked only here.
 */
static void
build_listen(int fd, struct buf *said, const sigset_t *mask)
{
	struct pollfd poll = {.fd = fd, .events = POLLIN};
	uint8_t buf[4096];

	while (!caught) {
		ssize_t n = ppoll(&poll, 1, NULL, mask) > 0 ? read(fd, buf, sizeof buf) : -1;

		if (n == 0 || (n < 0 && errno != EINTR))
			return;
		if (n > 0 && said->n < SAIDMAX)
			buf_add(said, buf, (size_t)n);
	}
}

/*
 * Runs a program to its end: its exit status, or 127 if it cannot be run.  On a signal, first
 * ends everything that it started, then takes the signal's action.
 */
static int
build_run(char *const argv[], struct buf *said)
{
	struct sigaction sa = {.sa_handler = on_signal}, old[NSIGS];
	sigset_t block, mask;
	pid_t pid, parent = getpid();
	int st, p[2];

	if (pipe2(p, O_CLOEXEC) != 0)
		die_sys("pipe");
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	sigemptyset(&block);
	for (size_t i = 0; i < NSIGS; i++)
		sigaddset(&block, sigs[i]);
	sigprocmask(SIG_BLOCK, &block, &mask);
	for (size_t i = 0; i < NSIGS; i++) {
		sigaction(sigs[i], NULL, &old[i]);
		if (old[i].sa_handler != SIG_IGN)
			sigaction(sigs[i], &sa, NULL);
	}
	pid = fork();
	if (pid == 0)
		build_become(argv, p[1], &mask, old, parent);
	close(p[1]);
	if (pid < 0)
		die_sys("fork");
	setpgid(pid, pid);
	build_listen(p[0], said, &mask);
	close(p[0]);
	if (caught)
		kill(-pid, SIGTERM);
	waitpid(pid, &st, 0);
	if (caught)     /* compilers that outlive make may still write to the folder */
		while (waitpid(-1, NULL, 0) > 0)
			;
	for (size_t i = 0; i < NSIGS; i++)
		sigaction(sigs[i], &old[i], NULL);
	if (caught)
		raise(caught);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	return WIFEXITED(st) ? WEXITSTATUS(st) : 126;
}

/* The line of the output to report: the first error, or the first line. */
static char *
build_reason(const struct buf *said)
{
	char *all = xasprintf("%.*s", (int)said->n, said->n ? (const char *)said->p : ""),
	    *at = strstr(all, "rror"), *end;

	if (!at)
		at = all;
	while (at > all && at[-1] != '\n')
		at--;
	end = strchr(at, '\n');
	at = xasprintf("%.*s", (int)(end ? end - at : (long)strlen(at)), at);
	free(all);
	return at;
}

static void
build_make(const char *dir)
{
	const char *cc = getenv("CC"), *cflags = getenv("CFLAGS"), *ld = getenv("LDFLAGS");
	char *jobs = xasprintf("-j%ld", sysconf(_SC_NPROCESSORS_ONLN));
	char *vcc = xasprintf("CC=%s", cc && *cc ? cc : "cc"),
	    *vcf = xasprintf("CFLAGS=%s", cflags && *cflags ? cflags : "-O2");
	char *vld = xasprintf("LDFLAGS=%s", ld ? ld : ""), *why;
	char *argv[] = {"make", "-s", "-C", (char *)(uintptr_t)dir, jobs, vcc, vcf, vld, NULL};
	struct buf said = BUF_INIT;
	int st;

	unsetenv("MAKEFLAGS");          /* set if make runs aec: its job server is not for this make */
	unsetenv("MFLAGS");
	unsetenv("MAKELEVEL");
	st = build_run(argv, &said);
	why = build_reason(&said);
	if (st == 127 && !said.n)
		die("make cannot be run");
	if (st != 0)
		die("the regenerator does not compile: %s", why);
	if (said.n)
		warn("%s", why);
	buf_free(&said);
	free(why);
	free(jobs);
	free(vcc);
	free(vcf);
	free(vld);
}

/* Moves the built program to its place. */
static void
build_install(const char *dir, struct out *out)
{
	char *made = xasprintf("%s/prog.regen", dir);
	int in = open(made, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	while (in >= 0 && (n = read(in, out_reserve(out, 65536), 65536)) > 0)
		out_commit(out, (size_t)n);
	if (in < 0 || n < 0)
		die_sys("%s", made);
	close(in);
	out_close(out);
	free(made);
}

void
build_regenerator(struct aec *a, const char *name)
{
	const char *tmp = getenv("TMPDIR");
	char *dir = xasprintf("%s/aec.XXXXXX", tmp && *tmp ? tmp : "/tmp");
	/* now: there is no need to compile if the place is not writable */
	struct out *out = out_create(name, 0777);

	if (temp_folder(dir) != 0)
		die_sys("%s", dir);
	a->dir = a->place = dir;
	write_files(a);
	build_make(dir);
	build_install(dir, out);
	temp_remove(dir);
	free(dir);
}
