/*
 * Reverse postorder and dominators.  Dominators are named by their places in this order, where the
 * place of a dominator is lower.
 */
#include <stdlib.h>
#include <string.h>

#include "cfg/dominators.h"

void
adjacency_free(struct adjacency *g)
{
	free(g->at);
	free(g->to);
	*g = (struct adjacency){ 0 };
}

/*
 * First, at[v + 2] is the number of edges to v.  Then at[v + 1] is where the next edge of v is
 * stored, so that it is the end of its edges when all are stored.
 */
void
adjacency_reverse(const struct adjacency *g, uint32_t n, struct adjacency *reverse)
{
	uint32_t m = g->at[n], *at = reverse->at;

	for (uint32_t k = 0; k < m; k++)
		at[g->to[k] + 2]++;
	for (uint32_t i = 2; i < n + 2; i++)
		at[i] += at[i - 1];
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = g->at[i]; k < g->at[i + 1]; k++)
			reverse->to[at[g->to[k] + 1]++] = i;
}

static void
turn_round(uint32_t *v, uint32_t n)
{
	for (uint32_t i = 0; i < n / 2; i++) {
		uint32_t t = v[i];

		v[i] = v[n - 1 - i];
		v[n - 1 - i] = t;
	}
}

/* The walk has its own stack.  A visited node has place 0 until the places are known. */
uint32_t
dom_order(const struct adjacency *g, uint32_t n, uint32_t root, uint32_t *order, uint32_t *place,
    uint32_t *stack, uint32_t *next)
{
	uint32_t sp = 0, norder = 0;

	memset(place, 0xff, n * sizeof *place);
	place[root] = 0;
	stack[sp++] = root;
	next[root] = g->at[root];
	while (sp) {
		uint32_t v = stack[sp - 1];

		if (next[v] < g->at[v + 1]) {
			uint32_t s = g->to[next[v]++];

			if (place[s] == NO_NODE) {
				place[s] = 0;
				next[s] = g->at[s];
				stack[sp++] = s;
			}
		} else {
			order[norder++] = v;
			sp--;
		}
	}
	turn_round(order, norder);
	for (uint32_t i = 0; i < norder; i++)
		place[order[i]] = i;
	return norder;
}

static uint32_t
nearest_common(const uint32_t *idom, uint32_t a, uint32_t b)
{
	while (a != b) {
		while (a > b)
			a = idom[a];
		while (b > a)
			b = idom[b];
	}
	return a;
}

void
dom_immediate(const struct adjacency *pred, const uint32_t *order, const uint32_t *place, uint32_t norder,
    uint32_t *idom)
{
	int change = 1;

	memset(idom, 0xff, norder * sizeof *idom);
	idom[0] = 0;
	while (change) {
		change = 0;
		for (uint32_t i = 1; i < norder; i++) {
			uint32_t v = order[i], best = NO_NODE;

			for (uint32_t k = pred->at[v]; k < pred->at[v + 1]; k++) {
				uint32_t p = place[pred->to[k]];

				if (p != NO_NODE && idom[p] != NO_NODE)
					best = best == NO_NODE ? p : nearest_common(idom, best, p);
			}
			change |= best != idom[i];
			idom[i] = best;
		}
	}
}
