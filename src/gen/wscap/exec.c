/* A process executes a program: the run ends, and another begins. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/mem.h"
#include "gen/wscap/fast.h"
#include "gen/wscap/point.h"
#include "gen/wscap/signal.h"
#include "gen/wscap/wscap.h"

/* Reads a file of /proc, with a NUL after its n bytes; the caller frees it.  NULL: it cannot be read. */
static char *
exec_file(pid_t pid, const char *name, size_t *n)
{
	char *p = NULL;
	size_t cap = 0;
	int fd = tracee_open(pid, name, O_RDONLY);
	ssize_t k = -1;

	*n = 0;
	while (fd >= 0) {
		p = mem_xgrow(p, &cap, *n + PAGE, 1);
		k = read(fd, p + *n, cap - *n - 1);
		if (k <= 0)
			break;
		*n += (size_t)k;
	}
	if (fd >= 0)
		close(fd);
	if (k == 0) {
		p[*n] = '\0';
		return p;
	}
	free(p);
	return NULL;
}

int
exec_args(struct cap *c)
{
	free(c->args);
	c->args = exec_file(c->t.pid, "cmdline", &c->nargs);
	if (!c->args)
		c->nargs = 0;
	return c->args ? 0 : -1;
}

/* The effective user of a process; -1: not known. */
static long
exec_user(pid_t pid)
{
	size_t n;
	char *text = exec_file(pid, "status", &n), *at = text ? strstr(text, "\nUid:") : NULL;
	long real, user;

	if (!at || sscanf(at + 5, "%ld %ld", &real, &user) != 2)
		user = -1;
	free(text);
	return user;
}

void
exec_rights(struct cap *c)
{
	char exe[40], text[300], name[200];
	struct stat st;

	snprintf(exe, sizeof(exe), "/proc/%ld/exe", (long)c->t.pid);
	if (stat(exe, &st) || !(st.st_mode & S_ISUID) || exec_user(c->t.pid) == (long)st.st_uid)
		return;
	start_exe(c->t.pid, name, sizeof(name));
	snprintf(text, sizeof(text), "%s is set-user-ID, but runs without its owner's rights, as it is traced", name);
	warn("%s", text);
	put_note(c, text);
}

void
exec_actions(struct cap *c, uint64_t ignored)
{
	uint8_t act[32] = {0};

	for (int i = 1; i <= 64; i++) {
		act[0] = ignored >> (i - 1) & 1;
		signal_action(c, i, act);
	}
}

/* Forgets the old program. */
static void
exec_clear(struct cap *c)
{
	uint64_t ignored = 0;

	c->all->nleft++;
	fast_free(c);
	hold_free(c);
	tracee_close(&c->t);
	c->t.mem = tracee_open(c->t.pid, "mem", O_RDWR);
	c->t.site = 0;
	c->nsite = 0;                   /* gone with the program's memory */
	memset(&c->rooms, 0, sizeof(c->rooms));
	c->reg.n = c->hidden.n = 0;
	c->twice = c->unsaid = c->listen = c->inside = c->behind = 0;
	c->restart = RESTART_NOT;
	c->compare = COMPARE_NOT;
	c->denied = c->sharing = c->outside = c->writes = c->fresh = 0;
	common_free(&c->common);
	lately_free(c);
	c->oldadvice = c->cleartid = 0;
	c->altstack = c->altsize = 0;
	memset(c->file, 0, sizeof(c->file));
	memset(c->pcs, 0, sizeof(c->pcs));
	for (int i = 1; i <= 64; i++)
		ignored |= (uint64_t)(c->handler[i] == 1) << (i - 1);
	exec_actions(c, ignored);
}

/* Runs to the stop after execve: 0, or -1: the process has ended. */
static int
exec_return(struct cap *c)
{
	int status;

	tracee_resume(&c->t, PTRACE_SYSCALL, 0);
	while (tracee_wait(&c->t, &status))
		;
	if (WIFSTOPPED(status))
		return 0;
	c->ended = status;
	c->hasended = 1;
	return -1;
}

/* Only the first process is captured, and this would need a new capture. */
static void
exec_release(struct cap *c)
{
	cap_warn_stop(c, "it executes another program");
	if (exec_return(c))
		return;
	c->nsite = 0;
	fast_free(c);
	c->t.site = find_site(c->t.pid, &c->t);
	cap_release(c);
}

void
exec_leave(struct cap *c)
{
	struct ws_run_writer *before = c->run;
	const char *why;
	int begun, args;

	fork_return(c);
	threads_free(c);
	c->t.pid = c->pid;
	tracee_stopped(&c->t);
	memset(&c->amid, 0, sizeof(c->amid));
	if (c->all->alone || !c->w || c->all->failed) {
		put_sys(c, &c->in, 0);
		exec_release(c);
		return;
	}
	/* the file names the next run before the first one is complete */
	begun = tree_begin(c, c, WS_EXEC);
	if (begun == 0) {
		struct ws_run_writer *next = c->run;

		c->run = before;
		put_sys(c, &c->in, 0);
		cap_finish(c, WS_EXECUTED, 0);
		c->run = next;
	}
	exec_clear(c);
	args = exec_args(c);
	if (exec_return(c))
		return;
	why = begun ? "it cannot be written" : c->t.mem < 0 ? "its memory cannot be read" :
	    args ? "its arguments cannot be read" : cap_begin(c);
	if (!why)
		why = start_unfit(c);
	if (!why) {
		exec_rights(c);
		if (c->pid == c->all->main)
			point_program(c, 0);
		fast_start(c);
		return;
	}
	cap_warn_stop(c, why);
	c->t.site = c->t.mem < 0 ? 0 : c->t.site;
	cap_release(c);
}
