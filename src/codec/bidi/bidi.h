/*
 * Values kept compressed in memory and walked in both directions: the twelve
 * bidirectional compressors of "Whole Execution Traces" (Zhang, Gupta 2004),
 * section 4.
 *
 * A position divides the stream: what lies before it is compressed forward, by
 * the context to its right; what lies behind it backward, by the context to
 * its left; the context itself is not compressed.  A step in either direction
 * takes one value out of one side and puts one into the other.  The whole state
 * (both sides, their tables) depends on the position only, not on the way there.
 */
#ifndef TM_CODEC_BIDI_BIDI_H
#define TM_CODEC_BIDI_BIDI_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define BIDI_TBITS_MAX  16              /* log2 of the entries of a look-up table */
#define BIDI_CONTEXT_MAX 32

enum bidi_method {
#define BIDI_METHOD(id, name, engine, context, stride, what) BIDI_##id,
#include "codec/bidi/method.def"
#undef BIDI_METHOD
	BIDI_NMETHOD
};

struct bidi;

/* What a stream takes, where it stands now */
struct bidi_stats {
	size_t hits, misses;            /* entries <T>, <F,v> of both sides */
	unsigned width;                 /* bits of a v */
	uint64_t entry_bits;            /* of all entries */
	uint64_t table_bits;            /* of the look-up tables */
	size_t bytes;                   /* memory, everything, spare room included: the same at every position */
};

const char *bidi_name(enum bidi_method m);
int bidi_by_name(const char *name);             /* method, or -1 */

/*
 * Compress n values, position 0.  tbits: log2 of the entries of each table (1
 * to BIDI_TBITS_MAX), 0: both together take about as many bits as there are values.
 * v is not kept.  NULL without memory.
 */
struct bidi *bidi_open(enum bidi_method m, const uint64_t *v, size_t n, unsigned tbits);
void bidi_close(struct bidi *b);

enum bidi_method bidi_method(const struct bidi *b);
size_t bidi_count(const struct bidi *b);
size_t bidi_tell(const struct bidi *b);         /* values before the position */

/* One step: 1 and the value passed, or 0 at the end */
int bidi_next(struct bidi *b, uint64_t *v);
int bidi_prev(struct bidi *b, uint64_t *v);

/* Up to n steps; the values in the order they are passed, so those of back are in reverse.  How many. */
size_t bidi_read(struct bidi *b, uint64_t *v, size_t n);
size_t bidi_back(struct bidi *b, uint64_t *v, size_t n);

/* To position pos by steps; a pos behind the end is the end */
void bidi_seek(struct bidi *b, size_t pos);

/* The values of the context, nearest first: those before the position that are uncompressed.  How many, of at most n. */
size_t bidi_context(const struct bidi *b, uint64_t *v, size_t n);

void bidi_stats(const struct bidi *b, struct bidi_stats *s);

/*
 * The method to keep for a stream.  bidi_pick: as the paper selects, the one
 * with the fewest bits of entries after the first `prefix` values.
 * bidi_pick_size: the one that takes the least memory, tables included, for all
 * of them.  -1 without memory.
 */
int bidi_pick(const uint64_t *v, size_t n, size_t prefix, unsigned tbits);
int bidi_pick_size(const uint64_t *v, size_t n, unsigned tbits);

/*
 * On disk: what is in memory at one end of the stream, where one side and its
 * table are empty.  Neither the number of values nor the method is written.
 * width: bytes a value (1 to 8), which no value exceeds.  tbits 0: of a table for 16
 * values an entry.  level: zstd's, 0: not squeezed.  bidi_save: 0, or -1 without
 * memory.  bidi_load: a stream at position 0, or NULL and *err (NULL without
 * memory), whatever the bytes.
 */
int bidi_save(enum bidi_method m, const uint64_t *v, size_t n, unsigned width, unsigned tbits, int level,
    struct buf *out);
struct bidi *bidi_load(enum bidi_method m, const uint8_t *p, size_t len, size_t n, unsigned width, const char **err);

#endif
