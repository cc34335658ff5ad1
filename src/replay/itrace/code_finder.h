/* The static code of a run (cfg/code.h), as a visit finds it. */
#ifndef TM_REPLAY_ITRACE_CODE_FINDER_H
#define TM_REPLAY_ITRACE_CODE_FINDER_H

#include "cfg/code.h"
#include "replay/itrace/itrace.h"

/* Collects the code of a visit, for which VISIT_CONTROL does.  Functions that return int give 0, or -1 without memory. */
struct wcode_visit;

struct wcode_visit *wcode_visit_new(struct wcode *c);              /* NULL: no memory */
void wcode_visit_free(struct wcode_visit *t);
int wcode_visit_batch(struct wcode_visit *t, const struct visit_batch *b);        /* each batch, at once */

#endif
