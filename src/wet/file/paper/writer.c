/* Writes the segments of a .wet file of kind paper: tier 1, and the streams of tier 2. */
#include <stdlib.h>
#include <string.h>

#include "wet/file/paper/paper_internal.h"

/* Estimated bits in tier 2 of an index of a pattern, and of a word of a value. */
#define PATTERN 5u
#define UNIQUE  13u

/* A section that is being made: the graph, and the values of one stream. */
enum { NCOL = 6 };
struct section {
	struct paper *t;
	struct col col[NCOL], v;
	const struct pnode *a;
	uint32_t path;
	const struct pedge **label;     /* the distinct sets of pairs of this node; owned */
	uint32_t nlabel;
	size_t caplabel;
};

static int
paper_writer_stream(struct section *s, enum paper_part part)
{
	struct paper *t = s->t;

	return s->v.nomem ||
	    pstream_encode(&t->streams, s->v.v, s->v.n, t->out.o->level, &t->stats, part) != 0 ? -1 : 0;
}

static int
paper_writer_finish(struct section *s, enum wetfile_tag tag, int bad)
{
	struct store_out *o = &s->t->out;
	size_t at;

	for (unsigned i = 0; i < NCOL; i++) {
		bad = bad || store_col(o, &s->col[i], NULL) != 0;
		col_free(&s->col[i]);
	}
	at = o->b.n;
	bad = bad || pstreams_save(&s->t->streams, o->work, o->o->level, &o->b) != 0;
	s->t->stats.fixed += at;
	s->t->stats.labels += o->b.n - at;
	col_free(&s->v);
	free(s->label);
	return bad ? -1 : store_section(o, tag, s->t->nseg, STORE_P_CODE);
}

static int
put_nodes(struct paper *t)
{
	struct section s = { .t = t };
	uint32_t last = 0;
	int bad = 0;

	for (uint32_t i = 0; i < t->r.code.npath && !bad; i++) {
		const struct pnode *a = &t->node[i];

		if (!a->n)
			continue;
		col_add(&s.col[0], i - last);
		col_add(&s.col[1], a->n);
		last = i;
		s.v.n = 0;
		for (uint32_t k = 0; k < a->n; k++)
			col_add(&s.v, a->time[k]);
		bad = paper_writer_stream(&s, PAPER_TS);
		t->stats.tier1[PAPER_TS] += 4 * (uint64_t)a->n;
		t->stats.orig[PAPER_TS] += 4 * (uint64_t)a->n * t->r.code.path[i].n;
	}
	return paper_writer_finish(&s, WETFILE_NODE, bad);
}

/* Words of a node's rows that belong to a group. */
struct words { uint32_t at[STORE_PATH * 8], n; };

static uint64_t
hash_of(const uint64_t *row, const struct words *w)
{
	uint64_t h = 0;

	for (uint32_t i = 0; i < w->n; i++) {
		h = (h ^ row[w->at[i]]) * UINT64_C(0x9e3779b97f4a7c15);
		h ^= h >> 29;
	}
	return h;
}

static int
paper_writer_alike(const uint64_t *a, const uint64_t *b, const struct words *w)
{
	for (uint32_t i = 0; i < w->n; i++)
		if (a[w->at[i]] != b[w->at[i]])
			return 0;
	return 1;
}

/*
 * Computes the pattern of a group in s->v; unique[]: rows with new values.  Returns their
 * number, 0: no memory.
 */
static uint32_t
paper_writer_pattern(struct section *s, const struct words *w, uint32_t *unique)
{
	const struct pnode *a = s->a;
	size_t mask = 15;
	uint32_t *slot, n = 0;

	while (mask < (size_t)a->n * 2)
		mask = mask * 2 + 1;
	if ((slot = calloc(mask + 1, sizeof *slot)) == NULL)
		return 0;
	s->v.n = 0;
	for (uint32_t k = 0; k < a->n; k++) {
		const uint64_t *row = a->val + (size_t)k * a->nword;
		size_t h = (size_t)hash_of(row, w) & mask;

		while (slot[h] &&
		    !paper_writer_alike(row, a->val + (size_t)unique[slot[h] - 1] * a->nword, w))
			h = (h + 1) & mask;
		if (!slot[h]) {
			unique[n++] = k;
			slot[h] = n;
		}
		col_add(&s->v, slot[h] - 1);
	}
	free(slot);
	return n;
}

/* Finds the words of the statements that belong to group g. */
static void
words_of(const struct section *s, const uint16_t *group, unsigned g, struct words *w)
{
	const struct store_code *c = &s->t->r.code;
	const struct store_path *p = &c->path[s->path];
	uint32_t at = 0;

	w->n = 0;
	for (uint32_t k = 0; k < p->n; k++)
		for (unsigned j = 0; j < c->stmt[c->seq[p->first + k]].nval; j++, at++)
			if (group[k] == g)
				w->at[w->n++] = at;
}

