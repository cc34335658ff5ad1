/* Between the methods of block.h only: what each provides, and a thread's tables. */
#ifndef TM_ENGINE_CODEC_METHOD_H
#define TM_ENGINE_CODEC_METHOD_H

#include <pthread.h>

#include "engine/codec/block.h"
#include "engine/codec/cm.h"

enum { CM_PLAIN, CM_DELTA, CM_KINDS };  /* context mixing of values, of differences */

struct vc_work {
	struct buf tmp, best, bytes;
	int level;                      /* of zstd, for the method fast */
	struct ZSTD_CCtx_s *zc;
	struct ZSTD_DCtx_s *zd;
	uint64_t *sample;               /* values, then keys, of vc_sample */
	uint64_t *last;                 /* last values by key, for layouts */
	struct cm cm;
	uint64_t *h, *hkey;             /* history: the primer's values, and the block's behind them */
	size_t hcap, hkcap;
	uint64_t hid;                   /* which primer's values those are (0: none), and of which kind */
	int hkind;
	enum vc_method chosen;          /* the better kind of context mixing for the last vc_encode, or STORED: unknown */
	size_t limit;                   /* what lz would make longer than that may be left unfinished, but is longer then; 0: none */
	int plain;                      /* lz: only as xz does it */
	struct buf dict;                /* of lz: the last values of a primer as bytes */
	uint64_t dictid;                /* which primer's (0: none), and of which layout */
	unsigned dictkind;
	size_t first;                   /* values of a block without a primer whose last state is in cm; 0: none */
};

struct vc_prime {
	uint64_t id, *v, *key;          /* unique; the first block, key may be NULL; owned */
	size_t n;
	unsigned width;
	enum vc_method hint;            /* the better kind of context mixing for the first block, where that is known; for the encoder only */
	pthread_mutex_t lock;           /* of what is made when it is first used */
	struct cm cm[CM_KINDS];
};

/*
 * Each method of vcmethod.def has PREFIX_enc and PREFIX_dec.  enc appends to
 * out; 0, or -1 without memory, or 1: this method does not suit this column.
 * dec is as vc_decode.
 */
#define VC_METHOD(number, id, name, fn, what) \
	int fn##_enc(struct vc_work *w, const struct vc_prime *prime, const struct vc_col *col, struct buf *out); \
	int fn##_dec(struct vc_work *w, const struct vc_prime *prime, const struct vc_col *col, \
		const uint8_t *p, size_t len, uint64_t *v, const char **err);
#include "engine/codec/vcmethod.def"
#undef VC_METHOD

/* The layout (lay.h) that zstd likes best for a column (a sample), and its size there.  0, or -1 without memory. */
int vc_fast_layout(struct vc_work *w, const struct vc_col *col, unsigned *kind, size_t *size);

/* A column's size in that layout as zstd makes it.  0, or -1 without memory. */
int vc_fast_size(struct vc_work *w, const struct vc_col *col, unsigned kind, int level, size_t *size);

/* A short column from all over col, in memory of w.  0, or -1 without memory. */
int vc_sample(struct vc_work *w, const struct vc_col *col, struct vc_col *sample);

/* Of the method fast, by the level of vc_encode */
int vc_zstd_level(int level);

/* Give the state that the last block left in w to the primer made of that block */
void cm_prime_take(struct vc_work *w, struct vc_prime *p);

/* The greatest value of a column */
static inline uint64_t
vc_mask(unsigned width)
{
	return UINT64_MAX >> (64 - 8 * width);
}

#endif
