/*
 * Value streams: records of a whole block as bytes, by context mixing. Each bit of a byte is coded by
 * itself, with a probability mixed from what followed the same bytes before: those of this unit, of the
 * units before it and, in pictures, of those in the row above. This is slow, about a microsecond for a
 * byte in both directions, and finds what neither predictors of values nor LZ find.
 */
#ifndef TM_CODEC_STREAM_BYTES_INTERNAL_H
#define TM_CODEC_STREAM_BYTES_INTERNAL_H

#include "base/buf.h"

#define BYTES_MAX  (16u << 20)          /* bytes of a block, at most: it must not take minutes */
#define BYTES_UNIT 64u                  /* bytes of a unit, at most */
#define BYTES_ROW  (1u << 20)           /* bytes of a row, at most... */
#define BYTES_UNITS 4u                  /* ...and units, at least */

/* How bytes lie in two dimensions. */
struct bytes_shape {
	unsigned unit;                  /* bytes of a value, record or pixel */
	unsigned order;                 /* log2 of the bytes of a number, the highest of which comes first */
	size_t row;                     /* bytes from one row to the next; 0: there are no rows */
};

/* A unit, or the first bytes of one: any order of them has its own. */
static inline uint64_t
unit_add(uint64_t h, uint8_t b)
{
	return (h + b + 1) * 0x9e3779b97f4a7c15;
}

static inline uint64_t
unit_hash(const uint8_t *p, unsigned n)
{
	uint64_t h = 0;

	while (n--)
		h = unit_add(h, *p++);
	return h;
}

/* Appends n bytes, coded. 0; 1 if that takes `limit` bytes or more; -1 without memory. */
int bytes_encode(const uint8_t *p, size_t n, const struct bytes_shape *s, size_t limit, struct buf *out);
/* n bytes, from the len bytes at p. 0; 1: they are damaged; -1: no memory. */
int bytes_decode(const uint8_t *p, size_t len, uint8_t *to, size_t n);
/* What either takes, at most, besides the bytes. */
uint64_t bytes_memory(size_t n);
/*
 * The shape of n bytes of records; `width` is that of all fields, or 1. sample: some of these bytes, all
 * if there are few; *size: what they take by that shape. 0, or -1 without memory.
 */
int bytes_find(const uint8_t *p, size_t n, unsigned record, unsigned width, struct bytes_shape *s,
    struct buf *sample, size_t *size);

#endif
