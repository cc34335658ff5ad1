/*
 * Columns of numbers, and their encoding in a section of wet(5): a number of values, then as many
 * blocks of block.h as they need.
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
	int nomem;                      /* memory ran out; additions since then did nothing */
};

void col_free(struct col *c);
int col_room(struct col *c, size_t n);          /* makes room for n more.  0, or -1 without memory */
static inline void
col_add(struct col *c, uint64_t v)
{
	if (c->n < c->cap || col_room(c, 1) == 0)
		c->v[c->n++] = v;
}

/* Signed numbers as unsigned ones (zigzag): those near 0 become small. */
static inline uint64_t col_zig(uint64_t d) { return d << 1 ^ -(d >> 63); }
static inline uint64_t col_zag(uint64_t z) { return z >> 1 ^ -(z & 1); }

/* Appends a number of seven bits a byte, for what is not worth a column. */
void col_put_number(struct buf *b, uint64_t v);

/*
 * Appends c to a section.  key: NULL, or at least c->n keys, which the reader must know before
 * it reads the column.  0, or -1 without memory.
 */
int col_put(struct buf *b, struct vc_work *w, int level, const struct col *c, const struct col *key);
/* Appends a block of it: n values, at most VC_MAX; the number of all values comes before the first block. */
int col_put_block(struct buf *b, struct vc_work *w, int level, const uint64_t *v, const uint64_t *key, size_t n);

/* A column that col_ahead has decoded: its bytes, its values, and what is wrong with them (NULL: nothing) */
struct col_ahead {
	const uint8_t *p, *end;         /* borrowed */
	struct col col;
	const char *err;                /* static */
};

/* Reads a section. */
struct col_reader {
	const uint8_t *p, *end;         /* the part not read yet; borrowed */
	struct vc_work *w;              /* borrowed */
	const char *err;                /* NULL, or the first error; static */
	struct col_ahead *ahead;        /* nahead columns of that part, in order; owned: col_ahead_free */
	size_t nahead, ahead_at;        /* ahead_at: the next one */
};

/* sets r->err if there is none yet; why NULL: no memory; -1 */
int col_bad(struct col_reader *r, const char *why);
int col_get_number(struct col_reader *r, uint64_t most, uint64_t *v);   /* 0, or -1 and r->err */

#ifndef COL_MAX                         /* a fuzzer defines it smaller */
#define COL_MAX ((size_t)1 << 25)
#endif

/*
 * Replaces the contents of c by the next column.  It must have n values (SIZE_MAX: any number up
 * to COL_MAX), none above `most`.  0, or -1 and r->err
 */
int col_get(struct col_reader *r, struct col *c, size_t n, uint64_t most, const struct col *key);

/* The same for any number of values up to `upto`, a bound known before, so that allocation is bounded. */
int col_get_upto(struct col_reader *r, struct col *c, size_t upto, uint64_t most, const struct col *key);

/*
 * Decodes the columns of n sections by that many threads, if there is much to decode and they can be started;
 * col_get then finds them.  All of them must be without keys.
 */
void col_ahead(struct col_reader *r, size_t n, unsigned nthread);
void col_ahead_free(struct col_reader *r);      /* of one section */

/* Passes over the next column. */
int col_skip(struct col_reader *r);

/*
 * The same as col_get for a column of n values that was written in blocks of `block` values.  A block, values
 * [from, to), is decoded if `want` returns not 0; otherwise its values in c are undefined.  `keys`
 * makes the keys of a block that is decoded.
 */
typedef int col_want_fn(void *arg, size_t from, size_t to);
typedef void col_keys_fn(void *arg, size_t from, size_t to, uint64_t *key);
int col_get_blocks(struct col_reader *r, struct col *c, size_t n, size_t block, col_want_fn *want,
    col_keys_fn *keys, void *arg);

#endif
