/*
 * wetq: where a value came from.  The thin slice of a point, or another one, is folded: instances on the same
 * line of the source are one place, what only brings a value somewhere else is passed over, and so are the
 * functions of libraries, except those that gave the program something.  What is left is printed as a tree:
 * each place once, below the place that it was nearest to.
 */
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/hash.h"
#include "base/mem.h"
#include "convert/wetq/why.h"

#define TABLES 8u               /* values out of tables whose place is followed, at most */

uint32_t
why_place(struct why *w, uint32_t id)
{
	const struct place *p = job_place(w->j, id);
	int system = place_is_system(p);
	const char *func = p->func ? p->func : "?", *file = system ? "" : p->file;
	uint32_t h = hash_bytes(func, strlen(func)) + (system ? 0 : (uint32_t)p->line), at = h, i;

	if (w->place_of[id - 1])
		return w->place_of[id - 1] - 1;
	while ((i = hash_find(&w->by_place, h, &at)) != HASH_NONE) {
		const struct place *q = job_place(w->j, w->place[i].id);

		if (strcmp(q->func ? q->func : "?", func) == 0 && w->place[i].system == system &&
		    (system || (q->line == p->line && strcmp(q->file, file) == 0)))
			break;
	}
	if (i == HASH_NONE) {
		w->place = mem_xgrow(w->place, &w->capplace, w->nplace + 1, sizeof *w->place);
		w->place[w->nplace] = (struct why_place){ .id = id, .system = system };
		i = (uint32_t)w->nplace++;
		hash_xadd(&w->by_place, h, i);
	}
	w->place_of[id - 1] = i + 1;
	return i;
}

/* The node of a member's place, made below another node if there is none yet.  value: as in struct why_node */
static uint32_t
why_node(struct why *w, uint32_t member, uint32_t up, uint32_t value)
{
	uint32_t place = why_place(w, w->c.member[member].id), i = w->place[place].node;

	if (!i) {
		w->node = mem_xgrow(w->node, &w->capnode, w->nnode + 1, sizeof *w->node);
		w->node[w->nnode] = (struct why_node){
			.member = member, .place = place, .up = up, .value = value
		};
		i = w->place[place].node = (uint32_t)++w->nnode;
	}
	if (++w->times[w->c.member[member].id - 1] > w->node[i - 1].times)
		w->node[i - 1].times = w->times[w->c.member[member].id - 1];
	return i - 1;
}

/*
 * Visits a member that another one depends on.  The value of a copy stands for the value of what was
 * copied if that has none, as a store has none.
 */
static void
why_visit(struct why *w, uint32_t by, uint32_t member)
{
	struct why_todo from = w->todo[by], t = { .member = member, .node = from.node, .value = from.value, .up = by + 1 };
	struct chain_member *p = &w->c.member[member];
	unsigned role = chain_role(&w->c, p);

	if (!w->j->all && chain_maps(&w->c, p))
		return;
	if (p->nval && !(role & WPORT_OFFLAGS))
		t.value = member + 1;
	if (!chain_is_copy(&w->c, p) || w->j->all) {
		size_t before = w->nnode;

		t.node = why_node(w, member, from.node, t.value);
		if (w->nnode > before)
			w->node[t.node].from = by + 1;
	}
	if (!(role & WPORT_COPY))
		t.value = 0;
	w->todo = mem_xgrow(w->todo, &w->captodo, w->ntodo + 1, sizeof *w->todo);
	w->todo[w->ntodo++] = t;
}

static int
why_latest_first(const void *a, const void *b)
{
	uint32_t p = *(const uint32_t *)a, q = *(const uint32_t *)b;

	return p < q ? -1 : p > q;
}

/* Visits what a member depends on, the latest first: members come in that order. */
static void
why_visit_all(struct why *w, uint32_t by)
{
	size_t n = 0;

	for (uint32_t e = w->c.member[w->todo[by].member].edge; e; e = w->c.edge[e - 1].next) {
		struct chain_member *p = chain_find(&w->c, w->c.edge[e - 1].id, w->c.edge[e - 1].instance);

		if (!p || p->seen)
			continue;
		p->seen = 1;
		w->next = mem_xgrow(w->next, &w->capnext, n + 1, sizeof *w->next);
		w->next[n++] = (uint32_t)(p - w->c.member);
	}
	if (n > 1)
		qsort(w->next, n, sizeof *w->next, why_latest_first);
	for (size_t i = 0; i < n; i++)
		why_visit(w, by, w->next[i]);
}

