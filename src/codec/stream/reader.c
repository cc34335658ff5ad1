/* Value streams: opening a file, reading blocks, the first block. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/progress.h"
#include "base/unz.h"
#include "codec/stream/stream_internal.h"
#include "format/kind.h"

#define STEP (1u << 20)         /* memory is allocated in steps of this size, whatever size the file claims */

size_t
vs_get(struct vs_reader *r, uint64_t off, uint8_t *p, size_t n)
{
	size_t k = 0;

	if (!r->src.seeks && r->nahead) {
		k = n < r->nahead ? n : r->nahead;
		memcpy(p, r->ahead, k);
		memmove(r->ahead, r->ahead + k, r->nahead - k);
		r->nahead -= k;
		r->src.error = 0;
	}
	return n > k ? k + src_read(&r->src, off + k, p + k, n - k) : k;
}

size_t
vs_peek(struct vs_reader *r, uint64_t off, uint8_t *p, size_t n)
{
	if (r->src.seeks)
		return src_read(&r->src, off, p, n);
	if (r->nahead < n)
		r->nahead += src_read(&r->src, off + r->nahead, r->ahead + r->nahead, n - r->nahead);
	if (n > r->nahead)
		n = r->nahead;
	memcpy(p, r->ahead, n);
	return n;
}

int
vs_read_error(struct vs_reader *r, struct fault *f, uint64_t off, uint64_t rec)
{
	if (r->src.error)
		fault_set(f, off, rec, "%s", strerror(r->src.error));
	return r->src.error != 0;
}

/* Appends n bytes at off to b: 1; 0: the file ends before; -1: *f. */
static int
get_bytes(struct vs_reader *r, uint64_t off, uint64_t n, struct buf *b, struct fault *f, uint64_t rec)
{
	while (n) {
		size_t k = n < STEP ? (size_t)n : STEP, got;
		uint8_t *p = buf_reserve(b, k);

		if (!p) {
			fault_set(f, off, rec, VS_NOMEM);
			return -1;
		}
		got = vs_get(r, off, p, k);
		progress_read(got);
		b->n += got;
		off += got;
		if (got < k)
			return vs_read_error(r, f, off, rec) ? -1 : 0;
		n -= k;
	}
	return 1;
}

/*
 * The peeked bytes are few, and a read from a pipe must not block: first reads as many bytes as any
 * block has.
 */
static int
get_head(struct vs_reader *r, struct vs_job *j, const char **err)
{
	uint8_t p[VS_BHEAD];
	size_t n, want = 16;
	int k;

	for (;; want = VS_BHEAD) {
		n = vs_peek(r, j->off, p, want);
		if (n && !p[0])
			return 0;
		k = vs_decode_block_head(p, n, &r->m.info, &j->head, err);
		if (k)
			return k;
		if (n < want || want == VS_BHEAD)
			break;
	}
	*err = NULL;
	return -1;
}

int
vs_get_block(struct vs_reader *r, struct vs_job *j)
{
	const char *err;
	int k = get_head(r, j, &err);

	j->bad = 0;
	j->coded.n = 0;
	if (k == 0)
		return 0;
	j->bad = 1;
	if (k < 0 && err)
		fault_set(&j->fault, j->off, j->rec, "block %zu (from record %llu) is damaged: %s", j->no + 1,
		    (unsigned long long)j->rec, err);
	else if (k < 0 && !vs_read_error(r, &j->fault, j->off, j->rec))
		fault_set(&j->fault, j->off, j->rec, "the file was cut off here, after %zu whole blocks",
		    j->no);
	if (k < 0 || vs_memory_exceeds(r, j))
		return -1;
	k = get_bytes(r, j->off, j->head.size, &j->coded, &j->fault, j->rec);
	if (k == 0)
		fault_set(&j->fault, j->off + j->coded.n, j->rec,
		    "the file was cut off in block %zu (records %llu to %llu)", j->no + 1,
		    (unsigned long long)j->rec, (unsigned long long)(j->rec + j->head.n - 1));
	if (k <= 0)
		return -1;
	j->bad = 0;
	return 1;
}

int
vs_get_entry(struct vs_reader *r, size_t no, struct vs_job *j)
{
	const struct vs_entry *e = &r->entry[no];

	j->no = no;
	j->off = e->off;
	j->rec = e->rec;
	j->head.before = no ? e[-1].n : 0;
	if (vs_get_block(r, j) == 1 && j->head.n == e->n && j->head.size == e->size)
		return 0;
	j->bad = 1;
	if (!vs_read_error(r, &j->fault, e->off, e->rec))
		fault_set(&j->fault, e->off, e->rec,
		    "block %zu (records %llu to %llu) is damaged: its head is not what the index has", no + 1,
		    (unsigned long long)e->rec, (unsigned long long)(e->rec + e->n - 1));
	return -1;
}

static int
bad_open(struct vs_reader *r, struct fault *f, uint64_t off, const char *err)
{
	if (!vs_read_error(r, f, off, UINT64_MAX))
		fault_set(f, off, UINT64_MAX, "%s", err);
	return -1;
}

