/*
 * One-bit labels of executions ("Whole Execution Traces", section 5.1): was a
 * branch mispredicted, did a load miss, did a store miss.  A simulated
 * predictor and cache say so while a capture is visited; ARCH sections of
 * wet(5) keep them.
 */
#ifndef TM_SIM_PREDICTOR_H
#define TM_SIM_PREDICTOR_H

#include <stddef.h>
#include <stdint.h>

#include "format/wetfile/wetfile.h"

/*
 * A predictor of conditional branches: gshare, two-bit counters that begin at
 * 1; the counter is that of the lowest bits of the address xor the last
 * outcomes, the latest the lowest bit.  A data cache: LRU, stores allocate.
 */
struct arch_params {
	uint64_t history;               /* outcomes, at most 32 */
	uint64_t counters;              /* a power of 2 */
	uint64_t size, ways, line;      /* bytes; lines of a set; bytes: powers of 2, at least a set */
};
#define ARCH_DEFAULT { 12, 4096, 16384, 4, 32 }

int arch_good(const struct arch_params *p);     /* are these what can be simulated? */

struct arch;
struct arch *arch_new(const struct arch_params *p);     /* p is good; NULL without memory */
void arch_free(struct arch *a);
int arch_branch(struct arch *a, uint64_t pc, int taken);        /* 1: mispredicted */
int arch_access(struct arch *a, uint64_t addr, unsigned size);  /* 1: a line of it was not there; now all are */

enum arch_kind { ARCH_BRANCH, ARCH_LOAD, ARCH_STORE, ARCH_NKINDS };

/* A statement with labels: bit x % 8 of bits[kind][x / 8] is that of instance x */
struct arch_stmt {
	uint32_t id, count;             /* its instances */
	uint8_t kinds;                  /* 1 << kind for each that it has */
	uint8_t *bits[ARCH_NKINDS];     /* owned; NULL for kinds that it has not */
};
static inline int
arch_bit(const struct arch_stmt *s, enum arch_kind k, uint32_t x)
{
	return s->bits[k][x / 8] >> x % 8 & 1;
}
uint64_t arch_ones(const struct arch_stmt *s, enum arch_kind k);

struct arch_labels {
	struct arch_params params;
	struct arch_stmt *stmt;         /* ids ascend; owned */
	size_t n, cap;
};

/* The labels of a file, which may have none: 0, or -1: see *f */
int arch_read(const struct wetfile *w, struct arch_labels *l, struct fault *f);
void arch_labels_free(struct arch_labels *l);
const struct arch_stmt *arch_find(const struct arch_labels *l, uint32_t id);    /* or NULL */

struct arch_stats {
	uint64_t bits[ARCH_NKINDS], ones[ARCH_NKINDS];
};

#endif
