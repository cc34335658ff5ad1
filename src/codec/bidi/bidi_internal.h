/*
 * Internal to codec/bidi.
 *
 * Values are kept as symbols: the value less the smallest one, or for methods
 * of strides the stride, its sign in the lowest bit.  The stream is extended by
 * `ctx` symbols 0 at either end.
 *
 * FCM.  At position i of the extended stream (m + 2 ctx symbols) the context is
 * symbols i to i + ctx - 1.  A bit of `flag` is the T or F of the entry of one
 * symbol, whichever side it is on: the bits of FR end at i, those of BL begin at
 * i + ctx.  The v of entries <F,v> are slots of `width` bits in one array, in
 * which FR grows from the front and BL from the end.
 *
 * Last n.  Position i is before symbol i; there is no context but the table.
 * An entry <T,j> or <F,v> is the same on both sides but for v, so flags, indexes
 * and slots lie in the order of the stream and only a slot changes when its
 * symbol is passed.
 */
#ifndef TM_CODEC_BIDI_BIDI_INTERNAL_H
#define TM_CODEC_BIDI_BIDI_INTERNAL_H

#include "base/bits.h"
#include "codec/bidi/bidi.h"

/* What a loop over steps copies, so that the compiler may keep it in registers */
struct bidi_sides {
	uint64_t *flag;                 /* owned */
	uint64_t *slot;                 /* owned; nslot slots */
	size_t nslot;
	uint64_t mask;                  /* of a slot */
	unsigned width;
	void *frtb, *bltb;              /* FCM; owned */
	size_t nfr, nbl;                /* FCM: slots of each side */
	size_t most;                    /* FCM: slots there ever were of both */
};

struct bidi {
	const struct bidi_how *how;
	void (*fwd)(struct bidi *, uint64_t *sym, size_t n);    /* n steps, which there must be; the symbols passed */
	void (*bwd)(struct bidi *, uint64_t *sym, size_t n);
	size_t count, pos;
	uint64_t base;                  /* smallest value; strides: the first value, which is also what comes before it */
	uint64_t cur;                   /* strides: the value before the position */
	struct bidi_sides s;

	/* FCM */
	unsigned tbits, esz;            /* bytes a table entry: 1, 2, 4, 8 */
	uint64_t win[3];                /* the context, nearest first */

	/* last n */
	uint64_t list[BIDI_CONTEXT_MAX];/* TB, latest first */
	uint64_t *index;                /* owned: of each <T,j>, log2 n bits */
	size_t nhit, nmiss;             /* before the position */
	size_t hits;                    /* of the stream */
};

/* What a method is */
struct bidi_how {
	const char *name;
	unsigned ctx;
	int stride;
	const struct bidi_engine *engine;
};

/* FCM or last n.  A stream is made, fed, finished and, unless it is only saved, rewound; or made and loaded. */
struct bidi_engine {
	int at_left;                    /* is saved and loaded as it is at the left end, not at the right one */
	int (*make)(struct bidi *b);    /* count and s.width are set: nothing on either side, room for the worst; -1 without memory */
	void (*feed)(struct bidi *b, const uint64_t *sym, size_t n);    /* the next symbols, compressed forward */
	void (*finish)(struct bidi *b);         /* over the extension at the right end */
	void (*rewind)(struct bidi *b);         /* back to position 0 by steps; gives back room */
	uint64_t (*size)(const struct bidi *b, struct bidi_stats *s);   /* fills s but for bytes; the bytes of its arrays */
	size_t (*bound)(const struct bidi *b);                          /* bytes that save may write */
	uint8_t *(*save)(const struct bidi *b, uint8_t *p);             /* entries, table; the end of what was written */
	int (*load)(struct bidi *b, const uint8_t *p, size_t len);      /* -1: cannot be */
	int (*clean)(const struct bidi *b);     /* at position 0: is nothing on the left side and its table? */
};

