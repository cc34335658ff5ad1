/* Decompressing input: one buffer, filled by read, a decoder or libarchive. See in.h. */
#include "base/in.h"

#include <errno.h>
#include <string.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arc.h"
#include "base/diag.h"
#include "base/mem.h"
#include "base/progress.h"
#include "base/src.h"
#include "base/unz.h"

#define SIZE  (2 * IN_PEEK)
#define SNIFF 512       /* the magic of a tar header is at byte 257 */
#define BRIEF (-2)

struct in {
	int fd;                 /* -1: input from memory; BRIEF: a file that is not open */
	char *name, *member;    /* owned; member NULL: the only one */
	char *err;              /* owned */
	uint8_t *p;             /* owned: `room` bytes; borrowed for memory */
	size_t room;
	size_t pos, end;
	uint64_t off;           /* offset of p[pos] */
	int eof;                /* nothing follows p[end] */
	struct unz *unz;        /* owned; NULL if not compressed */
	struct arc *arc;        /* owned; NULL if no archive */
	dev_t dev;              /* of a file that is opened for each read: which one it is */
	ino_t ino;
	size_t again;           /* bytes that were read, and will be once more */
};

static void
set_error(struct in *in, const char *what)
{
	if (!in->err)
		in->err = xstrdup(what);
	in->eof = 1;
}

/* One read(2), restarted; -1 sets errno */
static ssize_t
read_some(void *arg, void *p, size_t n)
{
	struct in *in = arg;
	ssize_t k;

	do
		k = read(in->fd, p, n);
	while (k < 0 && errno == EINTR);
	if (k > 0)
		progress_read((size_t)k);
	return k;
}

/* Reads bytes of the file, decompressed. */
static ssize_t
read_source(void *arg, void *p, size_t n, const char **why)
{
	struct in *in = arg;
	ssize_t k = in->unz ? unz_read(in->unz, p, n) : read_some(in, p, n);

	if (k < 0)
		*why = in->unz ? unz_error(in->unz) : strerror(errno);
	return k;
}

/* Opens the file, which must be the same as before, reads on, and closes it. */
static ssize_t
read_brief(struct in *in, void *p, size_t n, const char **why)
{
	int fd = src_open(in->name), same = 0;
	struct stat st;
	ssize_t k = -1;

	if (fd >= 0 && fstat(fd, &st) == 0) {
		same = st.st_dev == in->dev && st.st_ino == in->ino;
		while (same && (k = pread(fd, p, n, (off_t)(in->off + (in->end - in->pos)))) < 0 && errno == EINTR)
			;
		*why = same ? strerror(errno) : "another file has that name now";
	} else {
		*why = strerror(errno);
	}
	if (fd >= 0)
		close(fd);
	if (k > 0) {
		size_t new = (size_t)k > in->again ? (size_t)k - in->again : 0;

		in->again -= (size_t)k - new;
		progress_read(new);
	}
	return k;
}

/* Reads more bytes to p[end]; the buffer has room. */
static void
in_fill_buffer(struct in *in)
{
	const char *why;
	ssize_t k;

	if (!in->p)
		in->p = xmalloc(in->room);
	if (in->arc) {
		k = arc_read(in->arc, in->p + in->end, in->room - in->end);
		why = arc_error(in->arc);
	} else if (in->fd == BRIEF) {
		k = read_brief(in, in->p + in->end, in->room - in->end, &why);
	} else {
		k = read_source(in, in->p + in->end, in->room - in->end, &why);
	}
	if (k < 0)
		set_error(in, why);
	else if (k == 0)
		in->eof = 1;
	else
		in->end += (size_t)k;
}

static void
in_sniff(struct in *in)
{
	while (!in->eof && in->end < SNIFF)
		in_fill_buffer(in);
}

/* Recognizes compression and archives by the first bytes, before and after decompression. */
static void
in_recognise(struct in *in)
{
	enum unz_kind kind;

	in_sniff(in);
	kind = unz_kind(in->p, in->end);
	if (kind != UNZ_NONE && !in->err) {
		in->unz = unz_new(kind, read_some, in, in->p, in->end);
		in->end = 0;
		in->eof = 0;
		in_sniff(in);
	}
	if (arc_is(in->p, in->end)) {
		in->arc = arc_new(read_source, in, in->p, in->end, SIZE, in->member);
		in->p = xmalloc(SIZE);
		in->end = 0;
		in->eof = 0;
	} else if (in->member) {
		in->end = 0;
		set_error(in, "not an archive");
	}
}

/* Opens path; if there is no such file, the part before its last `//`. */
static int
open_path(struct in *in, const char *path)
{
	const char *sep = NULL, *s;
	char *front;
	int fd = src_open(path);

	if (fd >= 0 || (errno != ENOENT && errno != ENOTDIR))
		return fd;
	for (s = path; (s = strstr(s, "//")); s++)
		sep = s;
	if (!sep || sep == path || !sep[2])
		return -1;
	front = xstrndup(path, (size_t)(sep - path));
	fd = src_open(front);
	free(front);
	if (fd >= 0)
		in->member = xstrdup(sep + 2);
	return fd;
}

static struct in *
in_new(const char *name)
{
	struct in *in = xcalloc(1, sizeof(*in));

	in->room = SIZE;
	in->p = xmalloc(in->room);
	in->name = xstrdup(name);
	return in;
}

