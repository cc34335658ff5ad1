/*
 * Value streams: whole blocks, whose records are bytes for LZMA, zstd, or context mixing. Where they
 * are programs, text, or repeat over long distances, the first two find what no block of a column has,
 * as xz(1) and zstd(1) do with the same parameters. To read any of it, all of it is decoded.
 *
 * LZMA is slow: it is tried if an estimate comes near the size that was reached. The first one is the size
 * by a quick run of zstd over everything, which finds repetitions over all distances, times what LZMA
 * makes of a sample as against such a run. Where that leaves it open, there is a better one: the same with
 * a fast run of LZMA, which is given up where it is far. What does not depend on each other runs in threads.
 */
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/bytes.h"
#include "codec/stream/bytes_internal.h"
#include "codec/stream/stream_internal.h"

#define DICT_MIN 4096u          /* that of the format, at least */
#define MAGIC   4               /* bytes of zstd's magic, which are left out */
#define LEVEL   19              /* of zstd */
#define QUICK   3               /* of zstd in the quick run */
#define WINDOW  27              /* log2 of its window's bytes, at most */
#define SLICES  8               /* of the sample */
#define SLICE   (32u << 10)     /* bytes */
#define NOISE   0.999           /* it cannot be compressed if both take this part of a sample */
#define NEAR    1.75            /* the second estimate is made if the first is at most this times the size */
#define NEARER  1.3             /* they are tried if either is at most this times the size */
/*
 * If the blocks take less than one of so many bytes, there is no first estimate: a quick run then misses
 * long repetitions among the short ones.  Samples have none of these.
 */
#define LITTLE  128
#define FAR     2               /* they are tried there if either run takes less than this times the size */
#define DEPTH   8               /* places that a fast run of LZMA looks at */
#define ZFAR    1.15            /* zstd is not tried if it takes this times as much as LZMA on the sample */
#define CLOSE   1.15            /* context mixing of bytes is tried if its estimate is less than that, ... */
#define CLOSER  1.05            /* ...or than that where LZMA is not tried: it takes longer than all others */
#define WORTH   32              /* it must save one of so many bytes, because it is slow both ways */
#define PIECE   65536u          /* records whose values are summed at a time */

/* The number of LZMA's dictionary sizes, 2^i or 3 * 2^i, that is enough for n bytes. */
static uint32_t
whole_dict(size_t n)
{
	uint32_t d = DICT_MIN;

	while (d < n && d < VS_DICT_MAX)
		d = d & (d - 1) ? d / 3 * 4 : d / 2 * 3;
	return d;
}

/* 0, or -1 without memory: the size, in *size, by a run of zstd that finds repetitions over all distances */
static int
whole_quick(const uint8_t *p, size_t n, size_t *size)
{
	ZSTD_CCtx *c = ZSTD_createCCtx();
	size_t room = ZSTD_compressBound(n), r = 0;
	uint8_t *to = malloc(room);
	int bits = 10, bad = !c || !to;         /* zstd's minimum */

	while (bits < WINDOW && (size_t)1 << bits < n)
		bits++;
	if (!bad) {
		ZSTD_CCtx_setParameter(c, ZSTD_c_compressionLevel, QUICK);
		ZSTD_CCtx_setParameter(c, ZSTD_c_windowLog, bits);
		ZSTD_CCtx_setParameter(c, ZSTD_c_enableLongDistanceMatching, 1);
		r = ZSTD_compress2(c, to, room, p, n);
		bad = ZSTD_isError(r) != 0;
	}
	ZSTD_freeCCtx(c);
	free(to);
	*size = r;
	return bad ? -1 : 0;
}

/* Appends what `zstd -19` makes of n bytes, without magic, length and checksum. 0, or -1 without memory. */
static int
whole_zstd(const uint8_t *p, size_t n, struct buf *out)
{
	ZSTD_CCtx *c = ZSTD_createCCtx();
	size_t room = ZSTD_compressBound(n), r = 0;
	uint8_t *to = buf_reserve(out, room);
	int bad = !c || !to;

	if (!bad) {
		ZSTD_CCtx_setParameter(c, ZSTD_c_compressionLevel, LEVEL);
		ZSTD_CCtx_setParameter(c, ZSTD_c_contentSizeFlag, 0);
		r = ZSTD_compress2(c, to, room, p, n);
		bad = ZSTD_isError(r) != 0;
	}
	if (!bad) {
		memmove(to, to + MAGIC, r - MAGIC);
		out->n += r - MAGIC;
	}
	ZSTD_freeCCtx(c);
	return bad ? -1 : 0;
}

