/*
 * Addresses over time: how many references each cell of a grid has, a part of the time by a piece of
 * memory.  What is drawn are regions, which are divided by what is unused, and by names.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "apps/addrplot/addrplot.h"
#include "apps/addrplot/grid.h"
#include "base/mem.h"
#include "format/ref/ref.h"

enum { ROWS = 640, BLANK = 6, LABEL = 14400, REGIONS = 16, SHIFT = 6, NAME = 24, SHADES = 9, LEAST = 10000 };
#define GAP     (UINT64_C(1) << 20)     /* bytes that nothing uses: what is after them is another region */
#define ADDRESS UINT64_C(0xffffffffffff)

struct map {
	unsigned kinds;
	struct grid grid;               /* rows are pieces of memory */
};

/* Neighbouring pieces, from first to last; rows of the picture from row on */
struct region {
	uint64_t first, last, n;
	unsigned row, rows;
	const struct area *area;        /* or NULL */
};

static void *
map_new(const struct plot_options *o, struct refs *s)
{
	struct map *m = xcalloc(1, sizeof *m);

	(void)s;
	m->kinds = o->kinds;
	m->grid.shift = SHIFT;
	return m;
}

static void
map_free(void *map)
{
	struct map *m = map;

	grid_free(&m->grid);
	free(m);
}

static int
map_empty(void *map)
{
	return !((struct map *)map)->grid.ncell;
}

static int
map_take(void *map, const uint64_t *w, size_t n)
{
	struct map *m = map;

	for (size_t i = 0; i < n; i++) {
		unsigned kind = ref_kind(w[i]);

		if (kind >= REF_ENTER)
			continue;
		grid_time(&m->grid, kind == REF_INST);
		if (m->kinds >> kind & 1)
			grid_count(&m->grid, w[i] & ADDRESS);
	}
	return 0;
}

static int
region_by_count(const void *a, const void *b)
{
	const struct region *x = a, *y = b;

	return x->n > y->n ? -1 : x->n < y->n;
}

static int
region_by_place(const void *a, const void *b)
{
	const struct region *x = a, *y = b;

	return x->first < y->first ? -1 : x->first > y->first;
}

/* Are these pieces of one region?  That of a file has gaps where the file was not used. */
static int
region_continues(const struct region *r, const struct area *a, uint64_t gap)
{
	if (a && a->kind != AREAS_ANON)
		return r->area && r->area->name == a->name;
	return (a ? r->area && r->area->kind == AREAS_ANON : !r->area) && gap <= GAP;
}

/* Finds the regions with the most references, and at least a LEASTth of all, of cells sorted by piece. */
static size_t
regions_find(const struct grid *g, struct areas *areas, struct region **region, uint64_t *left)
{
	struct region *r = NULL;
	size_t n = 0, room = 0;
	uint64_t all = 0;

	for (size_t i = 0; i < g->ncell; i++) {
		const struct cell *c = &g->cell[i];
		const struct area *a = areas ? areas_find(areas, c->row << g->shift) : NULL;

		if (!n || !region_continues(&r[n - 1], a, (c->row - r[n - 1].last) << g->shift)) {
			r = mem_xgrow(r, &room, n + 1, sizeof *r);
			r[n++] = (struct region){ .first = c->row, .area = a };
		}
		r[n - 1].last = c->row;
		r[n - 1].n += c->n;
	}
	if (n)
		qsort(r, n, sizeof *r, region_by_count);
	for (size_t i = 0; i < n; i++)
		all += r[i].n;
	for (*left = 0; n > REGIONS || (n && r[n - 1].n < all / LEAST); n--)
		*left += r[n - 1].n;
	if (n)
		qsort(r, n, sizeof *r, region_by_place);
	*region = r;
	return n;
}

/* A region with less than a thousandth of the references is drawn small. */
static double
region_weight(const struct region *r, uint64_t all)
{
	return r->n < all / 1000 ? 0 : log2((double)(r->last - r->first) + 2);
}

/*
 * Gives each region rows, by the logarithm of its size, so that the stack is not lost beside a large heap; each has
 * at least room for its name.
 */
