/*
 * The working set over time: how many different lines are accessed in each window of a run whose length is
 * not known before.  Windows begin with 2^WORKING_SHIFT instructions, or accesses if there are no instruction
 * fetches, and become twice as long when there are WORKING_WINDOWS; the numbers are exact for each length.
 *
 * Memory: about 50 bytes for each different line.
 */
#ifndef TM_SIM_WORKING_SET_H
#define TM_SIM_WORKING_SET_H

#include <stddef.h>
#include <stdint.h>

#define WORKING_SHIFT   10
#define WORKING_WINDOWS 512u

struct working_set;

/* Lines are of 2^shift bytes; kinds: the set of the kinds of references that count.  NULL: no memory. */
struct working_set *working_new(unsigned shift, unsigned kinds);
void working_free(struct working_set *s);
/* n words, ref(5).  0, or -1: no memory */
int working_take(struct working_set *s, const uint64_t *w, size_t n);

struct working_counts {
	size_t n;                       /* windows */
	uint64_t length;                /* of each; the last one may end before */
	int by_accesses;
	uint64_t accesses;              /* to lines, in all */
};
void working_counts(const struct working_set *s, struct working_counts *c);
/* Of window i: its different lines, and those accessed for the first time */
void working_window(const struct working_set *s, size_t i, uint64_t *lines, uint64_t *first);

#endif
