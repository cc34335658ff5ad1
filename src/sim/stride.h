/*
 * Strides: how far apart are the addresses of successive loads of an instruction, and of its stores, and of
 * its modifies?  What an instruction accesses comes after its fetch; accesses before the first fetch have no
 * instruction and do not count.
 *
 * Memory: at most about 150 bytes for each instruction that accesses memory, and kind of access.
 */
#ifndef TM_SIM_STRIDE_H
#define TM_SIM_STRIDE_H

#include <stddef.h>
#include <stdint.h>

#define STRIDE_NEAR   4096      /* strides up to this, forward and backward, are counted one by one */
#define STRIDE_WIDTHS 97        /* 48: stride 0; 48 + n, 48 - n: n bits, forward and backward */
#define STRIDE_SAME_LINE 6      /* addresses in the same line of 2^6 bytes */

struct stride_counts {
	uint64_t width[STRIDE_WIDTHS];
	uint64_t constant[STRIDE_WIDTHS];       /* of these, as the stride before of the instruction */
	uint64_t near[2 * STRIDE_NEAR + 1];     /* stride d: at STRIDE_NEAR + d */
	uint64_t same_line;
};

/* The accesses of one kind of an instruction */
struct stride_slot {
	uint64_t key;                   /* the instruction's address in bits 0 to 47, and the kind above */
	uint64_t n;                     /* accesses, at least 1 */
	int64_t first, last;            /* addresses */
	int64_t second, stride;         /* the first stride and the last one; 0 if there is none */
};

struct stride;

struct stride *stride_new(void);        /* NULL: no memory */
void stride_free(struct stride *s);
int stride_take(struct stride *s, const uint64_t *w, size_t n);         /* words, ref(5).  0; -1: no memory */

/* Valid until more is taken; slots are in the order of their first accesses */
const struct stride_counts *stride_counts(const struct stride *s);
const struct stride_slot *stride_slots(const struct stride *s, size_t *n);

/* How many bits a stride has, as an index of width[] */
static inline unsigned
stride_width(int64_t d)
{
	unsigned bits = d ? 64 - (unsigned)__builtin_clzll((uint64_t)(d < 0 ? -d : d)) : 0;

	return d < 0 ? 48 - bits : 48 + bits;
}

/*
 * For parts of a run, each analysed on its own: adds what was counted in the next part, and then each of its
 * slots.  The result is that of both parts.  0, or -1: no memory.
 */
void stride_add(struct stride *s, const struct stride_counts *c);
int stride_join(struct stride *s, const struct stride_slot *next);

#endif
