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

#endif