/* Estimated bits of n values of nword words each, and of their pattern. */
static uint64_t
paper_writer_cost(const struct section *s, uint32_t n, uint32_t nword)
{
	return (n > 1 && n < s->a->n ? PATTERN * (uint64_t)s->a->n : 0) + UNIQUE * (uint64_t)n * nword;
}

/*
 * The groups of a path: those with fewer inputs are merged into others where this saves a
 * pattern worth more than the values that are repeated.  Returns their number, 0: none, or no
 * memory.
 */
static unsigned
paper_writer_groups(struct section *s, uint16_t group[STORE_PATH], uint32_t *unique)
{
	uint16_t into[STORE_PATH], merged[STORE_PATH], number[STORE_PATH];
	uint32_t all[STORE_PATH] = { 0 }, len = s->t->r.code.path[s->path].n;
	unsigned n = paper_groups(&s->t->r.code, s->path, group, into), m = 0;
	struct words w;

	for (uint32_t k = 0; k < len; k++)
		merged[k] = group[k] == PAPER_NOGROUP ? PAPER_NOGROUP : into[group[k]];
	for (unsigned g = 0; g < n; g++) {
		uint32_t apart, h = into[g];

		number[g] = PAPER_NOGROUP;
		if (h == g)
			continue;
		if (!all[h]) {
			words_of(s, merged, h, &w);
			all[h] = paper_writer_pattern(s, &w, unique);
		}
		words_of(s, group, g, &w);
		apart = paper_writer_pattern(s, &w, unique);
		if (!all[h] || !apart)
			return 0;
		if (paper_writer_cost(s, apart, w.n) < UNIQUE * (uint64_t)all[h] * w.n)
			into[g] = (uint16_t)g;
	}
	for (uint32_t k = 0; k < len; k++)
		if (group[k] != PAPER_NOGROUP) {
			uint16_t *to = &number[into[group[k]]];

			if (*to == PAPER_NOGROUP)
				*to = (uint16_t)m++;
			group[k] = *to;
		}
	return m;
}

static int
put_group(struct section *s, const struct words *w, uint32_t *unique)
{
	struct paper_stats *st = &s->t->stats;
	const struct pnode *a = s->a;
	uint32_t n = paper_writer_pattern(s, w, unique);

	if (!n)
		return -1;
	col_add(&s->col[2], n);
	if (n > 1 && n < a->n) {
		st->tier1[PAPER_VALS] += 4 * (uint64_t)a->n;
		if (paper_writer_stream(s, PAPER_VALS) != 0)
			return -1;
	}
	st->tier1[PAPER_VALS] += 8 * (uint64_t)n * w->n;
	for (uint32_t i = 0; i < w->n; i++) {
		s->v.n = 0;
		for (uint32_t k = 0; k < n; k++)
			col_add(&s->v, a->val[(size_t)unique[k] * a->nword + w->at[i]]);
		if (paper_writer_stream(s, PAPER_VALS) != 0)
			return -1;
	}
	return 0;
}

static int
put_values(struct section *s)
{
	uint32_t *unique = malloc((size_t)s->a->n * sizeof *unique);
	uint16_t group[STORE_PATH];
	unsigned n = unique && s->a->nword ? paper_writer_groups(s, group, unique) : 0;
	int bad = !unique || (s->a->nword && !n);
	struct words w;

	s->t->stats.orig[PAPER_VALS] += 8 * (uint64_t)s->a->n * s->a->nword;
	col_add(&s->col[0], n);
	for (uint32_t k = 0; s->a->nword && k < s->t->r.code.path[s->path].n; k++)
		if (group[k] != PAPER_NOGROUP)
			col_add(&s->col[1], group[k]);
	for (unsigned g = 0; g < n && !bad; g++) {
		words_of(s, group, g, &w);
		bad = put_group(s, &w, unique) != 0;
	}
	free(unique);
	return bad;
}

static int
put_all_values(struct paper *t)
{
	struct section s = { .t = t };
	int bad = 0;

	for (uint32_t i = 0; i < t->r.code.npath && !bad; i++) {
		s.a = &t->node[i];
		s.path = i;
		if (s.a->n)
			bad = put_values(&s);
	}
	return paper_writer_finish(&s, WETFILE_GRP, bad);
}

/* Writes the two streams of a set of pairs, unless they follow from the node's executions. */
static int
put_label(struct section *s, const struct pedge *e)
{
	const struct pnode *a = s->a;
	int all = e->n == a->n, local = e->node == s->path;

	for (uint32_t i = 0; i < e->n; i++) {
		all = all && e->label[i].use == a->before + i;
		local = local && e->label[i].use == e->label[i].def;
	}
	col_add(&s->col[4], e->n);
	col_add(&s->col[5], (unsigned)all | (unsigned)local << 1);
	s->t->stats.tier1[PAPER_EDGES] += 8 * (uint64_t)e->n;
	s->v.n = 0;
	for (uint32_t i = 0; i < e->n && !all; i++)
		col_add(&s->v, e->label[i].use);
	if (!all && paper_writer_stream(s, PAPER_EDGES) != 0)
		return -1;
	s->v.n = 0;
	for (uint32_t i = 0; i < e->n && !local; i++)
		col_add(&s->v, e->label[i].def);
	return local ? 0 : paper_writer_stream(s, PAPER_EDGES);
}

