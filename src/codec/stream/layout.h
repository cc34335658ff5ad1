/* How the bytes of a stream form records, and how a block of records becomes the columns that are coded. */
#ifndef TM_CODEC_STREAM_LAYOUT_H
#define TM_CODEC_STREAM_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/fault.h"
#include "codec/column/block.h"

#define VS_FIELDS  64u          /* fields of a record, at most */
/* coded columns of a block, at most: one for each field; those of references are in layout_refs.c */
#define VS_COLUMNS VS_FIELDS
#define VS_REFCOLS 5u

/*
 * A record is nfield little-endian numbers in a row. An earlier field may be the key of a field.
 * ref: one field of 8 bytes, a word of ref(5).
 */
struct vs_layout {
	int ref;
	unsigned nfield;
	uint8_t width[VS_FIELDS];       /* in bytes: 1, 2, 4, 8 */
	uint8_t key[VS_FIELDS];         /* 0, or 1 + the field that is its key, which is a lower one */
};

/*
 * Parses "8"; "4,8" (each field but the first has the first as its key); "4,8:0,8:2" (no key; the
 * second field is the key); "addr". 0, or -1: f->err says what is wrong, in which field, at which
 * character, and what is allowed.
 */
int vs_layout_parse(struct vs_layout *y, const char *text, struct fault *f);
/*
 * Guesses the layout from the first n bytes of a stream, and the bytes before its first record, at most
 * `most`: several guesses, to be tried. Returns their number; 0 without memory.
 */
#define VS_GUESSES 10
struct vs_guess {
	struct vs_layout layout;
	size_t head;
};
unsigned vs_layout_guess(struct vs_guess guess[VS_GUESSES], const uint8_t *p, size_t n, size_t most);
/* appends what vs_layout_parse accepts, without a final NUL */
void vs_layout_text(const struct vs_layout *y, struct buf *b);
int vs_layout_valid(const struct vs_layout *y);
unsigned vs_record_size(const struct vs_layout *y);             /* in bytes */
unsigned vs_columns(const struct vs_layout *y);
unsigned vs_width(const struct vs_layout *y, size_t c);         /* of column c, in bytes */

/* A sum of the values of a stream: equal sums are taken for equal values. */
struct vs_sum {
	uint64_t n;                     /* values */
	uint64_t a, b;                  /* sum of the values; sum of the partial sums */
};

/* the sum of the values of x followed by those of y */
struct vs_sum vs_sum_cat(struct vs_sum x, struct vs_sum y);
uint64_t vs_sum_word(struct vs_sum s);                          /* the word that is stored in the file */

/*
 * A block: its columns; col[c] borrows from v and key. Fields are the numbers of a record: columns,
 * or words made of columns.
 */
struct vs_block {
	uint64_t n;                     /* records */
	uint64_t ninst;                 /* of references: the number of instruction fetches */
	struct vc_col col[VS_COLUMNS];
	struct vc_scale scale[VS_COLUMNS];
	uint64_t *v[VS_COLUMNS];        /* owned */
	uint64_t *k[VS_COLUMNS];        /* owned: keys that are not columns */
	uint64_t *word;                 /* owned: the words of references */
	size_t cap[VS_COLUMNS], kcap[VS_COLUMNS], wordcap;
};

void vs_block_free(struct vs_block *b);

/* Converts n records at p to columns; 0, or -1 without memory. */
int vs_split(const struct vs_layout *y, struct vs_block *b, const uint8_t *p, size_t n);

/*
 * Prepares column c for vc_encode and vc_decode, with room for its values: n (and ninst) of the
 * block and all columns before c must be set. 0; 1: these columns are impossible; -1 without
 * memory.
 */
int vs_prepare_column(const struct vs_layout *y, struct vs_block *b, unsigned c);

/* Makes the fields after all columns are set. 0; 1: these columns are impossible; -1 without memory. */
int vs_join(const struct vs_layout *y, struct vs_block *b);
/* after vs_split or vs_join; owned by b */
const uint64_t *vs_field(const struct vs_layout *y, const struct vs_block *b, unsigned f);
struct vs_sum vs_block_sum(const struct vs_layout *y, const struct vs_block *b);

/* Stores records from to from + n - 1 as bytes at p, the last one first if backward. */
void vs_bytes(const struct vs_layout *y, const struct vs_block *b, size_t from, size_t n, int backward,
    uint8_t *p);

/* In layout_refs.c: the same for references. */
int vs_ref_split(struct vs_block *b);           /* uses word and n */
int vs_ref_shape(struct vs_block *b, unsigned c);
int vs_ref_join(struct vs_block *b);
int vs_reserve(uint64_t **v, size_t *cap, size_t n);    /* 0 or -1 */

#endif