static unsigned
regions_place(struct region *r, size_t n, uint64_t height)
{
	unsigned least = (unsigned)(LABEL / height);
	uint64_t all = 0;
	double sum = 0;
	unsigned row = 0;

	for (size_t i = 0; i < n; i++)
		all += r[i].n;
	for (size_t i = 0; i < n; i++)
		sum += region_weight(&r[i], all);
	for (size_t i = 0; i < n; i++) {
		unsigned share = (unsigned)(ROWS * region_weight(&r[i], all) / sum);

		r[i].rows = share < least ? least : share;
		r[i].row = row;
		row += r[i].rows + (i + 1 < n ? BLANK : 0);
	}
	return row;
}

/* Adds a cell to the rows of the picture that it covers, shared among them. */
static void
grid_add(double *grid, const struct region *r, const struct cell *c)
{
	uint64_t size = r->last - r->first + 1, at = c->row - r->first;
	uint64_t from = at * r->rows / size, to = ((at + 1) * r->rows - 1) / size;

	if (to < from)
		to = from;
	for (uint64_t k = from; k <= to; k++)
		grid[(r->row + k) * GRID_COLUMNS + c->column] += (double)c->n / (double)(to - from + 1);
}

static void
print_grid(struct out *out, const double *grid, unsigned rows, uint32_t columns)
{
	out_str(out, "$map << EOD\n");
	for (unsigned y = 0; y < rows; y++) {
		for (uint32_t x = 0; x < columns; x++)
			if (grid[y * GRID_COLUMNS + x] > 0)
				out_printf(out, "%.3g ", grid[y * GRID_COLUMNS + x]);
			else
				out_str(out, "0 ");
		out_str(out, "\n");
	}
	out_str(out, "EOD\n");
}

/* The region's name and size; without a name, its first address */
static void
print_tic(struct out *out, const struct grid *g, const struct region *r)
{
	uint64_t bytes = (r->last - r->first + 1) << g->shift;
	char text[NAME + PLOT_SIZE + 8], size[PLOT_SIZE];

	if (!r->area) {
		out_printf(out, "'%" PRIx64 " + %s'", r->first << g->shift, plot_size(size, bytes));
		return;
	}
	snprintf(text, sizeof text, "%.*s  %s", NAME, plot_file_name(r->area->name), plot_size(size, bytes));
	plot_tic(out, text);
}

static void
print_tics(struct out *out, const struct grid *g, const struct region *r, size_t n)
{
	out_str(out, "set ytics out nomirror (");
	for (size_t i = 0; i < n; i++) {
		out_str(out, i ? ", " : "");
		print_tic(out, g, &r[i]);
		/* a name stands beside the middle, an address where the region begins */
		out_printf(out, " %g", r[i].row - 0.5 + (r[i].area ? r[i].rows / 2.0 : 0));
	}
	out_str(out, ")\n");
	for (size_t i = 1; i < n; i++)
		out_printf(out,
		    "set arrow from graph 0, first %u to graph 1, first %u nohead lc rgb '#cccccc'\n", r[i].row - BLANK / 2,
		    r[i].row - BLANK / 2);
}

/* The colour of each kind of area: the darkest of its shades */
static const struct { unsigned colour; const char *light, *dark; } shade[AREAS_NKINDS] = {
	[AREAS_NONE] = { 6, "#d0d0d0", "#222222" }, [AREAS_PROGRAM] = { 0, "#b3d4e8", "#003a5c" },
	[AREAS_LIBRARY] = { 3, "#f0d6e4", "#7a3059" }, [AREAS_FILE] = { 5, "#d5ebf8", "#1f6f9e" },
	[AREAS_HEAP] = { 1, "#f5cfb3", "#7a3500" }, [AREAS_STACK] = { 2, "#b3e2d5", "#004f3a" },
	[AREAS_ANON] = { 4, "#f8e3b3", "#8a5f00" },
};

/* A colour says the kind of area, and how dark it is the number of references: from 10 kind to 10 kind + SHADES */
static void
print_kinds(struct out *out, const struct region *r, size_t n, double most)
{
	out_str(out, "unset colorbox\nset palette defined (");
	for (int k = 0; k < AREAS_NKINDS; k++)
		out_printf(out, "%s%d '%s', %d '%s', %d '%s'", k ? ", " : "", 10 * k, shade[k].light,
		    10 * k + SHADES / 2 + 1, plot_colour[shade[k].colour], 10 * k + SHADES, shade[k].dark);
	out_printf(out, ")\nset cbrange [0:%d]\nkind(y) = ", 10 * (AREAS_NKINDS - 1) + SHADES);
	for (size_t i = 0; i + 1 < n; i++)
		out_printf(out, "y < %u ? %d : ", r[i + 1].row, r[i].area ? (int)r[i].area->kind : 0);
	out_printf(out, "%d\nshade(n) = n < 1 ? 0 : %d * log(n) / %.9g\n",
	    r[n - 1].area ? (int)r[n - 1].area->kind : 0, SHADES, most > 1 ? log(most) : 1);
}

