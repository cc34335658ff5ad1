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

static struct why_member *
why_find(struct why *w, uint32_t id, uint64_t instance)
{
	uint32_t h = hash_number(instance * 0x10001u + id), at = h, i;

	while ((i = hash_find(&w->by_who, h, &at)) != HASH_NONE)
		if (w->member[i].id == id && w->member[i].instance == instance)
			return &w->member[i];
	return NULL;
}

static int
why_member(void *arg, const struct query_insn *e)
{
	struct why *w = arg;
	struct why_member *m;

	if (why_find(w, e->id, e->instance))
		return 0;
	if (w->nmember == INSTANCES) {
		w->cut = 1;
		return 1;
	}
	w->member = mem_xgrow(w->member, &w->capmember, w->nmember + 1, sizeof *w->member);
	m = &w->member[w->nmember];
	*m = (struct why_member){ .id = e->id, .instance = e->instance, .nval = e->nval, .val = w->nword };
	w->word = mem_xgrow(w->word, &w->capword, w->nword + e->nval + 1, sizeof *w->word);
	if (e->nval)
		memcpy(w->word + w->nword, e->val, e->nval * sizeof *e->val);
	w->nword += e->nval;
	hash_xadd(&w->by_who, hash_number(e->instance * 0x10001u + e->id), (uint32_t)w->nmember++);
	return 0;
}

static int
why_is_address(const struct why *w, const struct query_edge *d)
{
	const struct wport *p = &query_stmt(w->j->q, d->id)->port;

	return d->port && d->port <= p->nuse && p->addrs >> (d->port - 1) & 1;
}

static void
why_edge(void *arg, const struct query_edge *d)
{
	struct why *w = arg;
	struct why_member *m = why_find(w, d->id, d->instance);

	if (!m || (d->on == d->id && d->oninstance == d->instance))
		return;
	if (m->done && !(m == &w->member[w->from] && why_is_address(w, d)))
		return;
	if (d->port == 0 && w->parents) {
		m->on = d->on;
		m->onn = d->onn;
		return;
	}
	w->edge = mem_xgrow(w->edge, &w->capedge, w->nedge + 1, sizeof *w->edge);
	w->edge[w->nedge] = (struct why_edge){
		.id = d->on, .instance = d->oninstance, .next = m->edge,
		.memory = d->port > query_stmt(w->j->q, d->id)->port.nuse
	};
	m->edge = (uint32_t)++w->nedge;
}

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

/* The node of a member's place, made below another node if there is none yet.  value: NULL, unknown */
static uint32_t
why_node(struct why *w, uint32_t member, uint32_t up, const struct why_member *value)
{
	uint32_t place = why_place(w, w->member[member].id), i = w->place[place].node;

	if (!i) {
		w->node = mem_xgrow(w->node, &w->capnode, w->nnode + 1, sizeof *w->node);
		w->node[w->nnode] = (struct why_node){
			.member = member, .place = place, .up = up
		};
		if (value) {
			w->node[w->nnode].nval = value->nval;
			w->node[w->nnode].val = value->val;
		}
		i = w->place[place].node = (uint32_t)++w->nnode;
	}
	if (++w->times[w->member[member].id - 1] > w->node[i - 1].times)
		w->node[i - 1].times = w->times[w->member[member].id - 1];
	return i - 1;
}

/* Is it a system call that mapped memory?  Its result is an address then, and no number of bytes. */
static int
why_maps(const struct why *w, const struct why_member *m)
{
	return m && query_stmt(w->j->q, m->id)->port.role & WPORT_SYSTEM && m->nval == 1 &&
	    w->word[m->val] > UINT32_MAX && (int64_t)w->word[m->val] > 0;
}

/*
 * Visits a member that another one depends on.  The value of a copy stands for the value of what was
 * copied if that has none, as a store has none.
 */
