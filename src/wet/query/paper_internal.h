/* Between the files of questions about .wet files of kind paper only. */
#ifndef TM_WET_QUERY_PAPER_INTERNAL_H
#define TM_WET_QUERY_PAPER_INTERNAL_H

#include "wet/file/paper/reader.h"
#include "wet/query/full_internal.h"

struct qplace { uint32_t path, k; };            /* statement number k of a path */

struct qpaper {
	struct wetfile w;
	struct paper_read r;
	struct qnames names;
	uint32_t *id;                   /* of r.code.seq; owned */
	uint64_t *first;                /* as in struct qfull; owned */
	uint64_t *before;               /* statements before each QPAPER_STEPth path executed; owned */
	uint64_t *time;                 /* of each segment, and behind the last: its first path executed; owned */
	struct qplace *place;           /* where statements are, by statement; owned */
	uint32_t *firstplace;           /* of each statement, and behind the last; owned */
	uint64_t nbit;                  /* of q->member; 0: there are none */
};

#define QPAPER_STEP 1024u

int qpaper_bad(struct query *q);                /* what r says: -1 */
uint64_t qpaper_before(const struct qpaper *t, uint64_t time);          /* statements before path `time` of those executed */
uint64_t qpaper_time(const struct query *q, uint64_t n, uint64_t *before);      /* the path executed that has position n; statements before it */
uint32_t qpaper_runs(const struct qpaper *t, uint32_t path, uint64_t time);    /* executions of a path before that */
size_t qpaper_segment(const struct qpaper *t, uint64_t time);
/* Executions of statement s before segment k, and in it */
void qpaper_range(const struct qpaper *t, uint32_t s, size_t k, uint32_t *before, uint32_t *n);

int qpaper_slice(struct query *q, struct query_slice *s);
int qpaper_deps(struct query *q, const struct query_slice *s, query_dep_fn *fn, void *arg);

#endif
