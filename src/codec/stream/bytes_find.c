/*
 * Value streams: the shape of bytes that context mixing of bytes is given. Units are the records, or
 * what makes a sample smallest; a row is the distance at which a few units come again most often.
 */
#include <stdlib.h>
#include <string.h>

#include "codec/stream/bytes_internal.h"

#define PIECES   2u
#define PIECE    (48u << 10)            /* bytes of the sample, whose rows must be together */
#define HASH     16                     /* log2 of the places of units */
#define NEAR     16u                    /* units: what comes again nearer says nothing of rows */
#define FAR      (1u << 16)             /* bytes of a row, at most */
#define SEEN     32u                    /* one of so many places has it, at least */

/* The sample: pieces at one third and two thirds of n bytes. Returns its bytes. */
static size_t
find_sample(const uint8_t *p, size_t n, unsigned unit, uint8_t *to)
{
	if (n <= PIECES * PIECE) {
		memcpy(to, p, n);
		return n;
	}
	for (size_t k = 0; k < PIECES; k++) {
		size_t at = (n - PIECE) / (PIECES + 1) * (k + 1);

		memcpy(to + k * PIECE, p + at / unit * unit, PIECE);
	}
	return PIECES * PIECE;
}

/* *s becomes t if the sample takes less than *size by it, and *size what it takes. 0, or -1: no memory. */
static int
find_better(const uint8_t *p, size_t n, const struct bytes_shape *t, struct bytes_shape *s, size_t *size)
{
	struct buf b = BUF_INIT;
	int r = bytes_encode(p, n, t, *size, &b);

	if (!r) {
		*size = b.n;
		*s = *t;
	}
	buf_free(&b);
	return r < 0 ? -1 : 0;
}

/*
 * The distance from a change between two units to the last place with the same four units, if it is
 * often the same. In bytes; 0: there is none.
 */
static size_t
find_row(const uint8_t *p, size_t n, unsigned unit)
{
	uint32_t *last = calloc((size_t)1 << HASH, sizeof(*last)), *seen = calloc(FAR + 1, sizeof(*seen));
	size_t most = 0, all = 0;

	for (size_t i = 2 * (size_t)unit; last && seen && i + 2 * (size_t)unit <= n; i += unit) {
		uint64_t h;
		size_t d;

		if (!memcmp(p + i, p + i - unit, unit))
			continue;
		h = unit_hash(p + i - 2 * (size_t)unit, 4 * unit) >> (64 - HASH);
		d = i - last[h];
		if (last[h] && d <= FAR && d >= (size_t)NEAR * unit && ++seen[d] > seen[most])
			most = d;
		last[h] = (uint32_t)i;
		all++;
	}
	if (most && seen[most] < all / SEEN)
		most = 0;
	free(last);
	free(seen);
	return most;
}

int
bytes_find(const uint8_t *p, size_t n, unsigned record, unsigned width, struct bytes_shape *s,
    struct buf *sample, size_t *size)
{
	static const unsigned units[] = { 1, 3, 4, 2 };
	uint8_t *to = buf_reserve(sample, PIECES * PIECE);
	struct bytes_shape t = { .unit = record < BYTES_UNIT ? record : BYTES_UNIT };
	int r = to ? 0 : -1;

	*size = SIZE_MAX;
	while (1u << t.order < width)
		t.order++;
	for (unsigned k = 0; r >= 0 && k < (record > 1 ? 1 : sizeof(units) / sizeof(*units)); k++) {
		t.unit = record > 1 ? t.unit : units[k];
		t.row = 0;
		sample->n = find_sample(p, n, t.unit, to);
		r = find_better(to, sample->n, &t, s, size);
		t.row = find_row(p, n, t.unit);
		if (r >= 0 && t.row)
			r = find_better(to, sample->n, &t, s, size);
	}
	return r < 0 ? -1 : 0;
}