/*
 * Appends what xz -9e, or a fast run that reaches as far, makes of n bytes, without its headers. 0; 1 if that
 * takes `limit` bytes or more; -1 without memory.
 */
static int
whole_lzma(const uint8_t *p, size_t n, int fast, size_t limit, struct buf *out)
{
	lzma_options_lzma opt;
	lzma_filter filter[2] = { { LZMA_FILTER_LZMA2, &opt }, { LZMA_VLI_UNKNOWN, NULL } };
	uint8_t *to = buf_reserve(out, limit);
	size_t r = 0;
	lzma_ret ret = LZMA_MEM_ERROR;

	if (to && !lzma_lzma_preset(&opt, 9 | LZMA_PRESET_EXTREME)) {
		opt.dict_size = whole_dict(n);
		if (fast) {
			opt.mode = LZMA_MODE_FAST;
			opt.mf = LZMA_MF_HC4;
			opt.depth = DEPTH;
		}
		ret = lzma_raw_buffer_encode(filter, NULL, p, n, to, &r, limit);
	}
	out->n += ret == LZMA_OK ? r : 0;
	return ret == LZMA_OK ? 0 : ret == LZMA_BUF_ERROR ? 1 : -1;
}

/* A coding of bytes that a thread does. */
enum trial_how { TRY_QUICK, TRY_FAST, TRY_LZMA, TRY_ZSTD };

struct trial {
	enum trial_how how;
	const uint8_t *p;
	size_t n, limit;        /* of LZMA: as much, or more, is too much */
	struct buf out;
	size_t size;            /* that it takes; SIZE_MAX: too much */
	int r;
};

static void
trial_work(void *arg, unsigned thread, void *job)
{
	struct trial *t = job;

	(void)arg, (void)thread;
	if (t->how == TRY_QUICK) {
		t->r = whole_quick(t->p, t->n, &t->size);
		return;
	}
	t->r = t->how == TRY_ZSTD ? whole_zstd(t->p, t->n, &t->out) :
	    whole_lzma(t->p, t->n, t->how == TRY_FAST, t->limit, &t->out);
	t->size = t->r ? SIZE_MAX : t->out.n;
	if (t->r || t->how == TRY_FAST)
		buf_free(&t->out);
}

/* 0, or -1 without memory. */
static int
trial_run(unsigned threads, struct trial *t, size_t n)
{
	struct par *p = pool_new_room(n < threads ? (unsigned)n : threads, n, trial_work, NULL);
	int bad = !p;

	for (size_t i = 0; p && i < n; i++)
		pool_submit(p, &t[i]);
	for (size_t i = 0; p && i < n; i++) {
		pool_wait(p);
		bad |= t[i].r < 0;
	}
	pool_free(p);
	return bad ? -1 : 0;
}

/* LZMA of n bytes never takes more. */
static size_t
whole_limit(size_t n, double most)
{
	return most < (double)(n + n / 1024 + 4096) ? (size_t)most + 1 : n + n / 1024 + 4096;
}

/* A sample of n bytes: pieces from all over them. NULL without memory. */
static uint8_t *
whole_sample(const uint8_t *p, size_t n)
{
	size_t step = (n - SLICE) / (SLICES - 1);
	uint8_t *s = malloc((size_t)SLICES * SLICE);

	for (size_t k = 0; s && k < SLICES; k++)
		memcpy(s + k * SLICE, p + k * (step & ~(size_t)7), SLICE);
	return s;
}

/* What is to be tried on a unit. */
enum { DO_LZMA = 1, DO_ZSTD = 2, DO_BYTES = 4, DO_ALL = 7 };

/* The same for blocks that take little. -1 without memory. */
static int
tries_little(const uint8_t *p, size_t n, size_t size, unsigned threads)
{
	struct trial t[] = {
		{ .how = TRY_FAST, .p = p, .n = n, .limit = whole_limit(n, FAR * (double)size) },
		{ .how = TRY_QUICK, .p = p, .n = n },
	};

	if (trial_run(threads, t, 2) != 0)
		return -1;
	return t[0].size == SIZE_MAX && t[1].size > FAR * size ? 0 : DO_ALL;
}

