/* Building the schema of a file from its slices. */
#ifndef TM_AE_REWRITE_PLAN_H
#define TM_AE_REWRITE_PLAN_H

#include "ae/rewrite/file.h"

/* Variable that holds the target of an indirect jump through memory. */
#define VAR_TARGET(m) machine_flags(m)

/* The unit of f's traced functions; its constants are the bases of their fragments, in order. */
struct sch_unit *plan_unit(struct file *f);
void plan_free(struct sch_unit *u);

#endif
