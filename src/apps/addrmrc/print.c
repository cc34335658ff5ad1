/* Prints miss-ratio curves and histograms of reuse distances: as text, CSV and JSON. */
#include <inttypes.h>
#include <stdio.h>

#include "apps/addrmrc/addrmrc.h"
#include "base/json.h"

/* Goes through the sizes in lines, ascending: points of each doubling, to the first that has all lines */
struct sizes {
	const struct reuse_counts *c;
	uint64_t points, base, step;
	uint64_t lines, misses;         /* the present size */
	size_t d;                       /* the distances below it are counted */
};

static void
sizes_begin(struct sizes *s, const struct reuse_counts *c, uint64_t points)
{
	*s = (struct sizes){ .c = c, .points = points, .base = 1, .misses = c->accesses };
}

/* 1: there is a next size; 0: the last one was the end */
static int
sizes_next(struct sizes *s)
{
	uint64_t next = s->lines;

	if (s->lines && s->lines >= s->c->lines)
		return 0;
	for (; next == s->lines; s->step++) {
		if (s->step == s->points) {
			s->step = 0;
			s->base *= 2;
		}
		next = s->base + s->base * s->step / s->points;
	}
	s->lines = next;
	for (; s->d < s->c->n && s->d < next; s->d++)
		s->misses -= s->c->hist[s->d];
	return 1;
}

static double
ratio(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
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
print_text(struct out *out, const struct mrc_options *o, const struct reuse_counts *c)
{
	struct sizes s;
	char buf[32];

	out_printf(out, "%" PRIu64 " accesses (%s) to %" PRIu64 " lines of %" PRIu64 " bytes\n\n", c->accesses,
	    o->kinds, c->lines, o->line);
	out_printf(out, "%10s %12s %16s %10s\n", "size", "lines", "misses", "ratio");
	for (sizes_begin(&s, c, o->points); sizes_next(&s);)
		out_printf(out, "%10s %12" PRIu64 " %16" PRIu64 " %9.4f%%\n",
		    bytes_text(buf, sizeof buf, s.lines * o->line), s.lines, s.misses,
		    100 * ratio(s.misses, c->accesses));
	if (!o->histogram)
		return;
	out_printf(out, "\n%12s %16s\n", "distance", "accesses");
	for (size_t d = 0; d < c->n; d++)
		if (c->hist[d])
			out_printf(out, "%12zu %16" PRIu64 "\n", d, c->hist[d]);
	out_printf(out, "%12s %16" PRIu64 "\n", "first", c->lines);
}

static void
print_csv(struct out *out, const struct mrc_options *o, const struct reuse_counts *c)
{
	struct sizes s;

	if (o->histogram) {
		out_str(out, "distance,accesses\n");
		for (size_t d = 0; d < c->n; d++)
			if (c->hist[d])
				out_printf(out, "%zu,%" PRIu64 "\n", d, c->hist[d]);
		return;
	}
	out_str(out, "bytes,lines,misses,ratio\n");
	for (sizes_begin(&s, c, o->points); sizes_next(&s);)
		out_printf(out, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.9f\n", s.lines * o->line, s.lines,
		    s.misses, ratio(s.misses, c->accesses));
}

static void
print_json(struct out *out, const struct mrc_options *o, const struct reuse_counts *c)
{
	struct sizes s;
	struct json j;

	json_begin(&j, out);
	json_string(&j, "kinds", o->kinds);
	json_u64(&j, "line", o->line);
	json_u64(&j, "accesses", c->accesses);
	json_u64(&j, "lines", c->lines);
	json_array(&j, "sizes");
	for (sizes_begin(&s, c, o->points); sizes_next(&s);) {
		json_object(&j, NULL);
		json_u64(&j, "bytes", s.lines * o->line);
		json_u64(&j, "lines", s.lines);
		json_u64(&j, "misses", s.misses);
		json_number(&j, "ratio", ratio(s.misses, c->accesses));
		json_end(&j);
	}
	json_end(&j);
	if (o->histogram) {
		json_array(&j, "histogram");
		for (size_t d = 0; d < c->n; d++)
			if (c->hist[d]) {
				json_object(&j, NULL);
				json_u64(&j, "distance", d);
				json_u64(&j, "accesses", c->hist[d]);
				json_end(&j);
			}
		json_end(&j);
	}
	json_end(&j);
}

void
mrc_print(struct out *out, const struct mrc_options *o, const struct reuse_counts *c)
{
	if (o->format == MRC_JSON)
		print_json(out, o, c);
	else if (o->format == MRC_CSV)
		print_csv(out, o, c);
	else
		print_text(out, o, c);
}
