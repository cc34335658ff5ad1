/*
 * Order and dominators of a graph: Cooper, Harvey and Kennedy, A Simple, Fast
 * Dominance Algorithm (2001).  Post-dominators are the dominators of the
 * reversed graph, whose root is the exit.
 */
#ifndef TM_CFG_DOMINATORS_H
#define TM_CFG_DOMINATORS_H

#include <stdint.h>

#define NO_NODE UINT32_MAX

/* neighbours of v: to[at[v]] up to to[at[v + 1]], with repetition */
struct adjacency { uint32_t *at, *to; };

void adjacency_free(struct adjacency *g);

/*
 * The n nodes of g with all edges turned round, in ascending order of where they led from.  reverse has room for
 * n + 2 numbers at, which are zero, and for g->at[n] numbers to.
 */
void adjacency_reverse(const struct adjacency *g, uint32_t n, struct adjacency *reverse);

/*
 * The nodes that are reached from root, in reverse postorder of a depth-first walk; how many.  place[v] is that of v in
 * order, NO_NODE if v is not reached.  stack and next are room for n nodes each, as order and place are.
 */
uint32_t dom_order(const struct adjacency *g, uint32_t n, uint32_t root, uint32_t *order, uint32_t *place,
    uint32_t *stack, uint32_t *next);

/* idom[i]: the place of the immediate dominator of order[i], which is less than i but for the root's, 0 */
void dom_immediate(const struct adjacency *pred, const uint32_t *order, const uint32_t *place, uint32_t norder, uint32_t *idom);

#endif
