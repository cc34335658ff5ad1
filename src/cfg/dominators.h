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
 * Reverses the edges of g, which has n nodes.  The neighbours of a node are in ascending order.
 * The caller allocates reverse->at, n + 2 zeros, and reverse->to, g->at[n] numbers.
 */
void adjacency_reverse(const struct adjacency *g, uint32_t n, struct adjacency *reverse);

/*
 * Sets order to the nodes that are reached from root, in reverse postorder of a depth-first walk,
 * and returns their number.  place[v] becomes the place of v in order, NO_NODE if it is not
 * reached.  order, place, stack and next have room for n nodes each.
 */
uint32_t dom_order(const struct adjacency *g, uint32_t n, uint32_t root, uint32_t *order, uint32_t *place,
    uint32_t *stack, uint32_t *next);

/*
 * Sets idom[i] to the place of the immediate dominator of order[i], which is less than i, except
 * that idom[0] is 0.
 */
void dom_immediate(const struct adjacency *pred, const uint32_t *order, const uint32_t *place,
    uint32_t norder, uint32_t *idom);

#endif
