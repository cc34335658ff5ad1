/* Prints miss-ratio curves and histograms of reuse distances: as text, CSV and JSON. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "apps/addrmrc/addrmrc.h"
#include "base/json.h"
#include "format/ref/ref.h"

/* The misses of one of the counts: the distances below d are those of hits */
struct cursor {
	const struct reuse_counts *c;
	uint64_t misses;
	size_t d;
	double rate;                    /* of its lines, of all */
};

/* Goes through the sizes in lines, ascending: points of each doubling, to the first that has all lines */
struct sizes {
	const struct mrc_result *m;
	uint64_t points, base, step;
	uint64_t lines, misses;         /* the present size */
	double error;                   /* the standard error of misses; 0 if they are exact */
	struct cursor whole, less, more, class[SAMPLE_CLASSES];
};

static struct cursor
cursor_begin(const struct reuse_counts *c, double rate)
{
	return (struct cursor){ .c = c, .misses = c->accesses, .rate = rate };
}

static uint64_t
cursor_misses(struct cursor *k, double lines)
{
	double limit = lines * k->rate;

	for (; k->d < k->c->n && (double)k->d < limit; k->d++)
		k->misses -= k->c->hist[k->d];
	return k->misses;
}

static void
sizes_begin(struct sizes *s, const struct mrc_result *m, uint64_t points)
{
	*s = (struct sizes){ .m = m, .points = points, .base = 1, .whole = cursor_begin(&m->whole, m->rate) };
	s->less = s->more = s->whole;
	for (unsigned k = 0; k < m->nclass; k++)
		s->class[k] = cursor_begin(&m->class[k], m->rate / m->nclass);
}

/* Each class gives the number of misses on its own; how much they differ gives the variance of their mean */
static double
variance_of_classes(struct sizes *s)
{
	unsigned n = s->m->nclass;
	double miss[SAMPLE_CLASSES], sum = 0, squares = 0;

	for (unsigned k = 0; k < n; k++) {
		miss[k] = (double)cursor_misses(&s->class[k], (double)s->lines) * n / s->m->first_rate;
		sum += miss[k];
	}
	for (unsigned k = 0; k < n; k++)
		squares += (miss[k] - sum / n) * (miss[k] - sum / n);
	/* the less is left to chance the more of the lines there are */
	return squares / n / (n - 1) * (1 - s->m->rate);
}

/*
 * A cache of the present size has a number of sampled lines that varies by chance. Where the curve is steep,
 * as at the size of an array, that is the error.
 */
static double
error_of_size(struct sizes *s)
{
	double lines = (double)s->lines, by = sqrt(lines * (1 - s->m->rate) / s->m->rate);
	uint64_t less = cursor_misses(&s->less, lines - by), more = cursor_misses(&s->more, lines + by);

	return (double)(less - more) / 2 / s->m->first_rate;
}

static double
sizes_error(struct sizes *s)
{
	double e;

	if (!s->m->nclass)
		return 0;
	e = error_of_size(s);
	return sqrt(variance_of_classes(s) + e * e);
}

static void
sizes_step(struct sizes *s)
{
	uint64_t next = s->lines;

	for (; next == s->lines; s->step++) {
		if (s->step == s->points) {
			s->step = 0;
			s->base *= 2;
		}
		next = s->base + s->base * s->step / s->points;
	}
	s->lines = next;
}

/* Of a cache of so few lines, a class would have less than one */
static int
too_small(const struct mrc_result *m, uint64_t lines)
{
	return m->rate < 1 && lines < m->lines && (double)lines * m->rate < m->nclass;
}

/* 1: there is a next size; 0: the last one was the end */
static int
sizes_next(struct sizes *s)
{
	if (s->lines && s->lines >= s->m->lines)
		return 0;
	do
		sizes_step(s);
	while (too_small(s->m, s->lines));
	s->misses = mrc_scaled(cursor_misses(&s->whole, (double)s->lines), s->m->first_rate);
	if (s->misses > s->m->accesses)
		s->misses = s->m->accesses;
	s->error = sizes_error(s);
	return 1;
}

