/*
 * Values compressed in memory and walked in both directions: the twelve bidirectional compressors
 * of "Whole Execution Traces" (Zhang, Gupta 2004), section 4.
 *
 * A position divides the stream. The values before it are compressed forward, by the context to
 * their right; the values after it backward, by the context to their left; the context itself is
 * not compressed. A step in either direction takes one value out of one side and adds one to the
 * other. The whole state (both sides, their tables) depends only on the position, not on how it was
 * reached.
 */
#ifndef TM_CODEC_BIDI_BIDI_H
#define TM_CODEC_BIDI_BIDI_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define BIDI_TBITS_MAX  16              /* most log2 entries of a look-up table */
#define BIDI_CONTEXT_MAX 32

enum bidi_method {
#define BIDI_METHOD(id, name, engine, context, stride, what) BIDI_##id,
#include "codec/bidi/method.def"
#undef BIDI_METHOD
	BIDI_NMETHOD
};

struct bidi;

/* The size of a stream at its present position. */
struct bidi_stats {
	size_t hits, misses;            /* entries <T>, <F,v> of both sides */
	unsigned width;                 /* bits of a v */
	uint64_t entry_bits;            /* of all entries */
	uint64_t table_bits;            /* of the look-up tables */
	size_t bytes;                   /* all memory with spare room; the same at every position */
};

const char *bidi_name(enum bidi_method m);
int bidi_by_name(const char *name);             /* a method, or -1 */

/*
 * Compresses n values; the position is 0. tbits: log2 of the entries of each table (1 to
 * BIDI_TBITS_MAX); 0: both tables together have about as many bits as there are values. v is not
 * needed afterwards. NULL without memory.
 */
struct bidi *bidi_open(enum bidi_method m, const uint64_t *v, size_t n, unsigned tbits);
void bidi_close(struct bidi *b);

enum bidi_method bidi_method(const struct bidi *b);
size_t bidi_count(const struct bidi *b);
size_t bidi_tell(const struct bidi *b);         /* values before the position */

/* One step: 1 and the value passed, or 0 at the end. */
int bidi_next(struct bidi *b, uint64_t *v);
int bidi_prev(struct bidi *b, uint64_t *v);

/*
 * Up to n steps. The values are in the order in which they are passed, so that back's are reversed.
 * Returns their number.
 */
size_t bidi_read(struct bidi *b, uint64_t *v, size_t n);
size_t bidi_back(struct bidi *b, uint64_t *v, size_t n);

/* Steps to position pos, or to the end if pos is larger. */
void bidi_seek(struct bidi *b, size_t pos);

/*
 * The uncompressed values of the context before the position, nearest first. Returns their number,
 * at most n.
 */
size_t bidi_context(const struct bidi *b, uint64_t *v, size_t n);

void bidi_stats(const struct bidi *b, struct bidi_stats *s);

/*
 * Select a method for a stream; -1 without memory. bidi_pick: the paper's rule, the method with the
 * fewest bits of entries after the first `prefix` values. bidi_pick_size: the method that needs the
 * least memory for all values, tables included.
 */
int bidi_pick(const uint64_t *v, size_t n, size_t prefix, unsigned tbits);
int bidi_pick_size(const uint64_t *v, size_t n, unsigned tbits);

/*
 * The form on disk is the memory at one end of the stream, where one side and its table are empty.
 * It contains neither the number of values nor the method. width: bytes of a value (1 to 8), enough
 * for every value. tbits 0: a table with one entry for 16 values. level: of zstd; 0: not compressed
 * by it. bidi_save: 0, or -1 without memory. bidi_load accepts any bytes: a stream at position 0,
 * or NULL with *err (NULL without memory).
 */
int bidi_save(enum bidi_method m, const uint64_t *v, size_t n, unsigned width, unsigned tbits, int level,
    struct buf *out);
struct bidi *bidi_load(enum bidi_method m, const uint8_t *p, size_t len, size_t n, unsigned width,
    const char **err);

#endif
