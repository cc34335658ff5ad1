/*
 * Internal to codec/bidi: the state of a stream, what an engine (FCM or last n) provides, arrays of
 * bits.
 *
 * Values are stored as symbols: the value less the smallest one, or, for methods of strides, the
 * stride with its sign in the lowest bit. The stream is extended by `ctx` symbols 0 at either end.
 *
 * FCM. At position i of the extended stream (m + 2 ctx symbols) the context is symbols i to i + ctx
 * - 1. A bit of `flag` is the T or F of the entry of one symbol, on whichever side it is: the bits
 * of FR end at i, those of BL begin at i + ctx. The v of entries <F,v> are slots of `width` bits in
 * one array, in which FR grows from the front and BL from the end.
 *
 * Last n. Position i is before symbol i; the table is the only context. An entry <T,j> or <F,v> is
 * the same on both sides except for v, so flags, indexes and slots are in the order of the stream,
 * and only a slot changes when its symbol is passed.
 */
#ifndef TM_CODEC_BIDI_BIDI_INTERNAL_H
#define TM_CODEC_BIDI_BIDI_INTERNAL_H

#include "base/bits.h"
#include "codec/bidi/bidi.h"

/* The part that a loop over steps copies, so that the compiler can keep it in registers. */
struct bidi_sides {
	uint64_t *flag;                 /* owned */
	uint64_t *slot;                 /* owned; nslot slots */
	size_t nslot;
	uint64_t mask;                  /* mask of a slot's bits */
	unsigned width;
	void *frtb, *bltb;              /* FCM; owned */
	size_t nfr, nbl;                /* FCM: slots of each side */
	size_t most;                    /* FCM: the most slots of both sides so far */
};

struct bidi {
	const struct bidi_how *how;
	/* n steps, which must exist; sym gets the symbols passed */
	void (*fwd)(struct bidi *, uint64_t *sym, size_t n);
	void (*bwd)(struct bidi *, uint64_t *sym, size_t n);
	size_t count, pos;
	/* the smallest value; strides: the first value, which is also assumed before it */
	uint64_t base;
	uint64_t cur;                   /* strides: the value before the position */
	struct bidi_sides s;

	/* FCM */
	unsigned tbits, esz;            /* esz: bytes of a table entry: 1, 2, 4, 8 */
	uint64_t win[3];                /* the context, nearest first */

	/* last n */
	uint64_t list[BIDI_CONTEXT_MAX];/* TB, last used first */
	uint64_t *index;                /* owned: j of each <T,j>, log2 n bits */
	size_t nhit, nmiss;             /* before the position */
	size_t hits;                    /* in the whole stream */
};

/* A method. */
struct bidi_how {
	const char *name;
	unsigned ctx;
	int stride;
	const struct bidi_engine *engine;
};

/*
 * An engine: FCM or last n. A stream is made, fed, finished and, unless it is only saved, rewound;
 * or it is made and loaded.
 */
struct bidi_engine {
	/* the state that is saved and loaded is that at the left end, not at the right one */
	int at_left;
	/*
	 * count and s.width are set: makes both sides empty, with room for the worst case; -1 without
	 * memory
	 */
	int (*make)(struct bidi *b);
	/* compresses the next symbols forward */
	void (*feed)(struct bidi *b, const uint64_t *sym, size_t n);
	void (*finish)(struct bidi *b);         /* steps over the extension at the right end */
	void (*rewind)(struct bidi *b);         /* steps back to position 0; frees spare memory */
	/* fills s except `bytes`; returns the bytes of its arrays */
	uint64_t (*size)(const struct bidi *b, struct bidi_stats *s);
	size_t (*bound)(const struct bidi *b);                          /* most bytes that save writes */
	/* writes entries and table; returns the end */
	uint8_t *(*save)(const struct bidi *b, uint8_t *p);
	int (*load)(struct bidi *b, const uint8_t *p, size_t len);      /* -1: not a possible state */
	int (*clean)(const struct bidi *b);     /* at position 0: are the left side and its table empty? */
};

extern const struct bidi_engine bidi_fcm, bidi_last;
extern const struct bidi_how bidi_hows[BIDI_NMETHOD];

/* Compresses all of v forward; the position is the right end. */
struct bidi *bidi_feed(enum bidi_method m, const uint64_t *v, size_t n, unsigned tbits);
/* allocates for how, count and tbits, which are set; -1 without memory */
int bidi_setup(struct bidi *b, unsigned width);

/*
 * Loads saved bytes at the end that is saved, and checks only that they can be read. NULL with
 * *err, which is NULL without memory.
 */

/* Bytes of a symbol in files, where symbols are stored in planes: all first bytes, all second bytes... */
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

/* writes (n + 7) / 8 bytes; returns the end */
uint8_t *bidi_encode_bits(uint8_t *p, const uint64_t *a, size_t n);
/* -1: bits after the last one are set */
int bidi_decode_bits(uint64_t *a, const uint8_t *p, size_t n);
size_t bidi_ones(const uint64_t *a, size_t n);                          /* ones among the first n bits */

/* How many bits from i on are equal (flip ~0: ones, 0: zeros), at most max. */
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

/* The same for the bits before i. */
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

/* width bits (0 to 64) from bit i on; the array must have a word after its last one. */
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

static inline uint64_t slot_get(const struct bidi_sides *s,
    size_t i) { return bits_get(s->slot, i * s->width, s->mask); }
static inline void slot_put(struct bidi_sides *s, size_t i,
    uint64_t v) { bits_put(s->slot, i * s->width, s->mask, v); }

static inline uint64_t *
bidi_fill(uint64_t *p, uint64_t v, size_t n)
{
	while (n--)
		*p++ = v;
	return p;
}

/* Words for n bits, and one more. */
static inline size_t bit_words(size_t n) { return (n + 63) / 64 + 1; }

#endif
