/*
 * Minimum vertex cut: which definitions to record so that every value that
 * must be known can be computed, at the least cost.
 *
 * Vertices are definitions (or uses) with a cost; an edge a -> b says that b
 * is computed from a.  Sources are values that cannot be computed ("impossible"),
 * sinks are values that must be known.  The cut is a set of vertices of least
 * total cost that meets every path from a source to a sink.
 */
#ifndef TM_CFG_CUT_H
#define TM_CFG_CUT_H

#include <stddef.h>
#include <stdint.h>

#define CUT_INF (INT64_C(1) << 56)      /* this vertex cannot be cut */

struct cut;

struct cut *cut_new(void);
uint32_t cut_vertex(struct cut *c, int64_t cost);       /* its number: 0, 1, … */
void cut_edge(struct cut *c, uint32_t from, uint32_t to);
void cut_source(struct cut *c, uint32_t v);
void cut_sink(struct cut *c, uint32_t v);

/*
 * Finds the minimum cut that is nearest to the sinks; cut_taken then says whether a vertex is in
 * it.  -1: no finite cut exists
 */
int cut_solve(struct cut *c);
int cut_taken(const struct cut *c, uint32_t v);
void cut_free(struct cut *c);

#endif
