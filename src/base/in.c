/* Decompressing input: see in.h. */
#include "in.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "diag.h"
#include "mem.h"
#include "unz.h"

#define SIZE  (2 * IN_PEEK)
#define SNIFF 512       /* a tar header shows its magic at byte 257 */

struct in {
	int fd;                 /* -1 for memory */
	char *name, *member;    /* owned; member NULL: the only one */
	char *err;              /* owned */
	uint8_t *p;             /* owned: SIZE bytes; borrowed for memory */
	size_t pos, end;
	uint64_t off;           /* of p[pos] */
	int eof;                /* nothing follows p[end] */
	struct unz *unz;        /* owned; NULL if not compressed */
	struct archive *ar;     /* owned; NULL if no archive */
	int archived;           /* a member: look for a second one at the end */
	uint8_t *raw;           /* owned: SIZE bytes that libarchive is given */
	size_t nraw;            /* bytes already there (read to recognise the format) */
	const uint8_t *blk;     /* of libarchive: what it gave last and is not copied yet */
	size_t nblk;
	int64_t blkoff, aroff;  /* offset of blk[0] in the member; of the next byte to copy (less in a hole) */
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
	return k;
}

/* What libarchive is for: tar, zip, compress(1) */
static int
archive(const uint8_t *p, size_t n)
{
	if (n >= 4 && !memcmp(p, "PK\3\4", 4))
		return 1;
	if (n >= 3 && p[0] == 0x1f && p[1] == 0x9d)
		return 1;
	return n >= 262 && !memcmp(p + 257, "ustar", 5);
}

/* The file's bytes, decompressed; -1 sets the error */
static ssize_t
read_source(struct in *in, void *p, size_t n)
{
	ssize_t k = in->unz ? unz_read(in->unz, p, n) : read_some(in, p, n);

	if (k < 0)
		set_error(in, in->unz ? unz_error(in->unz) : strerror(errno));
	return k;
}

static la_ssize_t
give_raw(struct archive *ar, void *arg, const void **p)
{
	struct in *in = arg;
	ssize_t n;

	*p = in->raw;
	if (in->nraw) {
		n = (ssize_t)in->nraw;
		in->nraw = 0;
		return n;
	}
	n = read_source(in, in->raw, SIZE);
	if (n < 0)
		archive_set_error(ar, EIO, "%s", in->err);
	return n;
}

static void
archive_failed(struct in *in)
{
	const char *s = archive_error_string(in->ar);

	set_error(in, s && *s ? s : "damaged compressed data");
}

/* Position at the wanted member; 0, or -1 with the error set */
static int
find_member(struct in *in)
{
	struct archive_entry *e;
	const char *path;
	int r;

	for (;;) {
		r = archive_read_next_header(in->ar, &e);
		if (r == ARCHIVE_EOF) {
			in->eof = 1;
			if (in->member)
				set_error(in, "no such member in the archive");
			return -1;
		}
		if (r < ARCHIVE_WARN) {
			archive_failed(in);
			return -1;
		}
		in->archived = archive_format(in->ar) != ARCHIVE_FORMAT_RAW;
		if (!in->archived) {
			if (in->member)
				set_error(in, "not an archive");
			return in->member ? -1 : 0;
		}
		path = archive_entry_pathname(e);
		if (archive_entry_filetype(e) == AE_IFREG && (!in->member || (path && !strcmp(path, in->member))))
			return 0;
	}
}

static void
open_archive(struct in *in)
{
	struct archive *ar = archive_read_new();

	if (!ar)
		die("out of memory");
	in->ar = ar;
	archive_read_support_filter_compress(ar);
	archive_read_support_format_empty(ar);
	archive_read_support_format_raw(ar);
	archive_read_support_format_tar(ar);
	archive_read_support_format_zip_streamable(ar);
	if (archive_read_open(ar, in, NULL, give_raw, NULL) != ARCHIVE_OK) {
		archive_failed(in);
		return;
	}
	find_member(in);
}

/* After the wanted member: another regular file in the archive would be dropped in silence */
static void
end_of_member(struct in *in)
{
	struct archive_entry *e;
	int r;

	in->eof = 1;
	if (!in->archived || in->member)
		return;
	while ((r = archive_read_next_header(in->ar, &e)) != ARCHIVE_EOF) {
		if (r < ARCHIVE_WARN) {
			archive_failed(in);
			return;
		}
		if (archive_entry_filetype(e) == AE_IFREG) {
			set_error(in, "the archive holds more than one file: name one as archive//member");
			return;
		}
	}
}

