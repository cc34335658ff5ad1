/*
 * Regeneration without a compiler: an interpreter of schemas.  It makes the
 * same references as the files that aec writes, a tenth as fast.
 */
#ifndef TM_ENGINE_REGEN_REGEN_H
#define TM_ENGINE_REGEN_REGEN_H

#include "feed.h"
#include "program.h"

struct regen;

/* A program ready to be run, or NULL with *err set (static).  g is borrowed. */
struct regen *regen_new(const struct prog *g, const char **err);
void regen_free(struct regen *r);

/* The state to give to feed_open before regen_run */
struct ae_state *regen_state(struct regen *r);

/*
 * Recreate the trace of the opened feed into its sink.  0, the sink's value
 * if that is not 0, or -1 with f->err.
 */
int regen_run(struct regen *r, struct feed *f);

/* What aec and ae2addr print of a function that the events name but no schema has */
extern const char regen_nofunc[];

#endif