static void
why_visit(struct why *w, const struct why_todo *from, uint32_t member)
{
	struct why_member *p = &w->member[member];
	unsigned role = query_stmt(w->j->q, p->id)->port.role;
	int copy = role & WPORT_COPY && !w->j->all;
	struct why_todo t = { .member = member, .node = from->node, .value = from->value };

	if (why_maps(w, p) && !w->j->all)
		return;
	if (p->nval && !(role & WPORT_OFFLAGS))
		t.value = member + 1;
	if (!copy || !p->edge)
		t.node = why_node(w, member, from->node, t.value ? &w->member[t.value - 1] : NULL);
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
why_visit_all(struct why *w, struct why_todo from)
{
	size_t n = 0;

	for (uint32_t e = w->member[from.member].edge; e; e = w->edge[e - 1].next) {
		struct why_member *p = why_find(w, w->edge[e - 1].id, w->edge[e - 1].instance);

		if (!p || p->seen)
			continue;
		p->seen = 1;
		w->next = mem_xgrow(w->next, &w->capnext, n + 1, sizeof *w->next);
		w->next[n++] = (uint32_t)(p - w->member);
	}
	if (n > 1)
		qsort(w->next, n, sizeof *w->next, why_latest_first);
	for (size_t i = 0; i < n; i++)
		why_visit(w, &from, w->next[i]);
}

/* Visits all that there is to do. */
static void
why_fold(struct why *w)
{
	for (; w->visited < w->ntodo; w->visited++)
		why_visit_all(w, w->todo[w->visited]);
}

static void
why_begin(struct why *w)
{
	w->member[0].seen = 1;
	(void)why_node(w, 0, 0, &w->member[0]);
	w->todo = mem_xgrow(w->todo, &w->captodo, 1, sizeof *w->todo);
	w->todo[w->ntodo++] = (struct why_todo){ 0, 0, 0 };
	why_fold(w);
}

/* Does it only read memory that nobody wrote since it was mapped, at an address that was computed? */
static int
why_reads_table(struct why *w, const struct why_member *m)
{
	const struct query_stmt *s = query_stmt(w->j->q, m->id);

	if (m->done || !s->port.nmem || !s->port.addrs || !(s->port.role & WPORT_RESULT))
		return 0;
	for (uint32_t e = m->edge; e; e = w->edge[e - 1].next)
		if (w->edge[e - 1].memory && !why_maps(w, why_find(w, w->edge[e - 1].id,
		    w->edge[e - 1].instance)))
			return 0;
	return 1;
}

static int why_slice(struct why *w, unsigned flags, uint64_t n);

/*
 * A value out of a table, as the digits of a number are: the slice goes on with what chose its place
 * there. 0, or -1 after a failure
 */
static int
why_tables(struct why *w, unsigned flags)
{
	struct job *j = w->j;
	unsigned times = 0;

	for (size_t i = 0; i < w->ntodo && times < TABLES && !w->cut; i++) {
		struct why_todo t = { .member = w->todo[i].member, .node = w->todo[i].node };
		struct why_member *m = &w->member[t.member];
		uint32_t before = m->edge;
		uint64_t n;

		if (!why_reads_table(w, m))
			continue;
		times++;
		if (query_position(j->q, m->id, m->instance, &n) != 1)
			return job_bad(j);
		w->from = t.member;
		for (size_t k = 0; k < w->nmember; k++)
			w->member[k].done = 1;
		if (why_slice(w, flags | QUERY_ADDRESS, n) != 0)
			return -1;
		if (w->member[t.member].edge == before)
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
	hash_free(&w->by_who);
	hash_free(&w->by_place);
	free(w->member);
	free(w->word);
	free(w->edge);
	free(w->place);
	free(w->place_of);
	free(w->node);
	free(w->todo);
	free(w->next);
	free(w->times);
}

/* Adds the members of the slice of the instance at position n, and their dependences. */
static int
why_slice(struct why *w, unsigned flags, uint64_t n)
{
	struct job *j = w->j;
	struct query_slice s = { .n = n, .flags = flags, .fn = why_member, .edge = why_edge, .arg = w };
	int bad;

	s.count = xcalloc(query_nstmt(j->q) + 1u, sizeof *s.count);
	bad = query_slice(j->q, &s) != 0 ? job_bad(j) : 0;
	free(s.count);
	return bad;
}

int
job_why(struct job *j, const char *point)
{
	struct why w = { .j = j };
	uint64_t n;
	unsigned flags;
	int bad;

	j->quiet = 1;
	if (job_point(j, point, 1, &n) != 0)
		return -1;
	flags = (j->flags & ~(unsigned)QUERY_FORWARD) | (j->typed ? 0 : QUERY_THIN | QUERY_DATA);
	w.parents = (flags & QUERY_DATA) != 0;
	flags |= w.parents ? QUERY_PARENTS : 0;
	w.place_of = xcalloc(query_nstmt(j->q) + 1u, sizeof *w.place_of);
	w.times = xcalloc(query_nstmt(j->q) + 1u, sizeof *w.times);
	bad = why_slice(&w, flags, n);
	if (!bad && w.nmember) {
		why_begin(&w);
		bad = flags & QUERY_THIN ? why_tables(&w, flags) : 0;
	}
	if (!bad && w.nmember) {
		why_print(&w);
	}
	why_free(&w);
	return bad;
}
