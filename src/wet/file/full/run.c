/* Writes a run: its statements one by one, their paths and dependences. */
#include <stdlib.h>

#include "wet/file/writer.h"

/*
 * `far` of wet(5) as a number: a distance modulo 2^32, zigzag-coded so that it is small in both
 * directions.
 */
static uint64_t
full_run_zig32(uint32_t far)
{
	return (uint32_t)(far << 1 ^ -(far >> 31));
}

static int
latest_first(const void *a, const void *b)
{
	uint64_t p = *(const uint64_t *)a, q = *(const uint64_t *)b;

	return p > q ? -1 : p < q;
}

/* Appends the instances that the writer word w stands for. */
static void
full_run_pieces(struct col *to, uint64_t w, const struct visit_piece *piece)
{
	if (!(w & VISIT_MANY)) {
		col_add(to, w);
		return;
	}
	piece += w & ~VISIT_MANY;
	do
		col_add(to, piece->writer);
	while (piece++->more);
}

/*
 * Replaces the instances in c->list by their numbers: the latest first, without duplicates and
 * without initial ones.
 */
static void
full_run_number_writers(struct store_cap *c)
{
	struct col *l = &c->list;
	uint64_t last = 0;
	size_t k = 0;

	if (l->n)
		qsort(l->v, l->n, sizeof *l->v, latest_first);
	for (size_t i = 0; i < l->n; i++) {
		uint64_t x = i && l->v[i] == last ? 0 : instances_who(&c->who, &c->stmts, l->v[i]);

		last = l->v[i];
		if (x && (!k || x != l->v[k - 1]))
			l->v[k++] = x;
	}
	l->n = k;
}

/* Writes a dependence that the model did not predict. */
static void
full_run_exception(struct store_cap *c, uint32_t port)
{
	struct segment *g = &c->seg;
	uint64_t at = g->n + c->npath;

	col_add(&g->dep[DEP_AT], at - g->exc);
	g->exc = at;
	col_add(&g->dep[DEP_PORT], port);
	col_add(&g->dep[DEP_COUNT], c->list.n);
	for (size_t i = 0; i < c->list.n; i++) {
		uint32_t id = (uint32_t)(c->list.v[i] >> 32);

		col_add(&g->dep[DEP_XID], id);
		col_add(&g->dep[DEP_XFAR], full_run_zig32(c->count[id - 1] - (uint32_t)c->list.v[i]));
	}
	c->out.stats.nexc++;
}

static int
full_run_control(struct store_cap *c, uint64_t n)
{
	struct model_who p = model_parent(&c->model);

	c->out.stats.ndep += n != 0;
	if (p.n == n)
		return 0;
	c->list.n = 0;
	full_run_pieces(&c->list, n, NULL);
	full_run_number_writers(c);
	if ((c->list.n ? c->list.v[0] : 0) == p.who)
		return 0;
	full_run_exception(c, 0);
	return model_control_is(&c->model, c->list.n ? c->list.v[0] : 0, n);
}

static int
as_model(const struct model_lane *lane, unsigned lanes, uint64_t w)
{
	for (; lanes; lanes >>= 1, lane++)
		if (lanes & 1 && lane->n != w)
			return 0;
	return 1;
}

static void
full_run_registers(struct store_cap *c, const struct store_stmt *s, const uint64_t *w,
    const struct visit_piece *piece)
{
	const uint16_t *reg = c->tab.reg + s->reg;

	for (uint32_t k = 0; k < s->nuse; k++) {
		uint64_t have[MODEL_LIST];
		unsigned n;
		int same;

		if (as_model(c->model.lane[reg[k] >> 5], reg[k] & 31, w[k])) {
			c->out.stats.ndep += w[k] != 0;
			continue;
		}
		c->list.n = 0;
		full_run_pieces(&c->list, w[k], piece);
		full_run_number_writers(c);
		c->out.stats.ndep += c->list.n;
		n = model_reg(&c->model, reg[k], have);
		same = n == c->list.n;
		for (unsigned i = 0; same && i < n; i++)
			same = have[i] == c->list.v[i];
		if (same)
			continue;
		full_run_exception(c, k + 1);
		if (c->list.n < 2)
			model_reg_is(&c->model, reg[k], c->list.n ? c->list.v[0] : 0,
			    w[k] & VISIT_MANY ? UINT64_MAX : w[k]);
	}
}

