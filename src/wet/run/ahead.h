/* Reads dependences of segments (links.h) for a run, by several threads if they are asked for one after the other. */
#ifndef TM_WET_RUN_AHEAD_H
#define TM_WET_RUN_AHEAD_H

#include "wet/file/full/links.h"
#include "wet/run/run.h"

struct ahead;

/* r, in: borrowed, and not changed as long as this exists.  NULL: no memory */
struct ahead *ahead_new(const struct run *r, const struct store_read *in, unsigned nthread);
/*
 * Those of segment k.  What it sets is valid until the next call.  Segments before k are read meanwhile
 * if the last call was for k + 1.  0, or -1 and *f
 */
int ahead_get(struct ahead *a, size_t k, const struct links **l, const struct col **path, struct fault *f);
void ahead_free(struct ahead *a);               /* NULL: nothing */

#endif
