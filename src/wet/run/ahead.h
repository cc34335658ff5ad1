/* Reads dependences of segments (links.h) for a run, by threads if one segment after the other is asked for. */
#ifndef TM_WET_RUN_AHEAD_H
#define TM_WET_RUN_AHEAD_H

#include "wet/file/full/links.h"
#include "wet/run/run.h"

struct ahead;

/* r, in: borrowed, and not changed as long as this exists.  NULL: no memory */
struct ahead *ahead_new(const struct run *r, const struct store_read *in, unsigned nthread);
/*
 * Those of segment k; *l is NULL if only what depends on the instance `about` is asked, which is from
 * before the segment, and nothing there does.  about 0: all are asked.  What it sets is valid until the next call.  If the last call was for the segment
 * before or after it, those that come next are read meanwhile.  0, or -1 and *f
 */
int ahead_get(struct ahead *a, size_t k, uint64_t about, const struct links **l, const struct col **path,
    struct fault *f);
void ahead_free(struct ahead *a);               /* NULL: nothing */

#endif
