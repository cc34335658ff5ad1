/* Queries of a capture: opens and closes the capture and its visit, reports its failures. */
#include <stdlib.h>
#include <string.h>

#include "wet/query/capture_internal.h"

int
qcap_fail_at(struct qcap *cap, const struct fault *f)
{
	query_fail(cap->q, "%s", f->err);
	if (f->off != WS_UNKNOWN)
		cap->q->fault.off = f->off;
	if (f->rec != WS_UNKNOWN)
		cap->q->fault.rec = f->rec;
	return -1;
}

int
qcap_replay_fail(struct qcap *cap)
{
	return qcap_fail_at(cap, replay_fault(visit_replay(cap->trace)));
}

static void
capture_mapped(void *arg, const struct ws_rec_map *m)
{
	struct qcap *cap = arg;

	(void)wsource_map(cap->source, m);      /* without memory: the lines of this file are unknown */
}

void
qcap_cache_states(struct qcap *cap)
{
	(void)visit_snapshots_enable(cap->trace, QSTATES,
	    cap->window / 2 < QSTATE_STEP ? cap->window / 2 : QSTATE_STEP);
}

/* Paths refer to the trace and are freed with it.  The states it cached are kept for the next trace. */
void
qcap_close_trace(struct qcap *cap)
{
	qcap_free_paths(cap);
	if (cap->trace && !cap->states)
		cap->states = visit_snapshots_detach(cap->trace);
	visit_close(cap->trace);
	cap->trace = NULL;
}

int
qcap_open_trace(struct qcap *cap, unsigned what)
{
	struct fault f;

	if (cap->trace && (cap->what | VISIT_CONTROL) == (what | VISIT_CONTROL)) {
		if (cap->what != what)
			visit_set_control(cap->trace, (what & VISIT_CONTROL) != 0);
		cap->what = what;
		return 0;
	}
	qcap_close_trace(cap);
	cap->what = what;
	if ((cap->trace = visit_open_mapped(cap->q->file, what, capture_mapped, cap, &f)) == NULL)
		return qcap_fail_at(cap, &f);
	if (cap->states)
		visit_snapshots_attach(cap->trace, cap->states);
	else
		qcap_cache_states(cap);
	cap->states = NULL;
	return 0;
}

int
qcap_seek(struct qcap *cap, uint64_t n)
{
	int e;

	visit_set_record_fn(cap->trace, NULL, NULL);
	visit_until(cap->trace, WS_UNKNOWN);
	e = n == 1 ? visit_seek(cap->trace, 0) : visit_goto(cap->trace, n);
	return e == REPLAY_BAD ? qcap_replay_fail(cap) : e == REPLAY_OK;
}

int
qcap_next_batch(struct qcap *cap, struct visit_batch *b)
{
	int e = visit_batch(cap->trace, b);

	return e == REPLAY_BAD ? qcap_replay_fail(cap) : e == REPLAY_OK;
}

int
qcap_open(struct query *q)
{
	struct qcap *cap = q->cap = calloc(1, sizeof *cap);

	if (!cap)
		return -1;
	cap->q = q;
	cap->window = QWINDOW;
	wcode_init(&cap->code, NULL, NULL);
	qcap_clear_counts(cap);
	if ((cap->source = wsource_new(q->file)) == NULL)
		return -1;
	wsource_inlined(cap->source);
	return qcap_open_trace(cap, VISIT_CONTROL);
}

void
qcap_close(struct query *q)
{
	struct qcap *cap = q->cap;

	if (!cap)
		return;
	qcap_close_trace(cap);
	visit_snapshots_free(cap->states);
	wcode_free(&cap->code);
	wsource_free(cap->source);
	qcap_clear_counts(cap);
	free(cap->win);
	hash_free(&cap->by_pc);
	free(cap->path);
	free(cap->parent);
	free(cap);
	q->cap = NULL;
}

const struct ws_early *
qcap_early(struct query *q)
{
	return q->cap->trace ? replay_early(visit_replay(q->cap->trace)) : NULL;
}

void
qcap_set_window(struct query *q, uint64_t n)
{
	q->cap->window = n;
	if (q->cap->trace)
		qcap_cache_states(q->cap);
}

void
qcap_look(struct qcap *cap)
{
	const struct query *q = cap->q;

	for (const struct query_stmt *s = q->stmt; !cap->looked && s < q->stmt + q->nstmt; s++)
		wsource_code(cap->source, s->pc, s->b, s->len);
	cap->looked = 1;
}

static void
qcap_source(struct query *q, uint32_t id, const char **file, const char **func, int *line)
{
	struct qcap *cap = q->cap;
	const struct query_stmt *s = &q->stmt[id - 1];

	qcap_look(cap);
	wsource_find(cap->source, s->pc, s->b, s->len, file, func, line);
}

static int
qcap_may_have_source(struct query *q, uint32_t id, const char *name)
{
	qcap_look(q->cap);
	return wsource_may_have(q->cap->source, q->stmt[id - 1].pc, name);
}

static const char *
qcap_source_warning(struct query *q)
{
	return q->cap->looked ? wsource_complaint(q->cap->source) : NULL;
}

static struct timespec
qcap_source_mtime(struct query *q, uint32_t id)
{
	return q->cap->looked ? wsource_changed(q->cap->source, q->stmt[id - 1].pc) : (struct timespec){ 0 };
}

int
qcap_slice_begin(struct query *q, struct query_slice *s)
{
	struct qcap *cap = q->cap;

	if (query_clear_slice(q, q->length) != 0)
		return -1;
	if (cap->follow != (s->flags & QFOLLOW)) {
		cap->follow = s->flags & QFOLLOW;
		qcap_free_paths(cap);
	}
	s->total = 0;
	return 0;
}

int
qcap_slice(struct query *q, struct query_slice *s)
{
	struct qcap *cap = q->cap;

	if (qcap_slice_begin(q, s) != 0)
		return -1;
	return s->flags & QUERY_FORWARD ? qcap_slice_forward(cap, s) : qcap_slice_backward(cap, s);
}

int
query_open_capture(struct query *q)
{
	static const struct query_ops ops = {
		.survey = qcap_survey, .has_stmt = qcap_has_stmt, .source = qcap_source,
		.position = qcap_position, .flow = qcap_flow, .insns = qcap_insns,
		.insn_at = qcap_insn_at, .slice = qcap_slice,
		.deps = qcap_deps, .writer = qcap_writer, .output = qcap_output,
	.variable = qcap_variable, .address = qcap_address, .killed = qcap_killed,
		.states = qcap_states, .place = qcap_place, .whynot = qcap_whynot, .line = qcap_line,
		.close = qcap_close, .early = qcap_early, .set_window = qcap_set_window,
		.may_have_source = qcap_may_have_source, .source_warning = qcap_source_warning,
		.source_mtime = qcap_source_mtime
	};

	q->ops = &ops;
	return qcap_open(q);
}
