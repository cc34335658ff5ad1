/*
 * Caches and TLBs that references go through: a first level for instructions and one for data, or one
 * for both; a second and a third level; TLBs for instructions and for data, and a second one.
 *
 * An access goes to the first level. If a line of it misses there, the access goes to the next
 * level, as a whole; so an access of several lines counts once and misses at most once in a level,
 * as in cachegrind. A modify counts as a load only, as there, and makes its line dirty.
 *
 * The levels are neither inclusive nor exclusive. A dirty line that is replaced makes the line
 * dirty in the next level that has it; it is not moved or allocated by that.
 */
#ifndef TM_SIM_HIERARCHY_H
#define TM_SIM_HIERARCHY_H

#include <stddef.h>
#include <stdint.h>

#include "sim/cache.h"

enum hier_cache { HIER_I1, HIER_D1, HIER_L2, HIER_L3, HIER_ITLB, HIER_DTLB, HIER_STLB, HIER_N };

struct hier_params {
	struct cache_params cache[HIER_N];      /* size 0: there is none; all are valid (cache.h) */
	int unified;                            /* D1 is for instructions, too, and I1 is none */
};

/* called for each access that misses in a cache: pc is the last fetch, 0 before the first */
typedef void hier_miss_fn(void *arg, enum hier_cache where, uint64_t pc, unsigned size);

struct hier;
struct hier *hier_new(const struct hier_params *p);     /* NULL: no memory */
void hier_free(struct hier *h);
void hier_set_miss_fn(struct hier *h, hier_miss_fn *fn, void *arg);

void hier_take(struct hier *h, const uint64_t *w, size_t n);    /* n valid words of ref(5) */

struct hier_totals {
	uint64_t fetches, loads, stores, modifies;      /* references; modifies are among the loads */
	struct cache_memory memory;
	uint64_t walks;                 /* accesses that missed in all TLBs */
};
void hier_totals(const struct hier *h, struct hier_totals *t);
int hier_stats(const struct hier *h, enum hier_cache which, struct cache_stats *n);     /* 0: there is no such cache */

/*
 * A part of a run, from an unknown state, and its replay when the state is known: the parts of a run can be
 * simulated at the same time.
 *
 * After hier_log_to, what does not depend on the state before is counted, and the rest is logged. hier_replay
 * does that to a hierarchy in the state before the part; with hier_add_counts, its state and statistics, of all
 * levels, are then as if it had taken the references. The first levels are LRU. So may the levels after them
 * be that have lines of the same size: then the log depends on the lines that these caches have, not on the length
 * of the part (segment.c). Of the other levels, every access is logged.
 *
 * If misses are told to a function (hier_set_miss_fn), those that are known are told by the part, the others by
 * the replay; for that, an access whose instruction is another than that of the access logged before comes after
 * a HIER_FETCH event.
 */
enum hier_event {
	HIER_ACCESS,            /* size bytes at addr; flag: writes */
	HIER_BACK,              /* a dirty line of the first level of data, at addr, comes back to this cache */
	HIER_EVICT,             /* a line is replaced; flag: it is dirty; else it is if it was in the replay */
	HIER_USED               /* a line is used, and no event; flag: it is dirty; else, if size is 0, as before */
};
#define HIER_EVENT(event, cache, kind, flag, size, addr) \
	((uint64_t)(event) << 62 | (uint64_t)(cache) << 59 | (uint64_t)(kind) << 57 | (uint64_t)(flag) << 56 | \
	    (uint64_t)(size) << 48 | (addr))

/* The fetch of the accesses that follow, a word of ref(5) or 0: an event of no cache */
#define HIER_FETCH(word)       (HIER_EVENT(HIER_ACCESS, HIER_N, 0, 0, 0, 0) | (word))
#define HIER_IS_FETCH(event)   ((event) >> 56 == HIER_N << 3)
#define HIER_FETCH_WORD(event) ((event) & UINT64_C(0xffffffffffffff))

const char *hier_log_wrong(const struct hier_params *p);        /* NULL, or why these caches cannot: static */
typedef void hier_log_fn(void *arg, uint64_t event);
/* before the first reference; 0, or -1: no memory */
int hier_log_to(struct hier *h, hier_log_fn *log, void *arg);
void hier_log_end(struct hier *h);
int hier_replay(struct hier *h, uint64_t event);                /* 0, or -1: there is no such event */

/* What was counted: the references of each kind, REF_INST to REF_MODIFY, come first. */
#define HIER_NREFS   4
#define HIER_NCOUNTS (HIER_NREFS + HIER_N * 7 + 3)
void hier_counts(struct hier *h, uint64_t n[HIER_NCOUNTS]);
void hier_add_counts(struct hier *h, uint64_t n[HIER_NCOUNTS]);

#endif
