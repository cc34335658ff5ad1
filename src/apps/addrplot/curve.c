/* The miss ratio of LRU caches of all sizes, and the reuse distances behind it, as pictures. */
#include <inttypes.h>

#include "apps/addrplot/curve.h"

enum { POINTS = 8 };            /* sizes in each doubling */

/* The next size that has a point: POINTS of them in each doubling, where there are so many. */
static uint64_t
curve_next(uint64_t size)
{
	uint64_t power = 1;

	while (power * 2 <= size)
		power *= 2;
	return size + (power < POINTS ? 1 : power / POINTS);
}

void
curve_print(struct out *out, const struct reuse_counts *c, const struct plot_options *o)
{
	uint64_t misses = c->accesses, d = 0;   /* accesses that are no hits at a distance below d */

	out_str(out, "$curve << EOD\n");
	for (uint64_t size = 1;; size = curve_next(size)) {
		for (; d < size && d < c->n; d++)
			misses -= c->hist[d];
		out_printf(out, "%" PRIu64 " %.9g\n", size * CURVE_LINE,
		    100.0 * (double)misses / (double)c->accesses);
		if (size >= c->lines)
			break;
	}
	out_str(out, "EOD\nset border 3\nset tics out nomirror\n"
	    "set grid xtics ytics lt 1 lc rgb '#dddddd'\n");
	out_printf(out, "set logscale x 2\nset format x '%%.0b%%BB'\n"
	    "set xlabel 'size of the cache (LRU, lines of %u bytes)'\n", CURVE_LINE);
	out_printf(out, "set ylabel 'misses of all accesses (%s), percent'\nset yrange [0:*]\n",
	    o->kinds_name);
	out_str(out, "plot $curve using 1:2 with linespoints lw 2 pt 7 ps 0.5 lc rgb '#1b6ca8' notitle\n");
}

void
distances_print(struct out *out, const struct reuse_counts *c, const struct plot_options *o)
{
	uint64_t from = 0, to = 1;

	out_str(out, "$distances << EOD\n");
	for (unsigned k = 0; from < c->n; from = to, to *= 2, k++) {
		uint64_t n = 0;

		for (uint64_t d = from; d < to && d < c->n; d++)
			n += c->hist[d];
		out_printf(out, "%u %" PRIu64 " %" PRIu64 "\n", k, n, from);
	}
	out_str(out, "EOD\nset border 3\nset tics out nomirror\nset grid ytics lt 1 lc rgb '#dddddd'\n"
	    "set xtics rotate by -45\n");
	out_str(out, "set boxwidth 0.9\nset style fill solid\nset yrange [0:*]\nset format y '%.0s%c'\n");
	out_str(out, "set xlabel 'reuse distance in lines, from this to before the next'\n");
	out_printf(out, "set ylabel 'accesses (%s)'\n", o->kinds_name);
	out_str(out, "plot $distances using 1:2:xtic(3) with boxes lc rgb '#1b6ca8' notitle\n");
}
