/*
 * Reuse distances of a sample of the lines (SHARDS: Waldspurger and others, FAST 2015).  A line is in the
 * sample if a hash of its number is below a threshold, so all accesses to it are, or none.  Distances in
 * the sample are smaller than those of the program by the rate, and so are the numbers of accesses.
 *
 * The lines of the sample are also divided into SAMPLE_CLASSES classes, by other bits of the hash.  Each
 * is a sample of its own, independent of the others: how much they differ tells the error.
 *
 * A sample of fixed size begins with its rate, and halves it each time there are too many lines.
 */
#ifndef TM_SIM_SAMPLE_H
#define TM_SIM_SAMPLE_H

#include "sim/reuse.h"

#define SAMPLE_CLASSES 16u
#define SAMPLE_ALL     (UINT64_C(1) << 32)      /* the threshold at which all lines are in the sample */
#define SAMPLE_BATCH   1024u                    /* so many references may have lines above the most */

struct sample;

/* threshold: from 1 to SAMPLE_ALL; most: lines, or 0: the rate stays.  NULL: no memory. */
struct sample *sample_new(unsigned shift, unsigned kinds, uint64_t threshold, uint64_t most);
void sample_free(struct sample *s);

/* n words, ref(5), as reuse_take.  0, or -1: no memory. */
int sample_take(struct sample *s, const uint64_t *w, size_t n);

struct sample_state {
	uint64_t accesses;              /* of the program, exactly */
	uint64_t first, threshold;      /* the threshold at first, and now */
};
void sample_state(const struct sample *s, struct sample_state *t);

/*
 * The analysis and the counts of a class; SAMPLE_CLASSES: of the whole sample.  Its distances
 * are those of lines below the present threshold, its numbers of accesses those of lines below the first one.
 */
struct reuse *sample_part(struct sample *s, unsigned class);    /* owned by s; for merging */
void sample_add(struct sample *s, uint64_t accesses);           /* of the program */
void sample_counts(const struct sample *s, unsigned class, struct reuse_counts *c);

#endif
