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

#define REUSE_SHIFT_MAX 30u

struct reuse_counts {
	uint64_t accesses;
	uint64_t lines;                 /* different ones: accesses without a distance */
	const uint64_t *hist;           /* hist[d] accesses have distance d; owned by the analysis */
	size_t n;                       /* distances d < n; n <= lines */
};

struct reuse;

/* Lines are of 2^shift bytes; kinds: the set of the kinds of references that count.  NULL: no memory. */
struct reuse *reuse_new(unsigned shift, unsigned kinds);
void reuse_free(struct reuse *r);

/* n words, ref(5); a reference to several lines is an access to each, ascending.  0, or -1: no memory. */
int reuse_take(struct reuse *r, const uint64_t *w, size_t n);
void reuse_counts(const struct reuse *r, struct reuse_counts *c);

#endif
