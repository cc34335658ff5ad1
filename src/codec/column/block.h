/*
 * Coding of blocks of values: one column of one block at a time, by the method with the smallest
 * result. Blocks have 1 to VC_MAX values and are independent of each other, except for a primer:
 * the state after a column's first block, from which the other blocks start.
 *
 * n, width, keys, method and coded length are not part of the coded bytes: the caller stores them.
 * A few values cost a few bytes, and values that are all predicted cost none: len 0 is valid.
 */
#ifndef TM_CODEC_COLUMN_BLOCK_H
#define TM_CODEC_COLUMN_BLOCK_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define VC_MAX          (4u << 20)      /* values in a block, at most */
/*
 * a primer uses this many values of a first block, at most: the last ones. A first block should
 * have as many.
 */
#define VC_PRIME_MAX    (1u << 20)

enum vc_method {
#define VC_METHOD(number, id, name, fn, what) VC_##id = number,
#include "codec/column/method.def"
#undef VC_METHOD
};

/* A grid on which most values of a column lie: scale.h. */
enum vc_scale_kind {
	VC_SCALE_NONE,
	VC_SCALE_OVER,                  /* floats: an integer divided by 10^unit */
	VC_SCALE_TIMES,                 /* floats: an integer times the float that is nearest to 10^-unit */
	VC_SCALE_BINARY,                /* floats: an integer divided by 2^unit */
	VC_SCALE_INTEGER,               /* integers: origin plus a multiple of unit */
	VC_SCALE_KINDS
};
#define VC_SCALE_TENS 22        /* 10^22 is the largest that is exact as a double */
struct vc_scale {
	enum vc_scale_kind kind;
	uint64_t unit, origin;          /* places are counted from the origin; a signed one for floats */
};

struct vc_col {
	const uint64_t *v;              /* n values below 2^(8 width); vc_decode ignores it */
	/* NULL, or n keys that the decoder also has: the key column of the same records */
	const uint64_t *key;
	size_t n;
	unsigned width;                 /* bytes of a value: 1, 2, 4, 8 */
	/*
	 * The grid of the column's first block: the encoder and the decoder of a first block set it, and
	 * vc_prime_make takes it. NULL: the method scaled cannot be used.
	 */
	struct vc_scale *scale;
};

struct vc_work;         /* tables of one thread, reused from block to block; not shared */
struct vc_prime;        /* primer: use does not change it, so threads may share it */

/*
 * Work space that holds the states of `columns` columns coded in turn (8 at most), each of which
 * may take as much memory as a primer. Context mixing has larger tables for fewer columns, so
 * encoder and decoder have the same number. NULL without memory.
 */
struct vc_work *vc_work_new(unsigned columns);
/* Allows cm-signed, cm-signed2 and scaled, which files that are older than these methods cannot have. */
void vc_work_extend(struct vc_work *w);
/* No primer will be made of the blocks that it decodes, so that they need not be kept. */
void vc_work_alone(struct vc_work *w);
void vc_work_free(struct vc_work *w);
void vc_work_trim(struct vc_work *w);   /* frees what can be made again */

/*
 * Makes the primer of a column from its first block (v, key, n, width all set); encoder and decoder
 * get the same one. Copies what it needs. Fast if w has just coded or decoded this block. NULL
 * without memory.
 */
struct vc_prime *vc_prime_make(struct vc_work *w, const struct vc_col *first);
void vc_prime_free(struct vc_prime *p);

/*
 * Appends the coded column to out. prime: NULL (for a first block or the only one), or the column's
 * primer. level 0 to 9: 0 stores, 1 is fast both ways, higher ones try more, 9 tries all. *method
 * is the one with the smallest result. 0, or -1 without memory (out keeps its old length).
 */
int vc_encode(struct vc_work *w, const struct vc_prime *prime, const struct vc_col *col, int level,
	enum vc_method *method, struct buf *out);
int vc_encode_with(struct vc_work *w, const struct vc_prime *prime, const struct vc_col *col,
	enum vc_method method, struct buf *out);

/*
 * Decodes the n values of col (whose v is ignored) from exactly len bytes at p, into v. 0, or -1
 * with *err, a static text. For any bytes, nothing outside p[len] is read and nothing outside v[n]
 * is written.
 */
int vc_decode(struct vc_work *w, const struct vc_prime *prime, const struct vc_col *col,
	enum vc_method method, const uint8_t *p, size_t len, uint64_t *v, const char **err);

/* A coded column: n values in len bytes. */
struct vc_coded {
	enum vc_method method;
	size_t n, len;
	unsigned width;
	unsigned columns;               /* of its stream */
};

#define VC_SLOW 12e6    /* ns to decode a block, by vc_decode_ns, above which it should be split */

double vc_decode_ns(const struct vc_coded *c);          /* estimated time to decode it, in ns */

/*
 * The number of records for later blocks of a stream, so that decoding one takes less than 9 ms
 * (and less than VC_SLOW where data is three times as hard). It is estimated from the columns of
 * the first block of n records, coded at that level.
 */
size_t vc_block_values(int level, size_t n, const struct vc_coded *col, unsigned ncol);

/*
 * The number of records that may become one LZMA block, so that decoding it takes about 10 ms, if n
 * records of `bytes` bytes take len bytes when coded so.
 */
size_t vc_group_values(size_t n, size_t bytes, size_t len);

/*
 * A column's size by a quick run of zstd: up to a third more than the method fast makes of it. 0,
 * or -1 without memory.
 */
int vc_quick_size(struct vc_work *w, const struct vc_prime *prime, const struct vc_col *col, size_t *size);

/* Does the method fast's length show that LZMA will not do better (noise)? */
int vc_is_noise(size_t len, size_t bytes);

/*
 * Memory, in bytes, at most.  A column by the greatest numbers of its values in a first block and in a
 * later one, and the methods that are used, a bit each.
 */
#define VC_USES(method) ((uint64_t)1 << (method))
struct vc_shape {
	size_t first, later;
	unsigned width;
	int keyed;
	uint64_t methods;
};
/* the methods that vc_encode may use at that level, or that method, unless it is -1 */
uint64_t vc_methods(int level, int method);
uint64_t vc_prime_memory(const struct vc_shape *s, unsigned columns);
/* the work space of a thread that codes first blocks, or later ones; level: the encoder's */
uint64_t vc_work_memory(const struct vc_shape *s, unsigned columns, int later, int decoder, int level);
uint64_t vc_zstd_memory(size_t n, int level);           /* an encoder of n bytes */
uint64_t vc_lzma_memory(size_t dict, int decoder);      /* with the other parameters of xz -9e */

const char *vc_name(unsigned method);           /* NULL: no such method */
int vc_by_name(const char *name);               /* a method, or -1 */

#endif
