/*
 * The method lz: LZMA over the bytes of a layout; the first byte says which. The last values of the
 * primer are its preset dictionary.
 */
#include "codec/column/byteplanes.h"

#include <lzma.h>
#include <string.h>

#define DICT_MIN 4096u
/* with more values than FEW, which take eight bytes each in memory, it gets less */
#define DICT_MANY (3u << 20)
#define FEW      (512u << 10)
#define DEPTH    48             /* search depth in later blocks of values */
#define PIECE    8192           /* values laid out at a time */
#define OUT      (64u << 10)

/* Parameters as in xz, and for fields of 8 bytes. */
static const struct { uint8_t lc, lp, pb; } props[] = { { 3, 0, 2 }, { 0, 3, 3 } };

/*
 * Ways to code a column: the values as they are, or in a layout, both with xz's parameters; in the
 * layout, with those for fields of 8 bytes.
 */
enum { PLAIN, LAID, FIELDS };

/*
 * Sets LZMA's options: its dictionary, and the part of the primer that is in it at first. 0, or -1
 * without memory.
 */
static int
lz_prepare(struct vc_work *w, const struct vc_prime *prime, const struct vc_col *col, unsigned kind,
    int encoder, lzma_options_lzma *opt)
{
	size_t n = col->n * col->width, dict = encoder && col->n > FEW ? DICT_MANY : VC_LZ_DICT, k = 0,
	    max = n < VC_LZ_PRESET / VC_LZ_TIMES ? VC_LZ_TIMES * n : VC_LZ_PRESET;
	struct vc_col last = { .width = col->width };

	if (lzma_lzma_preset(opt, 9 | LZMA_PRESET_EXTREME))
		return -1;
	if (prime && !prime->key == !col->key) {
		k = prime->n < VC_LZ_PRESET / col->width ? prime->n : VC_LZ_PRESET / col->width;
		last.n = k;
		last.v = prime->v + (prime->n - k);
		last.key = prime->key ? prime->key + (prime->n - k) : NULL;
	}
	if (k && (w->dictid != prime->id || w->dictkind != kind)) {
		w->dict.n = 0;
		w->dictid = 0;
		if (!buf_reserve(&w->dict, k * col->width) || planes_encode(w, &last, kind, w->dict.p))
			return -1;
		w->dict.n = k * col->width;
		w->dictid = prime->id;
		w->dictkind = kind;
	}
	k = k ? w->dict.n : 0;
	k = k < max ? k : max;
	opt->preset_dict = k ? w->dict.p + w->dict.n - k : NULL;
	opt->preset_dict_size = (uint32_t)k;
	n += k;
	opt->dict_size = n < DICT_MIN ? DICT_MIN : n > dict ? (uint32_t)dict : (uint32_t)n;
	return 0;
}

/* Appends to out what s makes of its input (and of the end). 0; 1 if that is more than limit; -1. */
static int
lz_code(lzma_stream *s, lzma_action action, struct buf *out, size_t limit)
{
	lzma_ret r = LZMA_OK;

	while (r == LZMA_OK && (s->avail_in || action == LZMA_FINISH)) {
		s->next_out = buf_reserve(out, OUT);
		s->avail_out = OUT;
		if (!s->next_out)
			return -1;
		r = lzma_code(s, action);
		out->n += OUT - s->avail_out;
		if (out->n > limit)
			return 1;
	}
	return r == LZMA_OK || r == LZMA_STREAM_END ? 0 : -1;
}

/* Feeds the bytes of the layout to s, piece by piece; plane by plane if it has planes. */
static int
lz_feed(struct vc_work *w, lzma_stream *s, const struct vc_col *col, unsigned kind, struct buf *out,
    size_t limit)
{
	unsigned planes = kind & LAY_PLANES ? col->width : 1;
	uint8_t *p;
	int r = 0;

	w->bytes.n = 0;
	p = buf_reserve(&w->bytes, PIECE * 8);
	if (!p)
		return -1;
	for (unsigned b = 0; b < planes; b++) {
		for (size_t i = 0, n; i < col->n && !r; i += n) {
			n = col->n - i < PIECE ? col->n - i : PIECE;
			if (planes_encode_part(w, col, kind & ~LAY_PLANES, i, n, p))
				return -1;
			for (size_t k = 0; planes > 1 && k < n; k++)
				p[k] = p[k * planes + b];
			s->next_in = p;
			s->avail_in = n * col->width / planes;
			r = lz_code(s, LZMA_RUN, out, limit);
		}
	}
	return r ? r : lz_code(s, LZMA_FINISH, out, limit);
}

