/* Where an access to memory ended the program: see feed.h. */
#include "ae/regen/feed_internal.h"

#include <stdlib.h>
#include <string.h>

#include "format/ref/ref.h"

/* References that may wait: more are none of a group that a fault interrupted. */
#define WAIT_MAX (4 * AE_BATCH)

struct feed_crash {
	size_t later;                   /* references in the buffer before it are none to be searched */
	size_t nwait, ninst;            /* those that wait; the place of the last instruction among them */
	size_t given;                   /* of them, delivered before */
	size_t nsure;                   /* f->unsure: the first ones, which are certain */
	uint64_t wait[WAIT_MAX + AE_BATCH];
};

void
feed_crashed(struct feed *f, const uint64_t *p)
{
	const struct ev_end *end = &f->seg[f->cur].r.end;

	if (f->crash || !f->seg[f->cur].r.ended || end->reason != EV_SIGNAL || end->access == EV_NOACCESS)
		return;
	f->crash = malloc(sizeof *f->crash);
	if (!f->crash)
		return;
	f->crash->nwait = f->crash->ninst = f->crash->given = f->crash->nsure = 0;
	f->crash->later = (size_t)(p - f->s->buf);
}

static int
crash_is(const struct ev_end *end, uint64_t ref)
{
	static const unsigned kinds[EV_NACCESSES] = {
		[EV_SOME] = 1u << REF_LOAD | 1u << REF_STORE | 1u << REF_MODIFY,
		[EV_READ] = 1u << REF_LOAD | 1u << REF_MODIFY,
		[EV_WRITE] = 1u << REF_STORE | 1u << REF_MODIFY,
	};

	return kinds[end->access] >> ref_kind(ref) & 1 &&
	    ((end->addr - AE_ADDR(ref)) & 0xffffffffffff) < AE_SIZE(ref);
}

/* Forgets what was delivered. */
static void
crash_forget(struct feed_crash *c)
{
	c->nwait -= c->given;
	memmove(c->wait, c->wait + c->given, c->nwait * sizeof *c->wait);
	c->ninst -= c->ninst < c->given ? c->ninst : c->given;
	c->given = 0;
}

const uint64_t *
feed_search(struct feed *f, const uint64_t *from, size_t *n)
{
	struct feed_crash *c = f->crash;
	const struct ev_end *end = &f->seg[f->cur].r.end;
	const uint64_t *search = f->s->buf + c->later;

	crash_forget(c);
	for (size_t i = 0; i < *n && !f->exact && c->nwait < WAIT_MAX + AE_BATCH; i++) {
		if (ref_kind(from[i]) == REF_INST)
			c->ninst = c->nwait;
		f->exact = from + i >= search && crash_is(end, from[i]);
		c->wait[c->nwait++] = from[i];
	}
	c->later = 0;
	*n = f->exact || !f->unsure ? c->ninst : 0;
	if (!f->exact && c->nwait > WAIT_MAX) {
		*n = c->nsure;
		f->stop = f->nref + *n;
	}
	c->given = *n;
	return c->wait;
}

void
feed_unsure(struct feed *f)
{
	f->unsure = 1;
	crash_forget(f->crash);
	f->crash->nsure = f->crash->nwait;
}

const uint64_t *
feed_waiting(const struct feed *f, size_t *n)
{
	const struct feed_crash *c = f->crash;

	*n = (f->unsure ? c->nsure : c->nwait) - c->given;
	return c->wait + c->given;
}
