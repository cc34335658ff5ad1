/* The miss ratio of LRU caches of all sizes, and the reuse distances behind it, as pictures. */
#include <inttypes.h>

#include "apps/addrplot/addrplot.h"
#include "base/diag.h"
#include "format/ref/ref.h"
#include "sim/reuse.h"

enum { POINTS = 8, SHIFT = 6, LINE = 1 << SHIFT };      /* sizes in each doubling; bytes of a line */

static void *
reuse_begin(const struct plot_options *o, struct refs *s)
{
	struct reuse *r = reuse_new(SHIFT, o->kinds);

	(void)s;
	if (!r)
		die("out of memory");
	return r;
}

static int
reuse_add_words(void *r, const uint64_t *w, size_t n)
{
	if (reuse_take(r, w, n) != 0)
		die("out of memory");
	return 0;
}

static int
reuse_empty(void *r)
{
	struct reuse_counts c;

	reuse_counts(r, &c);
	return !c.accesses;
}

static void
reuse_end(void *r)
{
	reuse_free(r);
}

/* The next size that has a point: POINTS of them in each doubling, where there are so many. */
static uint64_t
curve_next(uint64_t size)
{
	uint64_t power = 1;

	while (power * 2 <= size)
		power *= 2;
	return size + (power < POINTS ? 1 : power / POINTS);
}

static void
misses_print(struct out *out, void *reuse, const struct plot_options *o, struct refs *s)
{
	struct reuse_counts counts, *c = &counts;
	uint64_t misses, d = 0;         /* accesses that are no hits at a distance below d */

	(void)s;
	reuse_counts(reuse, c);
	misses = c->accesses;

	out_str(out, "$curve << EOD\n");
	for (uint64_t size = 1;; size = curve_next(size)) {
		for (; d < size && d < c->n; d++)
			misses -= c->hist[d];
		out_printf(out, "%" PRIu64 " %.9g\n", size * LINE,
		    100.0 * (double)misses / (double)c->accesses);
		if (size >= c->lines)
			break;
	}
	out_str(out, "EOD\nset border 3\nset tics out nomirror\n"
	    "set grid xtics ytics lt 1 lc rgb '#dddddd'\n");
	out_printf(out, "set logscale x 2\nset format x '%%.0b%%BB'\n"
	    "set xlabel 'size of the cache (LRU, lines of %d bytes)'\n", LINE);
	out_printf(out, "set ylabel 'misses of all accesses (%s), percent'\nset yrange [0:*]\n",
	    o->kinds_name);
	out_str(out, "plot $curve using 1:2 with linespoints lw 2 pt 7 ps 0.5 lc rgb '#0072b2' notitle\n");
}

static void
distances_print(struct out *out, void *reuse, const struct plot_options *o, struct refs *s)
{
	struct reuse_counts counts, *c = &counts;
	uint64_t from = 0, to = 1;

	reuse_counts(reuse, c);
	if (!c->n)
		die("%s: uses no line twice, so there is nothing to draw", refs_path(s));
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
	out_str(out, "plot $distances using 1:2:xtic(3) with boxes lc rgb '#0072b2' notitle\n");
}

const struct picture misses_picture = {
	.name = "misses", .kinds = "data",
	.new = reuse_begin, .take = reuse_add_words, .empty = reuse_empty, .print = misses_print, .free = reuse_end,
};

const struct picture distances_picture = {
	.name = "distances", .kinds = "data",
	.new = reuse_begin, .take = reuse_add_words, .empty = reuse_empty, .print = distances_print,
	.free = reuse_end,
};
