/* The method lz: LZMA over the bytes of a layout.  A byte says which, a byte has LZMA's lc, lp and pb. */
#include "engine/codec/lay.h"

#include <lzma.h>
#include <string.h>

#define DICT_MIN 4096u

/* As xz does it, and for fields of 8 bytes */
static const struct { uint8_t lc, lp, pb; } props[] = { { 3, 0, 2 }, { 0, 3, 3 } };

static uint32_t
dict_size(size_t n)
{
	return n < DICT_MIN ? DICT_MIN : (uint32_t)n;
}

static int
compress(const uint8_t *p, size_t n, unsigned prop, struct buf *out)
{
	lzma_options_lzma opt;
	lzma_filter filter[2] = { { LZMA_FILTER_LZMA1, &opt }, { LZMA_VLI_UNKNOWN, NULL } };
	size_t room = n + n / 3 + 128, used = 0;
	uint8_t *to = buf_room(out, room);

	if (!to || lzma_lzma_preset(&opt, 9 | LZMA_PRESET_EXTREME))
		return -1;
	opt.dict_size = dict_size(n);
	opt.lc = props[prop].lc;
	opt.lp = props[prop].lp;
	opt.pb = props[prop].pb;
	if (lzma_raw_buffer_encode(filter, NULL, p, n, to, &used, room) != LZMA_OK)
		return -1;
	out->n += used;
	return 0;
}

/* Keeps the smaller of what is in out behind `old` and a coding of this kind */
static int
attempt(struct vc_work *w, const struct vc_col *col, unsigned kind, unsigned prop, size_t old, struct buf *out)
{
	size_t n = col->n * col->width;

	w->tmp.n = w->bytes.n = 0;
	buf_u8(&w->tmp, (uint8_t)kind);
	buf_u8(&w->tmp, (uint8_t)(props[prop].lc + 9 * (props[prop].lp + 5 * props[prop].pb)));
	if (!buf_room(&w->bytes, n + 1) || lay_out(w, col, kind, w->bytes.p)
	    || compress(w->bytes.p, n, prop, &w->tmp))
		return -1;
	if (out->n == old || w->tmp.n < out->n - old) {
		out->n = old;
		buf_add(out, w->tmp.p, w->tmp.n);
	}
	return out->nomem ? -1 : 0;
}

int
vc_lz_enc(struct vc_work *w, const struct vc_prime *prime, const struct vc_col *col, struct buf *out)
{
	struct vc_col sample;
	size_t size, old = out->n;
	unsigned kind;

	(void)prime;
	if (vc_sample(w, col, &sample) || vc_fast_layout(w, &sample, &kind, &size) || attempt(w, col, 0, 0, old, out))
		return -1;
	if (kind && attempt(w, col, kind, 0, old, out))
		return -1;
	return col->width < 4 || kind & LAY_PLANES ? 0 : attempt(w, col, kind, 1, old, out);
}

int
vc_lz_dec(struct vc_work *w, const struct vc_prime *prime, const struct vc_col *col,
	const uint8_t *p, size_t len, uint64_t *v, const char **err)
{
	lzma_options_lzma opt;
	lzma_filter filter[2] = { { LZMA_FILTER_LZMA1, &opt }, { LZMA_VLI_UNKNOWN, NULL } };
	size_t n = col->n * col->width, in = 2, got = 0;
	lzma_ret r;

	(void)prime;
	*err = "a layout that there is not";
	if (len < 2 || !lay_fits(col, p[0]) || p[1] >= 9 * 5 * 5)
		return -1;
	*err = "no memory";
	w->bytes.n = 0;
	if (!buf_room(&w->bytes, n + 1) || lzma_lzma_preset(&opt, 9))
		return -1;
	opt.dict_size = dict_size(n);
	opt.lc = p[1] % 9;
	opt.lp = p[1] / 9 % 5;
	opt.pb = p[1] / 45;
	r = lzma_raw_buffer_decode(filter, NULL, p, &in, len, w->bytes.p, &got, n);
	if (r == LZMA_MEM_ERROR)
		return -1;
	if (r != LZMA_OK || in != len || got != n) {
		*err = "LZMA data that is damaged or of the wrong length";
		return -1;
	}
	*err = "no memory";
	return lay_in(w, col, p[0], w->bytes.p, v);
}
