/* Reader of .wet files: header, sections, index; without an index, sections are searched. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/bytes.h"
#include "base/unz.h"
#include "format/kind.h"
#include "format/wetfile/wetfile.h"

#define ENTRY 24u                       /* bytes of an entry of the index */

/* Reads n bytes at off: how many there are; -1 with errno. */
static ssize_t
wetfile_get(int fd, void *p, size_t n, uint64_t off)
{
	size_t k = 0;

	while (k < n) {
		ssize_t r = pread(fd, (char *)p + k, n - k, (off_t)(off + k));

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return -1;
		if (r == 0)
			break;
		k += (size_t)r;
	}
	return (ssize_t)k;
}

/* Reads exactly n bytes; otherwise -1 and *f names what is missing. */
static int
wetfile_all(const struct wetfile *w, void *p, size_t n, uint64_t off, uint64_t rec, struct fault *f)
{
	ssize_t k = wetfile_get(w->fd, p, n, off);

	if (k == (ssize_t)n)
		return 0;
	if (k < 0)
		fault_set(f, off, rec, "%s", strerror(errno));
	else
		fault_set(f, off + (uint64_t)k, rec, "the file ends inside of a section");
	return -1;
}

int
wetfile_is(const void *p, size_t n)
{
	return n >= 8 && memcmp(p, WETFILE_MAGIC, 8) == 0;
}

/* Reads the header of a section at off; its payload must be within the file. 0, or -1: see *f. */
static int
wetfile_head(const struct wetfile *w, uint64_t off, uint64_t rec, struct wetfile_section *s, uint32_t *crc,
    struct fault *f)
{
	uint8_t h[WETFILE_SECTION];

	if (wetfile_all(w, h, sizeof h, off, rec, f) != 0)
		return -1;
	if (get_le32(h + 20) != (uint32_t)crc32(0, h, 20)) {
		fault_set(f, off, rec, "the header of a section has a wrong checksum");
		return -1;
	}
	*s = (struct wetfile_section){ get_le32(h), get_le32(h + 4), off + WETFILE_SECTION, get_le64(h + 8) };
	*crc = get_le32(h + 16);
	if (s->len > WETFILE_MAX) {
		fault_set(f, off, rec, "a section of %llu bytes", (unsigned long long)s->len);
		return -1;
	}
	if (s->len > w->size - s->off) {
		fault_set(f, w->size, rec, "the file ends inside of a section");
		return -1;
	}
	return 0;
}

static int
wetfile_payload(const struct wetfile *w, const struct wetfile_section *s, uint32_t crc, uint64_t rec,
    struct buf *b, struct fault *f)
{
	uint8_t *p;

	b->n = 0;
	p = buf_reserve(b, s->len + 1);
	if (!p) {
		fault_set(f, s->off, rec, "no memory");
		return -1;
	}
	if (wetfile_all(w, p, s->len, s->off, rec, f) != 0)
		return -1;
	b->n = s->len;
	if ((uint32_t)crc32_z(0, p, s->len) != crc) {
		fault_set(f, s->off, rec, "a section has a wrong checksum");
		return -1;
	}
	return 0;
}

/* Reads the sections from the index. 0; -1: there is no good index. */
static int
by_index(struct wetfile *w)
{
	struct fault f;
	struct wetfile_section s;
	struct buf b = BUF_INIT;
	uint8_t end[WETFILE_END];
	uint64_t at, off = WETFILE_HEADER;
	uint32_t crc;
	int bad;

	if (w->size < WETFILE_HEADER + WETFILE_SECTION + WETFILE_END ||
	    wetfile_get(w->fd, end, sizeof end, w->size - sizeof end) != sizeof end ||
	    memcmp(end + 8, WETFILE_ENDMAGIC, 8) != 0)
		return -1;
	at = get_le64(end);
	if (at < WETFILE_HEADER || at > w->size - WETFILE_END - WETFILE_SECTION ||
	    wetfile_head(w, at, UINT64_MAX, &s, &crc, &f) != 0 || s.tag != WETFILE_INDX ||
	    s.off + s.len + WETFILE_END != w->size || s.len % ENTRY)
		return -1;
	bad = wetfile_payload(w, &s, crc, UINT64_MAX, &b, &f);
	if (!bad && (w->section = calloc(b.n / ENTRY + 1, sizeof *w->section)) == NULL)
		bad = -1;
	for (size_t i = 0; !bad && i < b.n / ENTRY; i++) {
		const uint8_t *p = b.p + i * ENTRY;

		w->section[i] = (struct wetfile_section){ get_le32(p), get_le32(p + 4), get_le64(p + 8),
			get_le64(p + 16) };
		if (w->section[i].len > WETFILE_MAX || w->section[i].off != off + WETFILE_SECTION)
			bad = -1;
		off = w->section[i].off + w->section[i].len;
		w->nsection++;
	}
	if (bad || off != at) {
		free(w->section);
		w->section = NULL;
		w->nsection = 0;
		bad = -1;
	}
	buf_free(&b);
	return bad;
}

