/* Types and functions shared by the files of addrmrc. */
#ifndef TM_APPS_ADDRMRC_H
#define TM_APPS_ADDRMRC_H

#include "base/out.h"
#include "sim/sample.h"

enum mrc_format { MRC_TEXT, MRC_CSV, MRC_JSON };

struct mrc_options {
	enum mrc_format format;
	uint64_t points;                /* sizes in each doubling */
	int histogram;
	uint64_t window;                /* accesses or instructions; 0: the curve is wanted */
	int by_instructions;
};

struct mrc_params;

/* What was counted, of the program or of a sample of its lines */
struct mrc_result {
	uint64_t accesses, lines;       /* of the program; lines are estimated from a sample */
	unsigned nclass;                /* 0: exact; all, or this part of the lines: */
	double rate, first_rate;        /* now, for distances; at first, for numbers of accesses */
	struct reuse_counts whole, class[SAMPLE_CLASSES];
	const struct mrc_params *params;
};

/* What is analysed */
struct mrc_params {
	uint64_t line;                  /* bytes */
	unsigned kinds;
	uint64_t threshold, most;       /* of a sample (sim/sample.h); threshold 0: there is none */
	uint64_t from;                  /* the number of the first instruction */
};

/* analysis.c: one of the two is used */
struct analysis {
	struct reuse *exact;
	struct sample *sample;
	int partial;                    /* are instructions counted? */
	uint64_t ninst;
};

void analysis_begin(struct analysis *a, const struct mrc_params *p, int partial);
int analysis_take(void *a, const uint64_t *w, size_t n);        /* refs_fn */
uint64_t analysis_accesses(const struct analysis *a);
void analysis_result(const struct analysis *a, const struct mrc_params *p, struct mrc_result *m);
void analysis_end(struct analysis *a);

/* window.c: prints the lines of each window while references are taken */
struct window;
struct window *window_new(struct out *out, const struct mrc_options *o, const struct mrc_params *p);
int window_take(void *w, const uint64_t *r, size_t n);          /* refs_fn */
void window_end(struct window *w, int bad);     /* bad: without references, there is no result */

/* partial.c: a wrong file ends the program */
void partial_begin(const struct analysis *a);                   /* before references are taken */
void partial_write(struct out *out, const struct analysis *a, const struct mrc_params *p);
/* Files, of which the last is NULL, in the order of the run; begins a, and sets *p */
void partial_merge(char **path, struct analysis *a, struct mrc_params *p);

/* What a number of a sample says about the whole */
uint64_t mrc_scaled(uint64_t n, double rate);
void mrc_print(struct out *out, const struct mrc_options *o, const struct mrc_result *m);

#endif