/* Visits all that there is to do. */
static void
why_fold(struct why *w)
{
	for (; w->visited < w->ntodo; w->visited++)
		why_visit_all(w, (uint32_t)w->visited);
}

static void
why_begin(struct why *w)
{
	w->c.member[0].seen = 1;
	(void)why_node(w, 0, 0, 1);
	w->todo = mem_xgrow(w->todo, &w->captodo, 1, sizeof *w->todo);
	w->todo[w->ntodo++] = (struct why_todo){ 0 };
	why_fold(w);
}

/* Does it only read memory that nobody wrote since it was mapped, at an address that was computed? */
static int
why_reads_table(struct why *w, const struct chain_member *m)
{
	const struct query_stmt *s = query_stmt(w->j->q, m->id);

	if (m->done || !s->port.nmem || !s->port.addrs || !(s->port.role & WPORT_RESULT))
		return 0;
	for (uint32_t e = m->edge; e; e = w->c.edge[e - 1].next)
		if (w->c.edge[e - 1].memory && !chain_maps(&w->c, chain_find(&w->c, w->c.edge[e - 1].id,
		    w->c.edge[e - 1].instance)))
			return 0;
	return 1;
}

/*
 * A value out of a table, as the digits of a number are: the slice goes on with what chose its place
 * there. 0, or -1 after a failure
 */
static int
why_tables(struct why *w, unsigned flags)
{
	struct job *j = w->j;
	unsigned times = 0;

	for (size_t i = 0; i < w->ntodo && times < TABLES && !w->c.cut; i++) {
		struct why_todo t = { .member = w->todo[i].member, .node = w->todo[i].node };
		struct chain_member *m = &w->c.member[t.member];
		uint32_t before = m->edge;
		uint64_t n;

		if (!why_reads_table(w, m))
			continue;
		times++;
		if (query_position(j->q, m->id, m->instance, &n) != 1)
			return job_bad(j);
		w->c.from = t.member;
		for (size_t k = 0; k < w->c.nmember; k++)
			w->c.member[k].done = 1;
		if (chain_slice(&w->c, flags | QUERY_ADDRESS, n) != 0)
			return -1;
		if (w->c.member[t.member].edge == before)
			continue;
		w->todo = mem_xgrow(w->todo, &w->captodo, w->ntodo + 1, sizeof *w->todo);
		w->todo[w->ntodo++] = t;
		why_fold(w);
	}
	return 0;
}

static void
why_free(struct why *w)
{
	chain_free(&w->c);
	names_free(&w->names);
	texts_free(w->names.texts);
	hash_free(&w->by_place);
	free(w->place);
	free(w->place_of);
	free(w->node);
	free(w->todo);
	free(w->next);
	free(w->times);
}

int
job_why(struct job *j, const char *point)
{
	struct why w = { .j = j };
	uint64_t n;
	int bad;

	j->quiet = 1;
	if (job_point(j, point, 1, &n) != 0)
		return -1;
	chain_init(&w.c, j);
	if (!query_has_state(j->q))             /* without it variables have no names, which references tell */
		w.c.flags |= QUERY_BARE;
	w.names = (struct names){ .j = j, .texts = texts_new(j) };
	w.place_of = xcalloc(query_nstmt(j->q) + 1u, sizeof *w.place_of);
	w.times = xcalloc(query_nstmt(j->q) + 1u, sizeof *w.times);
	bad = chain_slice(&w.c, w.c.flags, n);
	if (!bad && w.c.nmember) {
		why_begin(&w);
		bad = w.c.flags & QUERY_THIN ? why_tables(&w, w.c.flags) : 0;
	}
	bad = bad || w.c.bad ? -1 : 0;
	if (!bad && w.c.nmember)
		bad = why_print(&w);
	why_free(&w);
	return bad;
}
