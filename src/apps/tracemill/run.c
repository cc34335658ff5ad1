/* Finds and runs programs, and keeps the first of what they print. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "apps/tracemill/tracemill.h"
#include "base/diag.h"
#include "base/temp.h"

#define LONGEST 300     /* seconds; a slow machine takes some for the longest */

const char *
run_folder(void)
{
	static char path[PATH_MAX];
	ssize_t n;
	char *slash;

	if (*path)
		return path;
	n = readlink("/proc/self/exe", path, sizeof path - 1);
	path[n < 0 ? 0 : n] = '\0';
	slash = strrchr(path, '/');
	if (slash)
		*slash = '\0';
	else
		strcpy(path, ".");
	return path;
}

static int
run_executable(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

int
run_find(const char *name, int own, char *path)
{
	const char *s = getenv("PATH");

	if (own && snprintf(path, PATH_MAX, "%s/%s", run_folder(), name) < PATH_MAX && run_executable(path))
		return 0;
	for (s = s ? s : "/usr/bin:/bin"; ; s++) {
		int n = (int)strcspn(s, ":");

		if (snprintf(path, PATH_MAX, "%.*s%s%s", n, s, n ? "/" : "./", name) < PATH_MAX &&
		    run_executable(path))
			return 0;
		s += n;
		if (!*s)
			return -1;
	}
}

static _Noreturn void
run_child(const char *const argv[], int out, int err)
{
	int in = open("/dev/null", O_RDONLY | O_CLOEXEC);

	dup2(in, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	diag_child();
	signal(SIGALRM, SIG_DFL);
	alarm(LONGEST);
	execv(argv[0], (char **)argv);
	dprintf(STDERR_FILENO, "%s\n", strerror(errno));
	_exit(127);
}

/* The beginning of a file as a string */
static void
run_keep(int fd, char *p, size_t room)
{
	ssize_t n = pread(fd, p, room - 1, 0);

	p[n < 0 ? 0 : n] = '\0';
	close(fd);
}

void
run_program(struct ran *r, const char *const argv[])
{
	int out = temp_unnamed("tracemill"), err = temp_unnamed("tracemill"), status = 0;
	pid_t pid;

	if (out < 0 || err < 0)
		die_sys("a temporary file");
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		run_child(argv, out, err);
	if (pid < 0)
		die_sys("fork");
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	r->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	r->late = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
	run_keep(out, r->out, sizeof r->out);
	run_keep(err, r->err, sizeof r->err);
	r->err[strcspn(r->err, "\n")] = '\0';
}
