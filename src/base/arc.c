/*
 * Archives: libarchive feeds on the source's bytes, and what it leaves unchecked is checked here.
 * See arc.h.
 */
#include "base/arc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arclib.h"
#include "base/bytes.h"
#include "base/diag.h"
#include "base/mem.h"

#define COMPRESS0 0x1f                  /* first byte of a compress(1) file */
/* size of the last record of a zip archive, less the comment that may follow it */
#define ZIPEND 22
#define TAIL   (ZIPEND + 65535)         /* the last record begins within this many bytes of the end */

struct arc {
	arc_source *source;
	void *arg;
	const char *member;     /* borrowed; NULL: the only one */
	struct archive *ar;     /* owned */
	char *err;              /* owned */
	int ended;              /* the last byte of the member was delivered, and the rest was checked */
	uint8_t *raw;           /* owned: size bytes of input for libarchive */
	/* nraw: bytes in raw that libarchive has not got yet; later, the size of the last piece */
	size_t size, nraw;
	int given;              /* libarchive has got the first piece */
	uint64_t total;         /* bytes passed to libarchive so far */
	uint64_t nentry;        /* headers seen */
	uint64_t end;           /* where the last member ends */
	/* in libarchive's memory: the part of its last block that is not copied yet */
	const uint8_t *blk;
	size_t nblk;
	/* offset in the member of blk[0], and of the next byte to copy (which is less inside a hole) */
	int64_t blkoff, off;
	int64_t length;         /* size of a tar file's member, which may end with a hole */
	uint8_t *tail;          /* owned: the last ntail bytes of the archive, at most TAIL */
	size_t ntail;
};

int
arc_is(const uint8_t *p, size_t n)
{
	if (n >= 4 && !memcmp(p, "PK\3\4", 4))
		return 1;
	if (n >= 3 && p[0] == COMPRESS0 && p[1] == 0x9d)
		return 1;
	return n >= 262 && !memcmp(p + 257, "ustar", 5);
}

static ssize_t
arc_wrong(struct arc *a, const char *what)
{
	if (!a->err)
		a->err = xstrdup(what);
	return -1;
}

static ssize_t
arc_failed(struct arc *a)
{
	const char *s = arclib.error_string(a->ar);

	return arc_wrong(a, s && *s ? s : "damaged compressed data");
}

static void
arc_remember(struct arc *a, const uint8_t *p, size_t n)
{
	size_t keep = n < TAIL ? TAIL - n : 0;

	if (n > TAIL) {
		p += n - TAIL;
		n = TAIL;
	}
	if (a->ntail > keep) {
		memmove(a->tail, a->tail + a->ntail - keep, keep);
		a->ntail = keep;
	}
	memcpy(a->tail + a->ntail, p, n);
	a->ntail += n;
}

/* libarchive's callback: passes the next piece of the archive, in raw. */
static ssize_t
arc_next_piece(struct arc *a)
{
	const char *why = "";
	ssize_t n = a->given ? a->source(a->arg, a->raw, a->size, &why) : (ssize_t)a->nraw;

	a->given = 1;
	if (n < 0)
		return arc_wrong(a, why);
	a->nraw = (size_t)n;
	a->total += (uint64_t)n;
	arc_remember(a, a->raw, a->nraw);
	return n;
}

static la_ssize_t
arc_feed(struct archive *ar, void *arg, const void **p)
{
	struct arc *a = arg;
	ssize_t n = arc_next_piece(a);

	*p = a->raw;
	if (n < 0)
		arclib.set_error(ar, EIO, "%s", a->err);
	return n;
}

static int
is_tar(const struct arc *a)
{
	return (arclib.format(a->ar) & ARCHIVE_FORMAT_BASE_MASK) == ARCHIVE_FORMAT_TAR;
}

static int
is_zip(const struct arc *a)
{
	return (arclib.format(a->ar) & ARCHIVE_FORMAT_BASE_MASK) == ARCHIVE_FORMAT_ZIP;
}

/* The next regular file: 1, or 0 at the end of the archive, or -1. */
static int
arc_next_file(struct arc *a, struct archive_entry **e)
{
	int r;

	for (;;) {
		if (a->nentry && arclib.read_data_skip(a->ar) < ARCHIVE_WARN)
			return (int)arc_failed(a);
		a->end = (uint64_t)arclib.filter_bytes(a->ar, 0);
		r = arclib.read_next_header(a->ar, e);
		/* libarchive accepts a tar file that just ends as a whole one */
		if (r == ARCHIVE_EOF && is_tar(a) && (uint64_t)arclib.filter_bytes(a->ar, 0) == a->end)
			return (int)arc_wrong(a, "truncated archive");
		if (r == ARCHIVE_EOF)
			return 0;
		if (r < ARCHIVE_WARN)
			return (int)arc_failed(a);
		a->nentry++;
		if (arclib.entry_filetype(*e) == AE_IFREG)
			return 1;
	}
}

static int
is_member(const struct arc *a, struct archive_entry *e)
{
	const char *path = arclib.entry_pathname(e);

	return !a->member || (path && !strcmp(path, a->member));
}

/* Goes to the wanted member. Errors show at the first read. */
static void
arc_find(struct arc *a)
{
	struct archive_entry *e;
	int r;

	while ((r = arc_next_file(a, &e)) > 0) {
		if (arclib.format(a->ar) == ARCHIVE_FORMAT_RAW && a->member)
			arc_wrong(a, "not an archive");
		if (is_member(a, e)) {
			a->length = is_tar(a) && arclib.entry_size_is_set(e) ? arclib.entry_size(e) : 0;
			return;
		}
	}
	if (r == 0 && (is_tar(a) || is_zip(a)))
		arc_wrong(a, a->member ? "no such member in the archive" : "no file in the archive");
	a->ended = 1;
}

