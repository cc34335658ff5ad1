/* Control-flow graphs: order, dominators (Cooper, Harvey, Kennedy 2001), natural loops, data flow. */
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
	g->succ = xcalloc(n, sizeof *g->succ);
	g->pred = xcalloc(n, sizeof *g->pred);
	g->nsucc = xcalloc(n, sizeof *g->nsucc);
	g->npred = xcalloc(n, sizeof *g->npred);
	return g;
}

static void
graph_push(uint32_t **list, uint32_t *n, uint32_t v)
{
	if ((*n & (*n - 1)) == 0)       /* room doubles at the powers of two */
		*list = xreallocarray(*list, *n ? *n * 2 : 1, sizeof **list);
	(*list)[(*n)++] = v;
}

void
graph_edge(struct graph *g, uint32_t from, uint32_t to)
{
	graph_push(&g->succ[from], &g->nsucc[from], to);
	graph_push(&g->pred[to], &g->npred[to], from);
}

void
graph_free(struct graph *g)
{
	uint32_t i;

	if (!g)
		return;
	for (i = 0; i < g->n; i++) {
		free(g->succ[i]);
		free(g->pred[i]);
	}
	for (i = 0; i < g->nloop; i++)
		free(g->loop[i].body);
	free(g->succ);
	free(g->pred);
	free(g->nsucc);
	free(g->npred);
	free(g->order);
	free(g->rpo);
	free(g->idom);
	free(g->loop);
	free(g->inner);
	free(g);
}

/* Reverse postorder by a depth-first walk with a stack of its own */
static void
graph_number(struct graph *g)
{
	uint32_t *stack = xcalloc(g->n, sizeof *stack), *next = xcalloc(g->n, sizeof *next);
	uint32_t sp = 0, post = 0, i;

	g->order = xcalloc(g->n, sizeof *g->order);
	g->rpo = xcalloc(g->n, sizeof *g->rpo);
	memset(g->rpo, 0xff, g->n * sizeof *g->rpo);
	stack[sp++] = 0;
	g->rpo[0] = 0;
	while (sp) {
		uint32_t b = stack[sp - 1];

		if (next[b] < g->nsucc[b]) {
			uint32_t s = g->succ[b][next[b]++];

			if (g->rpo[s] == UINT32_MAX) {
				g->rpo[s] = 0;
				stack[sp++] = s;
			}
			continue;
		}
		g->order[post++] = b;
		sp--;
	}
	g->norder = post;
	for (i = 0; i < post / 2; i++) {
		uint32_t t = g->order[i];

		g->order[i] = g->order[post - 1 - i];
		g->order[post - 1 - i] = t;
	}
	for (i = 0; i < post; i++)
		g->rpo[g->order[i]] = i;
	free(stack);
	free(next);
}

static void
graph_dominators(struct graph *g)
{
	uint32_t i, j;
	int changed = 1;

	g->idom = xcalloc(g->n, sizeof *g->idom);
	memset(g->idom, 0xff, g->n * sizeof *g->idom);
	g->idom[0] = 0;
	while (changed) {
		changed = 0;
		for (i = 1; i < g->norder; i++) {
			uint32_t b = g->order[i], d = UINT32_MAX;

			for (j = 0; j < g->npred[b]; j++) {
				uint32_t p = g->pred[b][j];

				if (g->idom[p] == UINT32_MAX)
					continue;
				if (d == UINT32_MAX) {
					d = p;
					continue;
				}
				while (d != p)
					if (g->rpo[d] > g->rpo[p])
						d = g->idom[d];
					else
						p = g->idom[p];
			}
			if (d != g->idom[b]) {
				g->idom[b] = d;
				changed = 1;
			}
		}
	}
}

int
graph_dominates(const struct graph *g, uint32_t a, uint32_t b)
{
	if (g->rpo[a] == UINT32_MAX || g->rpo[b] == UINT32_MAX)
		return 0;
	while (g->rpo[b] > g->rpo[a])
		b = g->idom[b];
	return a == b;
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

		for (i = 0; i < g->npred[b]; i++) {
			uint32_t p = g->pred[b][i];

			if (g->rpo[p] == UINT32_MAX || bit_get(l->body, p))
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

		for (j = 0; j < g->npred[h]; j++) {
			if (!graph_dominates(g, h, g->pred[h][j]))
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
			graph_grow(g, l, g->pred[h][j], stack);
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
	graph_number(g);
	graph_dominators(g);
	graph_loops(g);
}

/* One node's equation; whether its result changed */
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
	uint64_t *from = backward ? out : in, *to = backward ? in : out;
	int changed = 1;
	uint32_t i, j;
	size_t w;

	while (changed) {
		changed = 0;
		for (i = 0; i < g->norder; i++) {
			uint32_t b = g->order[backward ? g->norder - 1 - i : i];
			uint32_t n = backward ? g->nsucc[b] : g->npred[b];
			const uint32_t *nb = backward ? g->succ[b] : g->pred[b];

			for (j = 0; j < n; j++) {
				if (g->rpo[nb[j]] == UINT32_MAX)
					continue;
				for (w = 0; w < words; w++)
					from[b * words + w] |= to[nb[j] * words + w];
			}
			changed |= graph_transfer(words, gen + b * words, kill + b * words, from + b * words, to + b * words);
		}
	}
}
