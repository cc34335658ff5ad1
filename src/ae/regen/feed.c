/* Events in, references out: see feed.h. */
#include "ae/regen/feed.h"
#include "ae/regen/feed_crash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ae/regen/msg.h"
#include "base/bytes.h"
#include "format/ref/ref.h"
#include "format/schema/schema.h"

static int
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

/* A fault reported by the event reader. If the input itself has an error, that is reported instead. */
static int
fail_reader(struct feed *f, const struct feed_seg *g)
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
		return fail_reader(f, g);
	if (g->r.head.machine != j->machine)
		return other_machine(f, g, j->machine);
	if (g->r.head.idlen != j->idlen || (j->idlen && memcmp(g->r.head.id, j->id, j->idlen) != 0))
		return feed_fail(f, g, 16, "written by another build of the program");
	if (g->r.head.base && !j->moves)
		return feed_fail(f, g, 80, "a load address, but the program is not position independent");
	return ev_task(&g->r, task) != 0 ? fail_reader(f, g) : 0;
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
		return fail_reader(f, g);
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

static _Noreturn void
feed_done(struct feed *f)
{
	longjmp(f->out, 1);
}

/*
 * No event will follow. Whatever the end record says is part of the trace, except that recording
 * stopped, and the place of a signal.
 */
static void
feed_ended(struct feed *f, const struct feed_seg *g)
{
	if (!g->r.ended)
		fail_reader(f, g);
	else if (g->r.end.reason == EV_STOPPED) {
		feed_fail(f, g, g->r.off, msg_stopped);
		f->status = AE_STOPPED;
	} else if (g->r.end.reason == EV_LOST) {
		feed_fail(f, g, g->r.off, msg_lost);
		f->status = AE_STOPPED;
	} else if (g->r.end.reason == EV_LIMITED)
		f->limited = 1;
	else if (g->r.end.reason == EV_RUNNING)
		f->running = 1;
	else if (g->r.end.reason == EV_SIGNAL && g->r.end.rip)
		f->fatal = g->r.end.sig;
}

const char *
feed_note(const struct feed *f, char buf[FEED_NOTE])
{
	if (f->fatal)
		snprintf(buf, FEED_NOTE, f->exact ? msg_at : msg_fatal, (unsigned)f->fatal);
	else if (f->limited)
		snprintf(buf, FEED_NOTE, msg_limited);
	else if (f->running)
		snprintf(buf, FEED_NOTE, msg_running);
	return f->fatal || f->limited || f->running ? buf : NULL;
}

/* Gives n references to the sink, in batches; those that feed_unmute found waiting are passed over. */
static void
feed_give(struct feed *f, const uint64_t *from, size_t n)
{
	size_t k;

	for (; n; from += k, n -= k) {
		k = f->drop ? f->drop : AE_BATCH;
		if (k > n)
			k = n;
		f->nref += k;
		if (f->drop)
			f->drop -= k;
		else if (!f->mute && (f->status = f->sink(f->sinkarg, from, k)) != 0)
			feed_done(f);
	}
}

/* References of the parent before the fork do not belong to the child. */
static void
feed_deliver(struct feed *f, uint64_t *p)
{
	const uint64_t *from = f->s->buf + f->skip;
	size_t n = (size_t)(p - from);
	int last;

	if (f->cur + 1 < f->nseg)
		return;
	if (f->crash)
		from = feed_search(f, from, &n);
	f->skip = 0;
	last = f->nref + n >= f->stop;
	if (last)
		n = (size_t)(f->stop - f->nref);
	feed_give(f, from, n);
	if (last || f->exact) {
		feed_ended(f, f->seg + f->cur);
		feed_done(f);
	}
}

/* The same, and no references follow: those that wait for the place of an access, which was not found */
static void
feed_deliver_last(struct feed *f, uint64_t *p)
{
	const uint64_t *from;
	size_t n;

	feed_deliver(f, p);
	if (f->crash) {
		from = feed_waiting(f, &n);
		feed_give(f, from, n);
	}
}

