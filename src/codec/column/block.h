/*
 * Coding of blocks of values: one column of one block at a time, by the
 * method whose coded size is smallest.  Blocks are 1 to VC_MAX values and
 * independent of each other, but for a primer: the state that a column's
 * first block leaves behind, from which the others start.
 *
 * Nothing is written of n, width, keys, the method or the length: whoever
 * keeps the bytes keeps those.  A few values cost a few bytes, and values that
 * are foreseen all along none: len 0 is a coding like others.
 */
#ifndef TM_CODEC_COLUMN_BLOCK_H
#define TM_CODEC_COLUMN_BLOCK_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define VC_MAX          (4u << 20)      /* values in a block */
#define VC_PRIME_MAX    (1u << 20)      /* values of a first block that its primer uses: the last ones; a good first block has so many */

enum vc_method {
#define VC_METHOD(number, id, name, fn, what) VC_##id = number,
#include "codec/column/method.def"
#undef VC_METHOD
};

struct vc_col {
	const uint64_t *v;              /* n values below 2^(8 width); not used by vc_decode */
	const uint64_t *key;            /* NULL, or n keys that the decoder has too: the key column of the same records */
	size_t n;
	unsigned width;                 /* bytes a value: 1, 2, 4, 8 */
};

struct vc_work;         /* tables of one thread, kept from block to block; not shared */
struct vc_prime;        /* primer: not changed by use, shared by threads */

/*
 * For so many columns that take turns, whose states are kept (8 at most): for
 * each it may take as much as a primer does.  NULL without memory.
 */
struct vc_work *vc_work_new(unsigned columns);
void vc_work_free(struct vc_work *w);
void vc_work_trim(struct vc_work *w);   /* frees what can be made again */

/*
 * The primer of a column from its first block (v, key, n, width all given),
 * the same in encoder and decoder; copies what it needs.  Cheap when w has
 * just coded or decoded this block.  NULL without memory.
 */
struct vc_prime *vc_prime_make(struct vc_work *w, const struct vc_col *first);
void vc_prime_free(struct vc_prime *p);

/*
 * Append the coded column to out.  prime: NULL (a first block, a stream of one
 * block), or the column's primer.  level 0 to 9: 0 stores, 1 is fast both ways,
 * the others try more, 9 all.  *method says which was the smallest.  0, or -1
 * without memory (out keeps its old length).
 */
int vc_encode(struct vc_work *w, const struct vc_prime *prime, const struct vc_col *col, int level,
	enum vc_method *method, struct buf *out);
int vc_encode_with(struct vc_work *w, const struct vc_prime *prime, const struct vc_col *col,
	enum vc_method method, struct buf *out);

/*
 * The n values of col (whose v is ignored) from exactly len bytes at p, into v.
 * 0, or -1 with *err, a static text; whatever the bytes, nothing outside p[len]
 * is read nor outside v[n] written.
 */
int vc_decode(struct vc_work *w, const struct vc_prime *prime, const struct vc_col *col,
	enum vc_method method, const uint8_t *p, size_t len, uint64_t *v, const char **err);

/* A column that is coded: n values as len bytes */
struct vc_coded {
	enum vc_method method;
	size_t n, len;
	unsigned width;
};

#define VC_SLOW 12e6    /* ns to decode a block, by vc_decode_ns: it is to be made of fewer values */

double vc_decode_ns(const struct vc_coded *c);          /* that decoding it takes, about */

/*
 * How many records a later block of a stream should have, so that decoding one
 * takes less than 9 ms (parts three times as hard less than VC_SLOW): from the
 * columns of its first block of n records, coded at that level.
 */
size_t vc_block_values(int level, size_t n, const struct vc_coded *col, unsigned ncol);

/* How many records may become one block by LZ alone, so that decoding it takes about 10 ms: n of them, of that many bytes, take len when so coded */
size_t vc_group_values(size_t n, size_t bytes, size_t len);

/* A column's size as zstd makes it, about: more than the method fast does, up to a third.  0, or -1 without memory. */
int vc_quick_size(struct vc_work *w, const struct vc_prime *prime, const struct vc_col *col, size_t *size);

/* Does the method fast's length tell that LZMA will not do better than it? */
int vc_noise(size_t len, size_t bytes);

const char *vc_name(unsigned method);           /* NULL: no such method */
int vc_by_name(const char *name);               /* method, or -1 */

#endif
