/* Types and functions shared by the files of addrstat. */
#ifndef TM_APPS_ADDRSTAT_H
#define TM_APPS_ADDRSTAT_H

#include "base/hash.h"
#include "base/json.h"
#include "base/out.h"
#include "format/ref/ref.h"
#include "refs/places.h"
#include "sim/stride.h"

enum { LINE_SHIFT = 6, PAGE_SHIFT = 12, NEAR = 256 };
enum access { FETCH, LOAD, STORE, NACCESS };

/* A page of memory, by kind of reference: bit i of line: its line i was accessed; how many begin in it */
struct page { uint64_t number, line[REF_NACCESS], n[REF_NACCESS]; };
struct near { uint64_t key; size_t at; };               /* key: the number of a page, plus 1 */

/* What is counted in one pass */
struct stat {
	uint64_t count[16 << 8];        /* by the upper 16 bits of a word: kind and size */
	uint64_t digest;
	struct hash hash;
	struct page *page;              /* owned */
	size_t npage, roompage;
	struct near near[NEAR];
	struct stride *stride;          /* owned; NULL: strides are not wanted */
	struct places *places;          /* owned; NULL: neither functions nor lines are wanted */
	uint64_t pc;                    /* of the last fetch, for these, and its size; 0: there was none */
	unsigned pcsize;
	struct areas *areas;            /* borrowed; NULL: no names are known */
};

/* The footprint of a kind of access; of all for NACCESS */
struct footprint { uint64_t lines, pages; };

/* Neighbouring pages that were accessed */
struct region {
	const struct area *area;        /* NULL: it has no name */
	uint64_t first, last;           /* addresses */
	uint64_t n[REF_NACCESS];
	struct footprint foot;
};

/* What is printed */
struct show {
	int json, regions, strides, functions, lines;
	size_t top;
};

/* count.c */
struct stat *stat_new(int strides, int places);
void stat_free(struct stat *t);
int stat_take(void *stat, const uint64_t *w, size_t n);         /* refs_fn */
struct page *stat_page(struct stat *t, uint64_t number);        /* made if it is new */
uint64_t stat_kind(const struct stat *t, unsigned kind, uint64_t *bytes);       /* bytes: or NULL */
void stat_footprints(const struct stat *t, struct footprint f[NACCESS + 1]);
/* The digest of two traces, one after the other, of which the second has n references */
uint64_t stat_digest_join(uint64_t first, uint64_t second, uint64_t n);

/* regions.c: sorts the pages; the regions with the most references first. Owned by the caller. */
struct region *regions_find(struct stat *t, size_t *n);
uint64_t region_references(const struct region *r);
void region_add(struct region *to, const struct region *r);     /* its counts */

/* print.c, strides.c, json.c; s: NULL after a merge */
extern const char *const access_name[NACCESS + 1];
extern const struct places_counts place_counts;
void print_screen(struct out *out, struct stat *t, const struct show *w, struct refs *s);
void print_strides(struct buf *b, const struct stride *s, size_t top);
void print_json(struct out *out, struct stat *t, const struct show *w, struct refs *s);

/* The sums of strides that tables have */
struct stride_totals { uint64_t accesses, first, strides, same_address, same_line, constant; };
void stride_totals(const struct stride *s, struct stride_totals *u);
/* Strides of -STRIDE_NEAR to STRIDE_NEAR by how often they are: at most n; returns how many there are */
struct stride_often { int64_t stride; uint64_t n; };
size_t stride_often(const struct stride *s, struct stride_often *v, size_t n);

/* partial.c: a wrong file ends the program */
void partial_write(struct out *out, struct stat *t, struct refs *s, uint64_t from);
/* Files, of which the last is NULL, in the order of the run; the areas of the result are owned by it */
struct stat *partial_merge(char **path);

#endif
