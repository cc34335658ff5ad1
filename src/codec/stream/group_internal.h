/*
 * Groups of blocks of a value stream that wait, coded, for what LZ makes of
 * several together: a writer puts the records of each block and takes it when
 * it is coded; when there are `narrow` records behind the last narrow group it
 * ends that, when there are `wide` it ends the wide group and writes what is
 * held then.
 */
#ifndef TM_CODEC_STREAM_GROUP_INTERNAL_H
#define TM_CODEC_STREAM_GROUP_INTERNAL_H

#include "codec/stream/stream_internal.h"

/* A block that waits */
struct vs_held {
	size_t n, size;                 /* records, bytes */
	struct vs_sum sum;
};

struct vs_group {
	const struct vs_common *m;      /* NULL: there are no groups */
	size_t most;                    /* records of a group, at most */
	size_t narrow, wide;            /* of the next ones */
	struct buf raw;                 /* the records of the wide group, n */
	size_t n;
	struct buf coded;               /* its blocks */
	struct vs_held *held;           /* owned: nheld of them */
	size_t nheld, cap;
	struct { size_t groups, n, held, coded; } done; /* narrow groups that ended; what of that is in them */
	struct vs_job whole;            /* several blocks as one: by zstd, by LZMA */
	unsigned pause;                 /* narrow groups that are not to be tried with LZMA */
	int far;                        /* the last wide group became one block */
};

/* From now on there are groups of `most` records at most, the first block's n records being len bytes */
void vs_group_start(struct vs_group *g, const struct vs_common *m, size_t most, size_t n, size_t len);

/* All of these: 0, or -1 without memory.  before: records of the block that was written last. */
int vs_group_put(struct vs_group *g, const struct buf *raw);            /* the records of a block to come */
int vs_group_take(struct vs_group *g, struct vs_part *q, const uint8_t *columns, size_t before);        /* the next one of them that is coded */
int vs_group_narrow(struct vs_group *g, struct vc_work *w, size_t before);      /* all are coded: what came since the last one ended is a narrow group */
int vs_group_wide(struct vs_group *g, struct vc_work *w, size_t before);        /* and with that the wide group is complete: g->held, g->coded */
void vs_group_clear(struct vs_group *g);        /* that was written: another wide group begins */
void vs_group_free(struct vs_group *g);

#endif
