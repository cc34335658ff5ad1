/* What the files of laplace-stat share. */
#ifndef TM_APPS_LAPLACE_STAT_H
#define TM_APPS_LAPLACE_STAT_H

#include <stdint.h>

#include "base/out.h"
#include "laplace/traces.h"

/* window.c: the working sets of all tasks in windows of so much time */
void window_run(struct out *out, struct lap_folder *f, uint64_t length, int json);

#endif
