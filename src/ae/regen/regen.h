/*
 * Regeneration without a compiler: an interpreter of schemas.  It makes the
 * same references as the files that aec writes, a tenth as fast.
 */
#ifndef TM_AE_REGEN_REGEN_H
#define TM_AE_REGEN_REGEN_H

#include "ae/regen/feed.h"
#include "ae/regen/program.h"

struct regen;

/* Kinds of events: where the bytes of an event file go */
enum regen_kind {
	RK_BRANCH,      /* which way branches go */
	RK_BLOCK,       /* numbers of blocks */
	RK_VALUE,       /* values of the slices */
	RK_NEED,        /* registers at the entry of functions */
	RK_ITEM,        /* run items without those registers */
	RK_STRING,      /* counts of string instructions */
	RK_NKINDS
};

/* A program ready to be run, or NULL with *err set (static).  g is borrowed.  count: count the events by their kinds. */
struct regen *regen_new(const struct prog *g, int count, const char **err);
void regen_free(struct regen *r);

/* Bytes of events read so far, by kind, if they are counted; those of a forked child's parents are among them */
const uint64_t *regen_counts(const struct regen *r);

/* The state to give to feed_open before regen_run */
struct ae_state *regen_state(struct regen *r);

/*
 * Recreate the trace of the opened feed into its sink.  0, the sink's value
 * if that is not 0, -1 with f->err, or AE_STOPPED with f->err.
 */
int regen_run(struct regen *r, struct feed *f);

/* What aec and ae2addr print of a function that the events name but no schema has */
extern const char regen_nofunc[];

#endif
