/*
 * Reuse distances: for each access to a line of memory, how many other lines were accessed since the
 * last access to it (LRU stack distance; Mattson and others, 1970).  An access hits in a fully
 * associative LRU cache of n lines exactly if its distance is below n, so the histogram of distances
 * gives the misses of all sizes at once.
 *
 * Memory depends on the number of different lines, about 60 to 110 bytes for each; not on the number
 * of accesses, which are counted in 64 bits.
 */
#ifndef TM_SIM_REUSE_H
#define TM_SIM_REUSE_H

#include <stddef.h>
#include <stdint.h>

#include "format/ref/ref.h"

#define REUSE_SHIFT_MAX 30u

struct reuse_counts {
	uint64_t accesses;
	uint64_t lines;                 /* different ones: unless halved, accesses without a distance */
	const uint64_t *hist;           /* hist[d] accesses have distance d; owned by the analysis */
	size_t n;                       /* distances d < n; n <= lines */
};

struct reuse;

/* The first and the last line of a reference; one that goes beyond the last address ends there. */
static inline void
reuse_lines_of(uint64_t w, unsigned shift, uint64_t *first, uint64_t *last)
{
	uint64_t from = w & 0xffffffffffff, to = from + ref_size(w) - 1;

	*first = from >> shift;
	*last = (to > 0xffffffffffff ? 0xffffffffffff : to) >> shift;
}

/* Lines are of 2^shift bytes; kinds: the set of the kinds of references that count.  NULL: no memory. */
struct reuse *reuse_new(unsigned shift, unsigned kinds);
void reuse_free(struct reuse *r);

/* n words, ref(5); a reference to several lines is an access to each, ascending.  0, or -1: no memory. */
int reuse_take(struct reuse *r, const uint64_t *w, size_t n);

/* An access to a line, by its number; accesses wait in a queue until reuse_flush.  0, or -1: no memory. */
int reuse_access(struct reuse *r, uint64_t line);
int reuse_flush(struct reuse *r);

/*
 * For a sample of the lines that becomes half as large: forgets the lines for which keep returns 0, halves
 * the distances that were counted, and counts each access twice as much from now on.  After reuse_flush.
 */
int reuse_halve(struct reuse *r, int (*keep)(void *arg, uint64_t line), void *arg);

/*
 * For parts of a run, each analysed on its own: the lines in the order of their first accesses, kept from now
 * on, and in the order of their last ones.  An analysis that then takes the first accesses of the next part,
 * its distances, and, without counting them, its last accesses, is that of both parts (PARDA: Niu and others,
 * IPDPS 2012).  Only after reuse_flush.
 */
#define REUSE_FIRST UINT64_MAX
int reuse_keep_firsts(struct reuse *r);                 /* 0, or -1: no memory */
const uint64_t *reuse_firsts(const struct reuse *r);    /* of all lines; valid until the next access */
void reuse_stack(const struct reuse *r, uint64_t *line);        /* line: room for all */
/* An access to a line; *distance is REUSE_FIRST for the first one.  0, or -1: no memory. */
int reuse_touch(struct reuse *r, uint64_t line, int counts, uint64_t *distance);
int reuse_add(struct reuse *r, uint64_t distance, uint64_t n);  /* n accesses; 0, or -1: no memory */

void reuse_counts(const struct reuse *r, struct reuse_counts *c);

#endif
