/* Unnamed temporary files; failure ends the program. See spool.h. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/mem.h"
#include "base/progress.h"
#include "base/spool.h"
#include "base/src.h"
#include "base/temp.h"

int
spool_open(void)
{
	int fd = temp_unnamed(diag_name());

	if (fd < 0)
		die_sys("temporary file in %s", getenv("TMPDIR") &&
		    *getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	return fd;
}

void
spool_write(int fd, const void *p, size_t n)
{
	for (size_t at = 0; at < n;) {
		ssize_t k = write(fd, (const char *)p + at, n - at);

		if (k < 0 && errno != EINTR)
			die_sys("temporary file");
		at += k < 0 ? 0 : (size_t)k;
	}
}

char *
spool_stdin(void)
{
	static char buf[65536];
	int fd = spool_open();
	ssize_t n;

	progress_stage("reading");
	progress_input(STDIN_FILENO);
	src_opened(STDIN_FILENO);
	while ((n = read(STDIN_FILENO, buf, sizeof buf)) != 0) {
		if (n < 0 && errno != EINTR)
			die_sys("standard input");
		if (n <= 0)
			continue;
		spool_write(fd, buf, (size_t)n);
		progress_read((size_t)n);
	}
	progress_stage(NULL);
	return xasprintf("/proc/self/fd/%d", fd);
}
