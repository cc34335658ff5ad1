/* addrplot: a grid of counts over time. */
#include <stdlib.h>
#include <string.h>

#include "apps/addrplot/grid.h"
#include "base/mem.h"

void
grid_free(struct grid *g)
{
	hash_free(&g->hash);
	free(g->cell);
}

static size_t
cell_find(struct grid *g, uint64_t row, uint32_t column)
{
	uint32_t h = hash_number(row * GRID_COLUMNS + column), at = h, i;

	while ((i = hash_find(&g->hash, h, &at)) != HASH_NONE &&
	    (g->cell[i].row != row || g->cell[i].column != column))
		;
	if (i != HASH_NONE)
		return i;
	g->cell = mem_xgrow(g->cell, &g->roomcell, g->ncell + 1, sizeof *g->cell);
	g->cell[g->ncell] = (struct cell){ .row = row, .column = column };
	hash_xadd(&g->hash, h, (uint32_t)g->ncell);
	return g->ncell++;
}

/* Makes rows or columns twice as large: cells become one. */
static void
grid_coarsen(struct grid *g, unsigned rows, unsigned columns)
{
	size_t n = g->ncell;

	g->shift += rows;
	g->tshift += columns;
	g->column >>= columns;
	g->ncell = 0;
	hash_free(&g->hash);
	g->hash = (struct hash){ .n = 0 };
	memset(g->near, 0, sizeof g->near);
	/* each is added no later than where it was */
	for (size_t i = 0; i < n; i++) {
		struct cell c = g->cell[i];

		g->cell[cell_find(g, c.row >> rows, c.column >> columns)].n += c.n;
	}
}

void
grid_new_cell(struct grid *g, uint64_t number)
{
	uint64_t row;

	/* of fixed rows, there are no more than cells when there is one column left */
	if (g->ncell >= GRID_CELLS_MAX && (!g->fixed || g->column))
		grid_coarsen(g, !g->fixed, g->fixed);
	row = number >> g->shift;
	g->near[row % GRID_NEAR].key = row + 1;
	g->near[row % GRID_NEAR].at = cell_find(g, row, g->column);
}

void
grid_move(struct grid *g, uint64_t t)
{
	while (t >> g->tshift >= GRID_COLUMNS)
		grid_coarsen(g, 0, 1);
	if (t >> g->tshift != g->column) {
		g->column = (uint32_t)(t >> g->tshift);
		memset(g->near, 0, sizeof g->near);
	}
}

static int
by_row(const void *a, const void *b)
{
	const struct cell *x = a, *y = b;

	return x->row < y->row ? -1 : x->row > y->row;
}

void
grid_sort(struct grid *g)
{
	if (g->ncell)
		qsort(g->cell, g->ncell, sizeof *g->cell, by_row);
}
