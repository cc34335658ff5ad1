/*
 * The table of instances: maps a position of the run to a statement and an
 * instance of it.  It takes eight bytes for each executed atom (a sequence of
 * statements that are always executed together) and a quarter of a byte for
 * each instance.  Old instances can be forgotten, except those that later ones
 * may still depend on, which take ten bytes each.
 */
#ifndef TM_WET_MODEL_INSTANCES_H
#define TM_WET_MODEL_INSTANCES_H

#include "wet/model/statements.h"

struct who {
	uint64_t *ent;                  /* executed atoms: atom << 32 | its instance; owned */
	/* for each 32nd instance after `from`: index in ent << 8 | offset in the atom; owned */
	uint64_t *idx;
	size_t n, cap, nidx, capidx;
	uint64_t from, end;             /* number of instances before ent[0], and of all so far */
	uint16_t *low;                  /* low 16 bits of kept instances, ascending in each part; owned */
	uint64_t *kept;                 /* for each of them: id << 32 | instance; owned */
	size_t *part;                   /* index in low of the first of each 65536 instances; owned */
	size_t nkept, npart;
};

/* Functions that return int give 0, or -1 without memory. */
void who_free(struct who *t);
int who_atom(struct who *t, uint32_t atom, uint32_t instance, uint32_t len);
int who_same(struct who *t);            /* adds a signal, which looks up as the instance before it */
/* looks up instance n, from 1: id << 32 | instance; 0: there is none, or it is forgotten */
uint64_t instances_who(const struct who *t, const struct stmts *s, uint64_t n);

/*
 * Forgets all instances so far, except the last one and those that `live` hands
 * to keep; live is called twice.  It pays if who_full: there are at least
 * `recent` entries, and at least as many as instances kept.
 */
typedef void who_live_fn(void *arg, visit_writer_fn *keep, void *to);
int who_full(const struct who *t, uint64_t recent);
int who_forget(struct who *t, const struct stmts *s, who_live_fn *live, void *arg);

#endif
