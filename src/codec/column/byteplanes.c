/*
 * A column as bytes: little-endian values or differences of the column's width, whole or in planes.
 * See byteplanes.h.
 */
#include "codec/column/byteplanes.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"

#define KEYBITS 12

int
planes_valid(const struct vc_col *col, unsigned kind)
{
	unsigned what = kind & 3;

	return kind < LAY_KINDS && what != 3 && (what != LAY_KEYED || col->key) &&
	    (!(kind & LAY_PLANES) || col->width > 1);
}

/* Last values by key: none yet, or as the part before left them. */
static uint64_t *
last_values(struct vc_work *w, int again)
{
	if (!w->last)
		w->last = malloc(sizeof *w->last << KEYBITS);
	if (w->last && !again)
		memset(w->last, 0, sizeof *w->last << KEYBITS);
	return w->last;
}

static inline size_t
planes_place(uint64_t key)
{
	return (size_t)(key * 0x9e3779b97f4a7c15 >> (64 - KEYBITS));
}

static inline __attribute__((always_inline)) void
planes_put(uint8_t *p, size_t n, unsigned width, size_t i, uint64_t d, int planes)
{
	for (unsigned b = 0; b < width; b++)
		p[planes ? b * n + i : i * width + b] = (uint8_t)(d >> 8 * b);
}

static inline __attribute__((always_inline)) uint64_t
planes_get(const uint8_t *p, size_t n, unsigned width, size_t i, int planes)
{
	uint64_t d = 0;

	for (unsigned b = 0; b < width; b++)
		d |= (uint64_t)p[planes ? b * n + i : i * width + b] << 8 * b;
	return d;
}

static inline __attribute__((always_inline)) void
out_as(uint64_t *last, uint64_t prev, const uint64_t *v, const uint64_t *key, size_t n, unsigned width,
    unsigned kind, uint8_t *p)
{
	const int planes = (kind & LAY_PLANES) != 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t d = v[i];

		if (kind & LAY_DELTA) {
			d -= prev;
			prev = v[i];
		} else if (kind & LAY_KEYED) {
			d -= last[planes_place(key[i])];
			last[planes_place(key[i])] = v[i];
		}
		planes_put(p, n, width, i, d, planes);
	}
}

static inline __attribute__((always_inline)) void
in_as(uint64_t *last, uint64_t *v, const uint64_t *key, size_t n, unsigned width, unsigned kind,
    const uint8_t *p)
{
	const int planes = (kind & LAY_PLANES) != 0;
	const uint64_t mask = vc_mask(width);
	uint64_t prev = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t d = planes_get(p, n, width, i, planes);

		if (kind & LAY_DELTA)
			d = prev = (d + prev) & mask;
		else if (kind & LAY_KEYED)
			d = last[planes_place(key[i])] = (d + last[planes_place(key[i])]) & mask;
		v[i] = d;
	}
}

/* CALL(width, kind) with constants, so that the compiler specializes the loops above. */
#define KIND(w, k, CALL) \
	case k: \
		CALL(w, k); \
		break
#define KINDS_OF(w, CALL) \
	switch (kind) { \
	KIND(w, 0, CALL); \
	KIND(w, LAY_DELTA, CALL); \
	KIND(w, LAY_KEYED, CALL); \
	KIND(w, LAY_PLANES, CALL); \
	KIND(w, (LAY_PLANES | LAY_DELTA), CALL); \
	KIND(w, (LAY_PLANES | LAY_KEYED), CALL); \
	} \
	break
#define EACH(width, CALL) \
	switch (width) { \
	case 1: KINDS_OF(1, CALL); \
	case 2: KINDS_OF(2, CALL); \
	case 4: KINDS_OF(4, CALL); \
	default: KINDS_OF(8, CALL); \
	}

int
planes_encode_part(struct vc_work *w, const struct vc_col *col, unsigned kind, size_t from, size_t n,
    uint8_t *p)
{
	const uint64_t *v = col->v + from, *key = col->key ? col->key + from : NULL;
	uint64_t *last = kind & LAY_KEYED ? last_values(w, from != 0) : NULL, prev = from ? v[-1] : 0;

	if (kind & LAY_KEYED && !last)
		return -1;
#define OUT(width, k) out_as(last, prev, v, key, n, width, k, p)
	EACH(col->width, OUT)
#undef OUT
	return 0;
}

int
planes_encode(struct vc_work *w, const struct vc_col *col, unsigned kind, uint8_t *p)
{
	return planes_encode_part(w, col, kind, 0, col->n, p);
}

int
planes_decode(struct vc_work *w, const struct vc_col *col, unsigned kind, const uint8_t *p, uint64_t *v)
{
	const uint64_t *key = col->key;
	size_t n = col->n;
	uint64_t *last = kind & LAY_KEYED ? last_values(w, 0) : NULL;

	if (kind & LAY_KEYED && !last)
		return -1;
#define IN(width, k) in_as(last, v, key, n, width, k, p)
	EACH(col->width, IN)
#undef IN
	return 0;
}