/* What is to be tried on n bytes that take `size` otherwise? -1: no memory. */
static int
whole_tries(const uint8_t *p, size_t n, size_t size, unsigned threads)
{
	enum { T_ALL, T_QUICK, T_LZMA, T_ZSTD, T_SHORT, T_LONG, TRIALS };
	const size_t part = (size_t)SLICES * SLICE;
	struct trial t[TRIALS];
	size_t least;
	uint8_t *s;
	double gain, first, most;
	int tries, zstd;

	if (n <= part)
		return DO_ALL;
	if (size < n / LITTLE)
		return tries_little(p, n, size, threads);
	s = whole_sample(p, n);
	t[T_ALL] = (struct trial){ .how = TRY_QUICK, .p = p, .n = n };
	t[T_QUICK] = (struct trial){ .how = TRY_QUICK, .p = s, .n = part };
	t[T_LZMA] = (struct trial){ .how = TRY_LZMA, .p = s, .n = part, .limit = 2 * part };
	t[T_ZSTD] = (struct trial){ .how = TRY_ZSTD, .p = s, .n = part };
	t[T_SHORT] = (struct trial){ .how = TRY_FAST, .p = s, .n = part, .limit = 2 * part };
	tries = s ? trial_run(threads, t, T_LONG) : -1;
	buf_free(&t[T_LZMA].out);
	buf_free(&t[T_ZSTD].out);
	free(s);
	if (tries < 0)
		return -1;
	least = t[T_LZMA].size < t[T_ZSTD].size ? t[T_LZMA].size : t[T_ZSTD].size;
	gain = (double)least / (double)t[T_QUICK].size;
	if (vc_is_noise(t[T_ALL].size, n) && gain > NOISE)        /* zstd stores it with few headers */
		return size > t[T_ALL].size ? DO_ZSTD | DO_BYTES : 0;
	first = (double)t[T_ALL].size * (gain < 1 ? gain : 1);
	if (first > NEAR * (double)size)
		return 0;
	zstd = (double)t[T_ZSTD].size > ZFAR * (double)t[T_LZMA].size ? 0 : DO_ZSTD;
	if (first <= NEARER * (double)size)
		return DO_BYTES | DO_LZMA | zstd;
	gain = (double)least / (double)t[T_SHORT].size;
	most = NEARER * (double)size / (gain < 1 ? gain : 1);
	t[T_LONG] = (struct trial){ .how = TRY_FAST, .p = p, .n = n, .limit = whole_limit(n, most) };
	if (trial_run(1, &t[T_LONG], 1) != 0)
		return -1;
	return (double)t[T_LONG].size > most ? DO_BYTES : DO_BYTES | DO_LZMA | zstd;
}

/* Codes the records at raw, as `tries` has it; what is best is first. 0, or -1 without memory. */
static int
whole_try(const struct buf *raw, int tries, unsigned threads, size_t size, struct buf *best, unsigned *method)
{
	struct trial t[2];
	size_t n = 0;
	int r;

	/* LZMA takes longer: it begins */
	if (tries & DO_LZMA)
		t[n++] = (struct trial){ .how = TRY_LZMA, .p = raw->p, .n = raw->n, .limit = size };
	if (tries & DO_ZSTD)
		t[n++] = (struct trial){ .how = TRY_ZSTD, .p = raw->p, .n = raw->n };
	r = n ? trial_run(threads, t, n) : 0;
	for (size_t i = 0; i < n; i++) {
		if (r || t[i].size == SIZE_MAX || (best->n && t[i].size >= best->n)) {
			buf_free(&t[i].out);
			continue;
		}
		buf_free(best);
		*best = t[i].out;
		*method = t[i].how == TRY_LZMA ? VS_LZMA : VS_ZSTD;
	}
	return r;
}

/*
 * Replaces *best, or what takes `size` bytes, by context mixing of bytes if that is worth its time.
 * 0, or -1 without memory.
 */
static int
whole_bytes(const struct vs_common *m, const struct buf *raw, double close, size_t size, struct buf *best,
    unsigned *method)
{
	const struct vs_layout *y = &m->info.layout;
	unsigned width = y->ref ? 1 : y->width[0];
	struct buf sample = BUF_INIT, b = BUF_INIT;
	struct bytes_shape s;
	size_t part, quick = 1, all = 1;
	int r, noise;

	if (raw->n > BYTES_MAX)
		return 0;
	if (best->n && best->n < size)
		size = best->n;
	for (unsigned c = 1; c < y->nfield; c++)
		width = y->width[c] == width ? width : 1;
	r = bytes_find(raw->p, raw->n, m->record, width, &s, &sample, &part);
	if (!r && sample.n < raw->n)
		r = whole_quick(raw->p, raw->n, &all) != 0 || whole_quick(sample.p, sample.n, &quick) != 0 ? -1 : 0;
	noise = part > sample.n - sample.n / WORTH;
	buf_free(&sample);
	if (!r && !noise && (double)all * (double)part <= close * (double)quick * (double)size)
		r = bytes_encode(raw->p, raw->n, &s, size - size / WORTH, &b);
	if (!r && b.n) {
		buf_free(best);
		*best = b;
		*method = VS_BYTES;
		return 0;
	}
	buf_free(&b);
	return r < 0 ? -1 : 0;
}

