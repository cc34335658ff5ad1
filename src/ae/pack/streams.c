/* The streams of events of a file: see streams.h. */
#include "ae/pack/streams.h"

#include <stdlib.h>
#include <string.h>

#include "format/ae/events.h"

static int
streams_fail(struct streams *t, const char *what)
{
	t->err = what;
	return -1;
}

int
streams_init(struct streams *t, struct exe *x)
{
	memset(t, 0, sizeof *t);
	t->x = x;
	if (prog_load_exe(&t->prog, x) != 0)
		return streams_fail(t, t->prog.err);
	t->work = vc_work_new(1);
	if (!t->work || coder_init(&t->code) != 0 || recall_init(&t->recall, x->big, follow_fill, &t->prog) != 0)
		return streams_fail(t, "out of memory");
	return 0;
}

void
streams_free(struct streams *t)
{
	for (size_t i = 0; i < t->n; i++)
		walk_free(t->s[i].walk);
	free(t->s);
	buf_free(&t->head);
	coder_release(&t->code);
	recall_free(&t->recall);
	vc_work_free(t->work);
	prog_free(&t->prog);
	memset(t, 0, sizeof *t);
}

static size_t
streams_append(void *in, void *buf, size_t n)
{
	return in_read(in, buf, n);
}

/* Is it a run of this program? As feed.c says it */
static int
streams_mine(struct streams *t)
{
	struct in *in = in_mem(t->head.p, t->head.n, "events");
	const struct exe *x = t->x;
	struct ev_reader r;
	const char *bad = ev_open(&r, streams_append, in) != 0 ? r.err : NULL;

	if (bad)
		;
	else if (r.head.machine != x->machine)
		bad = "events of a program for another machine";
	else if (r.head.idlen != x->idlen || (x->idlen && memcmp(r.head.id, x->id, x->idlen) != 0))
		bad = "written by another build of the program";
	else if (r.head.base && !x->moves)
		bad = "a load address, but the program is not position independent";
	else {
		if (x->moves)
			prog_move(&t->prog, r.head.base);
		/* what a child does depends on its parent's events */
		if (r.head.flags & EV_CHILD) {
			struct stream *s = streams_find(t, 1);

			if (s)
				s->none = 1;
		}
	}
	ev_close(&r);
	in_close(in);
	return bad ? streams_fail(t, bad) : 0;
}

int
streams_head(struct streams *t, const uint8_t *p, size_t n)
{
	int first = t->head.n == 0;

	buf_add(&t->head, p, n);
	if (t->head.nomem)
		return streams_fail(t, "out of memory");
	if (first)
		return streams_mine(t);
	for (size_t i = 0; i < t->n; i++)
		if (t->s[i].walk)
			walk_learn(t->s[i].walk, t->head.p, t->head.n);
	return 0;
}

struct stream *
streams_find(struct streams *t, uint32_t task)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->s[i].task == task)
			return t->s + i;
	if (buf_grow(&t->s, &t->cap, t->n + 1, sizeof *t->s) != 0) {
		t->err = "out of memory";
		return NULL;
	}
	t->s[t->n] = (struct stream){ .task = task, .none = t->n >= PACK_TASKS };
	return t->s + t->n++;
}

int
streams_walk(struct streams *t, struct stream *s)
{
	if (s->walk || s->none)
		return 0;
	s->walk = walk_new(t->x, &t->code, &t->recall, t->head.p, t->head.n, s->task, &t->err);
	/* a machine that is not known, a thread that has not begun ...: then events are kept as bytes */
	s->none = !s->walk && t->err != walk_nomem;
	return s->walk || s->none ? 0 : -1;
}

void
streams_close(struct streams *t, uint32_t task)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->s[i].task == task) {
			walk_free(t->s[i].walk);
			t->s[i] = t->s[--t->n];
			return;
		}
}

int
streams_failed(const struct streams *t)
{
	int failed = t->code.failed || t->recall.failed;

	for (size_t i = 0; i < t->n; i++)
		failed |= t->s[i].walk && t->s[i].walk->follow.failed;
	return failed;
}
