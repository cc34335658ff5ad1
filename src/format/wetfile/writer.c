/* Writer of .wet files; names of tags. */
#include "format/wetfile/wetfile.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/bytes.h"

struct wetfile_writer {
	wetfile_sink *sink;
	void *arg;
	uint64_t off;                   /* bytes written */
	struct buf index;
	size_t n;                       /* sections */
	struct fault fault;
};

static int
wetfile_emit(struct wetfile_writer *w, const void *p, size_t n)
{
	int e = n ? w->sink(w->arg, p, n) : 0;

	if (e) {
		fault_set(&w->fault, w->off, UINT64_MAX, "%s", strerror(e));
		return -1;
	}
	w->off += n;
	return 0;
}

struct wetfile_writer *
wetfile_create(wetfile_sink *sink, void *arg, enum wetfile_kind kind, struct fault *f)
{
	struct wetfile_writer *w = calloc(1, sizeof *w);
	uint8_t h[WETFILE_HEADER] = { 0 };

	if (!w) {
		fault_set(f, 0, UINT64_MAX, "no memory");
		return NULL;
	}
	w->sink = sink;
	w->arg = arg;
	memcpy(h, WETFILE_MAGIC, 8);
	put_le16(h + 8, WETFILE_VERSION);
	h[10] = (uint8_t)kind;
	put_le32(h + 12, (uint32_t)crc32(0, h, 12));
	if (wetfile_emit(w, h, sizeof h) == 0)
		return w;
	*f = w->fault;
	wetfile_free(w);
	return NULL;
}

int
wetfile_put(struct wetfile_writer *w, enum wetfile_tag tag, uint32_t segment, const void *p, size_t n)
{
	uint8_t h[WETFILE_SECTION];

	if (n > WETFILE_MAX || w->n >= WETFILE_SECTIONS) {
		fault_set(&w->fault, w->off, w->n, n > WETFILE_MAX ? "a section of %zu bytes" :
		    "too many sections", n);
		return -1;
	}
	put_le32(h, tag);
	put_le32(h + 4, segment);
	put_le64(h + 8, n);
	put_le32(h + 16, (uint32_t)crc32_z(0, p ? p : (const void *)"", n));
	put_le32(h + 20, (uint32_t)crc32(0, h, 20));
	buf_add(&w->index, h, 8);
	buf_le64(&w->index, w->off + sizeof h);
	buf_le64(&w->index, n);
	if (w->index.nomem) {
		fault_set(&w->fault, w->off, w->n, "no memory");
		return -1;
	}
	w->n++;
	return wetfile_emit(w, h, sizeof h) != 0 || wetfile_emit(w, p, n) != 0 ? -1 : 0;
}

int
wetfile_put_early(struct wetfile_writer *w, const struct ws_early *e)
{
	uint8_t b[8 + sizeof e->why];
	size_t n = strlen(e->why);

	if (!e->is)
		return 0;
	put_le64(b, e->icount);
	memcpy(b + 8, e->why, n);
	return wetfile_put(w, WETFILE_PART, 0, b, 8 + n);
}

int
wetfile_finish(struct wetfile_writer *w)
{
	uint8_t end[WETFILE_END];
	uint64_t at = w->off;
	struct buf index = w->index;
	int bad;

	w->index = (struct buf)BUF_INIT;        /* the index does not list itself */
	put_le64(end, at);
	memcpy(end + 8, WETFILE_ENDMAGIC, 8);
	bad = wetfile_put(w, WETFILE_INDX, 0, index.p, index.n) != 0 || wetfile_emit(w, end, sizeof end) != 0;
	buf_free(&index);
	return bad ? -1 : 0;
}

const struct fault *
wetfile_write_fault(const struct wetfile_writer *w)
{
	return &w->fault;
}

uint64_t
wetfile_written(const struct wetfile_writer *w)
{
	return w->off;
}

void
wetfile_free(struct wetfile_writer *w)
{
	if (w)
		buf_free(&w->index);
	free(w);
}