static void
by_walking(struct wetfile *w)
{
	uint64_t off = WETFILE_HEADER;
	size_t cap = 0;
	uint32_t crc;

	for (;;) {
		struct wetfile_section s;

		if (off == w->size) {
			fault_set(&w->fault, off, w->nsection, "the file ends before its index");
			return;
		}
		if (wetfile_head(w, off, w->nsection, &s, &crc, &w->fault) != 0)
			return;
		if (s.tag == WETFILE_INDX) {
			fault_set(&w->fault, off, w->nsection, "the index is damaged");
			return;
		}
		if (w->nsection >= WETFILE_SECTIONS ||
		    buf_grow(&w->section, &cap, w->nsection + 1, sizeof *w->section) != 0) {
			fault_set(&w->fault, off, w->nsection, "too many sections");
			return;
		}
		w->section[w->nsection++] = s;
		off = s.off + s.len;
	}
}

/* If the last section is PART, it becomes w->early. 0, or -1. */
static int
take_early(struct wetfile *w, struct fault *f)
{
	size_t i = w->nsection - 1;
	struct buf b = BUF_INIT;
	int e;

	if (!w->nsection || w->section[i].tag != WETFILE_PART)
		return 0;
	if (w->kind == WETFILE_TEXT || w->section[i].segment || w->section[i].len < 8 ||
	    w->section[i].len >= 8 + sizeof w->early.why) {
		fault_set(f, w->section[i].off, i, "a section that does not belong here");
		return -1;
	}
	e = wetfile_load(w, i, &b, f);
	if (!e) {
		ws_early_set(&w->early, get_le64(b.p), (const char *)b.p + 8, b.n - 8);
		w->nsection--;
	}
	buf_free(&b);
	return e;
}

int
wetfile_open(struct wetfile *w, int fd, struct fault *f)
{
	uint8_t h[WETFILE_HEADER];
	struct stat st;
	ssize_t n;

	*w = (struct wetfile){ .fd = fd };
	if (fstat(fd, &st) != 0 || (n = wetfile_get(fd, h, sizeof h, 0)) < 0) {
		fault_set(f, 0, UINT64_MAX, "%s", strerror(errno));
		return -1;
	}
	w->size = (uint64_t)st.st_size;
	if (!wetfile_is(h, (size_t)n)) {
		fault_set(f, 0, UINT64_MAX, "%s", unz_refuse(h, (size_t)n) ? unz_refuse(h, (size_t)n) :
		    "not a .wet file");
		kind_foreign(f->err, sizeof f->err, h, (size_t)n, "a .wet file", "wetz makes one of it");
		return -1;
	}
	if (n < (ssize_t)sizeof h) {
		fault_set(f, (uint64_t)n, UINT64_MAX, "the file ends inside of its header");
		return -1;
	}
	if (get_le32(h + 12) != (uint32_t)crc32(0, h, 12)) {
		fault_set(f, 8, UINT64_MAX, "the header has a wrong checksum");
		return -1;
	}
	w->kind = h[10];
	if (get_le16(h + 8) == WETFILE_OLD) {
		fault_set(f, 8, UINT64_MAX, "version 1, which only the older wetz that made it can read");
		return -1;
	}
	if (get_le16(h + 8) != WETFILE_VERSION || w->kind < WETFILE_TEXT || w->kind > WETFILE_PAPER ||
	    h[11]) {
		fault_set(f, 8, UINT64_MAX, "version %u, kind %u.%u: not known here", get_le16(h + 8), h[10],
		    h[11]);
		return -1;
	}
	w->whole = by_index(w) == 0;
	if (!w->whole)
		by_walking(w);
	if (take_early(w, f) == 0)
		return 0;
	wetfile_close(w);
	return -1;
}

void
wetfile_close(struct wetfile *w)
{
	free(w->section);
	w->section = NULL;
	w->nsection = 0;
}

int
wetfile_load(const struct wetfile *w, size_t i, struct buf *b, struct fault *f)
{
	const struct wetfile_section *want = &w->section[i];
	struct wetfile_section s;
	uint32_t crc;

	if (wetfile_head(w, want->off - WETFILE_SECTION, i, &s, &crc, f) != 0)
		return -1;
	if (s.tag != want->tag || s.segment != want->segment || s.len != want->len) {
		fault_set(f, want->off - WETFILE_SECTION, i, "the index tells another section");
		return -1;
	}
	return wetfile_payload(w, &s, crc, i, b, f);
}
