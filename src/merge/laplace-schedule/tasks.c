/*
 * Tasks: a task has several traces if it was in several processes. A number that comes again after the task of that
 * number ended is another task. A task that a trace forks cannot begin before that.
 */
#include "merge/laplace-schedule/schedule.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/search.h"

struct fork { uint64_t child, time; size_t parent; };

/* What has to be known of the traces before one is run */
struct scan {
	struct fork *fork;              /* by child, then by time */
	size_t n, room;
	uint8_t *ended;                 /* of each trace: does its task end in it? */
};

/* A fault ends the trace here; the run comes to it again, and reports it. */
static void
scan_trace(struct scan *s, struct lap_reader *q, size_t i)
{
	struct lap_cursor c = { .trace = &q->f->trace[i] };
	while (lap_cursor_next(q, &c) > 0) {
		const struct lap_event *e = &c.item.event;

		if (!c.item.isevent)
			continue;
		if (e->kind == LAP_K_EXIT && e->f[LAP_PID] == c.trace->pid)
			s->ended[i] = 1;
		if (e->kind != LAP_K_FORK)
			continue;
		s->fork = mem_xgrow(s->fork, &s->room, s->n + 1, sizeof *s->fork);
		s->fork[s->n++] = (struct fork){ e->f[LAP_PID], e->time, i };
	}
	lap_cursor_close(q, &c);
}

static int
fork_compare(const void *a, const void *b)
{
	const struct fork *x = a, *y = b;

	if (x->child != y->child)
		return x->child < y->child ? -1 : 1;
	return x->time < y->time ? -1 : x->time > y->time;
}

static int
trace_compare(const void *a, const void *b)
{
	const struct lap_trace *x = *(const struct lap_trace *const *)a, *y = *(const struct lap_trace *const *)b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return x < y ? -1 : x > y;
}

static const struct task *arriving;             /* for qsort */
static const struct lap_trace *const *arriving_trace;

static int
arrival_compare(const void *a, const void *b)
{
	size_t i = *(const size_t *)a, k = *(const size_t *)b;
	const struct lap_trace *x = arriving_trace[arriving[i].first], *y = arriving_trace[arriving[k].first];

	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* The last fork of the number up to the beginning of the task, if it is after the end of the one before it */
static void
find_parent(const struct scan *s, struct task *t, const struct lap_trace *trace, const struct lap_trace *before)
{
	const struct fork *f;
	size_t i;

	t->parent = NONE;
	LOWER_BOUND(i, s->n, s->fork[i].child < trace->pid ||
	    (s->fork[i].child == trace->pid && s->fork[i].time <= trace->first));
	if (!i)
		return;
	f = &s->fork[i - 1];
	if (f->child != trace->pid || (before && before->pid == trace->pid && f->time < before->last))
		return;
	t->parent = f->parent;
	t->forked = f->time;
}

static void
make_tasks(struct tasks *s, const struct lap_folder *f, const struct scan *scan, size_t ntrace)
{
	for (size_t i = 0; i < ntrace; i++) {
		const struct lap_trace *t = s->trace[i], *before = i ? s->trace[i - 1] : NULL;
		struct task *k = &s->task[s->n];

		if (before && before->pid == t->pid && !scan->ended[before - f->trace]) {
			s->task[s->n - 1].n++;
			continue;
		}
		*k = (struct task){ .first = i, .n = 1, .processor = ALL };
		find_parent(scan, k, t, before);
		if (k->parent == NONE)
			s->arrival[s->narrival++] = s->n;
		s->n++;
	}
}

void
tasks_begin(struct tasks *s, struct lap_reader *q)
{
	const struct lap_folder *f = q->f;
	struct scan scan = { .n = 0 };
	size_t n = 0;

	*s = (struct tasks){ .n = 0 };
	s->task = xcalloc(f->n + 1, sizeof *s->task);
	s->trace = xcalloc(f->n + 1, sizeof *s->trace);
	s->arrival = xcalloc(f->n + 1, sizeof *s->arrival);
	scan.ended = xcalloc(f->n + 1, 1);
	for (size_t i = 0; i < f->n; i++) {
		if (f->trace[i].kernel)
			continue;
		s->trace[n++] = &f->trace[i];
		if (f->trace[i].nevent)
			scan_trace(&scan, q, i);
	}
	qsort(s->trace, n, sizeof *s->trace, trace_compare);
	if (scan.n)
		qsort(scan.fork, scan.n, sizeof *scan.fork, fork_compare);
	make_tasks(s, f, &scan, n);
	arriving = s->task;
	arriving_trace = s->trace;
	qsort(s->arrival, s->narrival, sizeof *s->arrival, arrival_compare);
	free(scan.fork);
	free(scan.ended);
}

size_t
tasks_forked(const struct tasks *s, const struct lap_folder *f, const struct lap_trace *t, const struct lap_event *e)
{
	size_t i;

	if (e->kind != LAP_K_FORK)
		return NONE;
	LOWER_BOUND(i, s->n, s->trace[s->task[i].first]->pid < e->f[LAP_PID]);
	for (; i < s->n && s->trace[s->task[i].first]->pid == e->f[LAP_PID]; i++)
		if (s->task[i].parent != NONE && &f->trace[s->task[i].parent] == t && s->task[i].forked == e->time)
			return i;
	return NONE;
}

void
tasks_of_traces(struct tasks *s, const struct lap_folder *f)
{
	*s = (struct tasks){ .n = f->n };
	s->task = xcalloc(f->n + 1, sizeof *s->task);
	s->trace = xcalloc(f->n + 1, sizeof *s->trace);
	for (size_t i = 0; i < f->n; i++) {
		s->trace[i] = &f->trace[i];
		s->task[i] = (struct task){ .first = i, .n = 1, .processor = ALL };
	}
}

void
tasks_end(struct tasks *s)
{
	free(s->task);
	free(s->trace);
	free(s->arrival);
}
