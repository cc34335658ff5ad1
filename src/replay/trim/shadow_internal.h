/* Trimming: the shadow of memory, for pass 1. */
#ifndef TM_REPLAY_TRIM_SHADOW_INTERNAL_H
#define TM_REPLAY_TRIM_SHADOW_INTERNAL_H

#include "replay/trim/trim_internal.h"

#define SHADOW_TLB  1024u       /* entries of the cache of page look-ups */
#define SHADOW_SEEN 4096u      /* entries of the cache of fetches */

struct shadow_line {
	/* bytes that the program wrote after the capture's contents came, if not only after they were needed */
	uint64_t own;
	uint64_t need;                  /* bytes of the capture's contents that were read */
	/* bytes that were written before they were read, or came from the capture, in this segment */
	uint64_t got;
	uint64_t key;                   /* bytes read that were there when the segment began */
};

/* n bytes at `off` of a page came with MEM number mem, when the page had the address orig. */
struct shadow_extent {
	uint32_t mem;
	uint16_t off, n;
	uint64_t orig;
};

struct shadow_page {
	uint64_t no;
	/*
	 * Of each line, the bytes that were read or written in this segment: only the first time changes anything, as
	 * it says whether they are needed.
	 */
	uint64_t known[TRIM_LINES];
	struct shadow_line line[TRIM_LINES];
	struct shadow_extent *ext;      /* owned */
	uint32_t next, cap;
	uint32_t seg;                   /* the last segment in which it was used and is listed */
	int fetched;                    /* code was fetched from it */
};

struct shadow {
	struct trim_found *found;       /* receives needs and the pages of segments */
	struct shadow_page **slot;      /* hash table of nslot (a power of 2) entries, open addressing */
	size_t nslot, npage;
	struct shadow_page **used;      /* the pages used in this segment */
	size_t nused, capused;
	uint32_t seg;
	uint32_t mem;                   /* MEM records so far */
	struct shadow_page none;        /* is in entries that are empty */
	/* no: page number + 1; 0: empty */
	struct shadow_quick { uint64_t no; struct shadow_page *p; } tlb[SHADOW_TLB];
	uint64_t seen[SHADOW_SEEN];     /* fetches that were noted */
	/* is called for fetches, sometimes repeatedly for the same */
	void (*fetch)(void *arg, uint64_t pc, unsigned len);
	void *arg;
	int nomem;
};

void shadow_init(struct shadow *t);             /* a zeroed one */
void shadow_words(struct shadow *t, const uint64_t *w, size_t n);       /* notes references; sets nomem */
void shadow_read(struct shadow *t, uint64_t addr, uint64_t n);          /* notes a read; sets nomem */
/* needed as the capture had it, even if it is not read; sets nomem */
void shadow_need_original(struct shadow *t, uint64_t addr, uint64_t n);

/* functions return 0, or -1: no memory */
int shadow_mem(struct shadow *t, const struct ws_rec_mem *m);
/* memory is unmapped, or about to be mapped */
int shadow_drop(struct shadow *t, uint64_t addr, uint64_t len);
int shadow_move(struct shadow *t, const struct ws_rec_move *v);
int shadow_end_segment(struct shadow *t);       /* moves the segment's pages to the last of found->seg */
int shadow_finish(struct shadow *t);            /* at the end: completes found->need */
void shadow_free(struct shadow *t);

/* list.c: adds what was used of a page in this segment to the segment's list. 0, or -1: no memory. */
int shadow_list(struct shadow *t, uint64_t no, uint64_t need, uint64_t full);
/* adds what was used of p, and clears that in p */
int shadow_list_used(struct shadow *t, struct shadow_page *p);
/* p is no longer used in this segment */
void shadow_forget_used(struct shadow *t, const struct shadow_page *p);
int shadow_list_end(struct shadow *t);          /* sorts and joins the list of the last of found->seg */

#endif
