/* Between the methods of block.h only: what each provides, and a thread's tables. */
#ifndef TM_CODEC_COLUMN_METHOD_H
#define TM_CODEC_COLUMN_METHOD_H

#include <pthread.h>

#include "codec/column/block.h"
#include "codec/column/cm_internal.h"

enum { CM_PLAIN, CM_DELTA, CM_KINDS };  /* context mixing of values, of differences */

#define CM_HELD 9               /* histories, at most: primers whose values are held, so that columns in turn do not copy them each time */

struct cm_past {                /* history: a primer's values, and the block's behind them */
	uint64_t *v, *key;
	size_t cap, keycap;
	uint64_t id;            /* which primer's values those are (0: none), and of which kind */
	int kind;
	unsigned width;
	int keyed;
	unsigned layout;        /* that zstd likes best for them, 0 where that is not known */
	unsigned used;          /* when */
	struct cm cm;           /* the state behind them */
	size_t first;           /* values of a block without a primer whose last state that is; 0: none */
};

struct vc_work {
	struct buf tmp, best, bytes;
	int level;                      /* of zstd, for the method fast */
	struct ZSTD_CCtx_s *zc;
	struct ZSTD_DCtx_s *zd;
	uint64_t *sample;               /* values, then keys, of vc_sample */
	uint64_t *last;                 /* last values by key, for layouts */
	struct cm_past past[CM_HELD], *now;     /* now: the one in use; NULL: none */
	unsigned held;                  /* of past, which there may be */
	unsigned turns;                 /* counts uses of past */
	enum vc_method chosen;          /* the better kind of context mixing for the last vc_encode, or STORED: unknown */
	size_t limit;                   /* what lz would make longer than that may be left unfinished, but is longer then; 0: none */
	int plain;                      /* lz: only as xz does it */
	struct buf dict;                /* of lz: the last values of a primer as bytes */
	uint64_t dictid;                /* which primer's (0: none), and of which layout */
	unsigned dictkind;
};

struct vc_prime {
	uint64_t id, *v, *key;          /* unique; the first block, key may be NULL; owned */
	size_t n;
	unsigned width;
	unsigned layout;                /* the one that zstd likes best for the first block, 0 where that is not known; for the encoder only */
	enum vc_method hint;            /* the better kind of context mixing for the first block, where that is known; for the encoder only */
	pthread_mutex_t lock;           /* of what is made when it is first used */
	struct cm cm[CM_KINDS];
};

/*
 * Each method of method.def has PREFIX_enc and PREFIX_dec.  enc appends to
 * out; 0, or -1 without memory, or 1: this method does not suit this column.
 * dec is as vc_decode.
 */
#define VC_METHOD(number, id, name, fn, what) \
	int fn##_enc(struct vc_work *w, const struct vc_prime *prime, const struct vc_col *col, struct buf *out); \
	int fn##_dec(struct vc_work *w, const struct vc_prime *prime, const struct vc_col *col, \
		const uint8_t *p, size_t len, uint64_t *v, const char **err);
#include "codec/column/method.def"
#undef VC_METHOD

/* The layout (byteplanes.h) that zstd likes best for a column (a sample), and its size there.  0, or -1 without memory. */
int vc_fast_layout(struct vc_work *w, const struct vc_col *col, unsigned *kind, size_t *size);

/* A column's size in that layout as zstd makes it.  0, or -1 without memory. */
int vc_fast_size(struct vc_work *w, const struct vc_col *col, unsigned kind, int level, size_t *size);

/*
 * Is size, another coding's, out of reach of zstd in that layout (VC_FAR), of
 * zstd and LZMA with the values as they are (VC_FAR_PLAIN), as far as a quick
 * look tells?  0, or -1 without memory.
 */
enum { VC_FAR = 1, VC_FAR_PLAIN = 2 };
int vc_fast_far(struct vc_work *w, const struct vc_col *col, unsigned kind, size_t size, unsigned *far);

/* A short column from all over col, in memory of w.  0, or -1 without memory. */
int vc_sample(struct vc_work *w, const struct vc_col *col, struct vc_col *sample);

/* Of the method fast, by the level of vc_encode */
int vc_zstd_level(int level);

/* Give the state that the first block left in w to the primer made of that block, and what was found out about it */
void cm_prime_take(struct vc_work *w, struct vc_prime *p);

/* The greatest value of a column */
static inline uint64_t
vc_mask(unsigned width)
{
	return UINT64_MAX >> (64 - 8 * width);
}

#endif
