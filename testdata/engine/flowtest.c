/* Dominators, loops, data flow and minimum cuts against definitions taken literally, on random graphs. */
#include <stdlib.h>
#include <string.h>
#include "../check.h"
#include "base/bits.h"
#include "cfg/cut.h"
#include "cfg/graph.h"

static uint32_t seed;

static uint32_t
rnd(uint32_t n)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % n;
}

/* Nodes that node `from` reaches without entering `avoid` */
static uint32_t
reach(const struct graph *g, uint32_t from, uint32_t avoid)
{
	uint32_t seen = from == avoid ? 0 : 1u << from, old = 0, i, k;

	while (seen != old) {
		old = seen;
		for (i = 0; i < g->n; i++)
			for (k = g->succ.at[i]; (seen >> i & 1) && k < g->succ.at[i + 1]; k++)
				if (g->succ.to[k] != avoid)
					seen |= 1u << g->succ.to[k];
	}
	return seen;
}

static struct graph *
random_graph(void)
{
	uint32_t n = 1 + rnd(12), e = rnd(2 * n + 1), i;
	struct graph *g = graph_new(n);

	for (i = 0; i < e; i++)
		graph_add_edge(g, rnd(n), rnd(n));
	for (i = 1; i < n; i++)
		if (rnd(3))
			graph_add_edge(g, rnd(i), i);
	graph_analyse(g);
	return g;
}

/* Each pair of nodes, by definition: a dominates b when b is not reached without a */
static int
dominators(const struct graph *g)
{
	uint32_t all = reach(g, 0, UINT32_MAX), a, b;

	for (a = 0; a < g->n; a++)
		for (b = 0; b < g->n; b++) {
			int want = (all >> a & 1) && (all >> b & 1) && (a == b || !(reach(g, 0, a) >> b & 1));

			if (graph_dominates(g, a, b) != want)
				return 0;
		}
	return 1;
}

/* The natural loop of header h: h and what reaches a source of a back edge without passing h */
static int
loops(const struct graph *g)
{
	uint32_t all = reach(g, 0, UINT32_MAX), h, t, k, n = 0, l;

	for (h = 0; h < g->n; h++) {
		uint32_t body = 0;

		for (t = 0; t < g->n; t++)
			for (k = g->succ.at[t]; (all >> t & 1) && k < g->succ.at[t + 1]; k++)
				if (g->succ.to[k] == h && graph_dominates(g, h, t)) {
					uint32_t i;

					body |= 1u << h;
					for (i = 0; i < g->n; i++)
						if ((all >> i & 1) && i != h && (reach(g, i, h) >> t & 1))
							body |= 1u << i;
				}
		if (!body)
			continue;
		n++;
		for (l = 0; l < g->nloop && g->loop[l].header != h; l++)
			;
		if (l == g->nloop || (uint32_t)g->loop[l].body[0] != body)
			return 0;
		if (g->loop[l].parent >= 0 && (g->loop[g->loop[l].parent].body[0] & body) != body)
			return 0;
	}
	return n == g->nloop;
}

/*
 * Forward: a fact generated in one node and killed in others reaches what a walk that avoids the
 * killers reaches
 */
static int
flow(const struct graph *g)
{
	uint64_t gen[16] = { 0 }, kill[16] = { 0 }, in[16] = { 0 }, out[16] = { 0 };
	uint32_t all = reach(g, 0, UINT32_MAX), at = rnd(g->n), b, i, k, want = 0, old;

	gen[at] = 1;
	for (i = 0; i < g->n; i++)
		if (i != at && rnd(4) == 0)
			kill[i] = 1;
	graph_flow(g, 0, 1, gen, kill, in, out);
	if (!(all >> at & 1))
		return 1;
	for (k = g->succ.at[at]; k < g->succ.at[at + 1]; k++)
		want |= 1u << g->succ.to[k];
	for (old = 0; old != want; ) {
		old = want;
		for (b = 0; b < g->n; b++)
			for (k = g->succ.at[b]; (want >> b & 1) && !kill[b] && k < g->succ.at[b + 1]; k++)
				want |= 1u << g->succ.to[k];
	}
	for (b = 0; b < g->n; b++)
		if ((all >> b & 1) && (in[b] & 1) != (want >> b & 1))
			return 0;
	return 1;
}

/* All sets of vertices: the cheapest that separates sources from sinks */
static int
cuts(void)
{
	uint32_t n = 2 + rnd(8), src = 0, snk = 0, set, i, k, adj[10] = { 0 };
	int64_t cost[10], best = CUT_INF, got = 0;
	struct cut *c = cut_new();
	int ok;

	for (i = 0; i < n; i++) {
		cost[i] = 1 + rnd(9);
		cut_vertex(c, cost[i]);
		if (rnd(3) == 0) {
			cut_source(c, i);
			src |= 1u << i;
		}
		if (rnd(3) == 0) {
			cut_sink(c, i);
			snk |= 1u << i;
		}
	}
	for (i = 0; i < 2 * n; i++) {
		uint32_t a = rnd(n), b = rnd(n);

		cut_edge(c, a, b);
		adj[a] |= 1u << b;
	}
	for (set = 0; set < 1u << n; set++) {
		uint32_t seen = src & ~set, old = 0;
		int64_t sum = 0;

		while (seen != old)
			for (old = seen, i = 0; i < n; i++)
				if (seen >> i & 1)
					seen |= adj[i] & ~set;
		for (k = 0; k < n; k++)
			sum += set >> k & 1 ? cost[k] : 0;
		if (!(seen & snk) && sum < best)
			best = sum;
	}
	ok = cut_solve(c) == 0;
	for (set = 0, i = 0; i < n; i++)
		if (cut_taken(c, i)) {
			got += cost[i];
			set |= 1u << i;
		}
	{
		uint32_t seen = src & ~set, old = 0;

		while (seen != old)
			for (old = seen, i = 0; i < n; i++)
				if (seen >> i & 1)
					seen |= adj[i] & ~set;
		ok = ok && !(seen & snk);       /* it separates */
	}
	cut_free(c);
	return ok && got == best;
}

int
main(void)
{
	int dom = 0, loop = 0, fl = 0, cut = 0, i, withloop = 0;
	struct cut *c;

	for (i = 0; i < 3000; i++) {
		struct graph *g;

		seed = (uint32_t)i;
		g = random_graph();
		dom += dominators(g);
		loop += loops(g);
		fl += flow(g);
		withloop += g->nloop > 1;
		graph_free(g);
		cut += cuts();
	}
	CHECK("dominators of 3000 random graphs", dom == 3000);
	CHECK("their natural loops", loop == 3000);
	CHECK("hundreds of them have several", withloop > 300);
	CHECK("data flow", fl == 3000);
	CHECK("minimum cuts of 3000 random graphs", cut == 3000);
	c = cut_new();
	i = (int)cut_vertex(c, CUT_INF);
	cut_source(c, (uint32_t)i);
	cut_sink(c, (uint32_t)i);
	CHECK("no finite cut", cut_solve(c) == -1);
	cut_free(c);
	return check_end();
}
