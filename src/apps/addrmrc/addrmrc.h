/* Types and functions shared by the files of addrmrc. */
#ifndef TM_APPS_ADDRMRC_H
#define TM_APPS_ADDRMRC_H

#include "base/out.h"
#include "sim/sample.h"

enum mrc_format { MRC_TEXT, MRC_CSV, MRC_JSON };

struct mrc_options {
	enum mrc_format format;
	uint64_t line, points;          /* bytes; sizes in each doubling */
	const char *kinds;              /* as it is printed */
	int histogram;
};

/* What was counted, of the program or of a sample of its lines */
struct mrc_result {
	uint64_t accesses, lines;       /* of the program; lines are estimated from a sample */
	unsigned nclass;                /* 0: exact; all, or this part of the lines: */
	double rate, first_rate;        /* now, for distances; at first, for numbers of accesses */
	struct reuse_counts whole, class[SAMPLE_CLASSES];
};

void mrc_exact(struct mrc_result *m, const struct reuse *r);
void mrc_sampled(struct mrc_result *m, const struct sample *s);
void mrc_print(struct out *out, const struct mrc_options *o, const struct mrc_result *m);

#endif
