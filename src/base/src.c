/* Sources of bytes. See src.h. */
#include "base/src.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int
src_is_stdin(const char *path)
{
	static const char *const is[] = { "-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0" };

	for (size_t i = 0; path && i < sizeof is / sizeof *is; i++)
		if (!strcmp(path, is[i]))
			return 1;
	return !path;
}

const char *
src_name(const char *path)
{
	return src_is_stdin(path) ? "standard input" : path;
}

int
src_open(const char *path)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
		close(fd);
		errno = EISDIR;
		return -1;
	}
	return fd;
}

int
src_fd(struct src *s, int fd)
{
	struct stat st;

	memset(s, 0, sizeof(*s));
	s->fd = fd;
	if (fstat(fd, &st) != 0)
		return errno;
	s->seeks = S_ISREG(st.st_mode);
	s->size = s->seeks ? (uint64_t)st.st_size : 0;
	return 0;
}

void
src_mem(struct src *s, const void *p, size_t n)
{
	memset(s, 0, sizeof(*s));
	s->fd = -1;
	s->mem = p;
	s->seeks = 1;
	s->size = n;
}

size_t
src_read(struct src *s, uint64_t off, void *p, size_t n)
{
	size_t got = 0;

	s->error = 0;
	if (s->fd < 0) {
		if (off >= s->size)
			return 0;
		got = n < s->size - off ? n : (size_t)(s->size - off);
		memcpy(p, s->mem + off, got);
		return got;
	}
	while (got < n) {
		ssize_t k = s->seeks ? pread(s->fd, (char *)p + got, n - got, (off_t)(off + got)) :
		    read(s->fd, (char *)p + got, n - got);

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			s->error = errno;
		if (k <= 0)
			break;
		got += (size_t)k;
		s->pos += (uint64_t)k;
	}
	return got;
}
