/* cachesim: what a person reads. */
#include <inttypes.h>
#include <stdio.h>

#include "apps/cachesim/cachesim.h"

static const char *const cachesim_name[HIER_N] = { "I1", "D1", "L2", "L3", "ITLB", "DTLB", "STLB" };
const char *const cachesim_kind[CACHE_NKINDS] = { "fetches", "loads", "stores", "prefetches" };

const char *
cachesim_title(const struct hier_params *p, int which)
{
	return which == HIER_D1 && p->unified ? "L1" : cachesim_name[which];
}

uint64_t
cachesim_sum(const uint64_t n[CACHE_NKINDS])
{
	return n[CACHE_FETCH] + n[CACHE_LOAD] + n[CACHE_STORE];
}

static void
print_line(struct out *o, const char *what, uint64_t access, uint64_t miss, uint64_t instructions)
{
	out_printf(o, "%-14s %15" PRIu64 " %14" PRIu64, what, access, miss);
	if (access)
		out_printf(o, " %9.3f %%", 100.0 * (double)miss / (double)access);
	if (access && instructions)
		out_printf(o, " %11.3f", 1000.0 * (double)miss / (double)instructions);
	out_str(o, "\n");
}

static void
print_level(struct out *o, const struct cache_stats *n, const char *title, uint64_t instructions)
{
	int kinds = 0;

	for (int k = 0; k < CACHE_NKINDS; k++)
		kinds += n->access[k] != 0;
	print_line(o, title, cachesim_sum(n->access), cachesim_sum(n->miss), instructions);
	for (int k = 0; k < CACHE_NKINDS && kinds > 1; k++) {
		char name[32];

		snprintf(name, sizeof name, "  %s", cachesim_kind[k]);
		if (n->access[k])
			print_line(o, name, n->access[k], n->miss[k], instructions);
	}
	if (n->writeback)
		out_printf(o, "  written back %32" PRIu64 "\n", n->writeback);
	if (n->through)
		out_printf(o, "  stored past  %32" PRIu64 "\n", n->through);
	if (n->prefetched)
		out_printf(o, "  prefetched   %32" PRIu64 "  %" PRIu64 " used, %" PRIu64 " replaced without\n",
		    n->prefetched, n->useful, n->unused);
}

void
print_screen(struct out *o, const struct hier *h, const struct hier_params *p)
{
	struct hier_totals t;
	struct cache_stats n;

	hier_totals(h, &t);
	out_printf(o, "%" PRIu64 " instructions, %" PRIu64 " loads, %" PRIu64 " stores",
	    t.fetches, t.loads, t.stores);
	if (t.modifies)
		out_printf(o, "; %" PRIu64 " of the loads also store", t.modifies);
	out_str(o, "\n\n");
	for (int i = 0; i < HIER_N; i++)
		if (hier_stats(h, (enum hier_cache)i, &n))
			out_printf(o, "%-5s %s\n", cachesim_title(p, i), spec_text(&p->cache[i], i >= HIER_ITLB));
	out_printf(o, "\n%-14s %15s %14s %11s %11s\n", "", "accesses", "misses", "of accesses", "per 1000 i.");
	for (int i = 0; i < HIER_N; i++)
		if (hier_stats(h, (enum hier_cache)i, &n))
			print_level(o, &n, cachesim_title(p, i), t.fetches);
	out_printf(o, "memory         %15" PRIu64 " reads %8" PRIu64 " writes\n", t.memory.reads, t.memory.writes);
	if (p->cache[HIER_ITLB].size || p->cache[HIER_DTLB].size)
		out_printf(o, "page walks     %15" PRIu64 "\n", t.walks);
}

_Static_assert(HIER_N == PLACES_COUNTS, "an instruction has a counter for the misses of each cache");

void
cachesim_counts(struct places_counts *c, const struct hier_params *p)
{
	*c = (struct places_counts){ .what = "misses", .weight = { [HIER_I1] = 10, [HIER_D1] = 10 } };
	if (p->cache[HIER_L3].size)
		c->weight[HIER_L3] = 100;
	else if (p->cache[HIER_L2].size)
		c->weight[HIER_L2] = 100;
	for (int i = 0; i < HIER_N; i++)
		c->title[i] = p->cache[i].size ? cachesim_title(p, i) : NULL;
}
