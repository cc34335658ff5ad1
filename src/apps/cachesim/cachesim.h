/* Types and functions shared by the files of cachesim. */
#ifndef TM_APPS_CACHESIM_H
#define TM_APPS_CACHESIM_H

#include "base/json.h"
#include "base/out.h"
#include "refs/places.h"
#include "sim/hierarchy.h"

/* spec.c: descriptions of caches on the command line */

/*
 * Changes *p as the value of the last option says; a wrong one ends the program. line is 0 if it has none, and ways
 * if all lines are one set; spec_line then completes them, and returns what is wrong with the cache, or NULL.
 */
void spec_cache(const char *s, struct cache_params *p);
const char *spec_line(struct cache_params *p, uint64_t line);
/* with pages of 1 byte, as the size of a page may be given later */
void spec_tlb(const char *s, struct cache_params *p);
/* "32k, 8 ways, 64-byte lines, lru"; valid until the next call */
const char *spec_text(const struct cache_params *p, int tlb);

/* print.c, json.c */
const char *cachesim_title(const struct hier_params *p, int which);    /* "I1", ..., "STLB"; "L1": for both */
extern const char *const cachesim_kind[CACHE_NKINDS];           /* "fetches", ... */
uint64_t cachesim_sum(const uint64_t n[CACHE_NKINDS]);          /* without prefetches */
void print_screen(struct out *o, const struct hier *h, const struct hier_params *p);
/* without the end of the object, to which more may be added */
void print_json(struct json *j, const struct hier *h, const struct hier_params *p);

/* Misses as what is counted by function and line: 10 for each of a first level, 100 for each of the last */
void cachesim_counts(struct places_counts *c, const struct hier_params *p);

/* partial.c: a wrong file ends the program */
struct partial;
/* h, which has taken nothing yet, logs to the output; m: the misses by instruction, or NULL. partial_end frees. */
struct partial *partial_new(struct out *o, struct hier *h, const struct hier_params *q, struct places *m,
    uint64_t from);
void partial_end(struct partial *p, struct hier *h, struct refs *s);
/* Files, of which the last is NULL, in the order of the run: the whole, and its parameters; *m: NULL if it has none */
struct hier *partial_merge(char **path, struct hier_params *q, struct places **m);

/* main.c: counts a miss in places */
void cachesim_miss(void *places, enum hier_cache where, uint64_t pc, unsigned size);

#endif
