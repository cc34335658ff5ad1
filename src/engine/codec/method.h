/* Between the methods of block.h only: what each provides, and a thread's tables. */
#ifndef TM_ENGINE_CODEC_METHOD_H
#define TM_ENGINE_CODEC_METHOD_H

#include "engine/codec/block.h"

struct vc_work {
	struct buf tmp;
};

struct vc_prime {
	uint64_t *v, *key;              /* the first block; owned, key may be NULL */
	size_t n;
};

/*
 * Each method of vcmethod.def has PREFIX_enc and PREFIX_dec.  enc appends to
 * out; 0, or -1 without memory, or 1: this method does not suit this column.
 * dec is as vc_decode.
 */
#define VC_METHOD(number, id, name, fn, what) \
	int fn##_enc(struct vc_work *w, const struct vc_prime *prime, const struct vc_col *col, struct buf *out); \
	int fn##_dec(struct vc_work *w, const struct vc_prime *prime, const struct vc_col *col, \
		const uint8_t *p, size_t len, uint64_t *v, const char **err);
#include "engine/codec/vcmethod.def"
#undef VC_METHOD

#endif