extern const struct bidi_engine bidi_fcm, bidi_last;
extern const struct bidi_how bidi_hows[BIDI_NMETHOD];

/* All of v compressed forward and nothing walked back: at the right end */
struct bidi *bidi_feed(enum bidi_method m, const uint64_t *v, size_t n, unsigned tbits);
int bidi_setup(struct bidi *b, unsigned width);         /* how, count, tbits are set: room; -1 without memory */

/*
 * From saved bytes, at the end that is saved, where nothing was checked but that
 * they can be read.  NULL: *err, which is NULL without memory.
 */

/* Bytes of a symbol in files, where symbols are kept by planes: their first bytes, their second bytes... */
static inline unsigned bidi_bytes(unsigned width) { return (width + 7) / 8; }

static inline void
plane_put(uint8_t *p, size_t n, size_t i, unsigned bytes, uint64_t v)
{
	for (unsigned k = 0; k < bytes; k++)
		p[k * n + i] = (uint8_t)(v >> 8 * k);
}

static inline uint64_t
plane_get(const uint8_t *p, size_t n, size_t i, unsigned bytes)
{
	uint64_t v = 0;

	for (unsigned k = bytes; k--;)
		v = v << 8 | p[k * n + i];
	return v;
}

uint8_t *bidi_put_bits(uint8_t *p, const uint64_t *a, size_t n);        /* (n + 7) / 8 bytes; their end */
int bidi_get_bits(uint64_t *a, const uint8_t *p, size_t n);             /* -1: bits behind the last are set */
size_t bidi_ones(const uint64_t *a, size_t n);                          /* of the first n bits */

/* How many bits from i on are the same (flip ~0: ones, 0: zeros), at most max */
static inline size_t
bit_run(const uint64_t *a, size_t i, size_t max, uint64_t flip)
{
	size_t n = 0;

	while (n < max) {
		uint64_t other = (a[(i + n) >> 6] ^ flip) >> ((i + n) & 63);

		if (other) {
			n += (size_t)__builtin_ctzll(other);
			break;
		}
		n += 64 - ((i + n) & 63);
	}
	return n < max ? n : max;
}

/* So many before i */
static inline size_t
bit_run_back(const uint64_t *a, size_t i, size_t max, uint64_t flip)
{
	size_t n = 0;

	while (n < max) {
		size_t last = i - n - 1;
		uint64_t other = (a[last >> 6] ^ flip) << (63 - (last & 63));

		if (other) {
			n += (size_t)__builtin_clzll(other);
			break;
		}
		n += (last & 63) + 1;
	}
	return n < max ? n : max;
}

/* width bits (0 to 64) from bit i on; the array has a word behind its last one */
static inline uint64_t
bits_get(const uint64_t *a, size_t i, uint64_t mask)
{
	unsigned s = i & 63;
	uint64_t v = a[i >> 6] >> s;

	if (s)
		v |= a[(i >> 6) + 1] << (64 - s);
	return v & mask;
}

static inline void
bits_put(uint64_t *a, size_t i, uint64_t mask, uint64_t v)
{
	unsigned s = i & 63;
	uint64_t *w = a + (i >> 6);

	w[0] = (w[0] & ~(mask << s)) | v << s;
	if (s)
		w[1] = (w[1] & ~(mask >> (64 - s))) | v >> (64 - s);
}

static inline uint64_t slot_get(const struct bidi_sides *s, size_t i) { return bits_get(s->slot, i * s->width, s->mask); }
static inline void slot_put(struct bidi_sides *s, size_t i, uint64_t v) { bits_put(s->slot, i * s->width, s->mask, v); }

static inline uint64_t *
bidi_fill(uint64_t *p, uint64_t v, size_t n)
{
	while (n--)
		*p++ = v;
	return p;
}

/* Words that hold n bits, and one more */
static inline size_t bit_words(size_t n) { return (n + 63) / 64 + 1; }

#endif
