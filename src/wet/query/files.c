/* Questions about .wet files: which kind it is, what can go wrong. */
#include <unistd.h>

#include "wet/query/query_internal.h"

int
query_store_bad(struct query *q, const struct fault *f)
{
	query_bad(q, "%s", f->err);
	q->fault.off = f->off;
	q->fault.rec = f->rec;
	return -1;
}

int
query_store_open(struct query *q, int fd)
{
	struct wetfile w;
	struct fault f;
	int e;

	if (wetfile_open(&w, fd, &f) != 0) {
		close(fd);
		return query_store_bad(q, &f);
	}
	q->early = w.early;
	e = w.kind == WETFILE_REPLAY ? query_replay_open(q, &w) : query_run_open(q, &w);
	if (e) {
		wetfile_close(&w);
		close(fd);
	}
	return e;
}
