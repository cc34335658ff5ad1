/* addrplot: pictures of reuse distances. */
#ifndef TM_APPS_ADDRPLOT_CURVE_H
#define TM_APPS_ADDRPLOT_CURVE_H

#include "apps/addrplot/addrplot.h"
#include "sim/reuse.h"

#define CURVE_SHIFT 6u
#define CURVE_LINE  (1u << CURVE_SHIFT)

void curve_print(struct out *out, const struct reuse_counts *c, const struct plot_options *o);
void distances_print(struct out *out, const struct reuse_counts *c, const struct plot_options *o);

#endif
