/* Trimming: the shadow of memory, internal to pass 1. */
#ifndef TM_REPLAY_TRIM_SHADOW_INTERNAL_H
#define TM_REPLAY_TRIM_SHADOW_INTERNAL_H

#include "replay/trim/trim_internal.h"

#define SHADOW_TLB  1024u
#define SHADOW_SEEN 16384u

struct shadow_line {
	uint64_t own;                   /* bytes that the program wrote after the capture's contents came */
	uint64_t need;                  /* bytes of those contents that were read */
	uint64_t got;                   /* in this segment: bytes that were written, or came */
	uint64_t key;                   /* bytes read that were here when the segment began */
};

/* n bytes at off of a page came with MEM number mem, for the page at address orig then */
struct shadow_extent {
	uint32_t mem;
	uint16_t off, n;
	uint64_t orig;
};

struct shadow_page {
	uint64_t no;
	struct shadow_line line[TRIM_LINES];
	struct shadow_extent *ext;      /* owned */
	uint32_t next, cap;
	uint32_t seg;                   /* the last segment it was used in, and is listed for */
	int fetched;                    /* code was */
};

struct shadow {
	struct trim_found *found;       /* needs and pages of segments go there */
	struct shadow_page **slot;      /* hash table of nslot (a power of 2), open addressing */
	size_t nslot, npage;
	struct shadow_page **used;      /* the pages of this segment */
	size_t nused, capused;
	uint32_t seg;
	uint32_t mem;                   /* MEMs so far */
	struct shadow_page *tlb[SHADOW_TLB];
	uint64_t tlbno[SHADOW_TLB];     /* page number + 1; 0: nothing */
	uint64_t seen[SHADOW_SEEN];     /* fetches that were noted */
	void (*fetch)(void *arg, uint64_t pc, unsigned len);    /* is told of fetches, now and then again of the same */
	void *arg;
	int nomem;
};

void shadow_words(struct shadow *t, const uint64_t *w, size_t n);       /* references; sets nomem */
void shadow_read(struct shadow *t, uint64_t addr, uint64_t n);          /* sets nomem */
void shadow_keep(struct shadow *t, uint64_t addr, uint64_t n);          /* as the capture gave it, though nobody reads it; sets nomem */

/* 0, or -1: no memory */
int shadow_mem(struct shadow *t, const struct ws_rec_mem *m);
int shadow_drop(struct shadow *t, uint64_t addr, uint64_t len);         /* unmapped, or about to be mapped */
int shadow_move(struct shadow *t, const struct ws_rec_move *v);
int shadow_end_segment(struct shadow *t);       /* its pages go to the last of found->seg */
int shadow_settle(struct shadow *t);            /* the end: all that is needed is in found->need */
void shadow_free(struct shadow *t);

/* list.c: what of a page was used in this segment, to the list of the segment.  0, or -1: no memory */
int shadow_list(struct shadow *t, uint64_t no, uint64_t need, uint64_t full);
int shadow_list_used(struct shadow *t, struct shadow_page *p);
void shadow_forget_used(struct shadow *t, const struct shadow_page *p);
int shadow_list_end(struct shadow *t);          /* the pages of the segment are in the last of found->seg */

#endif
