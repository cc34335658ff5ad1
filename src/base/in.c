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
	struct archive *ar;     /* owned; NULL for plain input */
	int archived;           /* a member: look for a second one at the end */
	uint8_t *raw;           /* owned: SIZE bytes that libarchive is given */
	size_t nraw;            /* bytes already there (read to recognise the format) */
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
read_some(struct in *in, void *p, size_t n)
{
	ssize_t k;

	do
		k = read(in->fd, p, n);
	while (k < 0 && errno == EINTR);
	return k;
}

static int
compressed(const uint8_t *p, size_t n)
{
	static const struct { uint8_t n; const char *magic; } sig[] = {
		{ 2, "\x1f\x8b" }, { 3, "BZh" }, { 6, "\xfd" "7zXZ" }, { 4, "\x28\xb5\x2f\xfd" },
		{ 2, "\x1f\x9d" }, { 4, "PK\3\4" }, { 5, "\x5d\0\0\x80" },
	};
	size_t i;

	for (i = 0; i < sizeof(sig) / sizeof(sig[0]); i++)
		if (n >= sig[i].n && !memcmp(p, sig[i].magic, sig[i].n))
			return 1;
	if (n >= 4 && p[0] >> 4 == 5 && !memcmp(p + 1, "\x2a\x4d\x18", 3))     /* zstd skippable frame */
		return 1;
	return n >= 262 && !memcmp(p + 257, "ustar", 5);
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
	n = read_some(in, in->raw, SIZE);
	if (n < 0)
		archive_set_error(ar, errno, "%s", strerror(errno));
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
	archive_read_support_filter_gzip(ar);
	archive_read_support_filter_bzip2(ar);
	archive_read_support_filter_xz(ar);
	archive_read_support_filter_lzma(ar);
	archive_read_support_filter_zstd(ar);
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

/* Read more behind p[end]; the buffer has room */
static void
fill(struct in *in)
{
	ssize_t k;

	if (in->ar) {
		k = archive_read_data(in->ar, in->p + in->end, SIZE - in->end);
		if (k < 0)
			archive_failed(in);
		else if (k == 0)
			end_of_member(in);
	} else {
		k = read_some(in, in->p + in->end, SIZE - in->end);
		if (k < 0)
			set_error(in, strerror(errno));
		else if (k == 0)
			in->eof = 1;
	}
	if (k > 0)
		in->end += (size_t)k;
}

/* Look at the first bytes; a compressed file is handed to libarchive from its start */
static void
recognise(struct in *in)
{
	while (!in->eof && in->end < SNIFF)
		fill(in);
	if (in->err)
		return;
	if (compressed(in->p, in->end)) {
		in->raw = in->p;
		in->nraw = in->end;
		in->p = xmalloc(SIZE);
		in->end = 0;
		in->eof = 0;
		open_archive(in);
	} else if (in->member) {
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
