/* Queries of .wet files: chooses the backend for the kind of file. */
#include <unistd.h>

#include "wet/query/query_internal.h"

int
query_fail_at(struct query *q, const struct fault *f)
{
	query_fail(q, "%s", f->err);
	q->fault.off = f->off;
	q->fault.rec = f->rec;
	return -1;
}

int
query_open_wet(struct query *q, int fd)
{
	struct wetfile w;
	struct fault f;
	int e;

	if (wetfile_open(&w, fd, &f) != 0) {
		close(fd);
		return query_fail_at(q, &f);
	}
	q->early = w.early;
	e = w.kind == WETFILE_REPLAY ? query_open_replay(q, &w) : query_open_run(q, &w);
	if (e) {
		wetfile_close(&w);
		close(fd);
	}
	return e;
}
