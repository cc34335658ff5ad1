/* Temporary files without a name. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/mem.h"
#include "base/spool.h"

int
spool_open(void)
{
	const char *dir = getenv("TMPDIR");
	char *name;
	int fd;

	if (!dir || !*dir)
		dir = "/tmp";
	name = xasprintf("%s/%s.XXXXXX", dir, diag_name());
	fd = mkstemp(name);
	if (fd < 0)
		die_sys("temporary file in %s", dir);
	unlink(name);
	free(name);
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

	while ((n = read(STDIN_FILENO, buf, sizeof buf)) != 0) {
		if (n < 0 && errno != EINTR)
			die_sys("standard input");
		if (n > 0)
			spool_write(fd, buf, (size_t)n);
	}
	return xasprintf("/proc/self/fd/%d", fd);
}
