/* The method stored: width bytes for each value, uncompressed. */
#include "codec/column/method.h"

#include "base/bytes.h"

int
vc_stored_enc(struct vc_work *w, const struct vc_prime *prime, const struct vc_col *col, struct buf *out)
{
	size_t width = col->width;
	uint8_t *p = buf_reserve(out, col->n * width);

	(void)w, (void)prime;
	if (!p)
		return -1;
	for (size_t i = 0; i < col->n; i++)
		for (size_t b = 0; b < width; b++)
			*p++ = (uint8_t)(col->v[i] >> 8 * b);
	out->n += col->n * width;
	return 0;
}

int
vc_stored_dec(struct vc_work *w, const struct vc_prime *prime, const struct vc_col *col,
	const uint8_t *p, size_t len, uint64_t *v, const char **err)
{
	size_t width = col->width;

	(void)w, (void)prime;
	if (len != col->n * width) {
		*err = "stored values of the wrong length";
		return -1;
	}
	for (size_t i = 0; i < col->n; i++)
		v[i] = get_le(p + i * width, width);
	return 0;
}
