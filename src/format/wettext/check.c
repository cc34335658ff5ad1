/* Reader of wettext(5): checks that statements and references to them agree. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "format/wettext/wettext_internal.h"

int
wettext_fail(struct wettext *r, uint64_t line, const char *fmt, ...)
{
	va_list ap;

	if (r->state == FAILED)
		return WETTEXT_BAD;
	va_start(ap, fmt);
	vsnprintf(r->fault.err, sizeof r->fault.err, fmt, ap);
	va_end(ap);
	r->fault.line = line;
	r->state = FAILED;
	return WETTEXT_BAD;
}

static struct stmt *
wettext_slot(const struct wettext *r, uint64_t id)
{
	size_t i = (size_t)(id * UINT64_C(0x9e3779b97f4a7c15) >> 32);

	while (r->stmt[i & (r->nslot - 1)].used && r->stmt[i & (r->nslot - 1)].id != id)
		i++;
	return &r->stmt[i & (r->nslot - 1)];
}

struct stmt *
wettext_stmt(struct wettext *r, uint64_t id)
{
	struct stmt *s = wettext_slot(r, id), *old = r->stmt;
	const int cur = r->cur != NULL;
	const uint64_t curid = cur ? r->cur->id : 0;

	if (s->used)
		return s;
	if (r->nstmt * 2 >= r->nslot) {
		size_t n = r->nslot;

		if ((r->stmt = calloc(n * 2, sizeof *old)) == NULL) {
			r->stmt = old;
			return NULL;
		}
		r->nslot = n * 2;
		for (size_t i = 0; i < n; i++)
			if (old[i].used)
				*wettext_slot(r, old[i].id) = old[i];
		free(old);
		r->cached = NULL;
		r->cur = cur ? wettext_slot(r, curid) : NULL;
		s = wettext_slot(r, id);
	}
	s->id = id;
	s->used = 1;
	r->nstmt++;
	return s;
}

/* Instance 2^64 - 1 would mean 2^64 executions. */
static int
too_many(struct wettext *r, uint64_t instance)
{
	return wettext_fail(r, r->line, "instance %" PRIu64 ": a statement has fewer", instance);
}

int
wettext_refer(struct wettext *r, uint64_t id, uint64_t instance)
{
	struct stmt *s = r->cached;

	if (!s || s->id != id) {
		if ((s = wettext_stmt(r, id)) == NULL)
			return wettext_fail(r, r->line, "no memory");
		r->cached = s;
	}
	if (instance >= s->most) {
		if (instance == UINT64_MAX)
			return too_many(r, instance);
		s->most = instance + 1;
		s->at = r->line;
	}
	return 0;
}

int
wettext_in_order(struct wettext *r, uint64_t x, int once)
{
	if (x == UINT64_MAX)
		return too_many(r, x);
	if (x + 1 < r->last || (once && x + 1 == r->last))
		return wettext_fail(r, r->line, "entry %" PRIu64 " after entry %" PRIu64, x, r->last - 1);
	if (r->cur->exact && x >= r->cur->count)
		return wettext_fail(r, r->line,
		    "entry %" PRIu64 " of statement %" PRIu64 ", which has %" PRIu64 " instances", x,
		    r->cur->id, r->cur->count);
	r->last = x + 1;
	if (x >= r->cur->count)
		r->cur->count = x + 1;
	return 0;
}

int
wettext_stepped(struct wettext *r, const struct wettext_step *s)
{
	for (uint64_t i = 0; i < s->count; i++) {
		struct stmt *t = wettext_slot(r, s->id + i);

		if (!t->known)
			return wettext_fail(r, r->line, "there is no statement %" PRIu64, s->id + i);
		t->steps++;
	}
	return 0;
}

int
wettext_check(struct wettext *r, int ordered)
{
	const struct stmt *worst = NULL;

	for (size_t i = 0; i < r->nslot; i++) {
		struct stmt *s = &r->stmt[i];

		if (!s->used)
			continue;
		if (ordered && s->known && (s->steps < s->count || (s->exact && s->steps != s->count)))
			return wettext_fail(r, r->line,
			    "the order has statement %" PRIu64 " %" PRIu64 " times, not %" PRIu64, s->id,
			    s->steps, s->count);
		if (ordered) {
			s->count = s->steps;
			s->exact = 1;
		}
		if (s->most && (!s->known || (s->exact && s->most > s->count)) &&
		    (!worst || s->at < worst->at))
			worst = s;
	}
	if (!worst)
		return 0;
	if (!worst->known)
		return wettext_fail(r, worst->at, "there is no statement %" PRIu64, worst->id);
	return wettext_fail(r, worst->at, "instance %" PRIu64 " of statement %" PRIu64 ", which has %" PRIu64,
	    worst->most - 1, worst->id, worst->count);
}
