/* What the files of pp share. */
#ifndef TM_APPS_PP_PP_H
#define TM_APPS_PP_PP_H

#include "base/out.h"
#include "refs/refs.h"
#include "sim/parallel.h"

struct pp_report {
	struct parallel_result result;
	struct refs *refs;              /* has the places of instructions */
	uint64_t nloop, ndep;           /* the most loops, and dependences of each loop, that are shown */
};

void report_text(struct out *o, const struct pp_report *r);
void report_json(struct out *o, const struct pp_report *r);

#endif
