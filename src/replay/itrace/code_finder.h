/* Collects the static code of a run (cfg/code.h) during a visit. */
#ifndef TM_REPLAY_ITRACE_CODE_FINDER_H
#define TM_REPLAY_ITRACE_CODE_FINDER_H

#include "cfg/code.h"
#include "replay/guest/code_reader.h"
#include "replay/itrace/itrace.h"

/* VISIT_CONTROL suffices for the visit.  Functions that return int return 0, or -1: no memory. */
struct wcode_visit;

struct wcode_visit *wcode_visit_new(struct wcode *c);   /* c is borrowed; NULL: no memory */
void wcode_visit_free(struct wcode_visit *t);
/* call it for each batch, before the next */
int wcode_visit_batch(struct wcode_visit *t, const struct visit_batch *b);

/*
 * The code of a whole run: visits all that is left of it. m is what c reads the code by.  A result of
 * visit_batch that is not REPLAY_OK; -2: no memory
 */
int wcode_visit_all(struct wcode_visit *t, struct visit *v, struct wcode_replay *m);

#endif