/*
 * Up to n bytes of the member; 0 at its end, -1 at a fault.  By blocks:
 * archive_read_data() forgets what it copied before a fault.
 */
static ssize_t
read_member(struct in *in, uint8_t *p, size_t n)
{
	const void *blk;
	int r;

	while (!in->nblk) {
		r = archive_read_data_block(in->ar, &blk, &in->nblk, &in->blkoff);
		if (r == ARCHIVE_EOF)
			return 0;
		if (r < ARCHIVE_WARN)
			return -1;
		in->blk = blk;
	}
	if (in->aroff < in->blkoff) {
		if (n > (uint64_t)(in->blkoff - in->aroff))
			n = (size_t)(in->blkoff - in->aroff);
		memset(p, 0, n);
	} else {
		if (n > in->nblk)
			n = in->nblk;
		memcpy(p, in->blk, n);
		in->blk += n;
		in->nblk -= n;
		in->blkoff += (int64_t)n;
	}
	in->aroff += (int64_t)n;
	return (ssize_t)n;
}

/* Read more behind p[end]; the buffer has room */
static void
fill(struct in *in)
{
	ssize_t k;

	if (in->ar) {
		k = read_member(in, in->p + in->end, SIZE - in->end);
		if (k < 0)
			archive_failed(in);
		else if (k == 0)
			end_of_member(in);
	} else {
		k = read_source(in, in->p + in->end, SIZE - in->end);
		if (k == 0)
			in->eof = 1;
	}
	if (k > 0)
		in->end += (size_t)k;
}

static void
sniff(struct in *in)
{
	while (!in->eof && in->end < SNIFF)
		fill(in);
}

/* Look at the first bytes, and at those of what they decompress to */
static void
recognise(struct in *in)
{
	enum unz_kind kind;

	sniff(in);
	kind = unz_kind(in->p, in->end);
	if (kind != UNZ_NONE && !in->err) {
		in->unz = unz_new(kind, read_some, in, in->p, in->end);
		in->end = 0;
		in->eof = 0;
		sniff(in);
	}
	if (archive(in->p, in->end)) {
		in->raw = in->p;
		in->nraw = in->end;
		in->p = xmalloc(SIZE);
		in->end = 0;
		in->eof = 0;
		open_archive(in);
	} else if (in->member) {
		in->end = 0;
		set_error(in, "not an archive");
	}
}

/* open(path), or of what precedes the last `//` if path itself is no file */
static int
open_path(struct in *in, const char *path)
{
	const char *sep = NULL, *s;
	char *front;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd >= 0 || (errno != ENOENT && errno != ENOTDIR))
		return fd;
	for (s = path; (s = strstr(s, "//")); s++)
		sep = s;
	if (!sep || sep == path || !sep[2])
		return -1;
	front = xstrndup(path, (size_t)(sep - path));
	fd = open(front, O_RDONLY | O_CLOEXEC);
	free(front);
	if (fd >= 0)
		in->member = xstrdup(sep + 2);
	return fd;
}

struct in *
in_open(const char *path)
{
	struct in *in = xcalloc(1, sizeof(*in));
	struct stat st;

	in->p = xmalloc(SIZE);
	if (!path || !strcmp(path, "-")) {
		in->name = xstrdup("standard input");
		in->fd = STDIN_FILENO;
	} else {
		in->name = xstrdup(path);
		in->fd = open_path(in, path);
		if (in->fd < 0) {
			set_error(in, strerror(errno));
			return in;
		}
	}
	if (!fstat(in->fd, &st) && S_ISDIR(st.st_mode)) {
		set_error(in, strerror(EISDIR));
		return in;
	}
	recognise(in);
	return in;
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
	if (in->ar)
		archive_read_free(in->ar);
	unz_free(in->unz);
	if (in->fd > STDIN_FILENO)
		close(in->fd);
	if (in->fd >= 0 || in->err)
		free(in->p);
	free(in->raw);
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

const char *
in_error(const struct in *in)
{
	return in->err;
}

const uint8_t *
in_peek(struct in *in, size_t want, size_t *have)
{
	if (in->end - in->pos < want && !in->eof) {
		if (SIZE - in->pos < want || in->pos >= IN_PEEK) {
			memmove(in->p, in->p + in->pos, in->end - in->pos);
			in->end -= in->pos;
			in->pos = 0;
		}
		while (in->end - in->pos < want && !in->eof)
			fill(in);
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
	if (in->pos == in->end && in->fd >= 0)
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