/* A later block of values: values repeat so often that xz's full search would take seconds. */
static int
is_later(const struct vc_prime *prime, const struct vc_col *col)
{
	return prime && col->width > 1;
}

/* Appends a coding of this kind; it may be unfinished if it is longer than limit. 0, or -1. */
static int
lz_attempt(struct vc_work *w, const struct vc_prime *prime, const struct vc_col *col, unsigned kind,
    unsigned prop, size_t limit, struct buf *out)
{
	lzma_options_lzma opt;
	lzma_filter filter[2] = { { LZMA_FILTER_LZMA2, &opt }, { LZMA_VLI_UNKNOWN, NULL } };
	lzma_stream s = LZMA_STREAM_INIT;
	int r = -1;

	limit = limit > SIZE_MAX - out->n ? SIZE_MAX : out->n + limit;
	buf_u8(out, (uint8_t)kind);
	if (lz_prepare(w, prime, col, kind, 1, &opt))
		return -1;
	opt.lc = props[prop].lc;
	opt.lp = props[prop].lp;
	opt.pb = props[prop].pb;
	if (is_later(prime, col))
		opt.depth = DEPTH;
	if (lzma_raw_encoder(&s, filter) == LZMA_OK)
		r = lz_feed(w, &s, col, kind, out, limit);
	lzma_end(&s);
	return r < 0 || out->nomem ? -1 : 0;
}

/* The codings to try, as bits 1 << PLAIN and so on; kind: the layout that zstd compresses best. */
static unsigned
lz_tries(const struct vc_work *w, const struct vc_prime *prime, const struct vc_col *col, unsigned kind)
{
	unsigned fields = col->width >= 4 && !(kind & LAY_PLANES) ? 1u << FIELDS : 0, laid = kind ?
	    1u << LAID : 0;

	if (w->plain)
		return 1u << PLAIN;
	if (is_later(prime, col))
		return fields ? fields : laid ? laid : 1u << PLAIN;
	return 1u << PLAIN | laid | fields;
}

int
vc_lz_enc(struct vc_work *w, const struct vc_prime *prime, const struct vc_col *col, struct buf *out)
{
	struct vc_col sample;
	size_t size, old = out->n, limit = w->limit ? w->limit : SIZE_MAX;
	unsigned kind, todo;

	if (vc_sample(w, col, &sample) || vc_fast_layout(w, &sample, &kind, &size))
		return -1;
	if (col->n * col->width >= VC_LZ_LARGE)
		vc_work_trim(w);
	todo = lz_tries(w, prime, col, kind);
	for (unsigned k = PLAIN; k <= FIELDS; k++) {
		struct buf *to;

		if (!(todo >> k & 1))
			continue;
		if (out->n - old > limit)       /* it was not finished: its memory can be reused */
			out->n = old;
		to = out->n > old ? &w->tmp : out;
		w->tmp.n = 0;
		if (lz_attempt(w, prime, col, k == PLAIN ? 0 : kind, k == FIELDS, limit, to))
			return -1;
		if (to != out && w->tmp.n < out->n - old) {
			out->n = old;
			buf_add(out, w->tmp.p, w->tmp.n);
		}
		limit = out->n - old < limit ? out->n - old : limit;
	}
	return out->nomem ? -1 : 0;
}

int
vc_lz_dec(struct vc_work *w, const struct vc_prime *prime, const struct vc_col *col,
	const uint8_t *p, size_t len, uint64_t *v, const char **err)
{
	lzma_options_lzma opt;
	lzma_filter filter[2] = { { LZMA_FILTER_LZMA2, &opt }, { LZMA_VLI_UNKNOWN, NULL } };
	size_t n = col->n * col->width, in = 1, got = 0;
	lzma_ret r;

	*err = "an unknown layout";
	if (!len || !planes_valid(col, p[0]))
		return -1;
	*err = "no memory";
	w->bytes.n = 0;
	if (!buf_reserve(&w->bytes, n + 1) || lz_prepare(w, prime, col, p[0], 0, &opt))
		return -1;
	r = lzma_raw_buffer_decode(filter, NULL, p, &in, len, w->bytes.p, &got, n);
	if (r == LZMA_MEM_ERROR)
		return -1;
	if (r != LZMA_OK || in != len || got != n) {
		*err = "LZMA data that is damaged or of the wrong length";
		return -1;
	}
	*err = "no memory";
	return planes_decode(w, col, p[0], w->bytes.p, v);
}
