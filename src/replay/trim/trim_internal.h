/* Data that pass 1 of trimming finds for pass 2. */
#ifndef TM_REPLAY_TRIM_TRIM_INTERNAL_H
#define TM_REPLAY_TRIM_TRIM_INTERNAL_H

#include "base/hash.h"
#include "format/ws/store.h"
#include "replay/guest/drive.h"

#define TRIM_LINES (MEM_PAGE / WS_LINE)         /* lines of a page */
/* candidates kept in memory: when there are more, every other one is dropped */
#define TRIM_SEGS  (2 * TRIM_KEYS)

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
	int stored;                     /* it is as it was in a store, so that a keyframe refers to it */
};

/* What memory had from a store when it was set last. */
struct trim_stored {
	struct trim_stored_page { uint64_t no; uint32_t from; } *page;  /* owned; from: in that array */
	size_t n, cap;
	struct hash table;              /* of page */
	/* owned; a MEM record: its first address, its bytes, which stay, and where they are */
	struct trim_stored_from { uint64_t addr; const uint8_t *p; struct ws_stored stored; } *from;
	size_t nfrom, capfrom;
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
	uint32_t *stored;               /* the numbers of MEM records from a store, ascending; owned */
	size_t nstored, capstored;
	/* for each SIG: the instructions before it; WS_UNKNOWN: none come between it and the trigger before; owned */
	uint64_t *sig;
	size_t nsig, capsig;
};

/* liveness.c: pass 1. 0; -1: the replay's fault is in *f; 1: the capture was cut off, *f says where. */
int trim_find_needs(const char *in, const struct trim_opts *o, struct trim_found *t, struct fault *f);
void trim_found_free(struct trim_found *t);

/* stored.c: can the pages of m be referred to? */
int trim_stored_fits(const struct ws_rec_mem *m);
int trim_stored_add(struct trim_stored *t, const struct ws_rec_mem *m, const struct ws_stored *s);     /* 0, or -1: no memory */
/* Is that page of memory as the store had it?  1: *s says where */
int trim_stored_same(const struct trim_stored *t, struct replay *r, uint64_t no, struct ws_stored *s);
void trim_stored_free(struct trim_stored *t);

/* keyframe.c: segment b follows a; joins both in a, b stays unchanged. 0, or -1: no memory. */
int trim_join(struct trim_seg *a, const struct trim_seg *b);
uint64_t trim_lines(const struct trim_seg *s);          /* number of lines that a keyframe there has */

/*
 * Keeps the candidates whose lines are worth their size; the lines of others go to the segment
 * before. 0, or -1: no memory.
 */
int trim_choose_keyframes(struct trim_found *t, const struct trim_opts *o);

#endif
