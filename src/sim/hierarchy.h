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
 * A run from an unknown state, and its replay when the state is known: the parts of a run can be simulated
 * at the same time.
 *
 * After hier_log_to, the first levels, which are LRU, log what leaves them instead of sending it on. A line
 * that is not among those used since the beginning of the part, in a set that has fewer of these than ways,
 * may have been there before: the log says that it is used. There are at most as many such events as the
 * cache has lines. Else a line that is not among them is missing for certain, and the one it replaces is
 * known; only whether that was dirty before is not. hier_replay does the same to a hierarchy in the state
 * before the part, and sends on what misses: then its state and statistics, of all levels, are as if it had
 * taken the references. The other levels may have any policy, as they get all accesses in the replay only.
 */
enum hier_event {
	HIER_ACCESS,            /* size bytes at addr; flag: a line of it was missing for certain */
	HIER_TOUCH,             /* a line that may be there is used, by the access that follows; flag: is dirty then */
	HIER_EVICT,             /* a line is replaced; flag: it was written to in this part */
	HIER_USED               /* at the end: the lines of each set, the last one used last; flag: as before */
};
#define HIER_EVENT(event, cache, kind, flag, size, addr) \
	((uint64_t)(event) << 61 | (uint64_t)(cache) << 59 | (uint64_t)(kind) << 57 | (uint64_t)(flag) << 56 | \
	    (uint64_t)(size) << 48 | (addr))

const char *hier_log_wrong(const struct hier_params *p);        /* NULL, or why these caches cannot: static */
typedef void hier_log_fn(void *arg, uint64_t event);
void hier_log_to(struct hier *h, hier_log_fn *log, void *arg);  /* before the first reference */
void hier_log_end(struct hier *h);
int hier_replay(struct hier *h, uint64_t event);                /* 0, or -1: there is no such event */

/* The references of each kind, REF_INST to REF_MODIFY; those of a part are not in its log. */
#define HIER_NREFS 4
void hier_refs(const struct hier *h, uint64_t n[HIER_NREFS]);
void hier_add_refs(struct hier *h, const uint64_t n[HIER_NREFS]);

#endif