/* Finds the set of pairs of an edge among those of the node, or adds it. */
static int
label_of(struct section *s, const struct pedge *e)
{
	uint32_t i;

	for (i = 0; i < s->nlabel; i++) {
		const struct pedge *o = s->label[i];

		if (o->node == e->node && o->n == e->n &&
		    memcmp(o->label, e->label, e->n * sizeof *e->label) == 0)
			break;
	}
	col_add(&s->col[3], i);
	if (i < s->nlabel)
		return 0;
	if (buf_grow(&s->label, &s->caplabel, s->nlabel + 1u, sizeof *s->label) != 0)
		return -1;
	s->label[s->nlabel++] = e;
	return put_label(s, e);
}

static uint32_t
paper_writer_place(const struct store_code *c, uint32_t path, uint32_t stmt)
{
	const struct store_path *p = &c->path[path];
	uint32_t k = 0;

	while (k < p->n && c->seq[p->first + k] != stmt)
		k++;
	return k;
}

static int
put_port(struct section *s, struct pport *p)
{
	const struct store_code *c = &s->t->r.code;
	const struct pnode *a = s->a;

	if (p->nsame && p->nsame != a->n && paper_port_add_edge(p, s->path, a->before) != 0)
		return -1;
	s->t->stats.orig[PAPER_EDGES] += 8 * (uint64_t)p->nsame;
	col_add(&s->col[0], p->nsame ? 1 : p->nedge ? p->nedge + 1 : 0);
	if (p->nsame)
		col_add(&s->col[2], paper_writer_place(c, s->path, p->same - 1));
	for (uint32_t i = 0; i < p->nedge; i++) {
		const struct pedge *e = &p->edge[i];

		s->t->stats.orig[PAPER_EDGES] += 8 * (uint64_t)e->n;
		col_add(&s->col[1], col_zig((uint64_t)e->node - s->path));
		col_add(&s->col[2], paper_writer_place(c, e->node, e->stmt));
		if (label_of(s, e) != 0)
			return -1;
	}
	return 0;
}

static int
put_edges(struct paper *t)
{
	struct section s = { .t = t };
	int bad = 0;

	for (uint32_t i = 0; i < t->r.code.npath; i++) {
		struct pnode *a = &t->node[i];

		s.a = a;
		s.path = i;
		s.nlabel = 0;
		for (uint32_t k = 0; a->n && k < a->nport && !bad; k++)
			bad = put_port(&s, &a->port[k]) != 0;
	}
	return paper_writer_finish(&s, WETFILE_EDGE, bad);
}

static void
paper_writer_clear(struct pnode *a)
{
	for (uint32_t k = 0; a->n && k < a->nport; k++) {
		struct pport *p = &a->port[k];

		for (uint32_t j = 0; j < p->nedge; j++)
			free(p->edge[j].label);
		free(p->edge);
		*p = (struct pport){ 0 };
	}
	a->before += a->n;
	a->n = 0;
}

static uint32_t
paper_writer_larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/* The code that was executed so far. */
static struct store_code
paper_writer_met(const struct paper *t)
{
	struct store_code c = t->r.code;
	uint32_t npath = 0, nstmt = 0, nstring = 0;

	for (uint32_t i = 0; i < c.npath; i++)
		if (t->node[i].before + t->node[i].n)
			npath = i + 1;
	for (uint32_t i = 0; i < npath; i++)
		for (uint32_t k = 0; k < c.path[i].n; k++)
			nstmt = paper_writer_larger(nstmt, c.seq[c.path[i].first + k] + 1);
	for (uint32_t i = 0; i < nstmt; i++)
		nstring = paper_writer_larger(nstring,
		    paper_writer_larger(c.stmt[i].file, c.stmt[i].func) + 1);
	c.npath = npath;
	c.nstmt = nstmt;
	c.nstring = nstring;
	return c;
}

int
paper_segment(struct paper *t)
{
	struct store_out *o = &t->out;
	struct store_code code = paper_writer_met(t);

	if (store_code_encode(&code, &t->mark, o, o->o->level) != 0)
		return -1;
	t->mark = store_mark(&code);
	t->stats.fixed += o->b.n;
	if (store_section(o, WETFILE_CODE, t->nseg, STORE_P_CODE) != 0 || put_nodes(t) != 0 ||
	    put_all_values(t) != 0 || put_edges(t) != 0)
		return -1;
	for (uint32_t i = 0; i < t->r.code.npath; i++)
		paper_writer_clear(&t->node[i]);
	t->stats.nstmt += t->n;
	t->n = t->nword = t->npair = 0;
	t->nseg++;
	return 0;
}
