/*
 * The graph of the static code, and immediate post-dominators in it: the
 * dominators of the reversed graph.
 */
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "cfg/code.h"
#include "cfg/dominators.h"

struct work {
	struct wcode *c;
	uint32_t n;                     /* nodes; n itself is the exit */
	struct adjacency all, succ, pred;       /* all: succ without the edges added by `leave` */
	uint64_t *entry;                /* ascending */
	size_t nentry;
	/* place in order, NO_NODE: none; nodes in reverse postorder from the exit */
	uint32_t *num, *order;
	uint32_t norder;
	uint32_t *idom, *stack, *iter;
	uint8_t *leave;                 /* 1: an edge from the node to the exit is added */
};

static int
by_value(const void *a, const void *b)
{
	uint64_t p = *(const uint64_t *)a, q = *(const uint64_t *)b;

	return p < q ? -1 : p > q;
}

static int
by_from(const void *a, const void *b)
{
	const struct wcode_edge *p = a, *q = b;

	if (p->from != q->from)
		return p->from < q->from ? -1 : 1;
	return p->to < q->to ? -1 : p->to > q->to;
}

static int
code_entries(struct work *w)
{
	const struct hash_set *s = &w->c->entry;

	w->entry = malloc((s->n + 1) * sizeof *w->entry);
	if (!w->entry)
		return -1;
	for (size_t i = 0; i < s->nslot; i++)
		if (s->slot[i])
			w->entry[w->nentry++] = s->slot[i];
	qsort(w->entry, w->nentry, sizeof *w->entry, by_value);
	return 0;
}

/* Does a jump at pc to `to` leave its function?  A jump to the entry of its own function does not. */
static int
code_leaves(const struct work *w, uint64_t pc, uint64_t to)
{
	size_t i;

	if (!wcode_is_entry(w->c, to))
		return 0;
	LOWER_BOUND(i, w->nentry, w->entry[i] <= pc);
	return !i || w->entry[i - 1] != to;
}

static uint32_t
node_at(const struct work *w, uint64_t pc)
{
	uint32_t v = wcode_find(w->c, pc);

	return v == CODE_EXIT ? w->n : v;
}

/* Writes the successors of indirect jump i to `to`; returns their number.  *e: advances to its edges */
static uint32_t
code_indirect(struct work *w, uint32_t i, size_t *e, uint32_t *to)
{
	struct wcode *c = w->c;
	size_t from, k;
	uint32_t n = 0;
	int tail = (c->node[i].flags & CODE_SLOT) != 0;

	while (*e < c->nedge && c->edge[*e].from < i)
		++*e;
	from = *e;
	for (k = from; k < c->nedge && c->edge[k].from == i; k++)
		tail |= !(c->node[i].flags & CODE_TABLE) && wcode_is_entry(c, c->edge[k].to);
	if (tail)
		c->node[i].flags |= CODE_TAIL;
	for (k = from; !tail && k < c->nedge && c->edge[k].from == i; k++)
		to[n++] = node_at(w, c->edge[k].to);
	if (tail || !n || !(c->node[i].flags & CODE_TABLE))
		to[n++] = w->n;
	return n;
}

/* Writes the successors of node i to `to`; returns their number. */
static uint32_t
code_successors(struct work *w, uint32_t i, size_t *e, uint32_t *to)
{
	struct wcode_node *v = &w->c->node[i];
	uint32_t next, n = 0;

	switch (v->kind) {
	case CODE_INDIRECT:
		return code_indirect(w, i, e, to);
	case CODE_COND: case CODE_JUMP:
		if (code_leaves(w, v->pc, v->target))
			v->flags |= CODE_TAIL;
		if (v->kind == CODE_COND)
			to[n++] = node_at(w, v->pc + v->len);
		to[n++] = v->flags & CODE_TAIL ? w->n : node_at(w, v->target);
		break;
	case CODE_CALL:
		to[n++] = v->flags & CODE_RUN && !hash_set_has(&w->c->back, v->pc + v->len) ?
		    w->n : node_at(w, v->pc + v->len);
		break;
	case CODE_SYSCALL:
		next = node_at(w, v->pc + v->len);
		to[n++] = next != w->n && v->flags & CODE_RUN && !(w->c->node[next].flags & CODE_RUN) ?
		    w->n : next;
		break;
	case CODE_RETURN: case CODE_STOP:
		to[n++] = w->n;
		break;
	default:
		to[n++] = node_at(w, v->pc + v->len);
	}
	return n;
}

