/*
 * Queries of .wet files of kind replay.  The capture in the file is unpacked
 * and queried; source files and lines come from the .wet file.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/temp.h"
#include "wet/file/file.h"
#include "wet/query/capture_internal.h"
#include "wet/run/run.h"

struct qreplay {
	int copy;                       /* the unpacked capture, an unnamed file */
	int error;                      /* errno if writing it failed */
	struct store_code code;
	struct run_names names;
};

static int
qreplay_write(void *arg, const void *p, size_t n)
{
	struct qreplay *t = arg;
	const char *at = p;

	while (n) {
		ssize_t k = write(t->copy, at, n);

		if (k < 0 && errno != EINTR) {
			t->error = errno;
			return -1;
		}
		at += k < 0 ? 0 : k;
		n -= k < 0 ? 0 : (size_t)k;
	}
	return 0;
}

static void
qreplay_close(struct query *q)
{
	struct qreplay *t = q->replay;

	qcap_close(q);
	if (t->copy >= 0)
		close(t->copy);
	run_names_free(&t->names);
	store_code_free(&t->code);
	free(t);
}

static int
qreplay_survey(struct query *q, int slices)
{
	struct qreplay *t = q->replay;

	if (qcap_survey(q, slices) != 0)
		return -1;
	return q->nstmt > t->code.nstmt ? query_fail(q, "the statements are not those of the capture") : 0;
}

static void
qreplay_source(struct query *q, uint32_t id, const char **file, const char **func, int *line)
{
	const struct qreplay *t = q->replay;

	run_names_find(&t->names, &t->code.stmt[id - 1], file, func, line);
}

static const struct query_ops ops = {
	.survey = qreplay_survey, .has_stmt = qcap_has_stmt, .source = qreplay_source,
	.position = qcap_position, .flow = qcap_flow, .insns = qcap_insns, .insn_at = qcap_insn_at,
	.slice = qcap_slice, .deps = qcap_deps, .writer = qcap_writer, .output = qcap_output,
	.variable = qcap_variable, .address = qcap_address, .killed = qcap_killed,
	.states = qcap_states, .place = qcap_place, .whynot = qcap_whynot, .line = qcap_line,
	.close = qreplay_close, .early = qcap_early,
	.set_window = qcap_set_window
};

/* Unpacks the capture and makes q->file its path. */
static int
qreplay_unpack(struct query *q, struct qreplay *t, const struct wetfile *w)
{
	struct fault f;
	char path[64];

	if ((t->copy = temp_unnamed("query")) < 0)
		return query_fail(q, "temporary file: %s", strerror(errno));
	if (store_replay_capture(w, qreplay_write, t, &f) != 0)
		return t->error ? query_fail(q, "temporary file: %s", strerror(t->error)) :
		    query_fail_at(q, &f);
	snprintf(path, sizeof path, "/proc/self/fd/%d", t->copy);
	free(q->file);
	return (q->file = strdup(path)) == NULL ? -1 : 0;
}

int
query_open_replay(struct query *q, struct wetfile *w)
{
	struct qreplay *t = calloc(1, sizeof *t);
	struct fault f;
	int fd = w->fd;

	if (!t)
		return -1;
	t->copy = -1;
	q->replay = t;
	q->ops = &ops;
	if (store_replay_code(w, &t->code, &f) != 0)
		return query_fail_at(q, &f);
	if (run_names_make(&t->names, &t->code) != 0 || qreplay_unpack(q, t, w) != 0 || qcap_open(q) != 0)
		return -1;
	wetfile_close(w);
	close(fd);
	return 0;
}