static void
print_plot(struct out *out, const struct map *m, const struct region *r, size_t n, int kinds)
{
	double unit = ldexp(1, (int)m->grid.tshift);

	/* the logarithm of 0 has no colour: a cell without references is empty */
	out_printf(out, "plot $map matrix using ($1 * %.0f):2:($3 > 0 ? %s : NaN) with image notitle", unit,
	    kinds ? "10 * kind($2) + shade($3)" : "$3");
	for (int k = 0; k < AREAS_NKINDS && kinds; k++)
		for (size_t i = 0; i < n; i++)
			if ((r[i].area ? (int)r[i].area->kind : 0) == k) {
				out_printf(out, ", NaN with points pt 5 ps 1.6 lc rgb '%s' title '%s'",
				    plot_colour[shade[k].colour], areas_kind_name((enum areas_kind)k));
				break;
			}
	out_str(out, "\n");
}

static void
print_time(struct out *out, const struct grid *g, uint64_t left)
{
	out_printf(out, "set xlabel '%s", g->by_accesses ? "accesses so far" : "instructions so far");
	if (left)
		out_printf(out, " (%" PRIu64 " references to other regions are not shown)", left);
	out_printf(out, "'\nset format x '%%.0s%%c'\nset border 3\nset xtics out nomirror\nset xrange [0:%.0f]\n",
	    ldexp(g->column + 1, (int)g->tshift));
}

/* The grid of the picture; returns its largest cell */
static double
grid_fill(double *grid, const struct grid *g, const struct region *r, size_t n, unsigned rows)
{
	double most = 0;
	size_t k = 0;

	for (size_t i = 0; i < g->ncell && n; i++) {
		while (k + 1 < n && g->cell[i].row > r[k].last)
			k++;
		if (g->cell[i].row >= r[k].first && g->cell[i].row <= r[k].last)
			grid_add(grid, &r[k], &g->cell[i]);
	}
	for (size_t i = 0; i < (size_t)rows * GRID_COLUMNS; i++)
		most = grid[i] > most ? grid[i] : most;
	return most;
}

static void
map_print(struct out *out, void *map, const struct plot_options *o, struct refs *s)
{
	struct map *m = map;
	struct areas *areas = refs_areas(s);
	uint64_t left;
	struct region *r;
	size_t n;
	unsigned rows;
	double *grid, most;

	grid_sort(&m->grid);
	n = regions_find(&m->grid, areas, &r, &left);
	rows = regions_place(r, n, o->height);
	grid = xcalloc((size_t)rows * GRID_COLUMNS + 1, sizeof *grid);
	most = grid_fill(grid, &m->grid, r, n, rows);
	print_grid(out, grid, rows, m->grid.column + 1);
	print_time(out, &m->grid, left);
	print_tics(out, &m->grid, r, n);
	out_printf(out, "set yrange [-0.5:%u]\n", rows);
	if (areas) {
		print_kinds(out, r, n, most);
		/* gnuplot takes the width of a column from a guess at the longest title */
		out_printf(out, "set key outside top left horizontal Left reverse samplen 0.5 width %d\n"
		    "set ylabel 'regions of memory, by address'\n", n > 4 ? -1 : 1);
		out_printf(out, "set label 'references (%s): the darkest cell has ", o->kinds_name);
		out_printf(out, "%.0f' at graph 1, graph 0.5 center rotate offset 1.6, 0 tc rgb '#555555'\n"
		    "set rmargin 5\n", most);
	} else {
		out_printf(out, "set ylabel 'first address and size of each region'\n"
		    "set cblabel 'references (%s)'\nset logscale cb\nset format cb '%%.0s%%c'\n", o->kinds_name);
		out_str(out, "set palette defined (0 '#cfe3f1', 1 '#1b6ca8', 2 '#123a5c', 3 '#d1495b')\n"
		    "set cbrange [0.5:*]\n");
	}
	print_plot(out, m, r, n, areas != NULL);
	free(grid);
	free(r);
}

const struct picture map_picture = {
	.name = "map", .kinds = "data", .areas = 1,
	.new = map_new, .take = map_take, .empty = map_empty, .print = map_print, .free = map_free,
};