/* The next memory port: its writers. */
static void
full_run_memory(struct store_cap *c, uint64_t w, const struct visit_piece *piece)
{
	struct memport *m = &c->mem[c->nmem++];

	m->first = (uint32_t)c->many.n;
	if (w & VISIT_MANY) {
		c->list.n = 0;
		full_run_pieces(&c->list, w, piece);
		full_run_number_writers(c);
		for (size_t i = 0; i < c->list.n; i++)
			col_add(&c->many, c->list.v[i]);
	} else if ((w = instances_who(&c->who, &c->stmts, w)) != 0)
		col_add(&c->many, w);
	m->n = (uint32_t)c->many.n - m->first;
}

/* The last port of a string instruction: all writers of what it has read, including earlier parts. */
static void
string_memory(struct store_cap *c, const struct visit_batch *b, const struct visit_insn *e)
{
	struct memport *m = &c->mem[c->nmem - 1];
	const uint64_t *w = b->writer + e->use + e->fact->nuse;

	for (uint32_t k = 0; k < e->nref; k++)
		if (visit_reads(b->word[e->ref + k]))
			full_run_pieces(&c->raw, *w++, b->piece);
	c->list.n = 0;
	for (size_t i = 0; i < c->raw.n; i++)
		col_add(&c->list, c->raw.v[i]);
	full_run_number_writers(c);
	c->many.n = m->first;
	for (size_t i = 0; i < c->list.n; i++)
		col_add(&c->many, c->list.v[i]);
	m->n = (uint32_t)c->list.n;
}

static void
full_run_values(struct store_cap *c, const struct stmt *v, const uint64_t *word)
{
	struct col *to = c->load ? &c->addr.val : &c->seg.val;

	if (v->nval == WPORT_FLAGS)
		col_add(to, fact_rflags(word[v->val]));
	else
		for (unsigned i = 0; i < v->nval; i++)
			col_add(to, word[v->val + i]);
}

/* Creates a node for s, whose next sibling is `next`; 0: no memory. */
static uint32_t
full_run_node(struct store_cap *c, uint32_t s, uint32_t next)
{
	if (c->ntrie >= UINT32_MAX || buf_grow(&c->trie, &c->captrie, c->ntrie + 1, sizeof *c->trie) != 0)
		return 0;
	c->trie[c->ntrie] = (struct trie){ .stmt = s, .next = next };
	return (uint32_t)c->ntrie++;
}

/* The path continues with s. */
static int
full_run_step(struct store_cap *c, uint32_t s)
{
	struct trie *t = c->trie;
	uint32_t *from = c->node ? &t[c->node].child : &c->begin[s], k;

	for (k = *from; k && t[k].stmt != s; k = *(from = &t[k].next))
		;
	if (!k) {
		uint32_t *first = c->node ? NULL : &c->begin[s];

		if ((k = full_run_node(c, s, first ? 0 : t[c->node].child)) == 0)
			return -1;
		*(first ? first : &c->trie[c->node].child) = k;
	/* move to front: frequent successors are found fast */
	} else if (c->node && k != t[c->node].child) {
		*from = t[k].next;
		t[k].next = t[c->node].child;
		t[c->node].child = k;
	}
	c->node = k;
	c->path[c->npath++] = s;
	return 0;
}

int
store_statement(struct store_cap *c, const struct visit_batch *b, const struct visit_run *r,
    uint32_t i, uint32_t s)
{
	const struct stmt *v = &c->stmts.stmt[s];
	struct visit_insn e = visit_insn(r, i);
	const uint64_t *w = b->writer + e.use;
	const struct store_stmt *t;

	if (c->npath && (c->over || c->npath == STORE_PATH || v->pc <= c->lastpc) && store_path_end(c) != 0)
		return -1;
	t = &c->tab.stmt[s];
	model_enter(&c->model, s);
	if (full_run_control(c, c->parent[i]) != 0)
		return -1;
	full_run_registers(c, t, w, b->piece);
	c->string = 0;
	if (v->any) {
		c->string = e.n;
		c->raw.n = 0;
		if (v->nmem) {
			c->mem[c->nmem++].first = (uint32_t)c->many.n;
			string_memory(c, b, &e);
		}
	} else
		for (uint32_t k = 0; k < v->nmem; k++)
			full_run_memory(c, w[v->nuse + k], b->piece);
	full_run_values(c, v, b->word + e.val);
	if (c->load)
		store_load_statement(c, b, &e, s, 0);
	if (store_addr_refs(c, s, b->word + e.ref, e.nref, 0) != 0 ||
	    model_leave(&c->model, s, (uint64_t)v->id << 32 | c->count[s], e.n) != 0 ||
	    full_run_step(c, s) != 0)
		return -1;
	c->lastpc = v->pc;
	c->over = (t->ctl & STORE_ENDS) != 0;
	return 0;
}

