/* Reads values and edges of .wet files of kind paper. */
#include <stdlib.h>
#include <string.h>

#include "wet/file/paper/reader.h"

#define NCOL 6u

/* The columns of a section, with the current position in each. */
struct cols {
	struct paper_read *r;
	const uint8_t *only;
	struct col_reader c;
	struct col col[NCOL];
	size_t pos[NCOL];
	const char *err;
};

static int
open_cols(struct cols *t, struct paper_read *r, size_t segment, enum paper_section what)
{
	int e;

	t->r = r;
	if (paper_load(r, segment, what, &t->c) != 0)
		return -1;
	for (unsigned i = 0; i < NCOL; i++)
		if (col_get(&t->c, &t->col[i], SIZE_MAX, UINT64_MAX, NULL) != 0)
			return paper_bad(r, t->c.err);
	e = pstreams_load(&r->in, &t->c);
	return e || t->c.p != t->c.end ? paper_bad(r, e ? t->c.err : "bytes after the last stream") : 0;
}

static int
close_cols(struct cols *t, int e)
{
	for (unsigned i = 0; i < NCOL; i++) {
		if (!e && t->pos[i] != t->col[i].n)
			e = paper_bad(t->r, "a column has values that nobody asked for");
		col_free(&t->col[i]);
	}
	if (!e && pstreams_at_end(&t->r->in, &t->c) != 0)
		e = paper_bad(t->r, t->c.err);
	return e;
}

/* The next value of a column, at most `most`; otherwise 0 and t->err. */
static uint64_t
paper_labels_next(struct cols *t, unsigned col, uint64_t most)
{
	uint64_t v = t->pos[col] < t->col[col].n ? t->col[col].v[t->pos[col]] : UINT64_MAX;

	if (t->pos[col] >= t->col[col].n || v > most) {
		t->err = t->pos[col] < t->col[col].n ? "a number that cannot be" : "a column ends early";
		return 0;
	}
	t->pos[col]++;
	return v;
}

static int
paper_labels_wants(const struct cols *t, const struct paper_node *a)
{
	const struct store_path *p = &t->r->code.path[a->path];

	for (uint32_t k = 0; k < p->n; k++)
		if (t->only[t->r->code.seq[p->first + k]])
			return 1;
	return 0;
}

/* A group: n values of each of its words; its streams. */
struct group { uint64_t n; size_t pattern, word; uint32_t nword; };

struct values {
	struct cols t;
	struct group group[STORE_PATH];
	uint8_t of[STORE_PATH];
	unsigned ngroup;
	struct col pattern, unique, word;
	paper_value_fn *fn;
	void *arg;
};

/* Reads the groups of node a, and skips to their streams. */
static int
paper_labels_groups(struct values *v, const struct paper_node *a)
{
	struct paper_read *r = v->t.r;
	const struct store_path *p = &r->code.path[a->path];
	const uint32_t *seq = r->code.seq + p->first;

	v->ngroup = (unsigned)paper_labels_next(&v->t, 0, p->n);
	memset(v->group, 0, sizeof v->group);
	for (uint32_t k = 0; k < p->n; k++)
		if (r->code.stmt[seq[k]].nval) {
			if (!v->ngroup)
				return paper_bad(r, "a value of no group");
			v->of[k] = (uint8_t)paper_labels_next(&v->t, 1, v->ngroup - 1u);
			v->group[v->of[k]].nword += r->code.stmt[seq[k]].nval;
		}
	for (unsigned g = 0; g < v->ngroup && !v->t.err; g++) {
		struct group *q = &v->group[g];

		q->n = paper_labels_next(&v->t, 2, a->n);
		if (!q->n || !q->nword) {
			v->t.err = "a group of nothing";
			break;
		}
		q->pattern = r->in.n;
		if (q->n > 1 && q->n < a->n && pstreams_next(&r->in, a->n, &v->t.c) != 0)
			break;
		q->word = r->in.n;
		for (uint32_t i = 0; i < q->nword; i++)
			if (pstreams_next(&r->in, q->n, &v->t.c) != 0)
				break;
	}
	return v->t.err || v->t.c.err ? paper_bad(r, v->t.err ? v->t.err : v->t.c.err) : 0;
}

