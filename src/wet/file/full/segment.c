/* Writes the segments of a .wet file. */
#include <stdlib.h>
#include <string.h>

#include "wet/file/writer.h"

#define FASTEST 3               /* the highest level that only tries zstd */

void
segment_free(struct segment *s)
{
	col_free(&s->path);
	col_free(&s->val);
	col_free(&s->byval);
	col_free(&s->bykey);
	for (unsigned i = 0; i < DEP_NCOL; i++)
		col_free(&s->dep[i]);
	for (unsigned i = 0; i < DEP_NKEYED; i++)
		col_free(&s->key[i]);
	free(s->rank);
}

/* The compression level of what wetq decodes before any answer: code, and how often which path is executed. */
static int
quick_level(const struct store_opts *o)
{
	return o->quick && o->level > FASTEST ? FASTEST : o->level;
}

static int
put_rank(struct store_cap *c)
{
	return store_sparse(&c->out, c->seg.rank, c->tab.npath, quick_level(c->out.o)) != 0 ? -1 :
	    store_section(&c->out, WETFILE_RANK, c->nseg, STORE_P_RANK);
}

/*
 * The compression level of a column of dependences.  A slice reads all of them, and decodes zstd, which
 * levels up to FASTEST choose, some twenty times faster than context mixing.  It makes the tokens hardly
 * larger, since most repeat (a file by 0.1 to 0.4 %), but distances make a file larger by 3 to 15 %.
 */
static int
dep_level(const struct store_opts *o, unsigned col)
{
	return o->level > FASTEST && (o->quick || (col == DEP_TOKEN && o->level < 9)) ? FASTEST : o->level;
}

/* Tokens, sorted by port: most ports have the same token all the time. */
static int
put_tokens(struct store_cap *c)
{
	struct store_out *t = &c->out;
	const struct col *from = &c->seg.dep[DEP_TOKEN], *fromkey = &c->seg.key[DEP_TOKEN];
	struct col *v = &c->seg.byval, *key = &c->seg.bykey;
	uint32_t *place = malloc((from->n + 1) * sizeof *place);
	int bad = !place || from->nomem || fromkey->nomem || col_room(v, from->n) != 0 ||
	    col_room(key, from->n) != 0 || memdep_order(c->tab.nslot, fromkey->v, from->n, place) != 0;

	for (size_t i = 0; !bad && i < from->n; i++) {
		v->v[place[i]] = from->v[i];
		key->v[place[i]] = fromkey->v[i];
	}
	v->n = key->n = from->n;
	bad = bad || store_col_level(t, v, key, dep_level(t->o, DEP_TOKEN)) != 0;
	v->n = key->n = 0;
	free(place);
	return bad;
}

static int
put_dep(struct store_cap *c)
{
	struct store_out *t = &c->out;

	if (put_tokens(c) != 0)
		return -1;
	for (unsigned i = DEP_TOKEN + 1; i < DEP_NCOL; i++)
		if (store_col_level(t, &c->seg.dep[i], i < DEP_NKEYED ? &c->seg.key[i] : NULL, dep_level(t->o, i)) != 0)
			return -1;
	return store_section(t, WETFILE_DEP, c->nseg, STORE_P_DEP);
}

/*
 * Where the values of each statement are in VAL: the first words of all its instances come
 * before the second words.  NULL: no memory.
 */
struct place { uint64_t at, n; };

static struct place *
segment_places(const struct store_cap *c)
{
	struct place *p = calloc(c->tab.nstmt + 1, sizeof *p);
	uint64_t at = 0;

	for (size_t i = 0; p && i < c->tab.npath; i++)
		for (uint32_t k = 0; c->seg.rank[i] && k < c->tab.path[i].n; k++)
			p[c->tab.seq[c->tab.path[i].first + k]].n += c->seg.rank[i];
	for (size_t i = 0; p && i < c->tab.nstmt; i++) {
		p[i].at = at;
		at += p[i].n * c->tab.stmt[i].nval;
	}
	return p;
}

static int
put_val(struct store_cap *c)
{
	struct store_out *t = &c->out;
	struct place *p = segment_places(c);
	struct col *v = &c->seg.byval, *key = &c->seg.bykey;
	const uint64_t *from = c->seg.val.v;
	int bad = !p || c->seg.val.nomem || col_room(v, c->seg.val.n) != 0 ||
	    col_room(key, c->seg.val.n) != 0;

	for (size_t i = 0; !bad && i < c->seg.path.n; i++) {
		const struct store_path *path = &c->tab.path[c->seg.path.v[i]];

		for (uint32_t k = 0; k < path->n; k++) {
			uint32_t s = c->tab.seq[path->first + k];

			for (unsigned j = 0; j < c->tab.stmt[s].nval; j++) {
				v->v[p[s].at + j * p[s].n] = *from++;
				key->v[p[s].at + j * p[s].n] = (uint64_t)s << 3 | j;
			}
			p[s].at++;
		}
	}
	v->n = key->n = c->seg.val.n;
	t->stats.nval += v->n;
	col_put_number(&t->b, t->o->quick ? STORE_QUICK : VC_MAX);
	bad = bad || store_col_blocks(t, v, key, t->o->quick ? STORE_QUICK : VC_MAX) != 0;
	v->n = key->n = 0;
	free(p);
	return bad ? -1 : store_section(t, WETFILE_VAL, c->nseg, STORE_P_VAL);
}

static void
segment_clear(struct segment *g)
{
	g->path.n = g->val.n = 0;
	for (unsigned i = 0; i < DEP_NCOL; i++)
		g->dep[i].n = 0;
	for (unsigned i = 0; i < DEP_NKEYED; i++)
		g->key[i].n = 0;
	g->n = g->exc = 0;
}

int
store_segment(struct store_cap *c)
{
	struct store_out *t = &c->out;

	if (c->seg.n == 0)
		return 0;
	if (store_code_encode(&c->tab, &c->mark, t, quick_level(t->o)) != 0)
		return -1;
	c->mark = store_mark(&c->tab);
	if (store_section(t, WETFILE_CODE, c->nseg, STORE_P_CODE) != 0)
		return -1;
	buf_add(&t->b, c->key.p, c->key.n);
	if (store_section(t, WETFILE_KEY, c->nseg, STORE_P_KEY) != 0 ||
	    store_col(t, &c->seg.path, NULL) != 0 ||
	    store_section(t, WETFILE_PATH, c->nseg, STORE_P_PATH) != 0 || put_rank(c) != 0 ||
	    put_dep(c) != 0 || (c->load ? store_load_val(c) : put_val(c)) != 0 || store_addr_section(c) != 0)
		return -1;
	t->stats.nstmt += c->seg.n;
	t->stats.nsegment = ++c->nseg;
	if (t->o->progress) {
		if (store_drain(t) != 0)
			return -1;
		t->o->progress(t->o->progressarg, &t->stats);
	}
	segment_clear(&c->seg);
	if (c->seg.rank)
		memset(c->seg.rank, 0, c->tab.npath * sizeof *c->seg.rank);
	memdep_reset(&c->dep);
	c->key.n = 0;
	model_save(&c->model, &c->key);
	if (c->load)
		load_state_encode(&c->load->l.st, &c->key);
	return c->key.nomem ? -1 : 0;
}
