/*
 * Numbers on a grid: doubles and floats that were decimal numbers, or have few binary places, and
 * integers that have a common divisor, as small integers.
 */
#ifndef TM_CODEC_COLUMN_SCALE_H
#define TM_CODEC_COLUMN_SCALE_H

#include "codec/column/block.h"

/*
 * The places of n values; one that is not on the grid gets the place before it, at first 0. other,
 * unless NULL: gets the indexes of these values. Returns their number, or SIZE_MAX without memory.
 */
size_t scale_places(const struct vc_scale *s, const struct vc_col *col, uint64_t *d, struct buf *other);

/* The values of n places, in place, modulo 2^(8 width). */
void scale_values(const struct vc_scale *s, unsigned width, uint64_t *v, size_t n);

/*
 * Finds grids that have most of the values of a short column: at most SCALE_FOUND. Returns their number.
 */
#define SCALE_FOUND 2
unsigned scale_find(const struct vc_col *col, struct vc_scale found[SCALE_FOUND]);

/* Chooses where the grid's places begin, so that those of col and of what follows are small numbers. */
void scale_origin(struct vc_scale *s, const struct vc_col *col);

/* The description of a grid in a file; 0, or -1: bytes that describe none. */
void scale_put(const struct vc_scale *s, struct buf *out);
int scale_get(struct vc_scale *s, unsigned width, const uint8_t **p, const uint8_t *end);

/* Too many values lie elsewhere: it does not pay to store these. */
static inline int
scale_is_bad(size_t other, size_t n)
{
	return other > n / 8;
}

#endif