/* Expands word i of group g to all executions of the node, into v->word. */
static int
paper_labels_word(struct values *v, const struct paper_node *a, const struct group *g, uint32_t i)
{
	struct paper_read *r = v->t.r;

	if (pstream_decode(&r->in, g->word + i, UINT64_MAX, &v->unique, &v->t.c) != 0)
		return paper_bad(r, v->t.c.err);
	v->word.n = 0;
	if (col_room(&v->word, a->n) != 0)
		return paper_bad(r, NULL);
	for (uint32_t k = 0; k < a->n; k++)
		v->word.v[k] = v->unique.v[g->n == a->n ? k : g->n == 1 ? 0 : v->pattern.v[k]];
	return 0;
}

static int
node_values(struct values *v, const struct paper_node *a)
{
	struct paper_read *r = v->t.r;
	const struct store_path *p = &r->code.path[a->path];

	for (unsigned g = 0; g < v->ngroup; g++) {
		const struct group *q = &v->group[g];
		int have = q->word == q->pattern;
		uint32_t at = 0;

		for (uint32_t k = 0; k < p->n; k++) {
			uint32_t s = r->code.seq[p->first + k];
			unsigned n = r->code.stmt[s].nval;

			if (!n || v->of[k] != g)
				continue;
			for (unsigned j = 0; j < n; j++, at++) {
				if (!v->t.only[s])
					continue;
				if (!have &&
				    pstream_decode(&r->in, q->pattern, q->n - 1, &v->pattern, &v->t.c) != 0)
					return paper_bad(r, v->t.c.err);
				have = 1;
				if (paper_labels_word(v, a, q, at) != 0)
					return -1;
				if (v->fn(v->arg, s, j, paper_instances(r, a->path, k) + a->before, v->word.v,
					a->n) != 0)
					return paper_bad(r, NULL);
			}
		}
	}
	return 0;
}

int
paper_read_values(struct paper_read *r, size_t segment, const uint8_t *only, paper_value_fn *fn, void *arg)
{
	struct values v = { .fn = fn, .arg = arg };
	int e = open_cols(&v.t, r, segment, PAPER_GRP);

	v.t.only = only;
	for (size_t i = r->first[segment]; i < r->first[segment + 1] && !e; i++) {
		e = paper_labels_groups(&v, &r->node[i]);
		if (!e && paper_labels_wants(&v.t, &r->node[i]))
			e = node_values(&v, &r->node[i]);
	}
	col_free(&v.pattern);
	col_free(&v.unique);
	col_free(&v.word);
	return close_cols(&v.t, e);
}

/* The pairs of an edge: their streams, if any; and the pairs, if they were needed. */
struct label {
	uint64_t n;
	/* bits: 1: uses are all executions, in order; 2: both executions of each pair are the same */
	unsigned how;
	size_t stream;
	int have;
	struct col use, def;
};

/*
 * A port.  Its edges are edge[first] to edge[first + n - 1].  With n 0 and same nonzero, the
 * writer is always place `same` of the same execution.
 */
struct port { uint32_t stmt, place, number, first, n, same; };
struct edge { uint32_t path, place, label; };
struct dep { uint64_t who; uint32_t use, time, place; };

struct edges {
	struct cols t;
	struct port *port;
	struct edge *edge;
	struct label *label;            /* the first nalloc have memory */
	struct dep *dep;
	uint64_t *who;
	size_t nport, capport, nedge, capedge, nlabel, caplabel, nalloc, capdep, capwho;
	store_use_fn *fn;
	void *arg;
};

/* Reads the next new label of node a. */
static int
new_label(struct edges *t, const struct paper_node *a)
{
	struct paper_read *r = t->t.r;
	struct label *l;

	if (buf_grow(&t->label, &t->caplabel, t->nlabel + 1, sizeof *t->label) != 0)
		return paper_bad(r, NULL);
	if (t->nlabel == t->nalloc)
		t->label[t->nalloc++] = (struct label){ 0 };
	l = &t->label[t->nlabel++];
	l->n = paper_labels_next(&t->t, 4, PAPER_LABELS);
	l->how = (unsigned)paper_labels_next(&t->t, 5, 3);
	l->stream = r->in.n;
	l->have = 0;
	if (!t->t.err && (!l->n || (l->how & 1 && l->n != a->n)))
		t->t.err = "an edge is not as edges are";
	if (t->t.err)
		return paper_bad(r, t->t.err);
	if ((!(l->how & 1) && pstreams_next(&r->in, l->n, &t->t.c) != 0) ||
	    (!(l->how & 2) && pstreams_next(&r->in, l->n, &t->t.c) != 0))
		return paper_bad(r, t->t.c.err);
	return 0;
}

