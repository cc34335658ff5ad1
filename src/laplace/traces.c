/* Reads the traces of a folder: one, or all of them by their times. */
#include "laplace/traces.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "laplace/traces_internal.h"

void
lap_reader_init(struct lap_reader *q, struct lap_folder *f)
{
	memset(q, 0, sizeof *q);
	q->f = f;
}

static int
cursor_fault(struct lap_reader *q, const struct lap_cursor *c, uint64_t off, uint64_t rec, const char *what)
{
	return lap_folder_fault(q->f, c->trace->path, off, rec, what);
}

static void
cursor_unlist(struct lap_reader *q, struct lap_cursor *c)
{
	*(c->newer ? &c->newer->older : &q->newest) = c->older;
	*(c->older ? &c->older->newer : &q->oldest) = c->newer;
	c->listed = 0;
	q->nlisted--;
}

/* c is read now: its buffer is the newest, and if there are too many, the oldest one is given up. */
static void
cursor_list(struct lap_reader *q, struct lap_cursor *c)
{
	if (c->listed)
		cursor_unlist(q, c);
	if (q->nlisted == LAP_BUFFERS) {
		in_forget(q->oldest->in);
		cursor_unlist(q, q->oldest);
	}
	c->newer = NULL;
	c->older = q->newest;
	*(q->newest ? &q->newest->newer : &q->oldest) = c;
	q->newest = c;
	c->listed = 1;
	q->nlisted++;
}

static int
cursor_open(struct lap_reader *q, struct lap_cursor *c)
{
	char *path;

	if (lap_folder_check(q->f, c->trace->path) != 0)
		return -1;
	path = lap_folder_path(q->f, c->trace->path);
	if (!path)
		return cursor_fault(q, c, DIAG_NOOFF, DIAG_NOREC, "out of memory");
	c->in = in_brief(path, LAP_LINE_MAX);
	free(path);
	cursor_list(q, c);
	if (lap_merged_open(&c->r, c->in, q->name) != 0)
		return cursor_fault(q, c, c->r.off, DIAG_NOREC, c->r.err);
	return 0;
}

void
lap_cursor_close(struct lap_reader *q, struct lap_cursor *c)
{
	if (c->listed)
		cursor_unlist(q, c);
	in_close(c->in);
	c->in = NULL;
}

static int
cursor_differs(struct lap_reader *q, struct lap_cursor *c, uint64_t n, const char *what, uint64_t want)
{
	char s[120];

	snprintf(s, sizeof s, "%" PRIu64 " %s, where the manifest has %" PRIu64, n, what, want);
	return cursor_fault(q, c, DIAG_NOOFF, DIAG_NOREC, s);
}

static int
cursor_end(struct lap_reader *q, struct lap_cursor *c)
{
	const struct lap_trace *t = c->trace;

	if (c->nref != t->nref)
		return cursor_differs(q, c, c->nref, "references", t->nref);
	if (c->nevent != t->nevent)
		return cursor_differs(q, c, c->nevent, "kernel records", t->nevent);
	if (c->time != t->last)
		return cursor_fault(q, c, DIAG_NOOFF, DIAG_NOREC, "another last time than in the manifest");
	lap_cursor_close(q, c);
	return 0;
}

int
lap_cursor_next(struct lap_reader *q, struct lap_cursor *c)
{
	uint64_t time;
	int got;

	if (q->newest != c) {
		if (!c->in && (c->nref + c->nevent || !(c->trace->nref + c->trace->nevent)))
			return 0;
		if (c->in)
			cursor_list(q, c);
		else if (cursor_open(q, c) != 0)
			return -1;
	}
	c->off = in_off(c->in);
	got = lap_merged_read(&c->r, &c->item);
	if (got < 0)
		return cursor_fault(q, c, c->r.off, c->r.nrec, c->r.err);
	if (got == 0)
		return cursor_end(q, c);
	time = lap_item_time(&c->item);
	if (time < c->time || (!(c->nref + c->nevent) && time != c->trace->first))
		return cursor_fault(q, c, c->off, c->nref + c->nevent, time < c->time ?
		    "a time before that of the record before it" : "another first time than in the manifest");
	c->time = time;
	if (c->item.isevent) {
		c->item.event.name = "";
		c->item.event.nname = 0;
		c->nevent++;
	} else {
		c->nref++;
	}
	return 1;
}

/* The time of the next record that is known: of a trace that was not read yet, its first one */
static uint64_t
order_time(const struct lap_cursor *c)
{
	return c->nref + c->nevent ? c->time : c->trace->first;
}

static int
order_before(const struct lap_cursor *a, const struct lap_cursor *b)
{
	uint64_t x = order_time(a), y = order_time(b);

	return x != y ? x < y : a < b;
}

/* Moves heap[i] down to where it belongs. */
static void
order_sift(struct lap_order *o, size_t i)
{
	struct lap_cursor *c = o->heap[i];

	for (;;) {
		size_t k = 2 * i + 1;

		if (k >= o->n)
			break;
		k += k + 1 < o->n && order_before(o->heap[k + 1], o->heap[k]);
		if (!order_before(o->heap[k], c))
			break;
		o->heap[i] = o->heap[k];
		i = k;
	}
	o->heap[i] = c;
}

int
lap_order_init(struct lap_order *o, struct lap_reader *q, int kernel)
{
	const struct lap_folder *f = q->f;

	memset(o, 0, sizeof *o);
	o->q = q;
	o->cursor = calloc(f->n + 1, sizeof *o->cursor);
	o->heap = calloc(f->n + 1, sizeof *o->heap);
	if (!o->cursor || !o->heap) {
		fault_nomem(&q->f->fault);
		return -1;
	}
	for (size_t i = 0; i < f->n; i++) {
		const struct lap_trace *t = &f->trace[i];

		o->cursor[i].trace = t;
		if (t->nref + t->nevent && (kernel || !t->kernel))
			o->heap[o->n++] = &o->cursor[i];
	}
	o->ncursor = f->n;
	for (size_t i = o->n / 2; i-- > 0;)
		order_sift(o, i);
	return 0;
}

/* heap[0] is the one that goes on; it does so until another one is earlier. */
static void
order_switch(struct lap_order *o)
{
	struct lap_cursor *next = NULL;

	o->now = o->heap[0];
	for (size_t k = 1; k < 3 && k < o->n; k++)
		if (!next || order_before(o->heap[k], next))
			next = o->heap[k];
	o->until = next ? order_time(next) : UINT64_MAX;
	o->tie = !next || o->now < next;
}

/*
 * A trace that was not read yet is in the heap with its first time; when it is the first of all, its first record
 * is read, which has that time.
 */
int
lap_order_next(struct lap_order *o, struct lap_cursor **c)
{
	while (o->n) {
		int got = 1, fresh = !o->now;

		if (fresh)
			order_switch(o);
		*c = o->now;
		if (!fresh || !(o->now->nref + o->now->nevent))
			got = lap_cursor_next(o->q, o->now);
		if (got < 0)
			return -1;
		if (got > 0 && ((*c)->time < o->until || (o->tie && (*c)->time == o->until)))
			return 1;
		if (got == 0)
			o->heap[0] = o->heap[--o->n];
		if (o->n)
			order_sift(o, 0);
		o->now = NULL;
	}
	return 0;
}

void
lap_order_free(struct lap_order *o)
{
	for (size_t i = 0; i < o->ncursor; i++)
		lap_cursor_close(o->q, &o->cursor[i]);
	free(o->cursor);
	free(o->heap);
	memset(o, 0, sizeof *o);
}
