/*
 * The working set over time.
 *
 * An access counts in its window if the line's last access was in an earlier window.  For windows of 2^k of
 * the shortest windows, that is so exactly if the numbers of the two shortest windows differ in bit k or above:
 * so each window has the number of such accesses by the highest bit that differs, and two windows are joined
 * without knowing their lines.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "sim/reuse.h"
#include "sim/working_set.h"

enum { BITS = 64 };

struct line { uint64_t number, last; };         /* last: the shortest window of its last access */

/* by[b]: accesses whose line was accessed last in a shortest window that differs in bit b - 1, none above */
struct window { uint64_t by[BITS + 1], first; };

struct working_set {
	unsigned shift, kinds;
	unsigned level;                 /* a window has 2^level of the shortest */
	uint64_t fetches, accesses;     /* so far */
	int by_accesses;
	uint64_t now;                   /* the present shortest window */
	uint64_t recent;                /* the line accessed last in it, plus 1; 0: none */
	struct hash hash;
	struct line *line;              /* owned */
	size_t nline, capline;
	size_t n;                       /* windows that have begun */
	struct window window[WORKING_WINDOWS];
};

struct working_set *
working_new(unsigned shift, unsigned kinds)
{
	struct working_set *s = calloc(1, sizeof *s);

	if (s) {
		s->shift = shift;
		s->kinds = kinds;
	}
	return s;
}

void
working_free(struct working_set *s)
{
	if (!s)
		return;
	hash_free(&s->hash);
	free(s->line);
	free(s);
}

/* Makes windows twice as long. */
static void
working_join(struct working_set *s)
{
	s->level++;
	for (size_t i = 0; i < WORKING_WINDOWS / 2; i++) {
		struct window *a = &s->window[2 * i], *b = a + 1, sum = { .first = a->first + b->first };

		/* what differs in the lowest bit only is in the same window now */
		for (unsigned k = s->level + 1; k <= BITS; k++)
			sum.by[k] = a->by[k] + b->by[k];
		s->window[i] = sum;
	}
	memset(&s->window[WORKING_WINDOWS / 2], 0, WORKING_WINDOWS / 2 * sizeof s->window[0]);
	s->n = (s->n + 1) / 2;
}

/* The time is t. */
static void
working_time(struct working_set *s, uint64_t t)
{
	t >>= WORKING_SHIFT;
	if (t != s->now)
		s->recent = 0;
	s->now = t;
	while (t >> s->level >= WORKING_WINDOWS)
		working_join(s);
	if (t >> s->level >= s->n)
		s->n = (size_t)(t >> s->level) + 1;
}

static int
working_access(struct working_set *s, uint64_t number)
{
	uint32_t h = hash_number(number), at = h, i;
	struct window *w = &s->window[s->now >> s->level];
	uint64_t differs;

	while ((i = hash_find(&s->hash, h, &at)) != HASH_NONE && s->line[i].number != number)
		;
	if (i == HASH_NONE) {
		if (s->nline >= HASH_NONE - 1 || buf_grow(&s->line, &s->capline, s->nline + 1, sizeof *s->line) != 0 ||
		    hash_add(&s->hash, h, (uint32_t)s->nline) != 0)
			return -1;
		s->line[s->nline++] = (struct line){ number, s->now };
		w->first++;
		return 0;
	}
	differs = s->line[i].last ^ s->now;
	if (differs >> s->level)
		w->by[BITS - (unsigned)__builtin_clzll(differs)]++;
	s->line[i].last = s->now;
	return 0;
}

int
working_take(struct working_set *s, const uint64_t *w, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		unsigned kind = ref_kind(w[i]);
		uint64_t line, last;

		if (kind >= REF_NACCESS)
			continue;
		if (kind == REF_INST)
			working_time(s, s->fetches++);
		if (!(s->kinds >> kind & 1))
			continue;
		for (reuse_lines_of(w[i], s->shift, &line, &last); line <= last; line++) {
			if (!s->fetches) {
				s->by_accesses = 1;
				working_time(s, s->accesses);
			}
			s->accesses++;
			if (s->recent == line + 1)
				continue;
			s->recent = line + 1;
			if (working_access(s, line) != 0)
				return -1;
		}
	}
	return 0;
}

void
working_counts(const struct working_set *s, struct working_counts *c)
{
	*c = (struct working_counts){ .n = s->n, .length = UINT64_C(1) << (WORKING_SHIFT + s->level),
		.by_accesses = s->by_accesses, .accesses = s->accesses };
}

void
working_window(const struct working_set *s, size_t i, uint64_t *lines, uint64_t *first)
{
	*lines = *first = s->window[i].first;
	for (unsigned k = s->level + 1; k <= BITS; k++)
		*lines += s->window[i].by[k];
}