/* The previous statement, a string instruction, continued: adds its reads; its value is the last one. */
int
store_string_again(struct store_cap *c, const struct visit_batch *b, const struct visit_run *r, uint32_t s)
{
	const struct stmt *v = &c->stmts.stmt[s];
	struct visit_insn e = visit_insn(r, 0);

	if (c->string != e.n)
		return store_fail(c->out.f, 1,
		    "a string instruction that a signal interrupted continues: not known here");
	*(c->load ? &c->addr.val.n : &c->seg.val.n) -= stmt_words(v);
	full_run_values(c, v, b->word + e.val);
	if (c->load)
		store_load_statement(c, b, &e, s, 1);
	if (store_addr_refs(c, s, b->word + e.ref, e.nref, 1) != 0)
		return -1;
	if (v->nmem)
		string_memory(c, b, &e);
	return 0;
}

static void
full_run_token(struct store_cap *c, uint64_t key, uint64_t x, unsigned col)
{
	struct segment *g = &c->seg;
	struct memdep_port *p = memdep_past(&c->dep, key);
	uint32_t far;
	unsigned t;

	if (!p) {
		g->dep[col].nomem = 1;
		return;
	}
	t = memdep_put(p, x, c->count, &far);
	col_add(&g->dep[col], t);
	col_add(&g->key[col], key);
	if (t == MEMDEP_NEW) {
		col_add(&g->dep[DEP_ID], x >> 32);
		col_add(&g->key[DEP_ID], key);
	}
	if (t == MEMDEP_NEW || (t >= MEMDEP_FAR && t < MEMDEP_NONE)) {
		col_add(&g->dep[DEP_FAR], full_run_zig32(far));
		col_add(&g->key[DEP_FAR], key);
	}
}

/* Writes the dependences of the path's ports. */
static void
full_run_tokens(struct store_cap *c, const struct store_path *p)
{
	struct segment *g = &c->seg;

	for (uint32_t i = 0; i < c->nmem; i++) {
		const struct memport *m = &c->mem[i];
		uint64_t key = (uint64_t)(p->slot + i) * MEMDEP_KEYS;

		c->out.stats.ndep += m->n;
		if (m->n < 2) {
			full_run_token(c, key, m->n ? c->many.v[m->first] : 0, DEP_TOKEN);
			continue;
		}
		col_add(&g->dep[DEP_TOKEN], MEMDEP_MANY);
		col_add(&g->key[DEP_TOKEN], key);
		col_add(&g->dep[DEP_NUM], m->n);
		col_add(&g->key[DEP_NUM], key);
		for (uint32_t k = 0; k < m->n; k++)
			full_run_token(c, key + 1 + (k < MEMDEP_SUBS ? k : MEMDEP_SUBS - 1),
			    c->many.v[m->first + k], DEP_SUB);
	}
}

int
store_path_end(struct store_cap *c)
{
	struct segment *g = &c->seg;
	struct trie *t = &c->trie[c->node];
	uint32_t path;

	if (!t->path) {
		if (store_path(&c->tab, c->path, c->npath) != 0 || memdep_room(&c->dep, c->tab.nslot) != 0 ||
		    buf_grow(&g->rank, &g->caprank, c->tab.npath, sizeof *g->rank) != 0)
			return -1;
		t->path = (uint32_t)c->tab.npath;
		g->rank[t->path - 1] = 0;
	}
	path = t->path - 1;
	col_add(&g->path, path);
	g->rank[path]++;
	full_run_tokens(c, &c->tab.path[path]);
	for (uint32_t i = 0; i < c->npath; i++)
		if (++c->count[c->path[i]] == UINT32_MAX)
			return store_fail(c->out.f, 1, "a statement is executed more than 4294967294 times");
	g->n += c->npath;
	c->node = 0;
	c->npath = 0;
	c->nmem = 0;
	c->many.n = 0;
	c->over = 0;
	c->string = 0;
	if (g->n >= c->out.o->segment || g->val.n >= STORE_SEGMENT / 2 ||
	    c->addr.val.n >= STORE_SEGMENT / 2 || c->addr.n >= WADDR_SEGMENT)
		return store_segment(c);
	return 0;
}
