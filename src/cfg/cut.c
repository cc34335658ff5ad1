/* Minimum vertex cut by maximum flow (Dinic) on the graph with every vertex split in two. */
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "cfg/cut.h"

#define NONE UINT32_MAX

struct arc { uint32_t to, next; int64_t cap; };

struct cut {
	struct arc *arc;        /* arc i and its reverse i^1 stand together */
	uint32_t narc, caparc;
	/* first arc of each node; nodes 0 source, 1 sink, 2+2v and 3+2v the halves of vertex v */
	uint32_t *head;
	uint32_t nnode, capnode;
	uint32_t *level, *cur, *queue;
	uint8_t *reach;         /* nodes that reach the sink in the residual graph */
};

static uint32_t
add_node(struct cut *c)
{
	if (c->nnode == c->capnode) {
		c->capnode = c->capnode ? c->capnode * 2 : 64;
		c->head = xreallocarray(c->head, c->capnode, sizeof *c->head);
	}
	c->head[c->nnode] = NONE;
	return c->nnode++;
}

static void
add_arc(struct cut *c, uint32_t from, uint32_t to, int64_t cap)
{
	uint32_t i;

	if (c->narc + 2 > c->caparc) {
		c->caparc = c->caparc ? c->caparc * 2 : 256;
		c->arc = xreallocarray(c->arc, c->caparc, sizeof *c->arc);
	}
	i = c->narc;
	c->narc += 2;
	c->arc[i] = (struct arc){ to, c->head[from], cap };
	c->head[from] = i;
	c->arc[i + 1] = (struct arc){ from, c->head[to], 0 };
	c->head[to] = i + 1;
}

struct cut *
cut_new(void)
{
	struct cut *c = xcalloc(1, sizeof *c);

	add_node(c);
	add_node(c);
	return c;
}

uint32_t
cut_vertex(struct cut *c, int64_t cost)
{
	uint32_t in = add_node(c), out = add_node(c);

	add_arc(c, in, out, cost < CUT_INF ? cost : CUT_INF);
	return (in - 2) / 2;
}

void
cut_edge(struct cut *c, uint32_t from, uint32_t to)
{
	add_arc(c, 3 + 2 * from, 2 + 2 * to, CUT_INF);
}

void
cut_source(struct cut *c, uint32_t v)
{
	add_arc(c, 0, 2 + 2 * v, CUT_INF);
}

void
cut_sink(struct cut *c, uint32_t v)
{
	add_arc(c, 3 + 2 * v, 1, CUT_INF);
}

/* Computes the levels from the source; 1: the sink is reached */
static int
cut_levels(struct cut *c)
{
	uint32_t qh = 0, qt = 0, i;

	memset(c->level, 0xff, c->nnode * sizeof *c->level);
	c->level[0] = 0;
	c->queue[qt++] = 0;
	while (qh < qt) {
		uint32_t v = c->queue[qh++];

		for (i = c->head[v]; i != NONE; i = c->arc[i].next)
			if (c->arc[i].cap > 0 && c->level[c->arc[i].to] == NONE) {
				c->level[c->arc[i].to] = c->level[v] + 1;
				c->queue[qt++] = c->arc[i].to;
			}
	}
	return c->level[1] != NONE;
}

/* Sends flow along one augmenting path of the levels and returns it.  The queue is its stack of arcs. */
static int64_t
cut_augment(struct cut *c)
{
	uint32_t *path = c->queue, n = 0, v = 0, i;
	int64_t f = CUT_INF;

	while (v != 1) {
		for (i = c->cur[v]; i != NONE; i = c->arc[i].next)
			if (c->arc[i].cap > 0 && c->level[c->arc[i].to] == c->level[v] + 1)
				break;
		c->cur[v] = i;
		if (i != NONE) {
			path[n++] = i;
			v = c->arc[i].to;
		} else if (n == 0) {
			return 0;
		} else {                /* a dead end: step back and leave this arc out */
			c->level[v] = NONE;
			v = c->arc[path[--n] ^ 1].to;
		}
	}
	for (i = 0; i < n; i++)
		if (c->arc[path[i]].cap < f)
			f = c->arc[path[i]].cap;
	for (i = 0; i < n; i++) {
		c->arc[path[i]].cap -= f;
		c->arc[path[i] ^ 1].cap += f;
	}
	return f;
}

/* Nodes from which the sink can still be reached: the cut nearest to the sinks lies on their border */
static void
cut_residual(struct cut *c)
{
	uint32_t qh = 0, qt = 0, i;

	c->reach[1] = 1;
	c->queue[qt++] = 1;
	while (qh < qt) {
		uint32_t v = c->queue[qh++];

		for (i = c->head[v]; i != NONE; i = c->arc[i].next)
			if (c->arc[i ^ 1].cap > 0 && !c->reach[c->arc[i].to]) {
				c->reach[c->arc[i].to] = 1;
				c->queue[qt++] = c->arc[i].to;
			}
	}
}

int
cut_solve(struct cut *c)
{
	int64_t total = 0, f;

	c->level = xcalloc(c->nnode, sizeof *c->level);
	c->cur = xcalloc(c->nnode, sizeof *c->cur);
	c->queue = xcalloc(c->nnode, sizeof *c->queue);
	c->reach = xcalloc(c->nnode, 1);
	while (cut_levels(c)) {
		memcpy(c->cur, c->head, c->nnode * sizeof *c->cur);
		while ((f = cut_augment(c)) > 0)
			if ((total += f) >= CUT_INF)
				return -1;
	}
	cut_residual(c);
	return 0;
}

int
cut_taken(const struct cut *c, uint32_t v)
{
	return !c->reach[2 + 2 * v] && c->reach[3 + 2 * v];
}

void
cut_free(struct cut *c)
{
	if (!c)
		return;
	free(c->arc);
	free(c->head);
	free(c->level);
	free(c->cur);
	free(c->queue);
	free(c->reach);
	free(c);
}