static int
new_edge(struct edges *t, const struct paper_node *a)
{
	struct paper_read *r = t->t.r;
	uint64_t path = a->path + col_zag(paper_labels_next(&t->t, 1, UINT64_MAX)), place, label;

	if (path >= r->code.npath || !r->total[path])
		return paper_bad(r, t->t.err ? t->t.err : "a path that does not exist");
	place = paper_labels_next(&t->t, 2, r->code.path[path].n - 1);
	label = paper_labels_next(&t->t, 3, t->nlabel);
	if (t->t.err)
		return paper_bad(r, t->t.err);
	if (label == t->nlabel && new_label(t, a) != 0)
		return -1;
	if (t->label[label].how & 2 && path != a->path)
		return paper_bad(r, "an edge is not as edges are");
	if (buf_grow(&t->edge, &t->capedge, t->nedge + 1, sizeof *t->edge) != 0)
		return paper_bad(r, NULL);
	t->edge[t->nedge++] = (struct edge){ (uint32_t)path, (uint32_t)place, (uint32_t)label };
	return 0;
}

/* Reads the ports of node a. */
static int
paper_labels_ports(struct edges *t, const struct paper_node *a)
{
	struct paper_read *r = t->t.r;
	const struct store_path *p = &r->code.path[a->path];

	t->nport = t->nedge = t->nlabel = 0;
	for (uint32_t k = 0; k < p->n; k++) {
		uint32_t s = r->code.seq[p->first + k], n = 1 + r->code.stmt[s].nuse + r->code.stmt[s].nmem;

		if (buf_grow(&t->port, &t->capport, t->nport + n, sizeof *t->port) != 0)
			return paper_bad(r, NULL);
		for (uint32_t i = 0; i < n; i++) {
			uint64_t kind = paper_labels_next(&t->t, 0, t->t.col[1].n + 1);
			struct port *q = &t->port[t->nport];

			*q = (struct port){ s, k, i, (uint32_t)t->nedge, kind > 1 ? (uint32_t)kind - 1 : 0,
		UINT32_MAX };
			if (kind == 1)
				q->same = (uint32_t)paper_labels_next(&t->t, 2, p->n - 1);
			if (t->t.err)
				return paper_bad(r, t->t.err);
			for (; kind > 1; kind--)
				if (new_edge(t, a) != 0)
					return -1;
			t->nport += q->n || q->same != UINT32_MAX;
		}
	}
	return 0;
}

/* Decodes the pairs of a label. */
static int
paper_labels_pairs(struct edges *t, const struct paper_node *a, struct label *l, uint32_t path)
{
	struct paper_read *r = t->t.r;
	size_t stream = l->stream;
	int e = 0;

	if (l->have)
		return 0;
	l->use.n = l->def.n = 0;
	if (l->how & 1) {
		e = col_room(&l->use, l->n);
		for (uint32_t k = 0; k < l->n && !e; k++)
			col_add(&l->use, a->before + k);
	} else
		e = pstream_decode(&r->in, stream++, a->before + a->n - 1u, &l->use, &t->t.c);
	if (!e && !(l->how & 2))
		e = pstream_decode(&r->in, stream, r->total[path] - 1, &l->def, &t->t.c);
	else if (!e && (e = col_room(&l->def, l->n)) == 0)
		for (uint64_t k = 0; k < l->n; k++)
			col_add(&l->def, l->use.v[k]);
	for (uint64_t k = 0; k < l->n && !e; k++)
		if (l->use.v[k] < a->before || (k && l->use.v[k] < l->use.v[k - 1]))
			return paper_bad(r, "an edge is not as edges are");
	l->have = 1;
	return e ? paper_bad(r, t->t.c.err) : 0;
}

