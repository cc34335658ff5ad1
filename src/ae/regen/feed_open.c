/* The files of events of a run, one for each program that it executed: opened and closed. */
#include "ae/regen/feed.h"
#include "ae/regen/feed_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int
feed_fail(struct feed *f, const struct feed_seg *g, uint64_t off, const char *what)
{
	f->err = what;
	f->errname = g ? in_name(g->in) : NULL;
	f->erroff = off;
	f->status = -1;
	return -1;
}

static size_t
feed_append(void *in, void *buf, size_t n)
{
	return in_read(in, buf, n);
}

static size_t
feed_pass(void *in, size_t n)
{
	return in_pass(in, n);
}

int
feed_unread(struct feed *f, const struct feed_seg *g)
{
	const struct fault *bad = g->how ? g->how->fault(g->packed) : NULL;
	const char *why = in_error(g->in);

	if (bad) {
		snprintf(f->what, sizeof f->what, "%.*s", (int)sizeof f->what - 1, bad->err);
		return feed_fail(f, g, bad->off, f->what);
	}
	if (why)
		return feed_fail(f, g, in_off(g->in), why);
	return feed_fail(f, g, g->r.erroff, g->r.err);
}

/*
 * The name of the parent's file, recorded in the child's. A relative one that does not exist is
 * tried in the folder of the child's file.
 */
static struct in *
open_parent(const char *name, const char *child)
{
	struct in *in = in_open(name), *beside;
	const char *slash = strrchr(child, '/'), *base = strrchr(name, '/');
	char path[2 * EV_HEADMAX];

	if (!in_error(in) || !slash)
		return in;
	base = base ? base + 1 : name;
	if ((size_t)(slash - child) + strlen(base) + 2 > sizeof path)
		return in;
	memcpy(path, child, (size_t)(slash - child) + 1);
	strcpy(path + (slash - child) + 1, base);
	beside = in_open(path);
	if (in_error(beside)) {
		in_close(beside);
		return in;
	}
	in_close(in);
	return beside;
}

static const char *
machine_name(unsigned machine, char tmp[24])
{
	const char *name = ev_machine(machine);

	if (name)
		return name;
	snprintf(tmp, 24, "machine %u", machine);
	return tmp;
}

static int
other_machine(struct feed *f, const struct feed_seg *g, unsigned machine)
{
	char a[24], b[24];
	const char *theirs = machine_name(g->r.head.machine, a);

	snprintf(f->what, sizeof f->what, "events of %s %s program, but the executable is for %s",
	    *theirs == 'x' ? "an" : "a", theirs, machine_name(machine, b));
	return feed_fail(f, g, 49, f->what);
}

int
feed_enter(struct feed_seg *g, const struct feed_job *j, struct in *in, const char **err)
{
	size_t have;
	const uint8_t *p = in_peek(in, 8, &have);

	g->in = in;
	g->how = have >= 8 && memcmp(p, EV_PACKED, 8) == 0 ? j->unpack : NULL;
	if (g->how)
		g->packed = g->how->open(in, j->prog);
	else if (have >= 8 && memcmp(p, EV_PACKED, 8) == 0)
		*err = "packed events, which aepack -d unpacks";
	if (g->how && !g->packed)
		*err = "out of memory";
	return *err ? -1 : 0;
}

int
feed_reader(struct feed_seg *g)
{
	if (g->how)
		return ev_open(&g->r, g->how->read, g->packed);
	if (ev_open(&g->r, feed_append, g->in) != 0)
		return -1;
	g->r.pass = feed_pass;
	return 0;
}

void
feed_leave(struct feed_seg *g)
{
	ev_close(&g->r);
	if (g->packed)
		g->how->close(g->packed);
	in_close(g->in);
}

static int
open_seg(struct feed *f, struct in *in, uint64_t left, const struct feed_job *j, uint32_t task)
{
	struct feed_seg *g = f->seg + f->nseg++;

	const char *err = NULL;

	g->left = left;
	if (feed_enter(g, j, in, &err) != 0)
		return feed_fail(f, g, 0, err);
	if (feed_reader(g) != 0)
		return feed_unread(f, g);
	if (g->r.head.machine != j->machine)
		return other_machine(f, g, j->machine);
	if (g->r.head.idlen != j->idlen || (j->idlen && memcmp(g->r.head.id, j->id, j->idlen) != 0))
		return feed_fail(f, g, 16, "written by another build of the program");
	if (g->r.head.base && !j->moves)
		return feed_fail(f, g, 80, "a load address, but the program is not position independent");
	return ev_task(&g->r, task) != 0 ? feed_unread(f, g) : 0;
}

