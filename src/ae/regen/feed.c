/* Events in, references out: see feed.h. */
#include "ae/regen/feed.h"
#include "ae/regen/feed_internal.h"

#include <stdio.h>
#include <string.h>

#include "ae/regen/msg.h"
#include "base/bytes.h"
#include "format/ref/ref.h"
#include "format/schema/schema.h"

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
		feed_unread(f, g);
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

int
feed_before(const struct feed *f)
{
	return f->cur + 1 < f->nseg;
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

/* One bit for each of the elements */
static uint64_t
mask_bits(unsigned how, unsigned w, unsigned n, const uint64_t *mask)
{
	uint64_t m = 0;

	if (!sch_mask_top(how))
		return n < 64 ? *mask & ((UINT64_C(1) << n) - 1) : *mask;
	for (unsigned i = 0; i < n; i++) {
		unsigned last = (i + 1) * w - 1;

		m |= (mask[last / 8] >> (last % 8 * 8 + 7) & 1) << i;
	}
	return m;
}

static uint64_t *
mask_runs(uint64_t *p, unsigned kind, unsigned w, uint64_t m, uint64_t at)
{
	while (m) {
		unsigned skip = (unsigned)__builtin_ctzll(m), n = ~(m >> skip) ? (unsigned)__builtin_ctzll(~(m >> skip)) : 64;

		*p++ = ref_make(kind, at + (uint64_t)skip * w, n * w);
		at += (uint64_t)(skip + n) * w;
		m = skip + n < 64 ? m >> (skip + n) : 0;
	}
	return p;
}

uint64_t *
feed_masked(struct feed *f, uint64_t *p, const uint8_t *e, unsigned cc, unsigned w, unsigned n, uint64_t at,
    const uint64_t *mask, const uint64_t *index)
{
	unsigned how = MA_HOW(cc), kind = MA_STORE(cc) ? REF_STORE : REF_LOAD;
	uint64_t m = mask_bits(how, w, n, mask);

	if (p > f->s->buf + AE_BATCH - MA_MOST)
		p = feed_flush(f, p, e);
	if (how == MA_PACKED) {
		if (m)
			*p++ = ref_make(kind, at, w * (unsigned)__builtin_popcountll(m));
		return p;
	}
	if (how == MA_FOLDED) {
		unsigned left = 1u << MA_SHIFT(cc);

		for (unsigned i = left; i < n; i += left)
			m |= m >> i;
		m &= (1u << left) - 1;
	}
	if (how < MA_INDEX4)
		return mask_runs(p, kind, w, m, at);
	for (unsigned i = 0; i < n; i++) {
		uint64_t x = how >= MA_INDEX8 ? index[i] : (uint64_t)(int64_t)(int32_t)(index[i / 2] >> (i & 1) * 32);

		if (m >> i & 1)
			*p++ = ref_make(kind, at + (x << MA_SHIFT(cc)), w);
	}
	return p;
}
