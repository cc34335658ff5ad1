/* State and functions shared by the files of ws2addr. */
#ifndef TM_CONVERT_WS2ADDR_H
#define TM_CONVERT_WS2ADDR_H

#include "base/out.h"
#include "cfg/source.h"
#include "format/ref/ref.h"
#include "replay/guest/replay.h"

struct job {
	const char *path, *name;        /* of the capture; name is for diagnostics */
	struct replay *r;
	struct wsource *source;         /* of the names of functions; NULL: none is wanted */
	struct out *out;
	enum ref_format fmt;
	/* print the number of references of each kind instead of references */
	int count;
	int drop[16];                   /* kinds that are not wanted, or do not exist */
	int dropping;
	uint64_t from, to;              /* instructions; to WS_UNKNOWN: to the end */
	uint64_t n[REF_NKINDS];
	size_t nruns;                   /* runs of the capture, all of which are wanted; 0: one */
	struct ws_early early;          /* reported by other processes */
};

/* sink.c: filtering and counting */

/* copies the wanted references; dst may be w; returns their number */
size_t job_drop(const struct job *j, uint64_t *dst, const uint64_t *w, size_t n);
void job_take(struct job *j, const uint64_t *w, size_t n);      /* outputs or counts n references */
void job_end(struct job *j);                    /* prints the counts if they are wanted */
void job_run(struct job *j, size_t number);     /* the same, of one of several runs */
/* warns if the capture ends early; e may be NULL */
void job_early(const struct job *j, const struct ws_early *e);
/* warns if the run ended before the first instruction that is wanted */
void job_reached(const struct job *j);
/* writes what came before the fault, reports it and exits */
_Noreturn void job_bad(struct job *j, const struct fault *f);

/* line.c, par.c: references as text, counts of [from, to), with `jobs` busy processes and a few others */
void job_line(struct job *j, unsigned jobs);
void job_count_parallel(struct job *j, unsigned jobs);

/*
 * par.c: prints at most n ranges, one a line in the form of -n, that together are [from, to). They take
 * about the same time each, and begin at keyframes where these are near.
 */
void job_segments(struct job *j, unsigned n);

/* symbol.c: references from the first entry into the function to its return */
void job_symbol(struct job *j, const char *symbol);

#endif
