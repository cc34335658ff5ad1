/*
 * addrmrc: partial results of parts of a run, and merging them.
 *
 * A partial result is a file of words with sums (base/words.h), of these sections:
 *
 *   the header: the magic, which has the version; bytes of a line; the set of kinds; the threshold of the
 *   sample, 0 for none; the number of the first instruction
 *   for the lines, or each class of a sample and then the whole of it: the number of lines; the lines in the
 *   order of their first accesses, and of their last ones; the number of distances; each distance, ascending,
 *   and how many accesses have it
 *   the end: the number of instructions, and of accesses
 */
#include <stdlib.h>
#include <string.h>

#include "apps/addrmrc/addrmrc.h"
#include "base/diag.h"
#include "base/mem.h"
#include "base/words.h"
#include "format/ref/ref.h"

#define MAGIC UINT64_C(0x317472617063726d)      /* mrcpart1, from the lowest byte on */
#define MOST  (UINT64_C(1) << 48)               /* accesses of a part */

static struct reuse *
part_of(const struct analysis *a, unsigned k)
{
	return a->sample ? sample_part(a->sample, k) : a->exact;
}

static unsigned
parts(const struct analysis *a)
{
	return a->sample ? SAMPLE_CLASSES + 1 : 1;
}

void
partial_begin(const struct analysis *a)
{
	for (unsigned k = 0; k < parts(a); k++)
		if (reuse_keep_firsts(part_of(a, k)) != 0)
			die("no memory");
}

static void
put_part(struct words *w, const struct reuse *r)
{
	const uint64_t *first = reuse_firsts(r);
	struct reuse_counts c;
	uint64_t *last, n = 0;

	reuse_counts(r, &c);
	last = xmalloc((c.lines + 1) * sizeof *last);
	reuse_stack(r, last);
	words_put(w, c.lines);
	for (uint64_t i = 0; i < c.lines; i++)
		words_put(w, first[i]);
	for (uint64_t i = 0; i < c.lines; i++)
		words_put(w, last[i]);
	free(last);
	for (size_t d = 0; d < c.n; d++)
		n += c.hist[d] != 0;
	words_put(w, n);
	for (size_t d = 0; d < c.n; d++)
		if (c.hist[d]) {
			words_put(w, d);
			words_put(w, c.hist[d]);
		}
	words_put_sum(w);
}

void
partial_write(struct out *out, const struct analysis *a, const struct mrc_params *p)
{
	struct words w = { .out = out };

	words_put(&w, MAGIC);
	words_put(&w, p->line);
	words_put(&w, p->kinds);
	words_put(&w, p->threshold);
	words_put(&w, p->from);
	words_put_sum(&w);
	for (unsigned k = 0; k < parts(a); k++)
		put_part(&w, part_of(a, k));
	words_put(&w, a->ninst);
	words_put(&w, analysis_accesses(a));
	words_put_sum(&w);
}

/* A line of the file is accessed again: returns its distance */
static uint64_t
get_line(struct words *w, struct reuse *r, const struct mrc_params *p, int counts)
{
	uint64_t line = words_get(w), d;

	if (line > UINT64_C(0xffffffffffff) / p->line)
		words_bad(w, 8, "no such line");
	if (reuse_touch(r, line, counts, &d) != 0)
		die("no memory");
	return d;
}

/* Returns how many accesses were added */
static uint64_t
get_part(struct words *w, struct reuse *r, const struct mrc_params *p)
{
	uint64_t lines = words_get(w), n, accesses = lines, next = 0;

	/* the i lines accessed before this one are above it, unless it is one of them */
	for (uint64_t i = 0; i < lines; i++)
		if (get_line(w, r, p, 1) < i)
			words_bad(w, 8, "the same line twice");
	for (uint64_t i = 0; i < lines; i++) {
		uint64_t d = get_line(w, r, p, 0);

		if (d < i || d >= lines)
			words_bad(w, 8, "not a line of this part, or the same one twice");
	}
	n = words_get(w);
	for (uint64_t i = 0; i < n; i++) {
		uint64_t d = words_get(w), count = words_get(w);

		if (d < next || d >= lines || !count || count > MOST || (accesses += count) > MOST)
			words_bad(w, 16, "no such distance");
		if (reuse_add(r, d, count) != 0)
			die("no memory");
		next = d + 1;
	}
	words_check(w);
	return accesses;
}

static void
get_header(struct words *w, struct mrc_params *p)
{
	uint64_t kinds;

	if (words_get(w) != MAGIC)
		words_bad(w, 8, "not a partial result of this version of addrmrc");
	*p = (struct mrc_params){ .line = words_get(w) };
	kinds = words_get(w);
	p->kinds = (unsigned)kinds;
	p->threshold = words_get(w);
	p->from = words_get(w);
	words_check(w);
	if (!p->line || (p->line & (p->line - 1)) || p->line >> REUSE_SHIFT_MAX > 1 || kinds != p->kinds ||
	    !ref_set_name(p->kinds) || p->threshold > SAMPLE_ALL)
		words_bad(w, 48, "no such lines or kinds");
}

/* What follows the header: its lines and distances, and the number of instructions and accesses */
static void
get_body(struct words *w, struct analysis *a, const struct mrc_params *p)
{
	uint64_t all = 0, accesses;

	for (unsigned k = 0; k < parts(a); k++)
		all = get_part(w, part_of(a, k), p);
	a->ninst = words_get(w);
	accesses = words_get(w);
	words_check(w);
	words_end(w);
	if (accesses < all || (!a->sample && accesses != all) || accesses > MOST)
		words_bad(w, 16, "no such number of accesses");
	if (a->sample)
		sample_add(a->sample, accesses);
}

void
partial_merge(char **path, struct analysis *a, struct mrc_params *p)
{
	uint64_t next = 0;

	for (char **f = path; *f; f++) {
		struct words w = { .in = in_open(*f), .what = "partial result of addrmrc" };
		struct mrc_params mine;

		get_header(&w, &mine);
		if (f == path) {
			*p = mine;
			analysis_begin(a, p, 0);
		} else if (mine.line != p->line || mine.kinds != p->kinds || mine.threshold != p->threshold) {
			die("%s: other lines, kinds or sample than in the file before", in_name(w.in));
		} else if (mine.from != next) {
			die("%s: begins at instruction %llu, and the file before ends before %llu", in_name(w.in),
			    (unsigned long long)mine.from, (unsigned long long)next);
		}
		get_body(&w, a, p);
		next = mine.from + a->ninst;
		in_close(w.in);
	}
}
