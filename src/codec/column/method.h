/* Internal to the methods of block.h (bidi/ has methods, too): what each provides, and a thread's tables. */
#ifndef TM_CODEC_COLUMN_METHOD_H
#define TM_CODEC_COLUMN_METHOD_H

#include <pthread.h>

#include "codec/column/block.h"
#include "codec/column/cm_internal.h"

/*
 * Context mixing of values, of differences; of differences, and of differences of these, as signed
 * numbers, of which those near 0 are small
 */
enum { CM_PLAIN, CM_DELTA, CM_SIGNED, CM_SIGNED2, CM_KINDS };

/* most histories: the values of primers are held, so that columns coded in turn do not copy them each time */
#define CM_HELD 9

struct cm_past {                /* history: a primer's values, followed by the block's */
	uint64_t *v, *key;
	size_t cap, keycap;
	uint64_t id;            /* the primer's id (0: none) and kind */
	int kind;
	unsigned width;
	int keyed;
	unsigned layout;        /* the layout that zstd compresses best, 0 if unknown */
	unsigned used;          /* time of last use */
	struct cm cm;           /* the state after them */
	/* if cm is the state after a block without a primer: its number of values; else 0 */
	size_t first;
};

struct vc_work {
	struct buf tmp, best, bytes;
	int level;                      /* of zstd, for the method fast */
	struct ZSTD_CCtx_s *zc;
	struct ZSTD_DCtx_s *zd;
	uint64_t *sample;               /* values, then keys, of vc_sample */
	uint64_t *last;                 /* last values by key, for layouts */
	struct cm_past past[CM_HELD], *now;     /* now: the one in use, or NULL */
	unsigned columns;               /* coded in turn */
	int extended;                   /* vc_work_extend */
	int alone;                      /* vc_work_alone */
	unsigned held;                  /* number of histories in use */
	unsigned turns;                 /* counts uses of past, as a clock */
	/* the better kind of context mixing in the last vc_encode, or STORED: unknown */
	enum vc_method chosen;
	/* lz may stop a coding that is longer than this, and what it leaves is longer; 0: none */
	size_t limit;
	int plain;                      /* only the values as they are; lz: only with xz's parameters */
	struct buf dict;                /* for lz: the last values of a primer as bytes */
	uint64_t dictid;                /* its primer's id (0: none) and layout */
	unsigned dictkind;
};

struct vc_prime {
	uint64_t id, *v, *key;          /* id is unique; owned: the first block, key may be NULL */
	size_t n;
	unsigned width;
	/* the layout that zstd compresses best for the first block, 0 if unknown; for the encoder only */
	unsigned layout;
	/* the better kind of context mixing for the first block, if known; for the encoder only */
	enum vc_method hint;
	pthread_mutex_t lock;           /* for what is made at first use */
	struct cm cm[CM_KINDS];
	struct vc_scale scale;          /* of the first block */
	struct vc_prime *places;        /* owned: of its places on that grid; NULL: there is none */
};

/*
 * Each method of method.def has PREFIX_enc and PREFIX_dec. enc appends to out; 0, or -1 without
 * memory, or 1 if the method cannot code this column. dec is like vc_decode.
 */
#define VC_METHOD(number, id, name, fn, what) \
	int fn##_enc(struct vc_work *w, const struct vc_prime *prime, const struct vc_col *col, \
	    struct buf *out); \
	int fn##_dec(struct vc_work *w, const struct vc_prime *prime, const struct vc_col *col, \
		const uint8_t *p, size_t len, uint64_t *v, const char **err);
#include "codec/column/method.def"
#undef VC_METHOD

/*
 * The layout (byteplanes.h) that zstd compresses best for a column (a sample), and its size in it.
 * 0, or -1 without memory.
 */
int vc_fast_layout(struct vc_work *w, const struct vc_col *col, unsigned *kind, size_t *size);

/* A column's size when zstd compresses it in that layout. 0, or -1 without memory. */
int vc_fast_size(struct vc_work *w, const struct vc_col *col, unsigned kind, int level, size_t *size);

/*
 * Is `size`, of another coding, out of reach for zstd in that layout (VC_FAR), or for zstd and LZMA
 * with the values as they are (VC_FAR_PLAIN), by a quick run? 0, or -1 without memory.
 */
enum { VC_FAR = 1, VC_FAR_PLAIN = 2 };
int vc_fast_out_of_reach(struct vc_work *w, const struct vc_col *col, unsigned kind, size_t size,
    unsigned *far);

/* The method lz; also what memory.c says that it takes. */
#define VC_LZ_DICT   (4u << 20)         /* its dictionary, at most; the encoder needs 12 times as much memory */
#define VC_LZ_PRESET (1u << 20)         /* bytes of the primer in it, at most... */
/* ...and at most this many times the block's bytes, because the encoder has to read it first */
#define VC_LZ_TIMES  4
#define VC_LZ_LARGE  (256u << 10)       /* bytes of a column for which other tables are freed */

#define VC_SAMPLE    16384              /* values of a sample, at most */

/* A short column of pieces from all over col, in memory of w. 0, or -1 without memory. */
int vc_sample(struct vc_work *w, const struct vc_col *col, struct vc_col *sample);

/*
 * Codes col by the method scaled, on the grid *col->scale, or that of the primer: as vc_scaled_enc.
 * level: that of vc_encode, for its places. 0; 1: too many values are not on the grid; -1.
 */
int vc_scaled_code(struct vc_work *w, const struct vc_prime *prime, const struct vc_col *col, int level,
    struct buf *out);

/*
 * A grid with which a sample of a first block takes less than without, in *s; or none. 0, or -1
 * without memory.
 */
int vc_choose_scale(struct vc_work *w, const struct vc_col *col, int level, struct vc_scale *s);

/* zstd's level for the method fast, by the level of vc_encode. */
int vc_zstd_level(int level);

/*
 * Moves the state that the first block left in w to the primer made of that block, with what was
 * found out about it.
 */
void cm_prime_adopt(struct vc_work *w, struct vc_prime *p);

/* The greatest value of a column. */
static inline uint64_t
vc_mask(unsigned width)
{
	return UINT64_MAX >> (64 - 8 * width);
}

#endif
