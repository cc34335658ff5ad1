/* Queries of a capture: its visit, statements, and what can go wrong. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "wet/query/capture_internal.h"

static int
capture_fault(struct qcap *cap, const struct fault *f)
{
	query_bad(cap->q, "%s", f->err);
	if (f->off != WS_UNKNOWN)
		cap->q->fault.off = f->off;
	if (f->rec != WS_UNKNOWN)
		cap->q->fault.rec = f->rec;
	return -1;
}

int
qcap_replay_bad(struct qcap *cap)
{
	return capture_fault(cap, replay_fault(visit_replay(cap->v)));
}

static void
capture_mapped(void *arg, const struct ws_rec_map *m)
{
	struct qcap *cap = arg;

	(void)wsource_map(cap->source, m);        /* without memory: their lines are not known */
}

void
qcap_cache_states(struct qcap *cap)
{
	(void)visit_keep(cap->v, QKEEP, cap->window / 2 < QSTEP ? cap->window / 2 : QSTEP);
}

/* The paths are its; states that it kept are for the next one */
void
qcap_close_trace(struct qcap *cap)
{
	qcap_free_paths(cap);
	if (cap->v && !cap->kept)
		cap->kept = visit_kept_of(cap->v);
	visit_close(cap->v);
	cap->v = NULL;
}

int
qcap_open_trace(struct qcap *cap, unsigned what)
{
	struct fault f;

	if (cap->v && cap->what == what)
		return 0;
	qcap_close_trace(cap);
	cap->what = what;
	if ((cap->v = visit_open(cap->q->file, what, &f)) == NULL)
		return capture_fault(cap, &f);
	if (cap->kept)
		visit_keep_from(cap->v, cap->kept);
	else
		qcap_cache_states(cap);
	cap->kept = NULL;
	replay_onmap(visit_replay(cap->v), capture_mapped, cap);
	return 0;
}

int
qcap_seek(struct qcap *cap, uint64_t n)
{
	int e;

	visit_onrecord(cap->v, NULL, NULL);
	visit_until(cap->v, WS_UNKNOWN);
	e = n == 1 ? visit_seek(cap->v, 0) : visit_goto(cap->v, n);
	return e == REPLAY_BAD ? qcap_replay_bad(cap) : e == REPLAY_OK;
}

int
qcap_next_batch(struct qcap *cap, struct visit_batch *b)
{
	int e = visit_batch(cap->v, b);

	return e == REPLAY_BAD ? qcap_replay_bad(cap) : e == REPLAY_OK;
}

int
qcap_open(struct query *q)
{
	struct qcap *cap = q->cap = calloc(1, sizeof *cap);

	if (!cap)
		return query_nomem(q);
	cap->q = q;
	cap->window = QWINDOW;
	wcode_init(&cap->code, NULL, NULL);
	qcap_clear_counts(cap);
	if ((cap->source = wsource_new()) == NULL)
		return query_nomem(q);
	return qcap_open_trace(cap, VISIT_CONTROL);
}

void
qcap_close(struct query *q)
{
	struct qcap *cap = q->cap;

	if (!cap)
		return;
	qcap_close_trace(cap);
	visit_kept_free(cap->kept);
	wcode_free(&cap->code);
	wsource_free(cap->source);
	qcap_clear_counts(cap);
	if (q->member)
		munmap(q->member, (q->length / 64 + 2) * sizeof *q->member);
	free(cap->win);
	free(cap->hash);
	free(cap->path);
	free(cap->slot);
	free(cap->parent);
	free(cap);
	q->cap = NULL;
}

const struct ws_early *
qcap_early(struct query *q)
{
	return q->cap->v ? replay_early(visit_replay(q->cap->v)) : NULL;
}

void
qcap_window_of(struct query *q, uint64_t n)
{
	q->cap->window = n;
	if (q->cap->v)
		qcap_cache_states(q->cap);
}

static void
qcap_source(struct query *q, uint32_t id, const char **file, const char **func, int *line)
{
	struct qcap *cap = q->cap;
	const struct query_stmt *s = q->stmt;

	for (; !cap->looked && s < q->stmt + q->nstmt; s++)
		wsource_code(cap->source, s->pc, s->b, s->len);
	cap->looked = 1;
	s = &q->stmt[id - 1];
	wsource_find(cap->source, s->pc, s->b, s->len, file, func, line);
}

static const char *
qcap_complaint(struct query *q)
{
	return q->cap->looked ? wsource_complaint(q->cap->source) : NULL;
}

static struct timespec
qcap_changed(struct query *q, uint32_t id)
{
	return q->cap->looked ? wsource_changed(q->cap->source, q->stmt[id - 1].pc) : (struct timespec){ 0 };
}

int
qcap_slice(struct query *q, struct query_slice *s)
{
	struct qcap *cap = q->cap;
	uint64_t n = (q->length / 64 + 2) * sizeof *q->member;
	void *p;

	if (!q->member) {
		p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (p == MAP_FAILED)
			return query_nomem(q);
		q->member = p;
	} else
		(void)madvise(q->member, n, MADV_DONTNEED);
	if (cap->rsp != !!(s->how & QUERY_RSP)) {
		cap->rsp = !cap->rsp;
		qcap_free_paths(cap);
	}
	s->total = 0;
	return s->how & QUERY_FORWARD ? qcap_slice_forward(cap, s) : qcap_slice_backward(cap, s);
}

int
query_open_capture(struct query *q)
{
	static const struct query_ops ops = {
		.survey = qcap_survey, .know = qcap_know, .source = qcap_source, .position = qcap_position,
		.flow = qcap_flow, .insns = qcap_insns, .insn_at = qcap_insn_at, .slice = qcap_slice,
		.deps = qcap_deps, .close = qcap_close, .early = qcap_early, .window_of = qcap_window_of,
		.complaint = qcap_complaint, .changed = qcap_changed
	};

	q->ops = &ops;
	return qcap_open(q);
}
