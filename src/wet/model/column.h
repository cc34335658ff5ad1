/*
 * Columns of numbers, and how they are in a section of wet(5): coded by block.h, in as many
 * blocks as it takes.
 */
#ifndef TM_WET_MODEL_COLUMN_H
#define TM_WET_MODEL_COLUMN_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "codec/column/block.h"

struct col {
	uint64_t *v;                    /* owned */
	size_t n, cap;
	int nomem;                      /* additions after running out of memory did nothing */
};

void col_free(struct col *c);
int col_room(struct col *c, size_t n);          /* for n more.  0, or -1 without memory */
static inline void
col_add(struct col *c, uint64_t v)
{
	if (c->n < c->cap || col_room(c, 1) == 0)
		c->v[c->n++] = v;
}

/* Signed numbers as numbers, the small ones small */
static inline uint64_t col_zig(uint64_t d) { return d << 1 ^ -(d >> 63); }
static inline uint64_t col_zag(uint64_t z) { return z >> 1 ^ -(z & 1); }

/* Numbers in seven bits a byte, for what is not worth a column */
void col_put_number(struct buf *b, uint64_t v);

/*
 * Appends c to a section.  key: NULL, or as many keys, which the reader has by
 * then.  0, or -1 without memory.
 */
int col_put(struct buf *b, struct vc_work *w, int level, const struct col *c, const struct col *key);
/* In blocks of so many values, at most VC_MAX */
int col_put_blocks(struct buf *b, struct vc_work *w, int level, const struct col *c, const struct col *key, size_t block);

/* Taking a section apart */
struct col_reader {
	const uint8_t *p, *end;         /* what is left of it; borrowed */
	struct vc_work *w;              /* borrowed */
	const char *err;                /* what went wrong; static */
};

int col_bad(struct col_reader *r, const char *why);      /* -1; the first reason is kept */
int col_get_number(struct col_reader *r, uint64_t most, uint64_t *v);  /* 0, or -1 and r->err */

#ifndef COL_MAX                         /* a fuzzer has less */
#define COL_MAX ((size_t)1 << 25)
#endif

/*
 * The next column in place of c: n values of at most `most`, or if n is SIZE_MAX as many as
 * there are, at most COL_MAX.  0, or -1 and r->err
 */
int col_get(struct col_reader *r, struct col *c, size_t n, uint64_t most, const struct col *key);

/* As many values as there are, at most `upto`: what is known before bounds what is allocated */
int col_get_upto(struct col_reader *r, struct col *c, size_t upto, uint64_t most, const struct col *key);

/*
 * The same of blocks of so many values, only those for which want is not 0 (values [from, to)): the others are skipped, and
 * what c has there is nothing.  Keys of a block are made by `keys`, as many as it has.
 */
typedef int col_want_fn(void *arg, size_t from, size_t to);
typedef void col_keys_fn(void *arg, size_t from, size_t to, uint64_t *key);
int col_get_blocks(struct col_reader *r, struct col *c, size_t n, size_t block, col_want_fn *want,
    col_keys_fn *keys, void *arg);

#endif
