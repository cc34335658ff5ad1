/* Types and functions shared by the files of addrmrc. */
#ifndef TM_APPS_ADDRMRC_H
#define TM_APPS_ADDRMRC_H

#include "base/out.h"
#include "sim/reuse.h"

enum mrc_format { MRC_TEXT, MRC_CSV, MRC_JSON };

struct mrc_options {
	enum mrc_format format;
	uint64_t line, points;          /* bytes; sizes in each doubling */
	const char *kinds;              /* as it is printed */
	int histogram;
};

void mrc_print(struct out *out, const struct mrc_options *o, const struct reuse_counts *c);

#endif
