/* Internal to queries of a run (run.h). */
#ifndef TM_WET_QUERY_RUN_INTERNAL_H
#define TM_WET_QUERY_RUN_INTERNAL_H

#include "wet/query/query_internal.h"
#include "wet/run/run.h"

int qrun_fail(struct query *q); /* takes over the fault of q->run; -1 */

/* run_slice.c */
int qrun_slice(struct query *q, struct query_slice *s);
int qrun_deps(struct query *q, const struct query_slice *s, query_dep_fn *fn, void *arg);
void qrun_slicer_free(struct query *q);

#endif
