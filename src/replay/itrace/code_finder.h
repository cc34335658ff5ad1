/* Collects the static code of a run (cfg/code.h) during a visit. */
#ifndef TM_REPLAY_ITRACE_CODE_FINDER_H
#define TM_REPLAY_ITRACE_CODE_FINDER_H

#include "cfg/code.h"
#include "replay/itrace/itrace.h"

/* VISIT_CONTROL suffices for the visit.  Functions that return int return 0, or -1: no memory. */
struct wcode_visit;

struct wcode_visit *wcode_visit_new(struct wcode *c);   /* c is borrowed; NULL: no memory */
void wcode_visit_free(struct wcode_visit *t);
/* call it for each batch, before the next */
int wcode_visit_batch(struct wcode_visit *t, const struct visit_batch *b);

#endif
