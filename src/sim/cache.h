/*
 * A cache: lines in sets, with a policy of replacement. Several of them, one after the other, are
 * the levels of a hierarchy (hierarchy.h); a TLB is a cache whose lines are pages.
 */
#ifndef TM_SIM_CACHE_H
#define TM_SIM_CACHE_H

#include <stdint.h>

enum cache_policy {
	CACHE_LRU,
	CACHE_FIFO,
	CACHE_PLRU,     /* a binary tree of bits for each set, all of which point away from the last use */
	CACHE_RANDOM,   /* with a fixed seed */
	CACHE_SRRIP,    /* 2-bit re-reference predictions, hit priority (Jaleel et al., 2010) */
	CACHE_NPOLICIES
};
extern const char *const cache_policy_name[CACHE_NPOLICIES];    /* "lru", ... */

enum cache_prefetch {
	CACHE_NO_PREFETCH,
	CACHE_NEXT,     /* the next line, after a miss and after the first use of a prefetched line */
	CACHE_STRIDE,   /* by the last two distances between the addresses of the same instruction */
	CACHE_NPREFETCHES
};

#define CACHE_LINE_MIN 8u
#define CACHE_LINE_MAX 4096u
#define CACHE_SIZE_MAX (UINT64_C(1) << 30)
#define CACHE_WAYS_MAX 4096u
#define CACHE_PLRU_MAX 64u              /* ways, a power of 2 */

struct cache_params {
	uint64_t size;                  /* bytes; 0: there is no such cache */
	uint64_t ways;                  /* lines in a set */
	uint64_t line;                  /* bytes of a line; of a TLB: of a page */
	enum cache_policy policy;
	enum cache_prefetch prefetch;
	int through;                    /* stores go through to the next level; else lines are written back */
	int around;                     /* a store that misses does not allocate a line */
};

/* Kinds of accesses. A modify is a load that makes its line dirty. */
enum cache_kind { CACHE_FETCH, CACHE_LOAD, CACHE_STORE, CACHE_PREFETCH, CACHE_NKINDS };

struct cache_stats {
	uint64_t access[CACHE_NKINDS], miss[CACHE_NKINDS];
	uint64_t writeback;             /* dirty lines that were replaced */
	uint64_t through;               /* stores that were passed on to the next level */
	/* lines that it prefetched; those of them that were used; that were replaced without */
	uint64_t prefetched, useful, unused;
};

/* What comes after the last level: accesses that read a line there; lines written back, and stores. */
struct cache_memory { uint64_t reads, writes; };

/* NULL, or why no cache can have these parameters: static, in the words of cachesim(1). tlb: lines are pages */
const char *cache_params_wrong(const struct cache_params *p, int tlb);

#endif