void
feed_unmute(struct feed *f)
{
	f->mute = 0;
	if (f->crash)
		feed_waiting(f, &f->drop);
}

/* The file of a child says again what its parent's had; what the parent did after the fork is another thing. */
const struct ev_module *
feed_module(const struct feed *f, uint32_t number)
{
	const struct ev_module *m = NULL;

	for (unsigned i = f->cur + 1; !m && i-- > 0;)
		m = ev_module(&f->seg[i].r, number);
	return m;
}

_Noreturn void
feed_stop(struct feed *f, uint64_t *p)
{
	feed_deliver_last(f, p);
	feed_done(f);
}

static uint64_t
feed_offset(const struct feed *f, const uint8_t *e)
{
	return f->viewoff + (uint64_t)(e - f->view);
}

_Noreturn void
feed_fault(struct feed *f, uint64_t *p, const uint8_t *e, const char *what)
{
	const struct feed_seg *g = f->seg + f->cur;
	uint64_t off = feed_offset(f, e);

	feed_deliver_last(f, p);
	if (f->unsure) {
		feed_ended(f, g);
		feed_done(f);
	}
	feed_fail(f, g, off, what);
	feed_done(f);
}

uint64_t *
feed_flush(struct feed *f, uint64_t *p, const uint8_t *e)
{
	if (e != f->at)
		f->quiet = 0;
	f->at = e;
	f->quiet += (uint64_t)(p - f->s->buf);
	if (f->quiet > f->quietmax)
		feed_fault(f, p, e, msg_quiet);
	feed_deliver(f, p);
	return f->s->buf;
}

/* May the events end anywhere? */
static int
feed_anywhere(const struct feed_seg *g)
{
	return g->r.end.reason != EV_EXIT && g->r.end.reason != EV_EXEC;
}

/* At the end of the events. */
static _Noreturn void
feed_end(struct feed *f, uint64_t *p, int clean)
{
	const struct feed_seg *g = f->seg + f->cur;

	feed_deliver_last(f, p);
	if (g->r.ended && f->cur + 1 < f->nseg)
		feed_fail(f, g, g->r.off, "ends before the child was forked");
	else if (g->r.ended && !clean && !feed_anywhere(g))
		feed_fail(f, g, g->r.off, "the events end inside a function");
	else
		feed_ended(f, g);
	feed_done(f);
}

/* The next payload, in f->win; 0 if there is none. */
static int
next_window(struct feed *f, uint64_t *p)
{
	for (;;) {
		struct feed_seg *g = f->seg + f->cur;
		const uint8_t *q = NULL;
		long n;

		if (f->tail) {
			f->nwin = f->tail;
			f->tail = 0;
			feed_crashed(f, p);
			return 1;
		}
		if (g->left == 0) {
			f->cur++;
			if (f->cur + 1 == f->nseg)
				f->skip = (size_t)(p - f->s->buf);
			continue;
		}
		n = ev_next(&g->r, &q);
		if (n <= 0)
			return 0;
		f->win = q;
		f->winoff = g->r.payload_off;
		f->nwin = (uint64_t)n < g->left ? (size_t)n : (size_t)g->left;
		if (g->left != UINT64_MAX)
			g->left -= f->nwin;
		if (g->left == UINT64_MAX && g->r.ended && g->r.end.tail <= f->nwin) {
			f->tail = g->r.end.tail;
			f->nwin -= f->tail;
		}
		if (!f->nwin)
			continue;
		return 1;
	}
}

static const uint8_t *
from_window(struct feed *f, size_t n)
{
	const uint8_t *e = f->win;

	f->win += n;
	f->winoff += n;
	f->nwin -= n;
	return e;
}

/*
 * Nothing may be left of this payload: checks now whether another one follows, because if not, this
 * is the place in the trace after which nothing is recorded. (An ancestor's part is always
 * continued by the child.)
 */