struct arc *
arc_new(arc_source *source, void *arg, uint8_t *head, size_t nhead, size_t size, const char *member)
{
	struct arc *a = xcalloc(1, sizeof *a);
	const char *why;

	*a = (struct arc){ .source = source, .arg = arg, .member = member, .raw = head, .size = size,
	    .nraw = nhead };
	a->tail = xmalloc(TAIL);
	why = arclib_load();
	if (why) {
		arc_wrong(a, why);
		return a;
	}
	a->ar = arclib.read_new();
	if (!a->ar)
		die("out of memory");
	if (head[0] == COMPRESS0) {
		arclib.read_support_filter_compress(a->ar);
		arclib.read_support_format_empty(a->ar);
		/* accepts anything, also a tar file with a damaged header */
		arclib.read_support_format_raw(a->ar);
	}
	arclib.read_support_format_tar(a->ar);
	arclib.read_support_format_zip_streamable(a->ar);
	if (arclib.read_open(a->ar, a, NULL, arc_feed, NULL) != ARCHIVE_OK)
		arc_failed(a);
	else
		arc_find(a);
	return a;
}

void
arc_free(struct arc *a)
{
	if (!a)
		return;
	if (a->ar)
		arclib.read_free(a->ar);
	free(a->tail);
	free(a->raw);
	free(a->err);
	free(a);
}

/*
 * The last record of a zip archive must be there, and must agree with the number of files seen,
 * with the list of files, which begins where the last file ends, and with its own position.
 */
static int
check_zip(const struct arc *a)
{
	for (size_t n = ZIPEND; n <= a->ntail; n++) {
		const uint8_t *p = a->tail + a->ntail - n;
		uint64_t where = a->total - n, size, off;

		if (memcmp(p, "PK\5\6", 4) != 0 || get_le16(p + 20) != n - ZIPEND)
			continue;
		size = get_le32(p + 12);
		off = get_le32(p + 16);
		if (off == UINT32_MAX || size == UINT32_MAX || get_le16(p + 10) == UINT16_MAX)
			/* a zip64 record precedes */
			return n + 20 <= a->ntail && !memcmp(p - 20, "PK\6\7", 4);
		return get_le16(p + 10) == a->nentry && off == a->end && off + size == where;
	}
	return 0;
}

static int
arc_zeros(const uint8_t *p, size_t n)
{
	while (n)
		if (p[--n])
			return 0;
	return 1;
}

/*
 * Reads the rest of the file, which libarchive leaves unread: it has check sums of the compression
 * around the archive, and only zeros may follow the end of a tar file.
 */
static int
arc_drain(struct arc *a)
{
	int tar = is_tar(a) && arclib.filter_count(a->ar) == 1;
	uint64_t used = (uint64_t)arclib.filter_bytes(a->ar, 0);
	size_t left = tar && used < a->total ? (size_t)(a->total - used) : 0;
	ssize_t n;

	if (left <= a->nraw && !arc_zeros(a->raw + a->nraw - left, left))
		return (int)arc_wrong(a, "garbage after the archive");
	while ((n = arc_next_piece(a)) > 0)
		if (tar && !arc_zeros(a->raw, (size_t)n))
			return (int)arc_wrong(a, "garbage after the archive");
	return n < 0 ? -1 : 0;
}

/* After the member: a second one would be dropped silently, and damage after it would not be seen. */
static ssize_t
arc_finish(struct arc *a)
{
	struct archive_entry *e;
	int r;

	a->ended = 1;
	if (arclib.format(a->ar) == ARCHIVE_FORMAT_RAW)
		return 0;
	while ((r = arc_next_file(a, &e)) > 0)
		if (is_member(a, e))
			return arc_wrong(a, a->member ? "the archive holds more than one file of this name" :
			    "the archive holds more than one file: name one as archive//member");
	if (r < 0 || arc_drain(a) < 0)
		return -1;
	return is_zip(a) && !check_zip(a) ? arc_wrong(a, "truncated or damaged archive") : 0;
}

/* Reads by blocks, because archive_read_data() loses what it copied before a fault. */
ssize_t
arc_read(struct arc *a, void *p, size_t n)
{
	const void *blk;
	int r;

	while (!a->nblk) {
		if (a->err)
			return -1;
		if (a->ended)
			return 0;
		r = arclib.read_data_block(a->ar, &blk, &a->nblk, &a->blkoff);
		if (r == ARCHIVE_EOF) {
			a->blkoff = a->length;
			if (a->off < a->length)
				break;          /* the member ends with a hole */
			return arc_finish(a);
		}
		if (r != ARCHIVE_OK)
			arc_failed(a);
		/* libarchive reports a wrong check sum as a warning, with the last bytes */
		if (r < ARCHIVE_WARN)
			return -1;
		a->blk = blk;
	}
	if (a->off < a->blkoff) {
		if (n > (uint64_t)(a->blkoff - a->off))
			n = (size_t)(a->blkoff - a->off);
		memset(p, 0, n);
	} else {
		if (n > a->nblk)
			n = a->nblk;
		memcpy(p, a->blk, n);
		a->blk += n;
		a->nblk -= n;
		a->blkoff += (int64_t)n;
	}
	a->off += (int64_t)n;
	return (ssize_t)n;
}

const char *
arc_error(const struct arc *a)
{
	return a->err;
}
