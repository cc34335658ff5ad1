/* A copy of standard input. */
#include <stdlib.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/mem.h"
#include "base/spool.h"

char *
spool_stdin(void)
{
	static char buf[65536];
	const char *dir = getenv("TMPDIR");
	char *name = xasprintf("%s/%s.XXXXXX", dir && *dir ? dir : "/tmp", diag_name());
	int fd = mkstemp(name);
	ssize_t n;

	if (fd < 0)
		die_sys("%s", name);
	unlink(name);
	free(name);
	while ((n = read(STDIN_FILENO, buf, sizeof buf)) > 0)
		for (ssize_t k = 0, m; k < n; k += m)
			if ((m = write(fd, buf + k, (size_t)(n - k))) < 0)
				die_sys("a copy of standard input");
	if (n < 0)
		die_sys("standard input");
	return xasprintf("/proc/self/fd/%d", fd);
}
