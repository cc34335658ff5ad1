/* Types and functions shared by the files of cachesim. */
#ifndef TM_APPS_CACHESIM_H
#define TM_APPS_CACHESIM_H

#include "base/json.h"
#include "base/out.h"
#include "refs/refs.h"
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
/* without the end of the object, to which more may be added */
void print_json(struct json *j, const struct hier *h, const struct hier_params *p);

/* places.c: where misses come from */
struct places;
struct places *places_new(void);
void places_free(struct places *m);
void places_miss(void *arg, enum hier_cache where, uint64_t pc, unsigned size);         /* hier_miss_fn */
/* after the run, before the first table: warns of files that have no names */
void places_check(struct places *m, struct refs *s);

/* A function, or a line of a function. Strings are borrowed from the refs; NULL, 0: not known. */
struct row {
	const char *file;               /* of the source; NULL in a table of functions */
	const char *func;
	const char *object;             /* the name of the file that the code was mapped from, without its folder */
	int line;
	uint64_t miss[HIER_N];
	uint64_t cost;                  /* 10 for each miss of a first level, 100 for each of the last */
};
struct table {
	int lines;                      /* of lines, not of functions */
	struct row *row;                /* owned; the costliest first */
	size_t n, more;
	struct row others, total;       /* `more` that are not in row[0..n); all */
};
/* The `top` costliest functions or lines. */
void places_table(struct places *m, struct refs *s, const struct hier_params *p, int lines, size_t top,
    struct table *t);
void places_table_free(struct table *t);

/* partial.c: a wrong file ends the program */
struct partial;
/* h, which has taken nothing yet, logs to the output. partial_end frees. */
struct partial *partial_new(struct out *o, struct hier *h, const struct hier_params *q, uint64_t from);
void partial_end(struct partial *p, struct hier *h);
/* Files, of which the last is NULL, in the order of the run: the whole, and its parameters. */
struct hier *partial_merge(char **path, struct hier_params *q);

/* table.c */
void table_print(struct out *o, const struct table *t, const struct hier_params *p);
void table_json(struct json *j, const struct table *t, const struct hier_params *p);

#endif
