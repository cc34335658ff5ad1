/*
 * Bidirectional last n: figure 7 of "Whole Execution Traces".
 *
 * The only table, TB, holds n values, the last used one first. A value found there, at j, moves to
 * the front, and the entry <T,j> moves to the other side. A value not found enters at the front,
 * from its entry <F,v>, and the value that it drives out of the end becomes the entry's v on the
 * other side. Either exchange is undone by the same exchange.
 */
#include "codec/bidi/bidi_internal.h"

#include <stdlib.h>

#define INLINE static inline __attribute__((always_inline))
#define RUN_MIN 8u      /* this many hits at the front in a row start a search for the end of the run... */
#define RUN_MAX 1024u   /* ...up to this length, because flags may continue where indexes do not */

/* Moves entry j of the table to its front; j is below n. */
INLINE uint64_t
to_front(uint64_t *list, unsigned j)
{
	uint64_t v = list[j];

	for (; j; j--)
		list[j] = list[j - 1];
	return list[0] = v;
}

INLINE uint64_t
from_front(uint64_t *list, unsigned j)
{
	uint64_t v = list[0];

	for (unsigned k = 0; k < j; k++)
		list[k] = list[k + 1];
	return list[j] = v;
}

/* The j of the table whose value is sym, or n. */
INLINE unsigned
lastn_find(const uint64_t *list, unsigned n, uint64_t sym)
{
	unsigned j = 0;

	while (j < n && list[j] != sym)
		j++;
	return j;
}

/* Enters sym at the front; returns the value that is driven out. */
INLINE uint64_t
drive_out(uint64_t *list, unsigned n, uint64_t sym)
{
	uint64_t out = to_front(list, n - 1);

	list[0] = sym;
	return out;
}

INLINE uint64_t
bring_back(uint64_t *list, unsigned n, uint64_t out)
{
	uint64_t sym = from_front(list, n - 1);

	list[n - 1] = out;
	return sym;
}

INLINE void
lastn_forward(struct bidi *b, uint64_t *sym, size_t count, const unsigned n, const unsigned ibits)
{
	struct bidi_sides s = b->s;
	const uint64_t *index = b->index;
	size_t i = b->pos, end = i + count, hit = b->nhit, miss = b->nmiss, run;
	unsigned j, same = 0;

	while (i < end) {
		if (!bit_get(s.flag, i++)) {
			*sym = slot_get(&s, miss);
			slot_put(&s, miss++, drive_out(b->list, n, *sym));
			sym++;
			continue;
		}
		j = (unsigned)bits_get(index, hit++ * ibits, n - 1);
		same = j ? 0 : same + 1;
		*sym++ = to_front(b->list, j);
		if (same < RUN_MIN)
			continue;
		run = bit_run(s.flag, i, end - i < RUN_MAX ? end - i : RUN_MAX, ~UINT64_C(0));
		run = bit_run(index, hit * ibits, run * ibits, 0) / ibits;
		sym = bidi_fill(sym, b->list[0], run);
		hit += run;
		i += run;
		same = run == RUN_MAX ? RUN_MIN : 0;
	}
	b->pos = i;
	b->nhit = hit;
	b->nmiss = miss;
}

INLINE void
lastn_backward(struct bidi *b, uint64_t *sym, size_t count, const unsigned n, const unsigned ibits)
{
	struct bidi_sides s = b->s;
	const uint64_t *index = b->index;
	size_t i = b->pos, end = i - count, hit = b->nhit, miss = b->nmiss, run;
	unsigned j, same = 0;

	while (i > end) {
		if (!bit_get(s.flag, --i)) {
			*sym = bring_back(b->list, n, slot_get(&s, --miss));
			slot_put(&s, miss, *sym++);
			continue;
		}
		j = (unsigned)bits_get(index, --hit * ibits, n - 1);
		same = j ? 0 : same + 1;
		*sym++ = from_front(b->list, j);
		if (same < RUN_MIN)
			continue;
		run = bit_run_back(s.flag, i, i - end < RUN_MAX ? i - end : RUN_MAX, ~UINT64_C(0));
		run = bit_run_back(index, hit * ibits, run * ibits, 0) / ibits;
		sym = bidi_fill(sym, b->list[0], run);
		hit -= run;
		i -= run;
		same = run == RUN_MAX ? RUN_MIN : 0;
	}
	b->pos = i;
	b->nhit = hit;
	b->nmiss = miss;
}

INLINE void
lastn_feed(struct bidi *b, const uint64_t *sym, size_t count, const unsigned n, const unsigned ibits)
{
	for (size_t k = 0; k < count; k++) {
		unsigned j = lastn_find(b->list, n, sym[k]);

		bit_put(b->s.flag, b->pos++, j < n);
		if (j < n) {
			to_front(b->list, j);
			bits_put(b->index, b->nhit++ * ibits, n - 1, j);
		} else {
			slot_put(&b->s, b->nmiss++, drive_out(b->list, n, sym[k]));
		}
	}
}

