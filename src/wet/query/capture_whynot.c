/* Queries of a capture: the executed branches from which a way leads to code that was not executed. */
#include <stdlib.h>
#include <string.h>

#include "wet/query/capture_internal.h"

struct search {
	const struct wcode *c;
	struct adjacency pred;          /* owned */
	uint32_t *todo, *steps;         /* nodes to look at; by node: steps to the target plus 1, 0: not seen.  Owned */
	size_t ntodo, done;
};

static void
search_add(struct search *t, uint32_t v, uint32_t steps)
{
	if (v >= t->c->n || t->steps[v])
		return;
	t->steps[v] = steps + 1;
	t->todo[t->ntodo++] = v;
}

/* Calls of the function at an address, and jumps there from other functions */
static void
search_calls(struct search *t, uint64_t pc, uint32_t steps)
{
	for (uint32_t i = 0; i < t->c->n; i++)
		if (t->c->node[i].target == pc && (t->c->node[i].kind == CODE_CALL || t->c->node[i].flags & CODE_TAIL))
			search_add(t, i, steps);
}

/* Goes back from the targets to instructions that were executed, the nearest first; returns their number. */
static size_t
search_back(struct search *t, struct query_branch *b, size_t most)
{
	size_t n = 0;

	for (; t->done < t->ntodo && n < most; t->done++) {
		uint32_t v = t->todo[t->done], steps = t->steps[v] - 1;

		if (t->c->node[v].flags & CODE_RUN) {
			b[n++] = (struct query_branch){ t->c->node[v].pc, steps };
			continue;
		}
		for (uint32_t e = t->pred.at[v]; e < t->pred.at[v + 1]; e++)
			search_add(t, t->pred.to[e], steps + 1);
	}
	return n;
}

int
qcap_whynot(struct query *q, const uint64_t *pc, size_t n, struct query_branch *b, size_t most)
{
	const struct wcode *c = &q->cap->code;
	struct search t = { .c = c };
	int got = -1;

	t.todo = malloc((c->n + 1) * sizeof *t.todo);
	t.steps = calloc(c->n + 1, sizeof *t.steps);
	t.pred.at = calloc(c->n + 3, sizeof *t.pred.at);
	t.pred.to = malloc(((size_t)c->succ.at[c->n] + 1) * sizeof *t.pred.to);
	if (t.todo && t.steps && t.pred.at && t.pred.to) {
		struct adjacency succ = { malloc((c->n + 2) * sizeof *succ.at), c->succ.to };

		if (succ.at) {
			/* the exit is a node without successors */
			memcpy(succ.at, c->succ.at, (c->n + 1) * sizeof *succ.at);
			succ.at[c->n + 1] = succ.at[c->n];
			adjacency_reverse(&succ, (uint32_t)c->n + 1, &t.pred);
			for (size_t i = 0; i < n; i++) {
				search_add(&t, wcode_find(c, pc[i]), 0);
				search_calls(&t, pc[i], 0);
			}
			got = (int)search_back(&t, b, most);
		}
		free(succ.at);
	}
	free(t.todo);
	free(t.steps);
	free(t.pred.at);
	free(t.pred.to);
	return got;
}

int
qcap_line(struct query *q, const char *name, int line, query_line_fn *fn, void *arg)
{
	qcap_look(q->cap);
	wsource_line(q->cap->source, name, line, fn, arg);
	return 0;
}
