/* Control-flow graphs: order, dominators, natural loops, data flow. */
#include <stdlib.h>
#include <string.h>
#include "base/bits.h"
#include "base/mem.h"
#include "cfg/graph.h"

struct graph *
graph_new(uint32_t n)
{
	struct graph *g = xcalloc(1, sizeof *g);

	g->n = n;
	return g;
}

void
graph_add_edge(struct graph *g, uint32_t from, uint32_t to)
{
	g->edge = mem_xgrow(g->edge, &g->edgecap, g->nedge + 1, sizeof *g->edge);
	g->edge[g->nedge++] = (struct graph_edge){ from, to };
}

void
graph_free(struct graph *g)
{
	uint32_t i;

	if (!g)
		return;
	for (i = 0; i < g->nloop; i++)
		free(g->loop[i].body);
	adjacency_free(&g->succ);
	adjacency_free(&g->pred);
	free(g->edge);
	free(g->order);
	free(g->rpo);
	free(g->idom);
	free(g->loop);
	free(g->inner);
	free(g);
}

/* Makes succ and pred; the edges of a node stay in order. */
static void
graph_neighbours(struct graph *g)
{
	uint32_t *at = xcalloc((size_t)g->n + 2, sizeof *at);
	size_t i;

	g->succ = (struct adjacency){ at, xcalloc(g->nedge + 1, sizeof *g->succ.to) };
	for (i = 0; i < g->nedge; i++)
		at[g->edge[i].from + 2]++;
	for (i = 2; i < (size_t)g->n + 2; i++)
		at[i] += at[i - 1];
	for (i = 0; i < g->nedge; i++)
		g->succ.to[at[g->edge[i].from + 1]++] = g->edge[i].to;
	g->pred.at = xcalloc((size_t)g->n + 2, sizeof *at);
	g->pred.to = xcalloc(g->nedge + 1, sizeof *g->pred.to);
	adjacency_reverse(&g->succ, g->n, &g->pred);
}

static void
graph_dominators(struct graph *g)
{
	uint32_t *stack = xcalloc(g->n, sizeof *stack), *next = xcalloc(g->n, sizeof *next);

	g->order = xcalloc(g->n, sizeof *g->order);
	g->rpo = xcalloc(g->n, sizeof *g->rpo);
	g->idom = xcalloc(g->n, sizeof *g->idom);
	g->norder = dom_order(&g->succ, g->n, 0, g->order, g->rpo, stack, next);
	dom_immediate(&g->pred, g->order, g->rpo, g->norder, g->idom);
	free(stack);
	free(next);
}

int
graph_dominates(const struct graph *g, uint32_t a, uint32_t b)
{
	uint32_t p = g->rpo[a], q = g->rpo[b];

	if (p == NO_NODE || q == NO_NODE)
		return 0;
	while (q > p)
		q = g->idom[q];
	return p == q;
}

int
graph_inloop(const struct graph *g, uint32_t loop, uint32_t node)
{
	return bit_get(g->loop[loop].body, node);
}

/* Add to loop l everything that reaches `tail` without passing the header */
static void
graph_grow(struct graph *g, struct graph_loop *l, uint32_t tail, uint32_t *stack)
{
	uint32_t sp = 0, i;

	if (!bit_get(l->body, tail)) {
		bit_set(l->body, tail);
		stack[sp++] = tail;
	}
	while (sp) {
		uint32_t b = stack[--sp];

		for (i = g->pred.at[b]; i < g->pred.at[b + 1]; i++) {
			uint32_t p = g->pred.to[i];

			if (g->rpo[p] == NO_NODE || bit_get(l->body, p))
				continue;
			bit_set(l->body, p);
			stack[sp++] = p;
		}
	}
}

/* One loop for each header of back edges; headers come in reverse postorder, so outer loops first */
static void
graph_loops(struct graph *g)
{
	uint32_t *stack = xcalloc(g->n, sizeof *stack);
	uint32_t i, j, k;

	g->inner = xcalloc(g->n, sizeof *g->inner);
	for (i = 0; i < g->n; i++)
		g->inner[i] = -1;
	for (i = 0; i < g->norder; i++) {
		struct graph_loop *l = NULL;
		uint32_t h = g->order[i];

		for (j = g->pred.at[h]; j < g->pred.at[h + 1]; j++) {
			if (!graph_dominates(g, h, g->pred.to[j]))
				continue;
			if (!l) {
				g->loop = xreallocarray(g->loop, g->nloop + 1, sizeof *g->loop);
				l = &g->loop[g->nloop++];
				l->header = h;
				l->parent = g->inner[h];
				l->depth = l->parent < 0 ? 1 : g->loop[l->parent].depth + 1;
				l->body = xcalloc(BITS_WORDS(g->n), sizeof *l->body);
				bit_set(l->body, h);
			}
			graph_grow(g, l, g->pred.to[j], stack);
		}
		if (l)
			for (k = 0; k < g->n; k++)
				if (bit_get(l->body, k))
					g->inner[k] = (int32_t)(l - g->loop);
	}
	free(stack);
}

void
graph_analyse(struct graph *g)
{
	graph_neighbours(g);
	graph_dominators(g);
	graph_loops(g);
}

/* Evaluates the equation of a node; 1: its result changed */
static int
graph_transfer(size_t words, const uint64_t *gen, const uint64_t *kill, const uint64_t *from, uint64_t *to)
{
	int changed = 0;
	size_t w;

	for (w = 0; w < words; w++) {
		uint64_t v = gen[w] | (from[w] & ~kill[w]);

		changed |= v != to[w];
		to[w] = v;
	}
	return changed;
}

void
graph_flow(const struct graph *g, int backward, size_t words,
    const uint64_t *gen, const uint64_t *kill, uint64_t *in, uint64_t *out)
{
	const struct adjacency *near = backward ? &g->succ : &g->pred;
	uint64_t *from = backward ? out : in, *to = backward ? in : out;
	int changed = 1;
	uint32_t i, j;
	size_t w;

	while (changed) {
		changed = 0;
		for (i = 0; i < g->norder; i++) {
			uint32_t b = g->order[backward ? g->norder - 1 - i : i];

			for (j = near->at[b]; j < near->at[b + 1]; j++) {
				if (g->rpo[near->to[j]] == NO_NODE)
					continue;
				for (w = 0; w < words; w++)
					from[b * words + w] |= to[near->to[j] * words + w];
			}
			changed |= graph_transfer(words, gen + b * words, kill + b * words,
			    from + b * words, to + b * words);
		}
	}
}
