/* Types and functions shared by the files of cachesim. */
#ifndef TM_APPS_CACHESIM_H
#define TM_APPS_CACHESIM_H

#include "base/out.h"
#include "sim/hierarchy.h"

/* spec.c: descriptions of caches on the command line */

/* Changes *p as the value of the last option says; a wrong one ends the program. */
void spec_cache(const char *s, struct cache_params *p);
/* with pages of 1 byte, as the size of a page may be given later */
void spec_tlb(const char *s, struct cache_params *p);
/* "32k, 8 ways, 64-byte lines, lru"; valid until the next call */
const char *spec_text(const struct cache_params *p, int tlb);

/* print.c, json.c */
const char *cachesim_title(const struct hier_params *p, int which);    /* "I1", ..., "STLB"; "L1": for both */
extern const char *const cachesim_kind[CACHE_NKINDS];           /* "fetches", ... */
uint64_t cachesim_sum(const uint64_t n[CACHE_NKINDS]);          /* without prefetches */
void print_screen(struct out *o, const struct hier *h, const struct hier_params *p);
void print_json(struct out *o, const struct hier *h, const struct hier_params *p);

#endif
