/* How the bytes of a stream are records, and how a block of records becomes the columns that are coded. */
#ifndef TM_CODEC_STREAM_LAYOUT_H
#define TM_CODEC_STREAM_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "codec/column/block.h"

#define VS_FIELDS  8u           /* fields of a record */
#define VS_COLUMNS 8u           /* columns of a block that are coded: one a field; of references, layoutref.c's */
#define VS_REFCOLS 5u

/*
 * A record is nfield little-endian numbers, one behind the other.  A field may
 * be keyed by one before it.  ref: one field of 8 bytes, a word of ref(5).
 */
struct vs_layout {
	int ref;
	unsigned nfield;
	uint8_t width[VS_FIELDS];       /* bytes: 1, 2, 4, 8 */
	uint8_t key[VS_FIELDS];         /* 0, or 1 + the field that is its key, a lower one */
};

/*
 * "8"; "4,8" (each field but the first is keyed by the first); "4,8:0,8:2" (it
 * is keyed by none, by the second); "addr".  0 or -1.
 */
int vs_layout_parse(struct vs_layout *y, const char *text);
void vs_layout_text(const struct vs_layout *y, struct buf *b);  /* what vs_layout_parse takes, without a final NUL */
int vs_layout_valid(const struct vs_layout *y);
unsigned vs_record_size(const struct vs_layout *y);             /* bytes */
unsigned vs_columns(const struct vs_layout *y);

/* Values of a stream, added up: equal sums are taken for equal values */
struct vs_sum {
	uint64_t n;                     /* values */
	uint64_t a, b;                  /* sum of the values; sum of the sums behind each value */
};

struct vs_sum vs_sum_cat(struct vs_sum x, struct vs_sum y);     /* of the values of x, then those of y */
uint64_t vs_sum_word(struct vs_sum s);                          /* what is kept in the file */

/*
 * A block: its columns, of which col[c] borrows what is in v and key.  Fields
 * are what a record shows: columns, or the words that they make.
 */
struct vs_block {
	uint64_t n;                     /* records */
	uint64_t ninst;                 /* of references: how many are instruction fetches */
	struct vc_col col[VS_COLUMNS];
	uint64_t *v[VS_COLUMNS];        /* owned */
	uint64_t *k[VS_COLUMNS];        /* owned: keys that are not a column */
	uint64_t *word;                 /* owned: the words of references */
	size_t cap[VS_COLUMNS], kcap[VS_COLUMNS], wordcap;
};

void vs_block_free(struct vs_block *b);

/* From n records at p to columns; 0, or -1 without memory */
int vs_split(const struct vs_layout *y, struct vs_block *b, const uint8_t *p, size_t n);

/*
 * Column c as it must be for vc_encode and vc_decode, with room for its values:
 * n (and ninst) of the block and all columns before c are there.  0; 1: these
 * columns cannot be; -1 without memory.
 */
int vs_shape(const struct vs_layout *y, struct vs_block *b, unsigned c);

/* All columns are there: make the fields.  0; 1: these columns cannot be; -1 without memory. */
int vs_join(const struct vs_layout *y, struct vs_block *b);
const uint64_t *vs_field(const struct vs_layout *y, const struct vs_block *b, unsigned f);      /* after vs_split or vs_join */
struct vs_sum vs_block_sum(const struct vs_layout *y, const struct vs_block *b);

/* Records from to from + n - 1 as bytes at p, the last one first if backward */
void vs_bytes(const struct vs_layout *y, const struct vs_block *b, size_t from, size_t n, int backward, uint8_t *p);

/* layout_refs.c: the same for references */
int vs_ref_split(struct vs_block *b);           /* from word and n */
int vs_ref_shape(struct vs_block *b, unsigned c);
int vs_ref_join(struct vs_block *b);
int vs_room(uint64_t **v, size_t *cap, size_t n);       /* 0 or -1 */

#endif
