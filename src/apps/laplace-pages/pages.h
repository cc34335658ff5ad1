/* Types and functions shared by the files of laplace-pages. */
#ifndef TM_APPS_LAPLACE_PAGES_H
#define TM_APPS_LAPLACE_PAGES_H

#include "base/hash.h"
#include "base/out.h"
#include "laplace/traces.h"

enum { NODES_MAX = 256, SIZES_MAX = 10, TLB_MAX = 4096, SIZE_BITS = 21 };       /* a page has at most 2M */
enum policy { FIRST_TOUCH, INTERLEAVED, BEST_STATIC, MIGRATION, REPLICATION, NPOLICY };
enum sharing { PRIVATE, READ_SHARED, WRITE_SHARED, NSHARING };
extern const char *const policy_name[NPOLICY], *const sharing_name[NSHARING];

/* A reference, and where it was made */
struct made {
	const struct lap_touch *touch;
	size_t task;                    /* the number of its trace */
	uint16_t node;
	uint64_t space;                 /* which address space it went through */
};

/* place.c: pages of one size on nodes, under all policies */
struct page {
	uint64_t number;                /* canonical, of what was touched first, in pages of this size */
	uint32_t task;                  /* the first one that touched it */
	uint16_t first, home;           /* the node of the first reference; where migration has it */
	uint8_t written, shared;
};
struct placed {
	uint64_t local, moved;          /* moved: migrations, or replicas */
	uint64_t pages[NODES_MAX];
};
struct sum { uint64_t pages, refs; };
struct placement {
	size_t nnode;
	uint64_t threshold;
	struct page *page;              /* owned */
	uint64_t *count;                /* owned; nnode references and nnode since the page moved, for each page */
	size_t npage, roompage, roomcount;
	struct placed placed[NPOLICY];
	struct sum sharing[NSHARING];
	uint64_t refs, noderefs[NODES_MAX];
};
/* i: the page, at most npage: then it is new; shift: how many bits of a canonical number are within a page */
void place_touch(struct placement *p, uint32_t i, unsigned shift, const struct made *m);
void place_sum(struct placement *p);            /* after the last reference */
void place_free(struct placement *p);

/* frame.c: which page of a larger size each canonical page is in, and the TLBs of the nodes */
struct frames_last { uint64_t space, page, canon, key; };       /* key: of its entry in a TLB; 0: none */
struct frames {
	unsigned shift;                 /* a page has 4096 << shift bytes */
	struct hash canons, ranges;
	struct canon *canon;            /* owned */
	struct range *range;            /* owned */
	uint64_t *used;                 /* owned; bits of the canonical pages that are in a frame, words of them */
	size_t ncanon, roomcanon, nrange, roomrange, nframe, roomframe, words;
	struct frames_last last[LAP_NTYPES];    /* the last reference of each type */
	uint64_t *tlb;                  /* owned; entries for each node, the last used first; 0: free */
	size_t entries;
	uint64_t misses;
};
void frames_init(struct frames *f, unsigned shift, size_t nnode, size_t entries);
/* The frame of a reference: at most one more than there were. It goes through its node's TLB. */
uint32_t frames_touch(struct frames *f, const struct made *m);
void frames_free(struct frames *f);

/* What is done for each size */
struct view {
	uint64_t size;                  /* bytes of a page */
	struct placement place;
	struct frames frames;           /* not used if there is one size, that of canonical pages */
};

struct pages_job {
	struct lap_folder folder;
	uint16_t *node_of;              /* owned; of each trace */
	uint64_t *space_of;             /* owned; of each process */
	uint64_t nspace;
	size_t nnode, entries;
	uint64_t threshold, nodetasks[NODES_MAX];
	struct view *view;
	size_t nview;
	int sizes;                      /* is a comparison of sizes wanted? */
	/* of pages of 4096 bytes, without frames */
	struct hash hash;
	uint32_t last[LAP_NTYPES];      /* the page of the last reference of a type */
};

/* print.c */
void print_text(struct out *out, const struct pages_job *j);
void print_json(struct out *out, const struct pages_job *j);

#endif