/* Makes `all`, the successors of all nodes without duplicates, and finds branches. */
static int
code_forward(struct work *w)
{
	size_t e = 0, m = 0, most = (size_t)w->n * 2 + w->c->nedge + 1;

	for (uint32_t i = 0; i < w->n; i++)
		most += w->c->node[i].kind == CODE_INDIRECT;
	w->all.at = malloc((w->n + 1) * sizeof *w->all.at);
	if (!w->all.at || most >= CODE_EXIT || !(w->all.to = malloc(most * sizeof *w->all.to)))
		return -1;
	for (uint32_t i = 0; i < w->n; i++) {
		uint32_t *to = &w->all.to[m], n = code_successors(w, i, &e, to);

		w->all.at[i] = (uint32_t)m;
		for (uint32_t k = 1; k < n; k++)
			if (to[k] != to[0])
				w->c->node[i].flags |= CODE_BRANCH;
		m += n;
	}
	w->all.at[w->n] = (uint32_t)m;
	return 0;
}

/* Makes succ: the edges of `all` and those to the exit that `leave` adds. */
static int
add_edges(struct work *w)
{
	size_t m = w->all.at[w->n] + (size_t)1;

	for (uint32_t i = 0; i < w->n; i++)
		m += w->leave[i];
	w->succ.at = malloc((w->n + 2) * sizeof *w->succ.at);
	if (!w->succ.at || m >= CODE_EXIT || !(w->succ.to = malloc(m * sizeof *w->succ.to)))
		return -1;
	m = 0;
	for (uint32_t i = 0; i < w->n; i++) {
		uint32_t n = w->all.at[i + 1] - w->all.at[i];

		w->succ.at[i] = (uint32_t)m;
		memcpy(&w->succ.to[m], &w->all.to[w->all.at[i]], n * sizeof *w->succ.to);
		m += n;
		if (w->leave[i])
			w->succ.to[m++] = w->n;
	}
	w->succ.at[w->n] = w->succ.at[w->n + 1] = (uint32_t)m;
	return 0;
}

static int
code_backward(struct work *w)
{
	w->pred.at = calloc((size_t)w->n + 3, sizeof *w->pred.at);
	w->pred.to = malloc((w->succ.at[w->n + 1] + (size_t)1) * sizeof *w->pred.to);
	if (!w->pred.at || !w->pred.to)
		return -1;
	adjacency_reverse(&w->succ, w->n + 1, &w->pred);
	return 0;
}

/* low[] of Tarjan's algorithm for strongly connected components */
struct scc { uint32_t *low, *idx, *comp, count, ncomp; };

/* A component is complete: if no edge leaves it, its node of lowest address gets one to the exit. */
static void
code_component(struct work *w, struct scc *s, uint32_t root)
{
	uint32_t low = root, k = s->ncomp;
	int out = 0;

	while (k > 0 && s->comp[k - 1] != root)
		k--;
	k--;
	for (uint32_t i = k; i < s->ncomp; i++) {
		/* of this component, until all are looked at */
		s->low[s->comp[i]] = CODE_EXIT - 1;
		if (w->c->node[s->comp[i]].pc < w->c->node[low].pc)
			low = s->comp[i];
	}
	for (uint32_t i = k; i < s->ncomp; i++) {
		uint32_t v = s->comp[i];

		for (uint32_t e = w->succ.at[v]; e < w->succ.at[v + 1]; e++)
			out |= s->low[w->succ.to[e]] != CODE_EXIT - 1;
	}
	for (uint32_t i = k; i < s->ncomp; i++)
		s->low[s->comp[i]] = CODE_EXIT;                 /* done */
	s->ncomp = k;
	if (!out)
		w->leave[low] = 1;
}

