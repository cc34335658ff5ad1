/* The method fast: zstd over the bytes of the layout that suits it best; the first byte says which. */
#include "codec/column/byteplanes.h"

#include <string.h>
#include <zstd.h>

/* marks a quick run with long-distance matching, which finds repetitions from far back, but not all */
#define QUICK   0
/* if the quick run is this much larger than another coding, zstd will not come near that */
#define FAR     1.25
#define PLAINFAR 1.5    /* the same for the values as they are, where LZMA may gain more */
#define FEW     (256u << 10)    /* so few bytes are also coded by zstd's lower levels... */
#define LITTLE  16              /* ...and those that take less than one in so many */
#define QUICK_HASH 17   /* log2 of the hash table's entries in that run */

static void
zstd_quickly(ZSTD_CCtx *zc, size_t n)
{
	int bits = 10;  /* zstd's minimum */

	while (bits < 27 && (size_t)1 << bits < n)
		bits++;
	ZSTD_CCtx_setParameter(zc, ZSTD_c_compressionLevel, 1);
	ZSTD_CCtx_setParameter(zc, ZSTD_c_windowLog, bits);
	ZSTD_CCtx_setParameter(zc, ZSTD_c_hashLog, QUICK_HASH);
}

static int
zstd_compress(struct vc_work *w, const uint8_t *p, size_t n, int level, struct buf *out)
{
	size_t room = ZSTD_compressBound(n), r;
	uint8_t *to = buf_reserve(out, room);

	if (!w->zc)
		w->zc = ZSTD_createCCtx();
	if (!w->zc || !to)
		return -1;
	ZSTD_CCtx_reset(w->zc, ZSTD_reset_session_and_parameters);
	if (level == QUICK)
		zstd_quickly(w->zc, n);
	else
		ZSTD_CCtx_setParameter(w->zc, ZSTD_c_compressionLevel, level);
	ZSTD_CCtx_setParameter(w->zc, ZSTD_c_contentSizeFlag, 0);
	r = ZSTD_compress2(w->zc, to, room, p, n);
	if (ZSTD_isError(r))
		return -1;
	out->n += r;
	return 0;
}

int
vc_fast_size(struct vc_work *w, const struct vc_col *col, unsigned kind, int level, size_t *size)
{
	w->tmp.n = w->bytes.n = 0;
	if (!buf_reserve(&w->bytes, col->n * col->width + 1) || planes_encode(w, col, kind, w->bytes.p)
	    || zstd_compress(w, w->bytes.p, col->n * col->width, level, &w->tmp))
		return -1;
	*size = w->tmp.n;
	return 0;
}

int
vc_quick_size(struct vc_work *w, const struct vc_prime *prime, const struct vc_col *col, size_t *size)
{
	return vc_fast_size(w, col, prime ? prime->layout : 0, QUICK, size);
}

int
vc_fast_out_of_reach(struct vc_work *w, const struct vc_col *col, unsigned kind, size_t size, unsigned *far)
{
	size_t n, plain;

	if (vc_fast_size(w, col, kind, QUICK, &n))
		return -1;
	plain = n;
	if (kind && vc_fast_size(w, col, 0, QUICK, &plain))
		return -1;
	*far = ((double)n >= FAR * (double)size ? VC_FAR : 0) |
	    ((double)plain >= PLAINFAR * (double)size ? VC_FAR_PLAIN : 0);
	return 0;
}

int
vc_fast_layout(struct vc_work *w, const struct vc_col *col, unsigned *kind, size_t *size)
{
	*size = SIZE_MAX;
	*kind = 0;
	for (unsigned k = 0; k < LAY_KINDS; k++) {
		size_t n;

		if (!planes_valid(col, k))
			continue;
		if (vc_fast_size(w, col, k, 3, &n))
			return -1;
		if (n < *size) {
			*size = n;
			*kind = k;
		}
	}
	return 0;
}

/*
 * The last `size` bytes of out are what zstd made of n bytes at w->bytes: replaces them by what a lower
 * level makes, if that is smaller, as it may be where there is little to code. 0, or -1 without memory.
 */
static int
zstd_lower(struct vc_work *w, size_t n, struct buf *out, size_t size)
{
	for (int k = 1; vc_zstd_level(k) < w->level && (n <= FEW || size < n / LITTLE); k++) {
		w->tmp.n = 0;
		if (zstd_compress(w, w->bytes.p, n, vc_zstd_level(k), &w->tmp) != 0)
			return -1;
		if (w->tmp.n >= size)
			continue;
		out->n -= size;
		size = w->tmp.n;
		buf_add(out, w->tmp.p, size);
	}
	return out->nomem ? -1 : 0;
}

int
vc_fast_enc(struct vc_work *w, const struct vc_prime *prime, const struct vc_col *col, struct buf *out)
{
	struct vc_col sample;
	unsigned kind;
	size_t size, at = out->n + 1;

	(void)prime;
	if (vc_sample(w, col, &sample) || vc_fast_layout(w, &sample, &kind, &size))
		return -1;
	kind = w->plain ? 0 : kind;
	if (!buf_reserve(&w->bytes, col->n * col->width + 1) || planes_encode(w, col, kind, w->bytes.p))
		return -1;
	buf_u8(out, (uint8_t)kind);
	return zstd_compress(w, w->bytes.p, col->n * col->width, w->level, out) != 0 ||
	    zstd_lower(w, col->n * col->width, out, out->n - at) != 0 ? -1 : 0;
}

int
vc_fast_dec(struct vc_work *w, const struct vc_prime *prime, const struct vc_col *col,
	const uint8_t *p, size_t len, uint64_t *v, const char **err)
{
	size_t n = col->n * col->width;

	(void)prime;
	*err = "an unknown layout";
	if (!len || !planes_valid(col, p[0]))
		return -1;
	*err = "no memory";
	w->bytes.n = 0;
	if (!w->zd)
		w->zd = ZSTD_createDCtx();
	if (!w->zd || !buf_reserve(&w->bytes, n + 1))
		return -1;
	if (ZSTD_decompressDCtx(w->zd, w->bytes.p, n, p + 1, len - 1) != n) {
		*err = "zstd data that is damaged or of the wrong length";
		return -1;
	}
	return planes_decode(w, col, p[0], w->bytes.p, v);
}
