/*
 * All threads of an event file in an order in which they can have run: see regen_merge.
 *
 * Each time a thread got what another one may have given it, a mutex for example, its events have a number. If what a thread did
 * up to some place happened before what another one did from such a point on, then the last number of the first thread before that
 * place is lower than the number of the point: the numbers are given one after the other. So the threads go on by their
 * numbers, the lowest one first, each up to its next point.
 *
 * A stream that begins with the number at which its thread was made is opened when all others have come there.
 */
#include <stdlib.h>
#include <string.h>

#include "ae/regen/feed_internal.h"
#include "ae/regen/msg.h"
#include "ae/regen/regen.h"
#include "base/diag.h"
#include "base/src.h"
#include "format/ref/ref.h"

/* Standard input that is a file, opened anew for each thread: not one of the names by which it is read where it is */
static const char anew[] = "/proc/thread-self/fd/0";

struct strand {
	struct feed f;
	struct regen *r;
	struct merge *m;
	uint32_t task;
	uint64_t point;         /* where it goes on, with its flags; 0: it has ended */
};

struct merge {
	const struct feed_job *j;
	struct feed_job own;    /* the job, with another name for standard input */
	struct regen *r;        /* of the first thread; its code is that of all */
	struct strand **strand; /* owned: those that are open, in the order in which they were opened */
	size_t n, cap;
	uint32_t *list;         /* owned: the numbers of all threads, of which so many have been opened */
	size_t ntask, nopened;
	uint32_t task;          /* the thread that the references are of; 0: there were none */
	struct tasks_said said;
	struct feed *f;         /* what the caller is told */
};

/* References of a thread: if others were before them, its number comes first. */
static int
merge_sink(void *arg, const uint64_t *refs, size_t n)
{
	struct strand *s = arg;
	struct merge *m = s->m;
	uint64_t ref = ref_make(REF_TASK, s->task, 0);
	int status = 0;

	if (m->task != s->task)
		status = m->j->sink(m->j->sinkarg, &ref, 1);
	m->task = s->task;
	return status ? status : m->j->sink(m->j->sinkarg, refs, n);
}

static void
merge_drop(struct merge *m, size_t i)
{
	struct strand *s = m->strand[i];

	if (s->r != m->r)
		regen_free(s->r);
	free(s);
	m->n--;
	for (; i < m->n; i++)
		m->strand[i] = m->strand[i + 1];
}

/* Thread i has ended, or there is a fault: what is to be said of it is kept. The last one is closed by the caller. */
static int
merge_ended(struct merge *m, size_t i)
{
	struct strand *s = m->strand[i];
	int status = s->f.status;

	if (s->f.nseg)
		tasks_keep(&m->said, &s->f, 1);
	feed_close(m->f);
	*m->f = s->f;
	if (m->f->errname && strcmp(m->f->errname, anew) == 0)
		m->f->errname = src_name(NULL);
	merge_drop(m, i);
	return status == AE_STOPPED ? 0 : status;
}

/* Goes on with thread i up to its next point. */
static int
merge_go(struct merge *m, size_t i)
{
	struct strand *s = m->strand[i];

	regen_resume(s->r, &s->f);
	s->point = s->f.status ? 0 : regen_point(s->r);
	return s->point ? 0 : merge_ended(m, i);
}

/* Opens the next thread, and comes to its first point. */
static int
merge_open(struct merge *m)
{
	struct strand *s = calloc(1, sizeof *s), **p = m->strand;
	const char *err = "out of memory";

	if (s && m->n == m->cap) {
		m->cap = 2 * m->cap + 8;
		p = realloc(m->strand, m->cap * sizeof *p);
	}
	if (s && p) {
		m->strand = p;
		s->r = m->nopened ? regen_also(m->r, &err) : m->r;
	}
	if (!s || !p || !s->r) {
		free(s);
		m->f->err = err;
		return m->f->status = -1;
	}
	m->strand[m->n++] = s;
	s->m = m;
	s->task = m->list[m->nopened++];
	s->f.later = s->task > 1;
	if (feed_open(&s->f, regen_state(s->r), &m->own, s->task) != 0)
		return merge_ended(m, m->n - 1);
	if (!s->f.seg[s->f.nseg - 1].r.ordered) {
		s->f.err = msg_noorder;
		s->f.errname = src_name(m->j->file);
		s->f.erroff = DIAG_NOOFF;
		s->f.status = -1;
		return merge_ended(m, m->n - 1);
	}
	s->f.sink = merge_sink;
	s->f.sinkarg = s;
	s->f.quietmax = m->j->quietmax;
	return merge_go(m, m->n - 1);
}

static uint64_t
merge_number(const struct strand *s)
{
	return s->point & ~(EV_POINT | EV_BIRTH);
}

/* Opens threads up to one that waits for the number of its making; or all. */
static int
merge_more(struct merge *m)
{
	int status = 0;

	while (!status && m->nopened < m->ntask && !(m->n && m->strand[m->n - 1]->point & EV_BIRTH))
		status = merge_open(m);
	return status;
}

static int
merge_run(struct merge *m)
{
	int status = merge_more(m);
	size_t least;

	while (!status && m->n) {
		least = 0;
		for (size_t i = 1; i < m->n; i++)
			if (merge_number(m->strand[i]) < merge_number(m->strand[least]))
				least = i;
		status = merge_go(m, least);
		if (!status)
			status = merge_more(m);
	}
	return status;
}

static int
merge_order(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* The numbers of all threads. That the file is damaged is said when they are read. */
static int
merge_list(struct merge *m)
{
	struct feed_seg g = { 0 };
	const char *err = NULL;
	uint32_t *p;

	m->list = malloc(sizeof *m->list);
	if (!m->list)
		return -1;
	m->list[0] = 1;
	m->ntask = 1;
	if (feed_enter(&g, &m->own, in_open(m->own.file), &err) == 0 && feed_reader(&g) == 0) {
		g.r.list = 1;
		ev_task(&g.r, UINT32_MAX);
		p = reallocarray(m->list, g.r.nbegin + 1, sizeof *p);
		if (!p) {
			feed_leave(&g);
			return -1;
		}
		m->list = p;
		if (g.r.nbegin)
			memcpy(p + 1, g.r.begins, g.r.nbegin * sizeof *p);
		m->ntask += g.r.nbegin;
		qsort(p, m->ntask, sizeof *p, merge_order);
	}
	feed_leave(&g);
	return 0;
}

int
regen_merge(struct regen *r, struct feed *f, const struct feed_job *j)
{
	struct merge m = {.j = j, .own = *j, .r = r, .f = f};
	off_t start;
	int again = tasks_again(j->file, &start), status;

	if (!tasks_several(j, again))
		return feed_tasks(f, regen_state(r), j);
	memset(f, 0, sizeof *f);
	if (!again || start != 0)
		return tasks_cannot(f, j);
	if (src_is_stdin(j->file))
		m.own.file = anew;
	regen_points(r);
	status = merge_list(&m);
	if (!status)
		status = merge_run(&m);
	else {
		f->err = "out of memory";
		f->status = status;
	}
	f->begun = m.task != 0;
	while (m.n) {
		feed_close(&m.strand[m.n - 1]->f);
		merge_drop(&m, m.n - 1);
	}
	free(m.strand);
	free(m.list);
	if (status && status != AE_STOPPED)
		return status;
	tasks_restore(f, &m.said);
	if (f->err && m.own.file == anew)
		f->errname = src_name(NULL);
	return f->status;
}
