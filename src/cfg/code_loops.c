/* Natural loops of the static code of a run. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "cfg/code_loops.h"
#include "cfg/graph.h"

struct finding {
	struct code_loops *loops;
	const struct wcode *c;
	uint32_t *local;                /* by node: its number in the graph of its function; NO_NODE: it has none yet */
	uint32_t *node;                 /* by such number: the node */
	uint32_t n, nfunction;
};

/* Adds to the graph's nodes what the function that begins at root reaches. */
static void
function_nodes(struct finding *f, uint32_t root)
{
	const struct adjacency *s = &f->c->succ;

	f->n = 0;
	f->local[root] = f->n;
	f->node[f->n++] = root;
	for (uint32_t i = 0; i < f->n; i++)
		for (uint32_t e = s->at[f->node[i]]; e < s->at[f->node[i] + 1]; e++) {
			uint32_t to = s->to[e];

			if (to < f->c->n && f->local[to] == NO_NODE) {
				f->local[to] = f->n;
				f->node[f->n++] = to;
			}
		}
}

static int
function_loops(struct finding *f, uint32_t root)
{
	const struct adjacency *s = &f->c->succ;
	struct code_loops *l = f->loops;
	size_t first = l->nloop;
	struct graph *g;

	function_nodes(f, root);
	g = graph_new(f->n);
	for (uint32_t i = 0; i < f->n; i++)
		for (uint32_t e = s->at[f->node[i]]; e < s->at[f->node[i] + 1]; e++) {
			uint32_t to = s->to[e] < f->c->n ? f->local[s->to[e]] : NO_NODE;

			if (to < f->n && f->node[to] == s->to[e])       /* not a node of another function */
				graph_add_edge(g, i, to);
		}
	graph_analyse(g);
	if (buf_grow(&l->loop, &l->caploop, l->nloop + g->nloop, sizeof *l->loop) != 0) {
		graph_free(g);
		return -1;
	}
	for (uint32_t k = 0; k < g->nloop; k++)
		l->loop[l->nloop++] = (struct code_loop){ .pc = f->c->node[f->node[g->loop[k].header]].pc,
			.parent = g->loop[k].parent < 0 ? CODE_NO_LOOP : (uint32_t)first + (uint32_t)g->loop[k].parent,
			.depth = g->loop[k].depth };
	for (uint32_t i = 0; i < f->n; i++) {
		l->function[f->node[i]] = f->nfunction;
		l->inner[f->node[i]] = g->inner[i] < 0 ? CODE_NO_LOOP : (uint32_t)first + (uint32_t)g->inner[i];
	}
	f->nfunction++;
	graph_free(g);
	return 0;
}

int
code_loops_find(struct code_loops *l, const struct wcode *c)
{
	struct finding f = { .loops = l, .c = c };
	int bad;

	*l = (struct code_loops){ 0 };
	l->inner = malloc((c->n + 1) * sizeof *l->inner);
	l->function = malloc((c->n + 1) * sizeof *l->function);
	f.local = malloc((c->n + 1) * sizeof *f.local);
	f.node = malloc((c->n + 1) * sizeof *f.node);
	bad = !l->inner || !l->function || !f.local || !f.node;
	if (!bad) {
		memset(f.local, 0xff, c->n * sizeof *f.local);
		memset(l->inner, 0xff, c->n * sizeof *l->inner);
	}
	for (uint32_t i = 0; i < c->n && !bad; i++)
		if (f.local[i] == NO_NODE && wcode_is_entry(c, c->node[i].pc))
			bad = function_loops(&f, i) != 0;
	/* what begins without a call: the program, the handlers of signals; in the order of execution */
	for (uint32_t i = 0; i < c->n && !bad; i++)
		if (f.local[i] == NO_NODE)
			bad = function_loops(&f, i) != 0;
	free(f.local);
	free(f.node);
	if (bad)
		code_loops_free(l);
	return bad ? -1 : 0;
}

void
code_loops_free(struct code_loops *l)
{
	free(l->loop);
	free(l->inner);
	free(l->function);
	*l = (struct code_loops){ 0 };
}
