/* wetq: prints slices, as instances, as statements and as a graph. */
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/hash.h"
#include "base/mem.h"
#include "convert/wetq/wetq.h"
#include "format/ref/ref.h"

#define ROOM 512u               /* bytes of a line, apart from names */

struct list { struct job *j; uint64_t left; struct fields f; };

/* Prints the fields of an instance: id#instance pc, =value, r address size etc. */
static int
wetq_slice_line(void *arg, const struct query_insn *e)
{
	static const char kind[] = "irwm";
	struct list *l = arg;
	struct out *o = l->j->out;
	uint8_t *p = out_reserve(o, ROOM + 16 * e->nval);
	size_t n = put_dec(p, query_stmt_name(l->j->q, e->id));

	if (!l->left)
		return 1;
	l->left--;
	p[n++] = '#';
	n += put_dec(p + n, e->instance);
	p[n++] = ' ';
	n += put_hex(p + n, query_stmt(l->j->q, e->id)->pc);
	if (e->nval) {
		p[n++] = ' ';
		p[n++] = '=';
		n += put_value(p + n, e->val, e->nval);
	}
	for (size_t i = 0; i < e->nref; i++) {
		out_commit(o, n);
		p = out_reserve(o, ROOM);
		n = 0;
		p[n++] = ' ';
		p[n++] = (uint8_t)kind[ref_kind(e->ref[i]) & 3];
		p[n++] = ':';
		n += put_hex(p + n, ref_addr(e->ref[i]));
		p[n++] = '/';
		n += put_dec(p + n, ref_size(e->ref[i]));
	}
	p[n++] = '\n';
	out_commit(o, n);
	return 0;
}

/* The same as JSON */
static int
wetq_slice_object(void *arg, const struct query_insn *e)
{
	struct list *l = arg;

	if (!l->left)
		return 1;
	l->left--;
	fields_begin(&l->f, l->j, "instances", 0);
	json_object(&l->f.o, NULL);
	fields_statement(l->j, &l->f.o, e->id);
	json_u64(&l->f.o, "instance", e->instance);
	fields_value(&l->f.o, e->val, e->nval);
	fields_references(&l->f.o, e->ref, e->nref);
	json_end(&l->f.o);
	return 0;
}

/* Prints a statement: id, instances in the slice, all instances, pc, place. */
static void
wetq_slice_statements(struct job *j, const uint64_t *count)
{
	uint64_t left = j->most;

	for (uint32_t id = 1; id <= query_nstmt(j->q) && left; id++) {
		uint8_t *p;
		size_t n;

		if (!count[id - 1])
			continue;
		left--;
		p = out_reserve(j->out, ROOM);
		n = put_dec(p, query_stmt_name(j->q, id));
		p[n++] = ' ';
		n += put_dec(p + n, count[id - 1]);
		p[n++] = ' ';
		n += put_dec(p + n, query_stmt(j->q, id)->count);
		p[n++] = ' ';
		n += put_hex(p + n, query_stmt(j->q, id)->pc);
		out_commit(j->out, n);
		put_where(j, id);
	}
}

/* An element of the list of statements */
static void
wetq_slice_counts(struct job *j, struct json *o, uint32_t id, uint64_t count)
{
	json_object(o, NULL);
	fields_statement(j, o, id);
	json_u64(o, "instances", count);
	json_u64(o, "executions", query_stmt(j->q, id)->count);
	json_end(o);
}

/* The statements of the slice as JSON; returns the id of the last one. */
static uint32_t
wetq_slice_objects(struct job *j, struct json *o, const uint64_t *count)
{
	uint64_t left = j->most;
	uint32_t last = 0;

	for (uint32_t id = 1; id <= query_nstmt(j->q) && left; id++)
		if (count[id - 1]) {
			wetq_slice_counts(j, o, id, count[id - 1]);
			last = id;
			left--;
		}
	return last;
}

int
job_slice(struct job *j, const char *point)
{
	struct list l = { .j = j, .left = j->most };
	struct query_slice s = {
		.flags = j->flags, .fn = j->counts ? NULL : j->json ? wetq_slice_object : wetq_slice_line, .arg = &l
	};
	int bad;

	if (job_point(j, point, 1, &s.n) != 0)
		return -1;
	s.count = xcalloc(query_nstmt(j->q) + 1u, sizeof *s.count);
	bad = query_slice(j->q, &s) != 0 ? job_bad(j) : 0;
	if (j->counts && !bad && j->json) {
		fields_begin(&l.f, j, "statements", 0);
		wetq_slice_objects(j, &l.f.o, s.count);
	} else if (j->counts && !bad)
		wetq_slice_statements(j, s.count);
	fields_end(&l.f, j, "instances", 0, bad);
	free(s.count);
	return bad;
}

/* An edge of the graph between statements, and how often it occurred. */
struct edge { uint64_t key, n; };       /* key: id << 33 | on << 1 | is it control */

struct graph {
	struct edge *edge;              /* owned */
	size_t n, cap;
	struct hash by_key;
};

