/* From all that the program could have used to what it did use: a replay says so. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/mem.h"
#include "engine/replay/replay.h"
#include "trim.h"

/* In a process of its own: the replayed program's memory has a fixed place, and its faults are not to be ours */
_Noreturn static void
replay(const char *path, int fd)
{
	struct trim_opts o = {.level = WS_SMALL, .share = 20, .middle = 2500};
	struct trim_stats s;
	struct replay_fault f;

	if (replay_trim(path, fd, &o, &s, &f) < 0) {
		warn("%s: %s", path, f.err);
		_exit(1);
	}
	_exit(0);
}

int
trim(const char *path)
{
	char *temp = xasprintf("%s.XXXXXX", path);
	struct stat st;
	int fd = -1, status = 1;
	pid_t pid;

	if (stat(path, &st) || !S_ISREG(st.st_mode)) {
		free(temp);
		return 0;
	}
	fd = mkstemp(temp);
	if (fd < 0) {
		warn_sys("%s", temp);
		free(temp);
		return -1;
	}
	pid = fork();
	if (!pid)
		replay(path, fd);
	if (pid > 0)
		while (waitpid(pid, &status, 0) < 0)
			;
	if (status || fchmod(fd, st.st_mode & 0777) || close(fd) || rename(temp, path)) {
		if (WIFSIGNALED(status))
			warn("%s: the replay was ended by signal %d", path, WTERMSIG(status));
		warn("%s: not trimmed, left as it was captured", path);
		unlink(temp);
		status = 1;
	}
	free(temp);
	return status ? -1 : 0;
}
