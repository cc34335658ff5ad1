/*
 * Context mixing of values. Several predictors propose candidates for the next value. "The best
 * candidate is right" is one binary decision, whose probability is mixed from each predictor's
 * record and coded by the range coder. After at most three wrong candidates the value's bytes are
 * coded. Where a long match and a deep context agree, one cheap decision is enough.
 *
 * Encoder and decoder pass through the same states. The order of fields and all sizes are part of
 * the format, bifcm(5).
 */
#ifndef TM_CODEC_COLUMN_CM_INTERNAL_H
#define TM_CODEC_COLUMN_CM_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#include "codec/column/range.h"

#define CM_SLOTS        6       /* predictors with a table of contexts */
#define CM_MATCH        6       /* what followed the last occurrence of the last 8 values */
/* what followed the last occurrence of the last 4 differences, scaled by a power of two */
#define CM_DMATCH       7
/* CM_LINE and 9: a power of two times the change of a neighbour since the last value in this context */
#define CM_LINE         8
#define CM_FLOAT        10      /* sum, difference or product of the last two values as doubles */
/* the value at the predicted rank among the last values, cm_rank_internal.h */
#define CM_RANK         11
#define CM_VOTES        12
#define CM_IN           16      /* inputs of the mixer: votes, constant, history, agreement, pair */
#define CM_TRIES        3       /* candidates before the value's bytes are coded */
#define CM_NONE         0xff    /* history of a context never seen */
#define CM_NMISS        6       /* contexts for a byte of a value that no candidate had */
#define CM_PAIRS        4       /* the last of them, whose slots come in pairs */
#define CM_MISSBITS     3       /* each has 2^(bits + CM_MISSBITS) bytes of slots */
#define CM_RANKS        32      /* values whose order of use is kept */
#define CM_LAGS         16
#define CM_BITS_MAX     16      /* a single column has tables of 2^16 slots, at most */
#define CM_STEPS        33      /* places of a curve that corrects a probability */

struct cm_slot {
	uint64_t v;             /* what followed the last time */
	/* 48 bits: the difference of the value before; 8: check of the context; 8: history */
	uint64_t w;
};

struct cm_key {
	uint64_t last, d1, d2;  /* last value in this context, and the two differences before it */
};

struct cm_line {
	/* the value there, and the neighbour's: copies, because the originals may be far back in memory */
	uint64_t at, ref;
	uint32_t pos;           /* position of the last value in this context, 0: none */
	uint8_t lag;            /* the neighbour is this many values back */
	uint8_t hist;           /* the last six outcomes */
	int8_t shift;
};

struct cm_rank {
	uint64_t v[CM_RANKS];   /* different values; tag: one byte of each one's hash */
	_Alignas(16) uint8_t tag[CM_RANKS], order[CM_RANKS];    /* order: their indexes, last used first */
	uint64_t last;          /* the last seven ranks, 6 bits each; CM_RANKS: a value that was not there */
	uint32_t ctx;           /* their hash */
	uint16_t next[1 << 16]; /* the rank that followed; above it six outcomes and a 1, or 0: never seen */
};

struct cm_fix {                 /* the part whose size does not depend on `bits` */
	/* probability that a candidate is right, by vote, its history, and state of the candidate */
	uint16_t t[CM_TRIES][CM_VOTES][256][4];
	_Alignas(16) int16_t w[CM_TRIES][256][CM_IN], wrank[CM_TRIES][256][CM_IN];
	/* weights for bits of bytes (and of the level): by bits before, by known contexts */
	_Alignas(16) int16_t wmiss[9][256][8], wknown[9][1 << CM_NMISS][8];
	/* probability that a bit is 1, by its context's history; its logistic form */
	uint16_t map[9][CM_NMISS][256][2];
	uint32_t recent[CM_TRIES][1024];
	/* probability that a candidate is right, by the set of votes for it; by key and candidate */
	uint16_t agree[CM_TRIES][1 << CM_VOTES], pair[CM_TRIES][4096];
	/* what the mixed probability turned out to be, at CM_STEPS places, by that set */
	uint16_t curve[CM_TRIES][256][CM_STEPS];
	uint32_t sure[2][64];
	uint32_t zeros[16][8][8];
	/*
	 * error of the bits of half a byte, by key, level and place: below a threshold, contexts are worth
	 * their time
	 */
	uint16_t dull[16][64][2];
	/* how often another candidate is right, by the last outcomes: is trying it worth the time? */
	uint32_t hope[CM_TRIES][256];
	struct cm_rank rank;
	uint64_t g[4];          /* the last values */
	uint32_t levels;        /* their last levels, 3 bits each */
	uint64_t roll, prevkey, lastmiss;
	uint32_t mpos, mlen;    /* match: position of the next value, its length; 0: none */
	uint32_t dpos, dlen;
	int32_t dshift, shapetz;
	uint64_t rollhash, shapehash;
	uint32_t op, ophist;    /* CM_FLOAT */
	uint32_t hist;          /* 2 bits for each value: which candidate was right, 3: none */
	uint32_t period, lag[CM_LAGS];
};

struct cm {
	int bits;               /* tables have 2^bits slots */
	size_t size, room;      /* bytes of the following arrays, which are one allocation; bytes of that */
	struct cm_fix *f;       /* owned; the others point into the same allocation */
	struct cm_slot *slot;   /* [CM_SLOTS << bits] */
	struct cm_key *key;     /* [1 << bits - 1] */
	struct cm_line *line;   /* [2 << bits - 3] */
	uint32_t *mtab, *dtab;  /* [1 << bits + 2] */
	/*
	 * [CM_NMISS << bits + CM_MISSBITS]: slots of 16 bytes: a check, histories of the 15 bits of half a
	 * byte
	 */
	uint8_t *miss;
	uint8_t *level;         /* [CM_NMISS << bits - 1]: likewise */
};

/* the number of bits for a first block of n values, one of that many columns of a stream */
int cm_bits(size_t n, unsigned columns);
size_t cm_memory(int bits);     /* bytes of a state */
/* the state before the first value; 0, or -1 without memory */
int cm_reset(struct cm *c, int bits);
int cm_copy(struct cm *to, const struct cm *from);      /* likewise */
void cm_free(struct cm *c);

/*
 * Code values from position i to end. v (and key, unless NULL) hold the history before i, too. The
 * encoder needs CM_ROOM bytes of room for each value.
 */
#define CM_ROOM 128
void cm_enc(struct cm *c, struct range *r, uint64_t *v, const uint64_t *key, size_t i, size_t end,
    unsigned width);
void cm_dec(struct cm *c, struct range *r, uint64_t *v, const uint64_t *key, size_t i, size_t end,
    unsigned width);

#endif