static void
watch_end(struct feed *f, uint64_t *p)
{
	const struct feed_seg *g = f->seg + f->cur;

	if (f->nwin || f->cur + 1 < f->nseg)
		return;
	if (next_window(f, p) && !f->crash)
		return;
	if (g->r.ended && !feed_anywhere(g))
		return;
	feed_crashed(f, p);
	if (f->stop == UINT64_MAX)
		f->stop = f->nref + (uint64_t)(p - f->s->buf) - f->skip + (f->crash ? FEED_FAR : FEED_GRACE);
}

_Noreturn void
feed_trap(struct feed *f, uint64_t *p, const uint8_t *e, const char *what)
{
	const struct feed_seg *g;

	if (e == f->s->eend && f->nwin == 0 && !next_window(f, p)) {
		g = f->seg + f->cur;
		if (!g->r.ended || feed_anywhere(g))
			feed_end(f, p, 0);
	}
	feed_fault(f, p, e, what);
}

/* The next event may be none: it comes after the last group that is whole. */
static void
feed_doubt(struct feed *f, uint64_t *p)
{
	if (!f->crash || !f->nwin || f->unsure)
		return;
	feed_deliver(f, p);
	f->skip = (size_t)(p - f->s->buf);
	feed_unsure(f);
}

/* The last byte of a payload never becomes visible together with others: it is requested separately. */
const uint8_t *
feed_more(struct feed *f, uint64_t *p, const uint8_t *e, unsigned want, int item)
{
	size_t have = (size_t)(f->s->eend - e), n;
	uint64_t off = feed_offset(f, e);

	f->at = NULL;
	memmove(f->carry, e, have);
	if (have == 0 && f->nwin == 0 && !next_window(f, p))
		feed_end(f, p, item);
	feed_doubt(f, p);
	if (have == 0)
		off = f->winoff;
	if (have == 0 && f->nwin > want) {
		n = f->nwin - 1;
		f->view = from_window(f, n);
		f->s->eend = f->view + n;
		f->viewoff = off;
		return f->view;
	}
	while (have < want) {
		if (f->nwin == 0 && !next_window(f, p))
			feed_end(f, p, 0);
		feed_doubt(f, p);
		n = f->nwin < want - have ? f->nwin : want - have;
		memcpy(f->carry + have, from_window(f, n), n);
		have += n;
	}
	f->view = f->carry;
	f->s->eend = f->carry + want;
	f->viewoff = off;
	watch_end(f, p);
	return f->view;
}

/* How many of n elements are done, and whether the instruction is fetched once more, as in ref(5). */
static uint64_t
rep_count(struct feed *f, struct ae_pos *q, unsigned how, uint64_t n, int *again)
{
	uint64_t after;

	*again = 1;
	if (how != SR_CMPS && how != SR_SCAS)
		return n;
	if (f->s->eend - q->e < 9)
		q->e = feed_more(f, q->p, q->e, 9, 0);
	after = get_le64(q->e);
	if (after > n)
		feed_fault(f, q->p, q->e, msg_rep);
	if (q->e[8] > 1)
		feed_fault(f, q->p, q->e + 8, msg_branch);
	n -= after;
	*again = n == 0 || !q->e[8];
	q->e += 9;
	return n;
}

uint64_t
feed_rep(struct feed *f, struct ae_pos *q, uint64_t inst, unsigned how, unsigned w, uint64_t n, uint64_t rsi,
    uint64_t rdi)
{
	uint64_t *const full = f->s->buf + AE_BATCH - 4, *p = q->p;
	int again;

	n = rep_count(f, q, how, n, &again);
	for (uint64_t i = 0; i < n; i++, rsi += w, rdi += w) {
		if (p > full)
			p = feed_flush(f, p, q->e);
		*p++ = inst;
		if (how == SR_CMPS || how == SR_SCAS)
			*p++ = ref_make(REF_LOAD, rdi, w);
		if (how == SR_MOVS || how == SR_LODS || how == SR_CMPS)
			*p++ = ref_make(REF_LOAD, rsi, w);
		if (how == SR_MOVS || how == SR_STOS)
			*p++ = ref_make(REF_STORE, rdi, w);
	}
	if (again) {
		if (p > full)
			p = feed_flush(f, p, q->e);
		*p++ = inst;
	}
	q->p = p;
	return n;
}
