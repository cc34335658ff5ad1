/*
 * One-bit labels of executions ("Whole Execution Traces", section 5.1): was a branch
 * mispredicted, did a load miss, did a store miss.  A simulated predictor and cache decide that
 * while a capture is visited; ARCH sections of wet(5) store the labels.
 */
#ifndef TM_SIM_PREDICTOR_H
#define TM_SIM_PREDICTOR_H

#include <stddef.h>
#include <stdint.h>

#include "format/wetfile/wetfile.h"

/*
 * The predictor of conditional branches is gshare: two-bit counters that start at 1, indexed by
 * the low bits of the address xor the history of outcomes, whose lowest bit is the latest one.
 * The data cache is LRU and allocates lines on stores.
 */
struct arch_params {
	uint64_t history;               /* outcomes in the history, at most 32 */
	uint64_t counters;              /* number of two-bit counters, a power of 2 */
	/* Cache size in bytes, lines in a set, bytes of a line: powers of 2, at least one set. */
	uint64_t size, ways, line;
};
#define ARCH_DEFAULT { 12, 4096, 16384, 4, 32 }

/* 1: the parameters are in the ranges above; 0: they are not */
int arch_params_valid(const struct arch_params *p);

struct arch;
/* p must be good; NULL: no memory; the caller frees it with arch_free */
struct arch *arch_new(const struct arch_params *p);
void arch_free(struct arch *a);
/* records the outcome; 1: it was mispredicted */
int arch_branch(struct arch *a, uint64_t pc, int taken);
/* loads all lines of the access; 1: one of them was missing */
int arch_access(struct arch *a, uint64_t addr, unsigned size);

enum arch_kind { ARCH_BRANCH, ARCH_LOAD, ARCH_STORE, ARCH_NKINDS };

/* A statement with labels: bit x % 8 of bits[kind][x / 8] is the label of instance x. */
struct arch_stmt {
	uint32_t id, count;             /* count: its instances */
	uint8_t kinds;                  /* set of 1 << kind */
	uint8_t *bits[ARCH_NKINDS];     /* owned; NULL for kinds that it does not have */
};
static inline int
arch_bit(const struct arch_stmt *s, enum arch_kind k, uint32_t x)
{
	return s->bits[k][x / 8] >> x % 8 & 1;
}
/* Number of labels of kind k that are 1. */
uint64_t arch_ones(const struct arch_stmt *s, enum arch_kind k);

struct arch_labels {
	struct arch_params params;
	struct arch_stmt *stmt;         /* by ascending id; owned */
	size_t n, cap;
};

/*
 * Reads the labels of a file, which may have none.  0, or -1: see *f.  The caller frees them
 * with arch_labels_free.
 */
int arch_read(const struct wetfile *w, struct arch_labels *l, struct fault *f);
void arch_labels_free(struct arch_labels *l);
/* binary search; NULL: none */
const struct arch_stmt *arch_find(const struct arch_labels *l, uint32_t id);

struct arch_stats {
	uint64_t bits[ARCH_NKINDS], ones[ARCH_NKINDS];
};

#endif
