/* Internal to trimming. */
#ifndef TM_REPLAY_TRIM_TRIM_INTERNAL_H
#define TM_REPLAY_TRIM_TRIM_INTERNAL_H

#include "replay/guest/drive.h"

#define TRIM_LINES (MEM_PAGE / WS_LINE)         /* of a page */
#define TRIM_SEGS  128u                         /* candidates in memory: beyond, every other one goes */

/* `count` lines of which the replay needs bytes `mask` (of each) as MEM number `mem` gave them */
struct trim_need {
	uint32_t mem, count;
	uint64_t line;                  /* address / WS_LINE */
	uint64_t mask;
};

/* A page of a segment: what was there when the segment began and is read in it */
struct trim_page {
	uint64_t no;                    /* address / MEM_PAGE */
	uint64_t need;                  /* lines of which something is read before it is written */
	uint64_t full;                  /* lines that are wholly written before any of them is read */
};

/* From one candidate for a keyframe to the next */
struct trim_seg {
	uint64_t icount;
	struct trim_page *page;         /* ascending; owned */
	size_t n, cap;
	uint64_t lines, packed;         /* a sample of such lines, and their bytes when compressed */
};

/* What pass 1 found */
struct trim_found {
	struct trim_need *need;         /* by (mem, line); owned */
	size_t nneed, capneed;
	struct trim_seg *seg;           /* owned; seg[0] begins with the program */
	size_t nseg, capseg;
	uint64_t raw, needed;           /* bytes in MEM, and of lines needed */
	uint64_t sampled, packed;       /* of the former, bytes that were compressed as a sample, and what came out */
	uint64_t ninst, ntrigger;
};

/* liveness.c: pass 1.  0; -1: r's fault in *f; 1: the capture was cut off, *f says where */
int trim_note(const char *in, const struct trim_opts *o, struct trim_found *t, struct replay_fault *f);
void trim_found_free(struct trim_found *t);

/* keyframe.c: segment b follows a: a becomes both, b stays as it is.  0, or -1: no memory */
int trim_join(struct trim_seg *a, const struct trim_seg *b);
uint64_t trim_lines(const struct trim_seg *s);          /* that it needs */

/* Keep the candidates whose lines are worth it; the others' go to the segment before.  0, or -1: no memory */
int trim_choose(struct trim_found *t, const struct trim_opts *o);

#endif