static int
open_header(struct vs_reader *r, struct fault *f)
{
	uint8_t p[VS_HEADER];
	struct buf b = BUF_INIT;
	const char *err;
	char text[160];
	size_t got, size;
	int k;

	got = vs_get(r, 0, p, VS_HEADER);
	if (unz_refuse(p, got))
		return bad_open(r, f, 0, unz_refuse(p, got));
	if (got >= sizeof(vs_magic) && memcmp(p, vs_magic, sizeof(vs_magic)) && kind_foreign(text, sizeof text, p, got,
	    "a value stream of bifcm(5)", "ws2addr makes references of it"))
		return bad_open(r, f, 0, text);
	if (got < sizeof(vs_magic) || memcmp(p, vs_magic, sizeof(vs_magic)))
		return bad_open(r, f, 0, got ? "not a value stream of bifcm(5)" :
		    "empty, not a value stream of bifcm(5)");
	if (got < VS_HEADER)
		return bad_open(r, f, got, "the file was cut off in its header");
	size = vs_header_size(p, &err);
	if (!size)
		return bad_open(r, f, 0, err);
	buf_add(&b, p, VS_HEADER);
	k = get_bytes(r, VS_HEADER, size - VS_HEADER, &b, f, UINT64_MAX);
	r->header = b.p;
	if (k == 0)
		return bad_open(r, f, b.n, "the file was cut off in its header");
	if (k < 0)
		return -1;
	if (vs_get_header(b.p, size, &r->m.info, &err) != 0)
		return bad_open(r, f, 0, err);
	r->m.info.seeks = r->src.seeks;
	r->m.record = vs_record_size(&r->m.info.layout);
	r->first = size;
	return 0;
}

static struct vs_reader *
open_source(struct src src, struct fault *f)
{
	struct vs_reader *r = calloc(1, sizeof(*r));

	if (!r) {
		fault_set(f, 0, UINT64_MAX, VS_NOMEM);
		return NULL;
	}
	r->src = src;
	if (open_header(r, f) != 0) {
		vs_close(r);
		return NULL;
	}
	return r;
}

struct vs_reader *
vs_open(int fd, struct fault *f)
{
	struct src src;
	int e = src_fd(&src, fd);

	if (e) {
		fault_set(f, 0, UINT64_MAX, "%s", strerror(e));
		return NULL;
	}
	return open_source(src, f);
}

struct vs_reader *
vs_open_mem(const void *p, size_t n, struct fault *f)
{
	struct src src;

	src_mem(&src, p, n);
	return open_source(src, f);
}

void
vs_close(struct vs_reader *r)
{
	if (!r)
		return;
	vs_job_free(&r->first_job);
	vs_common_free(&r->m);
	vc_work_free(r->work);
	free(r->header);
	free(r->entry);
	free(r->tail);
	free(r);
}

const struct vs_info *
vs_info(const struct vs_reader *r)
{
	return &r->m.info;
}

struct vc_work *
vs_reader_work(struct vs_reader *r)
{
	if (!r->work)
		r->work = vs_work_new(&r->m.info);
	return r->work;
}

/* Is the first block of the index whole? -1: *f. */
static int
first_is_whole(struct vs_reader *r, struct fault *f)
{
	struct vs_stat s[VS_COLUMNS];

	return r->indexed && r->index.n && !r->m.primed && r->m.info.whole ? vs_stat(r, 0, s, f) : 0;
}

int
vs_first(struct vs_reader *r, int values, struct fault *f)
{
	struct vs_job *j = &r->first_job;
	struct vs_common m = r->m;
	struct vc_work *w = vs_reader_work(r);
	int whole;

	if (!w) {
		fault_set(f, r->first, 0, VS_NOMEM);
		return -1;
	}
	if (!r->first_whole && (whole = first_is_whole(r, f)) != 0) {
		if (whole < 0)
			return -1;
		r->first_whole = r->m.primed = 1;
	}
	if (r->first_whole)
		return 0;
	if (!r->have_first && (values || !r->m.primed)) {
		memset(m.prime, 0, sizeof(m.prime));
		if (vs_get_entry(r, 0, j) != 0 || vs_decode_job(&m, w, j) != 0) {
			*f = j->fault;
			return -1;
		}
		r->have_first = 1;
	}
	if (r->m.primed || (r->indexed && r->index.n < 2))
		return 0;
	if (vs_make_primes(&r->m, w, &j->b) != 0) {
		fault_set(f, j->off, 0, VS_NOMEM);
		return -1;
	}
	vc_work_trim(w);
	return 0;
}

void
vs_first_drop(struct vs_reader *r)
{
	vs_block_free(&r->first_job.b);
	r->have_first = 0;
}

int
vs_get_block_head(struct vs_reader *r, size_t no, struct vs_bhead *h, struct fault *f)
{
	const struct vs_entry *e = &r->entry[no];
	uint8_t p[VS_BHEAD];
	const char *err = "";
	size_t n = vs_peek(r, e->off, p, VS_BHEAD);

	*h = (struct vs_bhead){ .before = no ? e[-1].n : 0 };
	if (vs_decode_block_head(p, n, &r->m.info, h, &err) == 1 && h->size == e->size && h->n == e->n)
		return 0;
	if (!vs_read_error(r, f, e->off, e->rec))
		fault_set(f, e->off, e->rec,
		    "block %zu (records %llu to %llu) is damaged: its head is not as it must be", no + 1,
		    (unsigned long long)e->rec, (unsigned long long)(e->rec + e->n - 1));
	return -1;
}

int
vs_stat(struct vs_reader *r, size_t i, struct vs_stat s[VS_COLUMNS], struct fault *f)
{
	struct vs_bhead h;

	if (vs_get_block_head(r, i, &h, f) != 0)
		return -1;
	memcpy(s, h.col, sizeof(h.col));
	return h.whole;
}
