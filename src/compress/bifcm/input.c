/* bifcm: its input, byte for byte. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/mem.h"
#include "bifcm.h"

#define PIECE (256u << 10)

void
input_open(struct input *in, const char *path)
{
	in->name = "standard input";
	in->fd = STDIN_FILENO;
	if (path && strcmp(path, "-")) {
		in->name = path;
		in->fd = open(path, O_RDONLY | O_CLOEXEC);
		if (in->fd < 0)
			die_sys("%s", path);
	}
}

size_t
input_read(struct input *in, void *p, size_t n)
{
	size_t got = 0;

	while (got < n) {
		ssize_t k = read(in->fd, (char *)p + got, n - got);

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			die_sys("%s", in->name);
		if (!k)
			break;
		got += (size_t)k;
	}
	return got;
}

/* A file in $TMPDIR or /tmp that has no name any more */
static int
nameless(void)
{
	const char *dir = getenv("TMPDIR");
	char *path;
	int fd;

	if (!dir || !*dir)
		dir = "/tmp";
	path = xasprintf("%s/bifcm.XXXXXX", dir);
	fd = mkstemp(path);
	if (fd < 0)
		die_sys("temporary file in %s", dir);
	unlink(path);
	free(path);
	return fd;
}

void
input_spool(struct input *in)
{
	struct stat st;
	uint8_t *p;
	size_t n;
	int fd;

	if (fstat(in->fd, &st) == 0 && S_ISREG(st.st_mode))
		return;
	fd = nameless();
	p = xmalloc(PIECE);
	while ((n = input_read(in, p, PIECE)) > 0) {
		for (size_t at = 0; at < n;) {
			ssize_t k = write(fd, p + at, n - at);

			if (k < 0 && errno == EINTR)
				continue;
			if (k < 0)
				die_sys("temporary file of %s", in->name);
			at += (size_t)k;
		}
	}
	free(p);
	in->fd = fd;
}
