/* Parts of ws2addr. */
#ifndef TM_CONVERT_WS2ADDR_H
#define TM_CONVERT_WS2ADDR_H

#include "base/out.h"
#include "format/ref/ref.h"
#include "replay/guest/replay.h"

struct job {
	const char *path;               /* the capture, for diagnostics */
	struct replay *r;
	struct out *out;
	enum ref_format fmt;
	int count;                      /* how many references of each kind, instead of them */
	int drop[16];                   /* kinds that are not wanted, or do not exist */
	int dropping;
	uint64_t from, to;              /* instructions; to WS_UNKNOWN: the end */
	uint64_t n[16];
	struct ws_early early;          /* what other processes found */
};

/* sink.c: references as they are wanted */
size_t job_drop(const struct job *j, uint64_t *dst, const uint64_t *w, size_t n);       /* without those not wanted; dst may be w */
void job_take(struct job *j, const uint64_t *w, size_t n);
void job_count(struct job *j, const uint64_t *w, size_t n);
void job_end(struct job *j);                    /* the counts, if those are wanted */
void job_early(const struct job *j, const struct ws_early *e);  /* e not NULL: says that the capture ends early */
_Noreturn void job_bad(struct job *j, const struct replay_fault *f);    /* after what came before was written */

/* line.c, par.c: references as text, counts of [from, to) by `jobs` processes and a few that do less */
void job_line(struct job *j, unsigned jobs);
void job_count_parallel(struct job *j, unsigned jobs);

/* symbol.c: from the first entry into the function to its return */
void job_symbol(struct job *j, const char *symbol);

#endif
