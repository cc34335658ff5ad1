/* Queries of a capture: its visit, statements, and what can go wrong. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "wet/query/query_internal.h"

static int
capture_fault(struct query *q, const struct fault *f)
{
	query_bad(q, "%s", f->err);
	if (f->off != WS_UNKNOWN)
		q->fault.off = f->off;
	if (f->rec != WS_UNKNOWN)
		q->fault.rec = f->rec;
	return -1;
}

int
query_replay_bad(struct query *q)
{
	return capture_fault(q, replay_fault(visit_replay(q->v)));
}

static void
capture_mapped(void *arg, const struct ws_rec_map *m)
{
	struct query *q = arg;

	(void)wsource_map(q->source, m);        /* without memory: their lines are not known */
}

void
query_keep(struct query *q)
{
	(void)visit_keep(q->v, QKEEP, q->window / 2 < QSTEP ? q->window / 2 : QSTEP);
}

/* The paths are its; states that it kept are for the next one */
void
query_unvisit(struct query *q)
{
	query_paths_drop(q);
	if (q->v && !q->kept)
		q->kept = visit_kept_of(q->v);
	visit_close(q->v);
	q->v = NULL;
}

int
query_visit(struct query *q, unsigned what)
{
	struct fault f;

	if (q->v && q->what == what)
		return 0;
	query_unvisit(q);
	q->what = what;
	if ((q->v = visit_open(q->file, what, &f)) == NULL)
		return capture_fault(q, &f);
	if (q->kept)
		visit_keep_from(q->v, q->kept);
	else
		query_keep(q);
	q->kept = NULL;
	replay_onmap(visit_replay(q->v), capture_mapped, q);
	return 0;
}

int
query_goto(struct query *q, uint64_t n)
{
	int e;

	visit_onrecord(q->v, NULL, NULL);
	visit_until(q->v, WS_UNKNOWN);
	e = n == 1 ? visit_seek(q->v, 0) : visit_goto(q->v, n);
	return e == REPLAY_BAD ? query_replay_bad(q) : e == REPLAY_OK;
}

int
query_batch(struct query *q, struct visit_batch *b)
{
	int e = visit_batch(q->v, b);

	return e == REPLAY_BAD ? query_replay_bad(q) : e == REPLAY_OK;
}

int
qcap_open(struct query *q)
{
	wcode_init(&q->code, NULL, NULL);
	query_count_forget(q);
	if ((q->source = wsource_new()) == NULL)
		return query_nomem(q);
	return query_visit(q, VISIT_CONTROL);
}

static void
qcap_close(struct query *q)
{
	query_unvisit(q);
	visit_kept_free(q->kept);
	wcode_free(&q->code);
	wsource_free(q->source);
	query_count_forget(q);
	if (q->member)
		munmap(q->member, (q->length / 64 + 2) * sizeof *q->member);
	free(q->win);
	free(q->hash);
	free(q->path);
	free(q->slot);
	free(q->parent);
}

static void
qcap_source(struct query *q, uint32_t id, const char **file, const char **func, int *line)
{
	const struct query_stmt *s = q->stmt;

	for (; !q->looked && s < q->stmt + q->nstmt; s++)
		wsource_code(q->source, s->pc, s->b, s->len);
	q->looked = 1;
	s = &q->stmt[id - 1];
	wsource_find(q->source, s->pc, s->b, s->len, file, func, line);
}

int
qcap_slice(struct query *q, struct query_slice *s)
{
	uint64_t n = (q->length / 64 + 2) * sizeof *q->member;
	void *p;

	if (!q->member) {
		p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (p == MAP_FAILED)
			return query_nomem(q);
		q->member = p;
	} else
		(void)madvise(q->member, n, MADV_DONTNEED);
	if (q->rsp != !!(s->how & QUERY_RSP)) {
		q->rsp = !q->rsp;
		query_paths_drop(q);
	}
	s->total = 0;
	return s->how & QUERY_FORWARD ? query_forward(q, s) : query_backward(q, s);
}

const struct query_ops query_capture_ops = { qcap_survey, qcap_know, qcap_source, qcap_position, qcap_flow,
	qcap_insns, qcap_insn_at, qcap_slice, qcap_deps, qcap_close };
