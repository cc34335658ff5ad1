/*
 * The method scaled: the places of the values on a grid (scale.h), coded by another method, and the
 * values that are not on it.
 *
 * These are described by the number of values between each and the one before, and the values; both
 * by zstd, if that makes them smaller.
 */
#include "codec/column/scale.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/bytes.h"
#include "base/varint.h"
#include "codec/column/method.h"

#define LEVEL 19        /* of zstd */
#define OTHER (VARINT_MAX + 8)  /* bytes of a value that is not on the grid, at most */

/* Appends the values that are not on the grid: `at` has their indexes. 0, or -1 without memory. */
static int
scaled_put_others(const struct vc_col *col, const struct buf *at, struct buf *out)
{
	size_t n = at->n / sizeof(size_t), from = 0, i, r = 0;
	struct buf b = BUF_INIT;
	uint8_t *to;

	buf_varint(out, n);
	if (!n)
		return 0;
	for (size_t k = 0; k < n; k++) {
		memcpy(&i, at->p + k * sizeof i, sizeof i);
		buf_varint(&b, i - from);
		from = i + 1;
	}
	for (size_t k = 0; k < n; k++) {
		uint8_t v[8];

		memcpy(&i, at->p + k * sizeof i, sizeof i);
		put_le64(v, col->v[i]);
		buf_add(&b, v, col->width);
	}
	buf_varint(out, b.n);
	to = b.nomem ? NULL : malloc(b.n);
	if (to)         /* an error: it does not fit, so it is not smaller */
		r = ZSTD_compress(to, b.n, b.p, b.n, LEVEL);
	if (to && (ZSTD_isError(r) || r >= b.n)) {
		buf_varint(out, 0);
		buf_add(out, b.p, b.n);
	} else if (to) {
		buf_varint(out, r);
		buf_add(out, to, r);
	}
	free(to);
	buf_free(&b);
	return to ? 0 : -1;
}

/* The places of a column, at `d`, by the method that is best for them. 0, or -1. */
static int
scaled_put_places(struct vc_work *w, const struct vc_prime *prime, const struct vc_col *col, uint64_t *d,
    int level, struct buf *out)
{
	struct vc_col places = { d, col->key, col->n, col->width, NULL };
	enum vc_method method;
	size_t at = out->n;

	buf_u8(out, 0);
	if (out->nomem || vc_encode(w, prime ? prime->places : NULL, &places, level, &method, out))
		return -1;
	out->p[at] = (uint8_t)method;
	return 0;
}

int
vc_scaled_code(struct vc_work *w, const struct vc_prime *prime, const struct vc_col *col, int level,
    struct buf *out)
{
	const struct vc_scale *s = prime ? &prime->scale : col->scale;
	uint64_t *d = malloc((col->n + 1) * sizeof *d);
	struct buf other = BUF_INIT;
	size_t n = d ? scale_places(s, col, d, &other) : SIZE_MAX;
	int r = n == SIZE_MAX ? -1 : scale_is_bad(n, col->n);

	if (!r && !prime)
		scale_put(s, out);
	if (!r && (scaled_put_others(col, &other, out) || scaled_put_places(w, prime, col, d, level, out)))
		r = -1;
	buf_free(&other);
	free(d);
	return r;
}

int
vc_scaled_enc(struct vc_work *w, const struct vc_prime *prime, const struct vc_col *col, struct buf *out)
{
	if (!w->extended || !col->scale || (prime && !prime->places))
		return 1;
	if (!prime && (vc_choose_scale(w, col, 6, col->scale) || col->scale->kind == VC_SCALE_NONE))
		return 1;
	return vc_scaled_code(w, prime, col, 6, out);
}

/* Bytes of the values that are not on the grid, of n in the file: in *b. 0, or -1 and *err. */
static int
scaled_get_others(const uint8_t **p, const uint8_t *end, size_t n, unsigned width, struct buf *b,
    const char **err)
{
	uint64_t bytes, coded;
	uint8_t *to;

	*err = "values outside its grid that do not fit";
	if (varint_get(p, end, &bytes) != VARINT_OK || bytes > n * OTHER || bytes < n * (1 + width)
	    || varint_get(p, end, &coded) != VARINT_OK || coded >= bytes
	    || (size_t)(end - *p) < (coded ? coded : bytes))
		return -1;
	to = buf_reserve(b, bytes);
	if (!to) {
		*err = "no memory";
		return -1;
	}
	b->n = bytes;
	if (coded && ZSTD_decompress(to, bytes, *p, coded) != bytes)
		return -1;
	if (!coded)
		memcpy(to, *p, bytes);
	*p += coded ? coded : bytes;
	return 0;
}

/* Sets n values of v from b. 0, or -1: b is not as it must be. */
static int
scaled_set_others(const struct buf *b, size_t n, unsigned width, uint64_t *v, size_t nv)
{
	const uint8_t *p = b->p, *values;
	uint64_t at = 0, gap;

	if (!n)
		return 0;
	values = b->p + b->n - n * width;
	for (size_t k = 0; k < n; k++, at++) {
		if (varint_get(&p, values, &gap) != VARINT_OK || gap >= nv - at)
			return -1;
		at += gap;
		v[at] = get_le(values + k * width, width);
	}
	return p == values ? 0 : -1;
}

/* After the description of the grid. */
static int
scaled_get(struct vc_work *w, const struct vc_prime *prime, const struct vc_col *col, const uint8_t *p,
    const uint8_t *end, struct buf *other, uint64_t *v, const char **err)
{
	struct vc_col places = { NULL, col->key, col->n, col->width, NULL };
	uint64_t n;

	*err = "a grid that is damaged";
	if (varint_get(&p, end, &n) != VARINT_OK || n > col->n)
		return -1;
	if (n && scaled_get_others(&p, end, n, col->width, other, err))
		return -1;
	*err = "a method that cannot code places on a grid";
	if (p == end || *p >= VC_SCALED)
		return -1;
	if (vc_decode(w, prime ? prime->places : NULL, &places, (enum vc_method)*p, p + 1,
	    (size_t)(end - p) - 1, v, err))
		return -1;
	scale_values(prime ? &prime->scale : col->scale, col->width, v, col->n);
	*err = "values outside its grid that do not fit";
	return scaled_set_others(other, n, col->width, v, col->n);
}

int
vc_scaled_dec(struct vc_work *w, const struct vc_prime *prime, const struct vc_col *col,
	const uint8_t *p, size_t len, uint64_t *v, const char **err)
{
	const uint8_t *end = p + len;
	struct buf other = BUF_INIT;
	int r;

	*err = "a grid that is not that of the first block";
	if (!col->scale || (prime && !prime->places))
		return -1;
	*err = "an unknown grid";
	if (!prime && scale_get(col->scale, col->width, &p, end))
		return -1;
	r = scaled_get(w, prime, col, p, end, &other, v, err);
	buf_free(&other);
	return r;
}
