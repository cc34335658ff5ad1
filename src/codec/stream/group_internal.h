/*
 * Groups of blocks of a value stream that wait, coded, because LZ may make several together
 * smaller. A writer adds the records of each block, and the block once it is coded. When there are
 * `narrow` records after the last narrow group, it ends that group; when there are `wide` records,
 * it ends the wide group and writes the blocks that are held then.
 */
#ifndef TM_CODEC_STREAM_GROUP_INTERNAL_H
#define TM_CODEC_STREAM_GROUP_INTERNAL_H

#include "codec/stream/stream_internal.h"

/* A waiting block. */
struct vs_held {
	size_t n, size;                 /* records, bytes */
	struct vs_sum sum;
};

struct vs_group {
	const struct vs_common *m;      /* NULL: no groups */
	size_t most;                    /* records of a group, at most */
	size_t narrow, wide;            /* lengths of the next ones */
	struct buf raw;                 /* the records of the wide group, n */
	size_t n;
	struct buf coded;               /* its coded blocks */
	struct vs_held *held;           /* owned: nheld of them */
	size_t nheld, cap;
	/* narrow groups that ended; how much of the above is in them */
	struct { size_t groups, n, held, coded; } done;
	struct vs_job whole;            /* several blocks as one: by zstd, by LZMA */
	unsigned pause;                 /* narrow groups for which LZMA will not be tried */
	int far;                        /* the last wide group became one block */
};

/* Begins to use groups, of `most` records at most. n records of the first block took len bytes. */
void vs_group_start(struct vs_group *g, const struct vs_common *m, size_t most, size_t n, size_t len);

/* All of these: 0, or -1 without memory. before: records of the last block written. */
/* adds the records of a block */
int vs_group_add_records(struct vs_group *g, const struct buf *raw);
/* adds the next block, coded */
int vs_group_add_block(struct vs_group *g, struct vs_part *q, const uint8_t *columns, size_t before);
/* ends a narrow group: all its blocks are coded */
int vs_group_end_narrow(struct vs_group *g, struct vc_work *w, size_t before);
/* ends the wide group: g->held and g->coded are its blocks */
int vs_group_end_wide(struct vs_group *g, struct vc_work *w, size_t before);
void vs_group_clear(struct vs_group *g);        /* after writing them: begins another wide group */
void vs_group_free(struct vs_group *g);

#endif
