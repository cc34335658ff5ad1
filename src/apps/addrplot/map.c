/*
 * Addresses over time: how many references each cell of a grid has, a part of the time by a piece of
 * memory.
 *
 * Neither the length of the run nor its addresses are known before. Columns double their time when the
 * run is longer than all of them; pieces double their size when there are too many cells. What is drawn
 * are regions, which are divided by what is unused.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "apps/addrplot/addrplot.h"
#include "base/diag.h"
#include "base/hash.h"
#include "base/mem.h"
#include "format/ref/ref.h"

enum { COLUMNS = 1024, ROWS = 640, BLANK = 6, LEAST_ROWS = 8, REGIONS = 12, NEAR = 1024, SHIFT = 6 };
#define CELLS_MAX (1u << 20)
#define GAP       (UINT64_C(1) << 20)   /* bytes that nothing uses: what is after them is another region */

struct cell { uint64_t piece, n; uint32_t column; };

struct map {
	unsigned kinds, shift, tshift;  /* a piece has 2^shift bytes, a column 2^tshift units of time */
	uint64_t fetches, accesses;     /* so far; time is counted in the first if there are any */
	int by_accesses;
	uint32_t column;
	struct hash hash;
	struct cell *cell;              /* owned */
	size_t ncell, roomcell;
	/* the cells of this column that were used lately: piece plus 1, 0: none */
	struct { uint64_t key; size_t at; } near[NEAR];
};

/* Neighbouring pieces, from first to last; rows of the picture from row on */
struct region { uint64_t first, last, n; unsigned row, rows; };

struct map *
map_new(unsigned kinds)
{
	struct map *m = xcalloc(1, sizeof *m);

	m->kinds = kinds;
	m->shift = SHIFT;
	return m;
}

void
map_free(struct map *m)
{
	hash_free(&m->hash);
	free(m->cell);
	free(m);
}

int
map_empty(const struct map *m)
{
	return !m->ncell;
}

static size_t
cell_find(struct map *m, uint64_t piece, uint32_t column)
{
	uint32_t h = hash_number(piece * COLUMNS + column), at = h, i;

	while ((i = hash_find(&m->hash, h, &at)) != HASH_NONE &&
	    (m->cell[i].piece != piece || m->cell[i].column != column))
		;
	if (i != HASH_NONE)
		return i;
	m->cell = mem_xgrow(m->cell, &m->roomcell, m->ncell + 1, sizeof *m->cell);
	m->cell[m->ncell] = (struct cell){ .piece = piece, .column = column };
	hash_xadd(&m->hash, h, (uint32_t)m->ncell);
	return m->ncell++;
}

/* Makes pieces or columns twice as large: cells become one. */
static void
map_coarsen(struct map *m, unsigned pieces, unsigned columns)
{
	size_t n = m->ncell;

	m->shift += pieces;
	m->tshift += columns;
	m->column >>= columns;
	m->ncell = 0;
	hash_free(&m->hash);
	m->hash = (struct hash){ .n = 0 };
	memset(m->near, 0, sizeof m->near);
	/* each is added no later than where it was */
	for (size_t i = 0; i < n; i++) {
		struct cell c = m->cell[i];

		m->cell[cell_find(m, c.piece >> pieces, c.column >> columns)].n += c.n;
	}
}

static void
map_count(struct map *m, uint64_t addr)
{
	uint64_t piece = (addr & 0xffffffffffff) >> m->shift;
	size_t k = piece % NEAR;

	if (m->near[k].key != piece + 1) {
		if (m->ncell == CELLS_MAX) {
			map_coarsen(m, 1, 0);
			piece >>= 1;
			k = piece % NEAR;
		}
		m->near[k].key = piece + 1;
		m->near[k].at = cell_find(m, piece, m->column);
	}
	m->cell[m->near[k].at].n++;
}

/* The time is now t. */
static void
map_time(struct map *m, uint64_t t)
{
	while (t >> m->tshift >= COLUMNS)
		map_coarsen(m, 0, 1);
	if (t >> m->tshift != m->column) {
		m->column = (uint32_t)(t >> m->tshift);
		memset(m->near, 0, sizeof m->near);
	}
}

int
map_take(void *map, const uint64_t *w, size_t n)
{
	struct map *m = map;

	for (size_t i = 0; i < n; i++) {
		unsigned kind = ref_kind(w[i]);

		if (kind >= REF_ENTER)
			continue;
		if (kind == REF_INST)
			map_time(m, m->fetches++);
		else if (!m->fetches) {
			m->by_accesses = 1;
			map_time(m, m->accesses++);
		}
		if (m->kinds >> kind & 1)
			map_count(m, (uint64_t)ref_addr(w[i]));
	}
	return 0;
}

