/* Building the schema of a file from its slices. */
#ifndef TM_AE_REWRITE_PLAN_H
#define TM_AE_REWRITE_PLAN_H

#include "ae/rewrite/file.h"

/* Variable that holds the target of an indirect jump through memory. */
#define VAR_TARGET(m) machine_flags(m)

/* The schema of f's n traced functions fn, a unit (file.h); its constants are the bases of their fragments, in order. */
struct sch_unit *plan_unit(struct file *f, const uint32_t *fn, uint32_t n);
void plan_free(struct sch_unit *u);

#endif