/* Sorts by use; those of the same use, the latest first. */
static int
in_order(const void *a, const void *b)
{
	const struct dep *p = a, *q = b;

	if (p->use != q->use)
		return p->use < q->use ? -1 : 1;
	if (p->time != q->time)
		return p->time > q->time ? -1 : 1;
	return p->place > q->place ? -1 : p->place < q->place;
}

static int
paper_labels_gather(struct edges *t, const struct paper_node *a, const struct port *q, size_t *n)
{
	struct paper_read *r = t->t.r;

	*n = 0;
	for (uint32_t i = q->first; i < q->first + q->n; i++) {
		const struct edge *e = &t->edge[i];
		struct label *l = &t->label[e->label];
		const uint32_t *inst = paper_instances(r, e->path, e->place), *time = paper_times(r, e->path);
		uint64_t id = (uint64_t)(r->code.seq[r->code.path[e->path].first + e->place] + 1u) << 32;

		if (paper_labels_pairs(t, a, l, e->path) != 0)
			return -1;
		if (buf_grow(&t->dep, &t->capdep, *n + l->n, sizeof *t->dep) != 0)
			return paper_bad(r, NULL);
		for (uint64_t k = 0; k < l->n; k++) {
			if (l->def.v[k] >= r->total[e->path])   /* belongs to another edge */
				return paper_bad(r, "an edge is not as edges are");
			t->dep[(*n)++] = (struct dep){ id | inst[l->def.v[k]], (uint32_t)l->use.v[k],
				time[l->def.v[k]], e->place };
		}
	}
	if (*n > 1)
		for (size_t i = 1; i < *n; i++)
			if (in_order(&t->dep[i - 1], &t->dep[i]) > 0) {
				qsort(t->dep, *n, sizeof *t->dep, in_order);
				break;
			}
	return 0;
}

static int
paper_labels_port(struct edges *t, const struct paper_node *a, const struct port *q)
{
	struct paper_read *r = t->t.r;
	const uint32_t *x = paper_instances(r, a->path, q->place);
	size_t n = 0;

	if (q->same != UINT32_MAX) {
		const uint32_t *inst = paper_instances(r, a->path, q->same) + a->before;
		uint64_t id = (uint64_t)(r->code.seq[r->code.path[a->path].first + q->same] + 1u) << 32;

		for (uint32_t k = 0; k < a->n; k++) {
			uint64_t who = id | inst[k];

			if (t->fn(t->arg, q->stmt, x[a->before + k], q->number, &who, 1) != 0)
				return paper_bad(r, NULL);
		}
		return 0;
	}
	if (paper_labels_gather(t, a, q, &n) != 0)
		return -1;
	if (buf_grow(&t->who, &t->capwho, n, sizeof *t->who) != 0)
		return paper_bad(r, NULL);
	for (size_t i = 0; i < n; i++)
		t->who[i] = t->dep[i].who;
	for (size_t i = 0, k; i < n; i = k) {
		for (k = i + 1; k < n && t->dep[k].use == t->dep[i].use; k++)
			;
		if (t->fn(t->arg, q->stmt, x[t->dep[i].use], q->number, t->who + i, k - i) != 0)
			return paper_bad(r, NULL);
	}
	return 0;
}

int
paper_read_edges(struct paper_read *r, size_t segment, const uint8_t *only, store_use_fn *fn, void *arg)
{
	struct edges t = { .fn = fn, .arg = arg };
	int e = open_cols(&t.t, r, segment, PAPER_EDGE);

	t.t.only = only;
	for (size_t i = r->first[segment]; i < r->first[segment + 1] && !e; i++) {
		e = paper_labels_ports(&t, &r->node[i]);
		for (size_t k = 0; k < t.nport && !e; k++)
			if (only[t.port[k].stmt])
				e = paper_labels_port(&t, &r->node[i], &t.port[k]);
	}
	for (size_t i = 0; i < t.nalloc; i++) {
		col_free(&t.label[i].use);
		col_free(&t.label[i].def);
	}
	free(t.port);
	free(t.edge);
	free(t.label);
	free(t.dep);
	free(t.who);
	return close_cols(&t.t, e);
}