struct in *
in_open(const char *path)
{
	struct in *in = in_new(src_name(path));
	struct stat st;

	if (src_is_stdin(path)) {
		in->fd = STDIN_FILENO;
		src_opened(in->fd);
	} else {
		in->fd = open_path(in, path);
		if (in->fd < 0) {
			set_error(in, strerror(errno));
			in->off = DIAG_NOOFF;
			return in;
		}
	}
	if (!fstat(in->fd, &st) && S_ISDIR(st.st_mode)) {       /* standard input may be a folder */
		set_error(in, strerror(EISDIR));
		in->off = DIAG_NOOFF;
		return in;
	}
	progress_input(in->fd);
	in_recognise(in);
	return in;
}

struct in *
in_of_fd(int fd, const char *name)
{
	struct in *in = in_new(name);

	in->fd = fd;
	return in;
}

struct in *
in_brief(const char *path, size_t want)
{
	struct in *in = xcalloc(1, sizeof(*in));
	struct stat st;
	int fd = src_open(path);

	in->room = 2 * want;
	in->name = xstrdup(path);
	in->fd = BRIEF;
	if (fd < 0 || fstat(fd, &st) != 0) {
		set_error(in, strerror(errno));
		in->off = DIAG_NOOFF;
	} else {
		progress_input(fd);
		in->dev = st.st_dev;
		in->ino = st.st_ino;
	}
	if (fd >= 0)
		close(fd);
	return in;
}

void
in_forget(struct in *in)
{
	if (in->fd != BRIEF || in->err)
		return;
	in->again += in->end - in->pos;
	in->pos = in->end = 0;
	in->eof = 0;
	free(in->p);
	in->p = NULL;
}

struct in *
in_mem(const void *p, size_t n, const char *name)
{
	struct in *in = xcalloc(1, sizeof(*in));

	in->fd = -1;
	in->name = xstrdup(name);
	in->p = (uint8_t *)(uintptr_t)p;        /* never written: eof is set */
	in->end = n;
	in->eof = 1;
	return in;
}

void
in_close(struct in *in)
{
	if (!in)
		return;
	arc_free(in->arc);
	unz_free(in->unz);
	if (in->fd > STDIN_FILENO)
		close(in->fd);
	if (in->fd != -1 || in->err)
		free(in->p);
	free(in->name);
	free(in->member);
	free(in->err);
	free(in);
}

const char *
in_name(const struct in *in)
{
	return in->name;
}

uint64_t
in_off(const struct in *in)
{
	return in->off;
}

int
in_has_checksum(const struct in *in)
{
	return in->unz || in->arc;
}

const char *
in_error(const struct in *in)
{
	return in->err;
}

const uint8_t *
in_peek(struct in *in, size_t want, size_t *have)
{
	if (in->end - in->pos < want && !in->eof) {
		if (in->room - in->pos < want || in->pos >= in->room / 2) {
			memmove(in->p, in->p + in->pos, in->end - in->pos);
			in->end -= in->pos;
			in->pos = 0;
		}
		while (in->end - in->pos < want && !in->eof)
			in_fill_buffer(in);
	}
	*have = in->end - in->pos;
	return in->p + in->pos;
}

const uint8_t *
in_line(struct in *in, size_t most, size_t *have, const uint8_t **nl)
{
	for (size_t want = 256;; want *= 2) {
		const uint8_t *p = in_peek(in, want, have);

		if (*have > most)
			*have = most;
		*nl = *have ? memchr(p, '\n', *have) : NULL;
		if (*nl || *have < want || want >= most)
			return p;
	}
}

void
in_skip(struct in *in, size_t n)
{
	in->pos += n;
	in->off += n;
	if (in->pos == in->end && in->fd != -1)
		in->pos = in->end = 0;
}

size_t
in_read(struct in *in, void *p, size_t n)
{
	uint8_t *d = p;
	size_t got = 0, have;

	while (got < n) {
		const uint8_t *s = in_peek(in, 1, &have);

		if (!have)
			break;
		if (have > n - got)
			have = n - got;
		memcpy(d + got, s, have);
		in_skip(in, have);
		got += have;
	}
	return got;
}

/* Moves on in a plain file, whose buffer is empty; returns by how many bytes, at most n. */
static size_t
in_seek(struct in *in, size_t n)
{
	struct stat st;
	off_t at;

	if (in->fd < 0 || in->unz || in->arc || fstat(in->fd, &st) != 0 || !S_ISREG(st.st_mode) ||
	    (at = lseek(in->fd, 0, SEEK_CUR)) < 0 || st.st_size <= at)
		return 0;
	if (n > (uint64_t)(st.st_size - at))
		n = (size_t)(st.st_size - at);
	if (lseek(in->fd, (off_t)n, SEEK_CUR) < 0)
		return 0;
	in->off += n;
	progress_read(n);
	return n;
}

size_t
in_pass(struct in *in, size_t n)
{
	size_t got = 0, have = in->end - in->pos;

	do {
		if (have > n - got)
			have = n - got;
		in_skip(in, have);
		got += have;
		if (got < n)
			got += in_seek(in, n - got);
		if (got < n)
			in_peek(in, 1, &have);
	} while (got < n && have);
	return got;
}
