/*
 * Groups of blocks of a value stream: the records of a job, `wide` of them, become blocks, and LZ may
 * make several of these smaller together: a narrow group by LZMA, or all of them by zstd, which
 * decodes as fast and finds repetitions over larger distances.
 */
#ifndef TM_CODEC_STREAM_GROUP_INTERNAL_H
#define TM_CODEC_STREAM_GROUP_INTERNAL_H

#include "codec/stream/stream_internal.h"

struct vs_group {
	size_t most;                    /* records of a group, at most */
	size_t narrow;                  /* records of the next one, so that it decodes quickly */
	int lzma;
	size_t wide;                    /* records of a job; 0: there are no groups */
};

/*
 * Begins to use groups of `most` records at most; lzma: LZMA is tried, not only zstd. n records of the
 * first block took len bytes.
 */
void vs_group_start(struct vs_group *g, const struct vs_common *m, size_t most, int lzma, size_t n,
    size_t len);

/* Codes n records of a job, from number `from` on, as one or several parts; without memory j is bad. */
typedef void vs_group_blocks(void *arg, struct vc_work *w, struct vs_job *j, size_t from, size_t n);

/*
 * Codes the records of j by `code`, block by block, and then groups of these blocks where that makes
 * them smaller. whole: space for the groups, of this thread. On failure j is bad.
 */
void vs_group_encode(struct vs_group g, const struct vs_common *m, struct vc_work *w, struct vs_job *j,
    struct vs_job *whole, vs_group_blocks *code, void *arg);

#endif