static double
ratio(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

/* The standard error of the ratio */
static double
ratio_error(const struct sizes *s)
{
	return s->m->accesses ? s->error / (double)s->m->accesses : 0;
}

/* Bytes as a person writes them, exactly: 64, 48k, 3M */
static const char *
bytes_text(char *buf, size_t room, uint64_t bytes)
{
	static const char suffix[] = "kMG";
	unsigned k = 0;

	while (k < 3 && bytes && bytes % 1024 == 0) {
		bytes /= 1024;
		k++;
	}
	snprintf(buf, room, "%" PRIu64 "%.1s", bytes, k ? &suffix[k - 1] : "");
	return buf;
}

static void
print_text(struct out *out, const struct mrc_options *o, const struct mrc_result *m)
{
	struct sizes s;
	char buf[32];

	out_printf(out, "%" PRIu64 " accesses (%s) to %s%" PRIu64 " lines of %" PRIu64 " bytes\n", m->accesses,
	    ref_set_name(m->params->kinds), m->nclass ? "about " : "", m->lines, m->params->line);
	if (m->nclass)
		out_printf(out, "a sample of %" PRIu64 " lines, at the rate %.6g\n", m->whole.lines, m->rate);
	out_printf(out, "\n%10s %12s %16s %10s%s\n", "size", "lines", "misses", "ratio",
	    m->nclass ? "      error" : "");
	for (sizes_begin(&s, m, o->points); sizes_next(&s);) {
		out_printf(out, "%10s %12" PRIu64 " %16" PRIu64 " %9.4f%%",
		    bytes_text(buf, sizeof buf, s.lines * m->params->line), s.lines, s.misses,
		    100 * ratio(s.misses, m->accesses));
		if (m->nclass)
			out_printf(out, " %9.4f%%", 100 * ratio_error(&s));
		out_str(out, "\n");
	}
}

static void
print_csv(struct out *out, const struct mrc_options *o, const struct mrc_result *m)
{
	struct sizes s;

	out_printf(out, "bytes,lines,misses,ratio%s\n", m->nclass ? ",error" : "");
	for (sizes_begin(&s, m, o->points); sizes_next(&s);) {
		out_printf(out, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.9f", s.lines * m->params->line, s.lines,
		    s.misses, ratio(s.misses, m->accesses));
		if (m->nclass)
			out_printf(out, ",%.9f", ratio_error(&s));
		out_str(out, "\n");
	}
}

/* Each distance, and how many accesses have it */
static void
print_histogram(struct out *out, const struct mrc_result *m, int csv)
{
	const struct reuse_counts *c = &m->whole;

	for (size_t d = 0; d < c->n; d++)
		if (c->hist[d])
			out_printf(out, csv ? "%" PRIu64 ",%" PRIu64 "\n" : "%12" PRIu64 " %16" PRIu64 "\n",
			    mrc_scaled(d, m->rate), mrc_scaled(c->hist[d], m->first_rate));
}

static void
print_json(struct out *out, const struct mrc_options *o, const struct mrc_result *m)
{
	const struct reuse_counts *c = &m->whole;
	struct sizes s;
	struct json j;

	json_begin(&j, out);
	json_string(&j, "kinds", ref_set_name(m->params->kinds));
	json_u64(&j, "line", m->params->line);
	json_u64(&j, "accesses", m->accesses);
	json_u64(&j, "lines", m->lines);
	if (m->nclass) {
		json_number(&j, "rate", m->rate);
		json_u64(&j, "sampled_lines", c->lines);
	}
	json_array(&j, "sizes");
	for (sizes_begin(&s, m, o->points); sizes_next(&s);) {
		json_object(&j, NULL);
		json_u64(&j, "bytes", s.lines * m->params->line);
		json_u64(&j, "lines", s.lines);
		json_u64(&j, "misses", s.misses);
		json_number(&j, "ratio", ratio(s.misses, m->accesses));
		if (m->nclass)
			json_number(&j, "error", ratio_error(&s));
		json_end(&j);
	}
	json_end(&j);
	if (o->histogram) {
		json_array(&j, "histogram");
		for (size_t d = 0; d < c->n; d++)
			if (c->hist[d]) {
				json_object(&j, NULL);
				json_u64(&j, "distance", mrc_scaled(d, m->rate));
				json_u64(&j, "accesses", mrc_scaled(c->hist[d], m->first_rate));
				json_end(&j);
			}
		json_end(&j);
	}
	json_end(&j);
}

void
mrc_print(struct out *out, const struct mrc_options *o, const struct mrc_result *m)
{
	if (o->format == MRC_JSON) {
		print_json(out, o, m);
	} else if (o->format == MRC_CSV && o->histogram) {
		out_str(out, "distance,accesses\n");
		print_histogram(out, m, 1);
	} else if (o->format == MRC_CSV) {
		print_csv(out, o, m);
	} else {
		print_text(out, o, m);
		if (!o->histogram)
			return;
		out_printf(out, "\n%12s %16s\n", "distance", "accesses");
		print_histogram(out, m, 0);
		out_printf(out, "%12s %16" PRIu64 "\n", "first", m->lines);
	}
}