static int
wetq_slice_add(void *arg, const struct query_dep *d)
{
	struct graph *g = arg;
	/* control dependences have separate edges */
	const uint64_t key = (uint64_t)d->id << 33 | (uint64_t)d->on << 1 | (d->port == 0);
	uint32_t h = hash_number(key), at = h, i;

	while ((i = hash_find(&g->by_key, h, &at)) != HASH_NONE && g->edge[i].key != key)
		;
	if (i == HASH_NONE) {
		if (g->n >= HASH_NONE)
			die("too many dependences");
		hash_xadd(&g->by_key, h, (uint32_t)g->n);
		g->edge = mem_xgrow(g->edge, &g->cap, g->n + 1, sizeof *g->edge);
		i = (uint32_t)g->n++;
		g->edge[i] = (struct edge){ .key = key };
	}
	g->edge[i].n++;
	return 0;
}

static int
by_key(const void *a, const void *b)
{
	const struct edge *p = a, *q = b;

	return p->key < q->key ? -1 : p->key > q->key;
}

static void
wetq_slice_node(struct job *j, uint32_t id, uint64_t count)
{
	const unsigned long long name = query_stmt_name(j->q, id);
	const char *file, *func;
	int line;

	query_source(j->q, id, &file, &func, &line);
	out_printf(j->out, "\ts%llu [label=\"%llu", name, name);
	if (count != 1)
		out_printf(j->out, " x %llu", (unsigned long long)count);
	out_printf(j->out, "\\n%llx", (unsigned long long)query_stmt(j->q, id)->pc);
	out_str(j->out, func ? "\\n" : "");
	for (const char *s = func ? func : ""; *s; s++)
		if (*s != '"' && *s != '\\' && (unsigned char)*s >= ' ')
			out_write(j->out, s, 1);
	if (file)
		out_printf(j->out, ":%d", line);
	out_str(j->out, "\"]\n");
}

/* The nodes of the graph, as many as -n allows: the id of the last one. */
static uint32_t
wetq_slice_nodes(struct job *j, const uint64_t *count)
{
	uint64_t left = j->most;
	uint32_t last = 0;

	for (uint32_t id = 1; id <= query_nstmt(j->q) && left; id++)
		if (count[id - 1]) {
			wetq_slice_node(j, id, count[id - 1]);
			last = id;
			left--;
		}
	return last;
}

static void
wetq_slice_dot(struct job *j, const struct graph *g, const uint64_t *count)
{
	uint32_t last;

	out_str(j->out, "digraph slice {\n\tnode [shape=box]\n");
	last = wetq_slice_nodes(j, count);
	for (size_t i = 0; i < g->n; i++) {
		const uint32_t id = (uint32_t)(g->edge[i].key >> 33), on = (uint32_t)(g->edge[i].key >> 1);

		if (id > last || on > last)
			continue;
		out_printf(j->out, "\ts%llu -> s%llu [label=\"%llu\"",
		    (unsigned long long)query_stmt_name(j->q, id), (unsigned long long)query_stmt_name(j->q, on),
		    (unsigned long long)g->edge[i].n);
		out_str(j->out, g->edge[i].key & 1 ? " style=dashed]\n" : "]\n");
	}
	out_str(j->out, "}\n");
}

/* The same as JSON */
static void
wetq_slice_graph(struct job *j, const struct graph *g, const uint64_t *count)
{
	struct json o;
	uint32_t last;

	json_begin(&o, j->out);
	json_array(&o, "statements");
	last = wetq_slice_objects(j, &o, count);
	json_end(&o);
	json_array(&o, "dependences");
	for (size_t i = 0; i < g->n; i++) {
		const uint32_t id = (uint32_t)(g->edge[i].key >> 33), on = (uint32_t)(g->edge[i].key >> 1);

		if (id > last || on > last)
			continue;
		json_object(&o, NULL);
		json_u64(&o, "statement", query_stmt_name(j->q, id));
		json_u64(&o, "on", query_stmt_name(j->q, on));
		json_string(&o, "kind", g->edge[i].key & 1 ? "control" : "data");
		json_u64(&o, "instances", g->edge[i].n);
		json_end(&o);
	}
	json_end(&o);
	json_end(&o);
}

int
job_dot(struct job *j, const char *point)
{
	struct query_slice s = { .flags = j->flags };
	struct graph g = { 0 };

	if (job_point(j, point, 1, &s.n) != 0)
		return -1;
	s.count = xcalloc(query_nstmt(j->q) + 1u, sizeof *s.count);
	if (query_slice(j->q, &s) != 0 || query_deps(j->q, &s, wetq_slice_add, &g) != 0) {
		hash_free(&g.by_key);
		free(g.edge);
		free(s.count);
		return job_bad(j);
	}
	if (g.n)
		qsort(g.edge, g.n, sizeof *g.edge, by_key);
	if (j->json)
		wetq_slice_graph(j, &g, s.count);
	else
		wetq_slice_dot(j, &g, s.count);
	hash_free(&g.by_key);
	free(g.edge);
	free(s.count);
	return 0;
}
