/* cachesim: --json */
#include "apps/cachesim/cachesim.h"

static void
json_cache(struct json *j, const struct hier_params *p, int which, const struct cache_stats *n)
{
	static const char *const prefetch[CACHE_NPREFETCHES] = { "none", "next", "stride" };
	const struct cache_params *c = &p->cache[which];
	int tlb = which >= HIER_ITLB;

	json_object(j, NULL);
	json_string(j, "name", cachesim_title(p, which));
	json_u64(j, tlb ? "entries" : "size", tlb ? c->size / c->line : c->size);
	json_u64(j, "ways", c->ways);
	json_u64(j, tlb ? "page" : "line", c->line);
	json_string(j, "policy", cache_policy_name[c->policy]);
	if (!tlb) {
		json_string(j, "stores", c->through ? "through" : "back");
		json_string(j, "store_misses", c->around ? "around" : "allocate");
		json_string(j, "prefetch", prefetch[c->prefetch]);
	}
	json_u64(j, "accesses", cachesim_sum(n->access));
	json_u64(j, "misses", cachesim_sum(n->miss));
	for (int k = 0; k < CACHE_NKINDS; k++) {
		json_object(j, cachesim_kind[k]);
		json_u64(j, "accesses", n->access[k]);
		json_u64(j, "misses", n->miss[k]);
		json_end(j);
	}
	json_u64(j, "written_back", n->writeback);
	json_u64(j, "stored_past", n->through);
	json_u64(j, "prefetched", n->prefetched);
	json_u64(j, "prefetched_used", n->useful);
	json_u64(j, "prefetched_unused", n->unused);
	json_end(j);
}

void
print_json(struct json *j, const struct hier *h, const struct hier_params *p)
{
	struct cache_stats n;
	struct hier_totals t;

	hier_totals(h, &t);
	json_u64(j, "instructions", t.fetches);
	json_u64(j, "loads", t.loads);
	json_u64(j, "stores", t.stores);
	json_u64(j, "modifies", t.modifies);
	json_array(j, "caches");
	for (int i = 0; i < HIER_N; i++)
		if (hier_stats(h, (enum hier_cache)i, &n))
			json_cache(j, p, i, &n);
	json_end(j);
	json_u64(j, "memory_reads", t.memory.reads);
	json_u64(j, "memory_writes", t.memory.writes);
	json_u64(j, "page_walks", t.walks);
}
