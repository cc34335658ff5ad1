/* Queries of a capture: its visit, statements, and what can go wrong. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "engine/wet/querypriv.h"

int
query_bad(struct query *q, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	q->fault = (struct query_fault){ .off = UINT64_MAX, .rec = UINT64_MAX };
	vsnprintf(q->fault.err, sizeof q->fault.err, fmt, ap);
	va_end(ap);
	return -1;
}

int
query_nomem(struct query *q)
{
	return query_bad(q, "no memory");
}

static int
fault(struct query *q, const struct replay_fault *f)
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
	return fault(q, replay_fault(visit_replay(q->v)));
}

static void
mapped(void *arg, const struct ws_rec_map *m)
{
	struct query *q = arg;

	(void)wsource_map(q->source, m);        /* without memory: their lines are not known */
}

/* Without it, going to an instance takes longer, no more */
static void
keep(struct query *q)
{
	(void)visit_keep(q->v, QKEEP, q->window / 2 < QSTEP ? q->window / 2 : QSTEP);
}

int
query_visit(struct query *q, unsigned what)
{
	struct replay_fault f;

	if (q->v && q->what == what)
		return 0;
	query_paths_drop(q);
	visit_close(q->v);
	q->what = what;
	if ((q->v = visit_open(q->file, what, &f)) == NULL)
		return fault(q, &f);
	keep(q);
	replay_onmap(visit_replay(q->v), mapped, q);
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

struct query *
query_open(const char *path, struct query_fault *f)
{
	struct query *q = calloc(1, sizeof *q);

	*f = (struct query_fault){ .off = UINT64_MAX, .rec = UINT64_MAX };
	if (q && (q->file = strdup(path)) && (q->source = wsource_new())) {
		wcode_init(&q->code, NULL, NULL);
		q->window = QWINDOW;
		if (query_visit(q, VISIT_CONTROL) == 0)
			return q;
		*f = q->fault;
	} else
		snprintf(f->err, sizeof f->err, "no memory");
	query_close(q);
	return NULL;
}

void
query_close(struct query *q)
{
	if (!q)
		return;
	query_paths_drop(q);
	visit_close(q->v);
	wcode_free(&q->code);
	wsource_free(q->source);
	for (size_t k = 0; k < q->nwin; k++) {
		free(q->win[k].count);
		buf_free(&q->win[k].state);
	}
	if (q->member)
		munmap(q->member, (q->length / 64 + 2) * sizeof *q->member);
	free(q->win);
	free(q->stmt);
	free(q->hash);
	free(q->path);
	free(q->slot);
	free(q->parent);
	free(q->file);
	free(q);
}

void
query_window_of(struct query *q, uint64_t n)
{
	q->window = n;
	if (q->v)
		keep(q);
}

const struct query_fault *
query_fault(const struct query *q)
{
	return &q->fault;
}

uint32_t
query_nstmt(const struct query *q)
{
	return (uint32_t)q->nstmt;
}

const struct query_stmt *
query_stmt(const struct query *q, uint32_t id)
{
	return &q->stmt[id - 1];
}

uint64_t
query_length(const struct query *q)
{
	return q->length;
}

void
query_source(struct query *q, uint32_t id, const char **file, const char **func, int *line)
{
	const struct query_stmt *s = &q->stmt[id - 1];

	wsource_find(q->source, s->pc, s->b, s->len, file, func, line);
}

int
query_slice(struct query *q, struct query_slice *s)
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
