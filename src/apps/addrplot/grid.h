/*
 * addrplot: a grid of counts, whose columns are parts of time, in bounded memory.  Time is counted in
 * instructions, or in accesses if there are no instruction fetches.
 *
 * Neither the length of the run nor its rows are known before.  Columns double their time when the run is
 * longer than all of them.  A row has 2^shift numbers of those that are counted; when there are too many
 * cells, rows become twice as large, or, if they are fixed, columns.
 */
#ifndef TM_APPS_ADDRPLOT_GRID_H
#define TM_APPS_ADDRPLOT_GRID_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"

enum { GRID_COLUMNS = 1024, GRID_NEAR = 1024 };
#define GRID_CELLS_MAX (1u << 20)

struct cell { uint64_t row, n; uint32_t column; };

struct grid {
	unsigned shift, tshift;         /* a row has 2^shift numbers, a column 2^tshift units of time */
	int fixed;                      /* rows stay as they are */
	uint64_t fetches, accesses;     /* so far */
	int by_accesses;
	uint32_t column;                /* the present one */
	struct hash hash;
	struct cell *cell;              /* owned */
	size_t ncell, roomcell;
	/* the cells of this column that were used lately: row plus 1, 0: none */
	struct { uint64_t key; size_t at; } near[GRID_NEAR];
};

void grid_free(struct grid *g);         /* what it owns */
void grid_move(struct grid *g, uint64_t t);             /* the time is t */
void grid_new_cell(struct grid *g, uint64_t row);
void grid_sort(struct grid *g);         /* cells by row; nothing may be counted afterwards */

/* A reference of this kind is next. */
static inline void
grid_time(struct grid *g, int fetch)
{
	uint64_t t;

	if (!fetch && g->fetches)
		return;
	g->by_accesses |= !fetch;
	t = fetch ? g->fetches++ : g->accesses++;
	if (t >> g->tshift != g->column)
		grid_move(g, t);
}

static inline void
grid_count(struct grid *g, uint64_t number)
{
	uint64_t row = number >> g->shift;

	if (g->near[row % GRID_NEAR].key != row + 1) {
		grid_new_cell(g, number);
		row = number >> g->shift;
	}
	g->cell[g->near[row % GRID_NEAR].at].n++;
}

#endif