static void
code_tarjan(struct work *w, struct scc *s, uint32_t root)
{
	uint32_t sp = 0;

	w->stack[sp++] = root;
	s->low[root] = s->idx[root] = s->count++;
	s->comp[s->ncomp++] = root;
	w->iter[root] = w->succ.at[root];
	while (sp) {
		uint32_t v = w->stack[sp - 1], t;

		if (w->iter[v] < w->succ.at[v + 1]) {
			t = w->succ.to[w->iter[v]++];
			if (s->idx[t] == CODE_EXIT) {
				s->low[t] = s->idx[t] = s->count++;
				s->comp[s->ncomp++] = t;
				w->iter[t] = w->succ.at[t];
				w->stack[sp++] = t;
			} else if (s->low[t] != CODE_EXIT && s->idx[t] < s->low[v])
				s->low[v] = s->idx[t];
			continue;
		}
		sp--;
		if (sp && s->low[v] < s->low[w->stack[sp - 1]])
			s->low[w->stack[sp - 1]] = s->low[v];
		if (s->low[v] == s->idx[v])
			code_component(w, s, v);
	}
}

/* Adds an edge to the exit from each endless loop.  1: there were nodes that do not reach the exit */
static int
code_endless(struct work *w)
{
	struct scc s = { malloc((w->n + 1) * sizeof(uint32_t)), malloc((w->n + 1) * sizeof(uint32_t)),
		malloc((w->n + 1) * sizeof(uint32_t)), 0, 0 };
	int e = -1;

	if (s.low && s.idx && s.comp) {
		memset(s.low, 0xff, (w->n + 1) * sizeof *s.low);
		memset(s.idx, 0xff, (w->n + 1) * sizeof *s.idx);
		for (uint32_t i = 0; i < w->n; i++)
			if (w->num[i] == NO_NODE && s.idx[i] == CODE_EXIT)
				code_tarjan(w, &s, i);
		e = 1;
	}
	free(s.low);
	free(s.idx);
	free(s.comp);
	return e;
}

static int
code_analyse(struct work *w)
{
	struct wcode *c = w->c;

	if (code_forward(w) != 0)
		return -1;
	for (int again = 1; again; ) {
		adjacency_free(&w->succ);
		adjacency_free(&w->pred);
		if (add_edges(w) != 0 || code_backward(w) != 0)
			return -1;
		w->norder = dom_order(&w->pred, w->n + 1, w->n, w->order, w->num, w->stack, w->iter);
		again = w->norder <= w->n;
		if (again && code_endless(w) < 0)
			return -1;
	}
	dom_immediate(&w->succ, w->order, w->num, w->norder, w->idom);
	for (uint32_t i = 1; i < w->norder; i++) {
		uint32_t p = w->order[w->idom[i]];

		c->node[w->order[i]].pdom = p == w->n ? CODE_EXIT : p;
	}
	for (uint32_t i = 0; i < w->n; i++)
		if (c->node[i].flags & CODE_BRANCH && c->node[i].pdom != CODE_EXIT)
			c->node[c->node[i].pdom].flags |= CODE_JOIN;
	return 0;
}

int
wcode_analyse(struct wcode *c)
{
	struct work w = { .c = c, .n = (uint32_t)c->n };
	size_t n = (size_t)w.n + 2;
	int e = -1;

	for (uint32_t i = 0; i < w.n; i++)
		c->node[i].flags &= (uint8_t)~(CODE_BRANCH | CODE_JOIN | CODE_TAIL);
	if (c->nedge)
		qsort(c->edge, c->nedge, sizeof *c->edge, by_from);
	w.num = malloc(n * sizeof *w.num);
	w.order = malloc(n * sizeof *w.order);
	w.idom = malloc(n * sizeof *w.idom);
	w.stack = malloc(n * sizeof *w.stack);
	w.iter = malloc(n * sizeof *w.iter);
	w.leave = calloc(n, 1);
	if (code_entries(&w) == 0 && w.num && w.order && w.idom && w.stack && w.iter && w.leave)
		e = code_analyse(&w);
	free(w.entry);
	free(w.num);
	free(w.order);
	free(w.idom);
	free(w.stack);
	free(w.iter);
	free(w.leave);
	adjacency_free(&c->succ);
	c->succ = w.all;
	adjacency_free(&w.succ);
	adjacency_free(&w.pred);
	return e;
}
