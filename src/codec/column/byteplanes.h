/* Layouts of a column as bytes for the LZ coders: values or differences, whole or in planes of bytes. */
#ifndef TM_CODEC_COLUMN_BYTEPLANES_H
#define TM_CODEC_COLUMN_BYTEPLANES_H

#include "codec/column/method.h"

#define LAY_DELTA       1       /* differences to the value before */
#define LAY_KEYED       2       /* differences to the last value with (nearly) the same key */
#define LAY_PLANES      4       /* all first bytes, all second bytes, ... */
#define LAY_KINDS       8       /* not all smaller numbers are kinds: see planes_valid */

/* Can this kind be used for this column? */
int planes_valid(const struct vc_col *col, unsigned kind);

/* The n values of col as n * width bytes. 0, or -1 without memory. */
int planes_encode(struct vc_work *w, const struct vc_col *col, unsigned kind, uint8_t *p);

/*
 * The same for n values from number `from` on, which is 0 or the end of the last part of col:
 * differences are as in the whole column.
 */
int planes_encode_part(struct vc_work *w, const struct vc_col *col, unsigned kind, size_t from, size_t n,
    uint8_t *p);

/* The n values of col from their n * width bytes. 0, or -1 without memory. */
int planes_decode(struct vc_work *w, const struct vc_col *col, unsigned kind, const uint8_t *p, uint64_t *v);

#endif
