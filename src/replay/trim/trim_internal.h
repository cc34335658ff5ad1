/* Data that pass 1 of trimming finds for pass 2. */
#ifndef TM_REPLAY_TRIM_TRIM_INTERNAL_H
#define TM_REPLAY_TRIM_TRIM_INTERNAL_H

#include "replay/guest/drive.h"

#define TRIM_LINES (MEM_PAGE / WS_LINE)         /* lines of a page */
/* candidates kept in memory: when there are more, every other one is dropped */
#define TRIM_SEGS  128u

/* `count` lines; the replay needs bytes `mask` of each, as MEM number `mem` has them. */
struct trim_need {
	uint32_t mem, count;
	uint64_t line;                  /* address / WS_LINE */
	uint64_t mask;
};

/* A page of a segment. */
struct trim_page {
	uint64_t no;                    /* address / MEM_PAGE */
	uint64_t need;                  /* lines that are read, at least in part, before they are written */
	uint64_t full;                  /* lines that are completely written before they are read */
};

/* The part of a run from one candidate for a keyframe to the next. */
struct trim_seg {
	uint64_t icount;
	struct trim_page *page;         /* ascending; owned */
	size_t n, cap;
	uint64_t lines, packed;         /* number of sampled lines, and their compressed size in bytes */
};

/* Result of pass 1. */
struct trim_found {
	struct trim_need *need;         /* by (mem, line); owned */
	size_t nneed, capneed;
	struct trim_seg *seg;           /* owned; seg[0] begins with the program */
	size_t nseg, capseg;
	uint64_t raw, needed;           /* bytes in MEM records; bytes of needed lines */
	uint64_t sampled, packed;       /* bytes of `raw` compressed as a sample; their compressed size */
	uint64_t ninst, ntrigger;
};

/* liveness.c: pass 1. 0; -1: the replay's fault is in *f; 1: the capture was cut off, *f says where. */
int trim_find_needs(const char *in, const struct trim_opts *o, struct trim_found *t, struct fault *f);
void trim_found_free(struct trim_found *t);

/* keyframe.c: segment b follows a; joins both in a, b stays unchanged. 0, or -1: no memory. */
int trim_join(struct trim_seg *a, const struct trim_seg *b);
uint64_t trim_lines(const struct trim_seg *s);          /* number of lines that a keyframe there needs */

/*
 * Keeps the candidates whose lines are worth their size; the lines of others go to the segment
 * before. 0, or -1: no memory.
 */
int trim_choose_keyframes(struct trim_found *t, const struct trim_opts *o);

#endif