int
feed_open(struct feed *f, struct ae_state *s, const struct feed_job *j, uint32_t task)
{
	const char *parent = j->parent;
	struct feed_seg *g, tmp;
	int later = f->later, begun = later && f->begun;

	memset(f, 0, sizeof *f);
	f->later = later;
	f->begun = begun;
	f->s = s;
	f->stop = UINT64_MAX;
	f->quietmax = FEED_QUIET;
	f->seg = calloc(FEED_CHAIN, sizeof *f->seg);
	if (!f->seg)
		return feed_fail(f, NULL, 0, "out of memory");
	if (open_seg(f, in_open(j->file), UINT64_MAX, j, task) != 0)
		return -1;
	for (g = f->seg; task == 1 && g->r.head.flags & EV_CHILD; g = f->seg + f->nseg - 1) {
		const char *name = parent ? parent : g->r.head.parent;

		if (!*name)
			return feed_fail(f, g, 80, "a forked child that does not name its parent's file");
		if (f->nseg == FEED_CHAIN)
			return feed_fail(f, g, 64, "too many generations of forked children");
		parent = NULL;
		if (open_seg(f, open_parent(name, in_name(g->in)), g->r.head.parent_pos, j,
		    g->r.head.parent_task) != 0)
			return -1;
	}
	for (unsigned i = 0, k = f->nseg - 1; i < k; i++, k--) {
		tmp = f->seg[i];
		f->seg[i] = f->seg[k];
		f->seg[k] = tmp;
	}
	for (unsigned i = 0; i < f->nseg; i++)
		f->seg[i].r.arg = f->seg[i].packed ? f->seg[i].packed : f->seg[i].in;
	s->fs = f->seg[0].r.fs;
	s->base = f->seg[0].r.head.base;
	s->eend = f->view = f->carry;
	f->begun = 1;
	return 0;
}

int
feed_learn(struct feed *f, const uint8_t *p, size_t n, uint32_t task)
{
	struct feed_seg *g = f->seg;
	const uint8_t *none;

	if (f->nseg) {
		ev_close(&g->r);
		in_close(g->in);
	}
	f->nseg = 1;
	g->in = in_mem(p, n, "events");
	g->left = UINT64_MAX;
	if (ev_open(&g->r, feed_append, g->in) != 0 || ev_task(&g->r, task) != 0)
		return feed_unread(f, g);
	while (ev_next(&g->r, &none) > 0)
		;
	return 0;
}

int
feed_blank(struct feed *f, struct ae_state *s, const uint8_t *p, size_t n, uint32_t task)
{
	memset(f, 0, sizeof *f);
	f->s = s;
	f->stop = UINT64_MAX;
	f->quietmax = FEED_QUIET;
	f->seg = calloc(1, sizeof *f->seg);
	if (!f->seg)
		return feed_fail(f, NULL, 0, "out of memory");
	if (feed_learn(f, p, n, task) != 0)
		return -1;
	s->fs = f->seg->r.fs;
	s->base = f->seg->r.head.base;
	s->eend = f->view = f->carry;
	f->begun = 1;
	return 0;
}

uint64_t
feed_bytes(const struct feed *f)
{
	uint64_t n = 0;

	if (f->bytes)
		return f->bytes;
	for (unsigned i = 0; i < f->nseg; i++)
		n += f->seg[i].r.off - f->seg[i].r.other;
	return n;
}

uint32_t
feed_interrupts(const struct feed *f, uint32_t *task)
{
	const struct feed_seg *g = f->seg + f->nseg - 1;

	*task = g->r.task;
	return g->r.interrupts;
}

void
feed_close(struct feed *f)
{
	for (unsigned i = 0; i < f->nseg; i++)
		feed_leave(f->seg + i);
	free(f->crash);
	f->crash = NULL;
	free(f->seg);
	f->seg = NULL;
	f->nseg = 0;
}