#define LOOPS(n, ibits) \
	static void fwd_##n(struct bidi *b, uint64_t *sym, size_t c) { lastn_forward(b, sym, c, n, ibits); } \
	static void bwd_##n(struct bidi *b, uint64_t *sym, size_t c) \
	{ lastn_backward(b, sym, c, n, ibits); } \
	static void feed_##n(struct bidi *b, const uint64_t *sym, size_t c) \
	{ lastn_feed(b, sym, c, n, ibits); }
LOOPS(2, 1)
LOOPS(8, 3)
LOOPS(32, 5)

static unsigned
ibits_of(const struct bidi *b)
{
	return (unsigned)__builtin_ctz(b->how->ctx);
}

static int
lastn_make(struct bidi *b)
{
	struct bidi_sides *s = &b->s;
	unsigned n = b->how->ctx;

	b->tbits = 0;
	s->nslot = b->count;
	s->flag = calloc(bit_words(b->count), 8);
	s->slot = calloc(bit_words(b->count * s->width), 8);
	b->index = calloc(bit_words(b->count * ibits_of(b)), 8);
	b->fwd = n == 2 ? fwd_2 : n == 8 ? fwd_8 : fwd_32;
	b->bwd = n == 2 ? bwd_2 : n == 8 ? bwd_8 : bwd_32;
	return s->flag && s->slot && b->index ? 0 : -1;
}

static void
feed_some(struct bidi *b, const uint64_t *sym, size_t n)
{
	(b->how->ctx == 2 ? feed_2 : b->how->ctx == 8 ? feed_8 : feed_32)(b, sym, n);
}

static void
lastn_shrink(uint64_t **array, size_t words)
{
	uint64_t *p = realloc(*array, words * 8);

	if (p)
		*array = p;
}

/* Hits and misses are counted: frees spare memory. */
static void
lastn_settle(struct bidi *b, size_t hits)
{
	b->hits = hits;
	b->s.nslot = b->count - hits;
	lastn_shrink(&b->s.slot, bit_words(b->s.nslot * b->s.width));
	lastn_shrink(&b->index, bit_words(b->hits * ibits_of(b)));
}

static void
lastn_finish(struct bidi *b)
{
	lastn_settle(b, b->nhit);
}

static void
rewind_all(struct bidi *b)
{
	uint64_t sym[256];

	while (b->pos)
		b->bwd(b, sym, b->pos < 256 ? b->pos : 256);
}

static uint64_t
lastn_size(const struct bidi *b, struct bidi_stats *st)
{
	unsigned ibits = ibits_of(b);

	st->hits = b->hits;
	st->misses = b->s.nslot;
	st->entry_bits = b->count + (uint64_t)b->hits * ibits + (uint64_t)st->misses * b->s.width;
	st->table_bits = 64 * b->how->ctx;
	return 8 * (bit_words(b->count) + bit_words(b->hits * ibits) + bit_words(st->misses * b->s.width)) +
	    st->table_bits / 8;
}

static size_t
lastn_bound(const struct bidi *b)
{
	return b->count / 8 + 1 + b->count * ibits_of(b) / 8 + 1 + b->count * bidi_bytes(b->s.width);
}

/* Writes flags, indexes, slots. The table is empty. */
static uint8_t *
lastn_save(const struct bidi *b, uint8_t *p)
{
	unsigned bytes = bidi_bytes(b->s.width);

	p = bidi_encode_bits(p, b->s.flag, b->count);
	p = bidi_encode_bits(p, b->index, b->hits * ibits_of(b));
	for (size_t i = 0; i < b->s.nslot; i++)
		plane_put(p, b->s.nslot, i, bytes, slot_get(&b->s, i));
	return p + b->s.nslot * bytes;
}

static int
lastn_load(struct bidi *b, const uint8_t *p, size_t len)
{
	struct bidi_sides *s = &b->s;
	size_t nflag = (b->count + 7) / 8, nindex, hits;
	unsigned bytes = bidi_bytes(s->width);

	if (len < nflag || bidi_decode_bits(s->flag, p, b->count) != 0)
		return -1;
	hits = bidi_ones(s->flag, b->count);
	nindex = (hits * ibits_of(b) + 7) / 8;
	if (len != nflag + nindex + (b->count - hits) * bytes ||
	    bidi_decode_bits(b->index, p + nflag, hits * ibits_of(b)) != 0)
		return -1;
	lastn_settle(b, hits);
	p += nflag + nindex;
	for (size_t i = 0; i < s->nslot; i++) {
		uint64_t v = plane_get(p, s->nslot, i, bytes);

		if (v > s->mask)
			return -1;
		slot_put(s, i, v);
	}
	return 0;
}

static int
lastn_clean(const struct bidi *b)
{
	for (unsigned j = 0; j < b->how->ctx; j++)
		if (b->list[j])
			return 0;
	return 1;
}

const struct bidi_engine bidi_last = { 1, lastn_make, feed_some, lastn_finish, rewind_all, lastn_size,
	lastn_bound, lastn_save, lastn_load, lastn_clean };
