/* The working set over time: lines that each part of a run accesses. */
#include <inttypes.h>

#include "apps/addrplot/addrplot.h"
#include "base/diag.h"
#include "sim/working_set.h"

enum { SHIFT = 6, LINE = 1 << SHIFT };

static void *
working_begin(const struct plot_options *o, struct refs *s)
{
	struct working_set *w = working_new(SHIFT, o->kinds);

	(void)s;
	if (!w)
		die("out of memory");
	return w;
}

static int
working_add(void *working, const uint64_t *w, size_t n)
{
	if (working_take(working, w, n) != 0)
		die("out of memory");
	return 0;
}

static int
working_empty(void *working)
{
	struct working_counts c;

	working_counts(working, &c);
	return !c.accesses;
}

static void
working_end(void *working)
{
	working_free(working);
}

static void
working_print(struct out *out, void *working, const struct plot_options *o, struct refs *s)
{
	struct working_counts c;
	uint64_t lines, first, all = 0, step = 1, y;
	char size[PLOT_SIZE];

	(void)s;
	working_counts(working, &c);
	out_str(out, "$working << EOD\n");
	for (size_t i = 0; i < c.n; i++) {
		working_window(working, i, &lines, &first);
		all += first;
		out_printf(out, "%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", i * c.length, lines * LINE, all * LINE);
	}
	out_str(out, "EOD\n");
	plot_axes(out);
	/* from 4 to 8 tics, at numbers of which a person thinks */
	while (step * 8 < all * LINE)
		step *= 2;
	out_str(out, "set ytics out nomirror ('0' 0");
	for (y = step; y < all * LINE + step; y += step)
		out_printf(out, ", '%s' %" PRIu64, plot_size(size, y), y);
	out_printf(out, ")\nset yrange [0:%" PRIu64 "]\n", y - step);
	out_printf(out, "set xlabel '%s so far'\nset format x '%%.0s%%c'\nset xrange [0:%" PRIu64 "]\n",
	    c.by_accesses ? "accesses" : "instructions", c.n * c.length);
	out_printf(out, "set ylabel 'memory accessed (%s), bytes in lines of %d'\n"
	    "set key outside top left horizontal Left reverse samplen 2\n", o->kinds_name, LINE);
	out_printf(out, "plot $working using 1:2 with fillsteps fs solid 0.4 noborder lc rgb '%s' "
	    "title 'in each %" PRIu64 " %s', \\\n", plot_colour[0], c.length,
	    c.by_accesses ? "accesses" : "instructions");
	out_printf(out, "$working using 1:2 with steps lw 1.5 lc rgb '%s' notitle, \\\n"
	    "$working using ($1 + %" PRIu64 "):3 with lines lw 2 lc rgb '%s' title 'since the beginning'\n",
	    plot_colour[0], c.length, plot_colour[1]);
}

const struct picture working_picture = {
	.name = "workingset", .kinds = "data",
	.new = working_begin, .take = working_add, .empty = working_empty, .print = working_print,
	.free = working_end,
};