static int
by_piece(const void *a, const void *b)
{
	const struct cell *x = a, *y = b;

	return x->piece < y->piece ? -1 : x->piece > y->piece;
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

/* Finds the regions with the most references, of cells sorted by piece. */
static size_t
regions_find(const struct map *m, struct region **region, uint64_t *left)
{
	struct region *r = NULL;
	size_t n = 0, room = 0;

	for (size_t i = 0; i < m->ncell; i++) {
		const struct cell *c = &m->cell[i];

		if (!n || (c->piece - r[n - 1].last) << m->shift > GAP) {
			r = mem_xgrow(r, &room, n + 1, sizeof *r);
			r[n++] = (struct region){ .first = c->piece };
		}
		r[n - 1].last = c->piece;
		r[n - 1].n += c->n;
	}
	if (n)
		qsort(r, n, sizeof *r, region_by_count);
	for (*left = 0; n > REGIONS; n--)
		*left += r[n - 1].n;
	if (n)
		qsort(r, n, sizeof *r, region_by_place);
	*region = r;
	return n;
}

/* Gives each region rows, by the logarithm of its size, so that the stack is not lost beside a large heap. */
static unsigned
regions_place(struct region *r, size_t n)
{
	double sum = 0;
	unsigned row = 0;

	for (size_t i = 0; i < n; i++)
		sum += log2((double)(r[i].last - r[i].first) + 2);
	for (size_t i = 0; i < n; i++) {
		uint64_t size = r[i].last - r[i].first + 1;
		unsigned share = (unsigned)(ROWS * log2((double)size + 1) / sum);

		r[i].rows = share < LEAST_ROWS ? LEAST_ROWS : share;
		r[i].row = row;
		row += r[i].rows + (i + 1 < n ? BLANK : 0);
	}
	return row;
}

/* Adds a cell to the rows of the picture that it covers, shared among them. */
static void
grid_add(double *grid, const struct region *r, const struct cell *c)
{
	uint64_t size = r->last - r->first + 1, at = c->piece - r->first;
	uint64_t from = at * r->rows / size, to = ((at + 1) * r->rows - 1) / size;

	if (to < from)
		to = from;
	for (uint64_t k = from; k <= to; k++)
		grid[(r->row + k) * COLUMNS + c->column] += (double)c->n / (double)(to - from + 1);
}

static void
print_grid(struct out *out, const double *grid, unsigned rows, uint32_t columns)
{
	out_str(out, "$map << EOD\n");
	for (unsigned y = 0; y < rows; y++) {
		for (uint32_t x = 0; x < columns; x++)
			if (grid[y * COLUMNS + x] > 0)
				out_printf(out, "%.3g ", grid[y * COLUMNS + x]);
			else
				out_str(out, "0 ");
		out_str(out, "\n");
	}
	out_str(out, "EOD\n");
}

/* What a person reads of a size: 136k */
static void
print_size(struct out *out, uint64_t bytes)
{
	unsigned u = 0;

	while (u < 4 && bytes >= UINT64_C(10) << 10) {
		bytes = (bytes + 1023) >> 10;
		u++;
	}
	out_printf(out, "%" PRIu64 "%.1s", bytes, &" kMGT"[u]);
}

static void
print_tics(struct out *out, const struct map *m, const struct region *r, size_t n)
{
	out_str(out, "set ytics out nomirror (");
	for (size_t i = 0; i < n; i++) {
		out_printf(out, "%s'%" PRIx64 " + ", i ? ", " : "", r[i].first << m->shift);
		print_size(out, (r[i].last - r[i].first + 1) << m->shift);
		out_printf(out, "' %g", r[i].row - 0.5);
	}
	out_str(out, ")\n");
	for (size_t i = 1; i < n; i++)
		out_printf(out,
		    "set arrow from graph 0, first %u to graph 1, first %u nohead lc rgb '#cccccc'\n", r[i].row - BLANK / 2,
		    r[i].row - BLANK / 2);
}

void
map_print(struct out *out, struct map *m, const struct plot_options *o)
{
	uint64_t left;
	struct region *r;
	size_t n, k = 0;
	unsigned rows;
	double *grid;

	if (m->ncell)
		qsort(m->cell, m->ncell, sizeof *m->cell, by_piece);
	n = regions_find(m, &r, &left);
	rows = regions_place(r, n);
	grid = xcalloc((size_t)rows * COLUMNS + 1, sizeof *grid);
	for (size_t i = 0; i < m->ncell && n; i++) {
		while (k + 1 < n && m->cell[i].piece > r[k].last)
			k++;
		if (m->cell[i].piece >= r[k].first && m->cell[i].piece <= r[k].last)
			grid_add(grid, &r[k], &m->cell[i]);
	}
	print_grid(out, grid, rows, m->column + 1);
	out_printf(out, "set xlabel '%s", m->by_accesses ? "accesses so far" : "instructions so far");
	if (left)
		out_printf(out, " (%" PRIu64 " references to other regions are not shown)", left);
	out_str(out, "'\nset format x '%.0s%c'\nset border 3\nset xtics out nomirror\n");
	out_printf(out, "set ylabel 'first address and size of each region'\n"
	    "set cblabel 'references (%s)'\nset logscale cb\nset format cb '%%.0s%%c'\n", o->kinds_name);
	out_str(out, "set palette defined (0 '#cfe3f1', 1 '#1b6ca8', 2 '#123a5c', 3 '#d1495b')\n");
	print_tics(out, m, r, n);
	/* the logarithm of 0 has no colour: a cell without references is empty */
	out_printf(out, "set xrange [0:%.0f]\nset yrange [-0.5:%u]\nset cbrange [0.5:*]\n"
	    "plot $map matrix using ($1 * %.0f):2:($3 > 0 ? $3 : NaN) with image notitle\n",
	    ldexp(m->column + 1, (int)m->tshift), rows, ldexp(1, (int)m->tshift));
	free(grid);
	free(r);
}
