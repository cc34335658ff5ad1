/* Sources of bytes. See src.h. */
#include "base/src.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/search.h"

static void (*watch)(int fd);

void
src_watch(void (*opened)(int fd))
{
	watch = opened;
}

void
src_opened(int fd)
{
	if (watch)
		watch(fd);
}

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
	if (fd >= 0)
		src_opened(fd);
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
	src_opened(fd);
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

void
src_pieces(struct src *s, const struct src_piece *p, size_t n)
{
	static const struct src_piece none;

	s->piece = n ? p : &none;       /* not the whole file */
	s->npiece = n;
	s->size = n ? p[n - 1].at + p[n - 1].n : 0;
}

/* The index of the piece with the byte at off; npiece: off is behind all. */
static size_t
src_piece_at(const struct src *s, uint64_t off)
{
	size_t i;

	LOWER_BOUND(i, s->npiece, s->piece[i].at + s->piece[i].n <= off);
	return i;
}

uint64_t
src_place(const struct src *s, uint64_t off)
{
	size_t i = src_piece_at(s, off);

	if (!s->piece)
		return off;
	if (i < s->npiece)
		return s->piece[i].off + (off - s->piece[i].at);
	return s->npiece ? s->piece[i - 1].off + (off - s->piece[i - 1].at) : off;
}

static size_t
src_read_file(struct src *s, uint64_t off, void *p, size_t n)
{
	size_t got = 0;

	if (s->fd < 0) {
		memcpy(p, s->mem + off, n);
		return n;
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

static size_t
src_read_pieces(struct src *s, uint64_t off, uint8_t *p, size_t n)
{
	size_t got = 0;

	for (size_t i = src_piece_at(s, off); i < s->npiece && got < n; i++) {
		const struct src_piece *e = &s->piece[i];
		uint64_t skip = off + got - e->at;
		size_t k = n - got < e->n - skip ? n - got : (size_t)(e->n - skip);
		size_t m = src_read_file(s, e->off + skip, p + got, k);

		got += m;
		if (m < k)
			break;
	}
	return got;
}

size_t
src_read(struct src *s, uint64_t off, void *p, size_t n)
{
	s->error = 0;
	if (s->piece)
		return src_read_pieces(s, off, p, n);
	if (s->fd < 0) {
		if (off >= s->size)
			return 0;
		n = n < s->size - off ? n : (size_t)(s->size - off);
	}
	return src_read_file(s, off, p, n);
}
