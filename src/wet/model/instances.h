/*
 * Who an instance of the run is: which statement, and which instance of it.
 * Eight bytes for each sequence of statements that are always executed
 * together, and a quarter of a byte for each instance; of what is long ago,
 * only the instances that are still somebody's writer or parent, ten bytes for each.
 */
#ifndef TM_WET_MODEL_INSTANCES_H
#define TM_WET_MODEL_INSTANCES_H

#include "wet/model/statements.h"

struct who {
	uint64_t *ent;                  /* atom << 32 | its instance; owned */
	/* for each 32nd instance from `from` on: entry << 8 | how far into it; owned */
	uint64_t *idx;
	size_t n, cap, nidx, capidx;
	uint64_t from, end;             /* instances before ent, and so far */
	uint16_t *low;                  /* kept instances, less their upper bits, ascending; owned */
	uint64_t *kept;                 /* who they are; owned */
	size_t *part;                   /* the first of each 65536 instances; owned */
	size_t nkept, npart;
};

/* Functions that return int give 0, or -1 without memory. */
void who_free(struct who *t);
int who_atom(struct who *t, uint32_t atom, uint32_t instance, uint32_t len);
int who_same(struct who *t);            /* a signal counts as the instance before */
/* of instance n, from 1: id << 32 | instance; 0: none, or forgotten */
uint64_t instances_who(const struct who *t, const struct stmts *s, uint64_t n);

/*
 * Instances so far are forgotten, but for the last one and those that `live`,
 * called twice, hands to keep.  Worth while if who_full: there are `recent` entries and more.
 */
typedef void who_live_fn(void *arg, visit_writer_fn *keep, void *to);
int who_full(const struct who *t, uint64_t recent);
int who_forget(struct who *t, const struct stmts *s, who_live_fn *live, void *arg);

#endif
