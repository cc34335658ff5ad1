/* Trimming: decides which candidates become keyframes. */
#include <stdlib.h>
#include <string.h>

#include "replay/trim/trim_internal.h"

/* Segment b follows a: joins them in a; b's list stays b's. */
int
trim_join(struct trim_seg *a, const struct trim_seg *b)
{
	size_t cap = a->n + b->n, i = 0, j = 0, n = 0;
	struct trim_page *out = malloc((cap ? cap : 1) * sizeof *out);

	if (!out)
		return -1;
	while (i < a->n || j < b->n) {
		struct trim_page p = { 0 }, q = { 0 };
		int first = j == b->n || (i < a->n && a->page[i].no <= b->page[j].no);
		int both = i < a->n && j < b->n && a->page[i].no == b->page[j].no;

		if (first)
			p = a->page[i++];
		if (!first || both)
			q = b->page[j++];
		out[n++] = (struct trim_page){ .no = first ? p.no : q.no, .need = p.need | (q.need & ~p.full),
			.full = p.full | (q.full & ~p.need),
			.stored = (p.stored || !p.need) && (q.stored || !q.need) };
	}
	free(a->page);
	a->page = out;
	a->n = n;
	a->cap = cap;
	a->lines += b->lines;
	a->packed += b->packed;
	return 0;
}

uint64_t
trim_lines(const struct trim_seg *s)
{
	uint64_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		if (!s->page[i].stored)
			n += (uint64_t)__builtin_popcountll(s->page[i].need);
	return n;
}

/* Joins segments from to to-1 in *s. */
static int
trim_joined(const struct trim_found *f, size_t from, size_t to, struct trim_seg *s)
{
	*s = f->seg[from];
	s->page = malloc((s->n ? s->n : 1) * sizeof *s->page);
	if (!s->page)
		return -1;
	if (s->n)
		memcpy(s->page, f->seg[from].page, s->n * sizeof *s->page);
	for (size_t i = from + 1; i < to; i++)
		if (trim_join(s, &f->seg[i]) != 0)
			return -1;
	return 0;
}

/*
 * Bytes of the file for a keyframe at segment `from` with the lines of all segments before
 * `to`; -1: no memory.
 */
static double
trim_cost(const struct trim_found *f, size_t from, size_t to)
{
	struct trim_seg s;
	double c = -1;

	if (trim_joined(f, from, to, &s) == 0)
		c = (double)trim_lines(&s) * (s.lines ? (double)s.packed / (double)s.lines : WS_LINE) + 256;
	free(s.page);
	return c;
}

/* Position of keyframe i of m evenly spaced ones; i = m + 1: the end. */
static size_t
trim_spaced(const struct trim_found *f, size_t i, size_t m)
{
	return i * f->nseg / (m + 1);
}

/* The cheapest single keyframe in the middle. */
static size_t
trim_middle(const struct trim_found *f, double *best)
{
	size_t at = 0;

	for (size_t k = f->nseg * 3 / 8; k <= f->nseg * 5 / 8; k++) {
		double c = k ? trim_cost(f, k, f->nseg) : -1;

		if (c >= 0 && (!at || c < *best)) {
			at = k;
			*best = c;
		}
	}
	return at;
}

/* The candidates nearest to even distances, for at most m keyframes, in first[1] and on: their number */
static size_t
trim_even(const struct trim_found *f, size_t m, size_t *first)
{
	size_t n = 1, k = 1;

	for (size_t i = 1; i <= m; i++) {
		double at = (double)f->ninst * (double)i / (double)(m + 1);

		while (k + 1 < f->nseg && at - (double)f->seg[k].icount > (double)f->seg[k + 1].icount - at)
			k++;
		if (k < f->nseg && k > first[n - 1])
			first[n++] = k;
	}
	return n - 1;
}

/* Reduces the candidates to the n at `first`; each takes the segments after it. */
static int
trim_reduce(struct trim_found *f, const size_t *first, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t to = i + 1 < n ? first[i + 1] : f->nseg;
		struct trim_seg s;

		if (i == 0)
			continue;
		if (trim_joined(f, first[i], to, &s) != 0) {
			free(s.page);
			return -1;
		}
		free(f->seg[first[i]].page);
		f->seg[first[i]] = s;
	}
	for (size_t i = 0, k = 0; i < f->nseg; i++) {
		if (k < n && first[k] == i)
			f->seg[k++] = f->seg[i];
		else
			free(f->seg[i].page);
	}
	f->nseg = n;
	return 0;
}

int
trim_choose_keyframes(struct trim_found *f, const struct trim_opts *o)
{
	double whole = (double)f->needed * (f->sampled ? (double)f->packed / (double)f->sampled : 1) +
	    4.0 * (double)f->ntrigger;
	double budget = whole * o->share / 100, best = 0;
	double most = (double)f->ninst / 1e6 * o->middle;
	double left = o->size > whole ? (double)o->size - whole : 0;
	size_t first[TRIM_SEGS + 1] = { 0 };
	size_t m = f->nseg - 1, n = 1;

	if (o->keys)
		return trim_reduce(f, first, 1 + trim_even(f, o->keys, first));
	if (o->size && budget > left)
		budget = left;
	if (o->size && most > left)
		most = left;

	/* reduce their number until they fit */
	for (; m > 1; m -= (m + 7) / 8) {
		double sum = 0;

		for (size_t i = 1; i <= m && sum >= 0 && sum <= budget; i++) {
			double c = trim_cost(f, trim_spaced(f, i, m), trim_spaced(f, i + 1, m));

			if (c < 0)
				return -1;
			sum += c;
		}
		if (sum <= budget)
			break;
	}
	if (m > 1) {
		for (size_t i = 1; i <= m; i++)
			first[n++] = trim_spaced(f, i, m);
	} else if (m == 1) {
		first[1] = trim_middle(f, &best);
		n += first[1] && best <= (most > budget ? most : budget);
	}
	return trim_reduce(f, first, n);
}
