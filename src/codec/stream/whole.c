/*
 * Value streams: whole blocks, whose records are bytes for LZMA, zstd, or context mixing. Where they
 * are programs, text, or repeat over long distances, the first two find what no block of a column has,
 * as xz(1) and zstd(1) do with the same parameters: trials.c. To read any of it, all of it is decoded.
 */
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/bytes.h"
#include "codec/stream/bytes_internal.h"
#include "codec/stream/whole_internal.h"

#define CLOSE   1.15            /* context mixing of bytes is tried if its estimate is less than that, ... */
#define CLOSER  1.05            /* ...or than that where LZMA is not tried: it takes longer than all others */
#define WORTH   32              /* it must save one of so many bytes, because it is slow both ways */
#define PIECE   65536u          /* records whose values are summed at a time */

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
		r = vs_whole_quick(raw->p, raw->n, &all) != 0 || vs_whole_quick(sample.p, sample.n, &quick) != 0 ? -1 : 0;
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
vs_whole_encode(const struct vs_common *m, const struct buf *raw, struct vs_trials *s, size_t size,
    struct buf *out)
{
	struct vs_bhead h = { .n = raw->n / m->record, .whole = 1 };
	struct buf best = BUF_INIT;
	size_t start = out->n;
	int r = raw->n ? vs_trials_which(s, size) : 0;

	if (r > 0 && vs_trials_best(s, r, size, &best, &h.col[0].method) != 0)
		r = -1;
	if (r > 0 && (r & VS_TRY_BYTES) &&
	    whole_bytes(m, raw, r & VS_TRY_LZMA ? CLOSE : CLOSER, size, &best, &h.col[0].method) != 0)
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
	lzma_options_lzma opt = { .dict_size = vs_whole_dict(n) };
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
	put_le32(p - ZMAGIC, ZSTD_MAGICNUMBER);
	r = ZSTD_decompressDCtx(d, to, n, p - ZMAGIC, len + ZMAGIC);
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