int
vs_whole_encode(const struct vs_common *m, const struct buf *raw, unsigned threads, size_t size,
    struct buf *out)
{
	struct vs_bhead h = { .n = raw->n / m->record, .whole = 1 };
	struct buf best = BUF_INIT;
	size_t start = out->n;
	int r = raw->n ? whole_tries(raw->p, raw->n, size, threads) : 0;

	if (r > 0 && whole_try(raw, r, threads, size, &best, &h.col[0].method) != 0)
		r = -1;
	if (r > 0 && (r & DO_BYTES) &&
	    whole_bytes(m, raw, r & DO_LZMA ? CLOSE : CLOSER, size, &best, &h.col[0].method) != 0)
		r = -1;
	if (r > 0 && best.n && best.n <= VS_WHOLE_MAX(raw->n)) {
		h.col[0].size = best.n;
		vs_encode_block_head(out, &m->info, &h);
	}
	r = r < 0 || out->nomem ? -1 : out->n > start && out->n - start + 4 + best.n < size;
	if (r > 0) {
		buf_le32(out, vs_crc(best.p, best.n, vs_crc(out->p + start, out->n - start, 0)));
		buf_add(out, best.p, best.n);
		r = out->nomem ? -1 : 1;
	}
	if (r <= 0)
		out->n = start;
	buf_free(&best);
	return r;
}

static int
whole_unlzma(uint8_t *p, size_t len, uint8_t *to, size_t n)
{
	lzma_options_lzma opt = { .dict_size = whole_dict(n) };
	lzma_filter filter[2] = { { LZMA_FILTER_LZMA2, &opt }, { LZMA_VLI_UNKNOWN, NULL } };
	size_t in = 0, got = 0;
	lzma_ret r = lzma_raw_buffer_decode(filter, NULL, p, &in, len, to, &got, n);

	return r == LZMA_MEM_ERROR ? -1 : r != LZMA_OK || in != len || got != n;
}

/* The magic is put before p, over the checksum of the block, which has been compared. */
static int
whole_unzstd(uint8_t *p, size_t len, uint8_t *to, size_t n)
{
	ZSTD_DCtx *d = ZSTD_createDCtx();
	size_t r = 0;

	if (!d)
		return -1;
	put_le32(p - MAGIC, ZSTD_MAGICNUMBER);
	r = ZSTD_decompressDCtx(d, to, n, p - MAGIC, len + MAGIC);
	ZSTD_freeDCtx(d);
	return r != n;
}

int
vs_whole_decode(const struct vs_common *m, struct vs_job *j)
{
	const struct vs_layout *y = &m->info.layout;
	const struct vs_bhead *h = &j->head;
	uint8_t *p = j->coded.p + h->len;
	size_t n = (size_t)h->n * m->record, len = (size_t)h->col[0].size;
	int bad;

	j->raw.n = 0;
	if (!buf_reserve(&j->raw, n))
		return vs_job_fail(j, j->off, VS_NOMEM);
	bad = h->col[0].method == VS_BYTES ? bytes_decode(p, len, j->raw.p, n) :
	    (h->col[0].method == VS_LZMA ? whole_unlzma : whole_unzstd)(p, len, j->raw.p, n);
	if (bad < 0)
		return vs_job_fail(j, j->off, VS_NOMEM);
	if (bad)
		return vs_job_damaged(j, j->off + h->len, -1, "its coded bytes are damaged or too short");
	j->raw.n = n;
	j->sum = (struct vs_sum){ 0, 0, 0 };
	for (size_t at = 0, k; at < h->n; at += k) {
		k = h->n - at < PIECE ? (size_t)h->n - at : PIECE;
		if (vs_split(y, &j->b, j->raw.p + at * m->record, k) != 0)
			return vs_job_fail(j, j->off, VS_NOMEM);
		j->sum = vs_sum_cat(j->sum, vs_block_sum(y, &j->b));
	}
	return 0;
}
