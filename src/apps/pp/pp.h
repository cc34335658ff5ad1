/* What the files of pp share. */
#ifndef TM_APPS_PP_PP_H
#define TM_APPS_PP_PP_H

#include "base/out.h"
#include "sim/parallel.h"

/* The place of an instruction in the source: function and file may be NULL, line 0. */
struct pp_place {
	const char *function, *file;
	int line;
};
typedef struct pp_place pp_place_fn(void *arg, uint64_t pc);

struct pp_report {
	struct parallel_result result;
	pp_place_fn *place;
	void *arg;
	uint64_t nloop, ndep;           /* the most loops, and dependences of each loop, that are shown */
};

void report_text(struct out *o, const struct pp_report *r);
void report_json(struct out *o, const struct pp_report *r);

#endif
