/*
 * Control-flow graphs: dominators, natural loops, and a bit-vector data-flow
 * solver (seed 001 section 4.1.1).  Node 0 is the entry.  Machine-independent.
 */
#ifndef TM_CFG_GRAPH_H
#define TM_CFG_GRAPH_H

#include <stddef.h>
#include <stdint.h>

#include "cfg/dominators.h"

struct graph {
	uint32_t n;                     /* nodes */
	struct graph_edge *edge;
	size_t nedge, edgecap;
	struct adjacency succ, pred;
	uint32_t *order, norder;        /* nodes reachable from the entry in reverse postorder */
	uint32_t *rpo;                  /* a node's place in order, NO_NODE if unreachable */
	/* for each place in order: the place of the immediate dominator; the entry has its own */
	uint32_t *idom;
	struct graph_loop *loop;        /* outer loops before inner ones */
	uint32_t nloop;
	int32_t *inner;                 /* innermost loop of each node, -1 for none */
};

struct graph_edge { uint32_t from, to; };

struct graph_loop {
	uint32_t header;
	int32_t parent;                 /* enclosing loop or -1 */
	uint32_t depth;                 /* 1 for an outermost loop */
	uint64_t *body;                 /* bit vector over nodes */
};

struct graph *graph_new(uint32_t n);
void graph_add_edge(struct graph *g, uint32_t from, uint32_t to);
void graph_free(struct graph *g);

/* Neighbours, order, dominators and loops; call once, after the last edge. */
void graph_analyse(struct graph *g);

int graph_dominates(const struct graph *g, uint32_t a, uint32_t b);
int graph_inloop(const struct graph *g, uint32_t loop, uint32_t node);

/*
 * Solve a union data-flow problem over rows of `words` words, one a node, at
 * row*words of each array: out = gen | (in & ~kill), in = union of the
 * predecessors' out (forward), or with in and out exchanged over successors
 * (backward).  `in` of the entry (forward) keeps what it holds as boundary.
 */
void graph_flow(const struct graph *g, int backward, size_t words,
    const uint64_t *gen, const uint64_t *kill, uint64_t *in, uint64_t *out);

#endif
