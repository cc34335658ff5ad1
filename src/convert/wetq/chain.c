/* wetq: the slice of a point in memory, with the dependences of its members. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "convert/wetq/chain.h"
#include "convert/wetq/name.h"
#include "format/ref/ref.h"

void
chain_init(struct chain *c, struct job *j)
{
	*c = (struct chain){ .j = j, .most = CHAIN_INSTANCES };
	c->flags = (j->flags & ~(unsigned)QUERY_FORWARD) | (j->typed ? 0 : QUERY_THIN | QUERY_DATA);
	c->parents = (c->flags & QUERY_DATA) != 0;
	c->flags |= c->parents ? QUERY_PARENTS : 0;
}

void
chain_free(struct chain *c)
{
	hash_free(&c->by_who);
	free(c->member);
	free(c->word);
	free(c->edge);
}

struct chain_member *
chain_find(const struct chain *c, uint32_t id, uint64_t instance)
{
	uint32_t h = hash_number(instance * 0x10001u + id), at = h, i;

	while ((i = hash_find(&c->by_who, h, &at)) != HASH_NONE)
		if (c->member[i].id == id && c->member[i].instance == instance)
			return &c->member[i];
	return NULL;
}

static int
chain_add(void *arg, const struct query_insn *e)
{
	struct chain *c = arg;
	struct chain_member *m;

	if (chain_find(c, e->id, e->instance))
		return 0;
	if (c->nmember == c->most) {
		c->cut = 1;
		return 1;
	}
	c->member = mem_xgrow(c->member, &c->capmember, c->nmember + 1, sizeof *c->member);
	m = &c->member[c->nmember];
	*m = (struct chain_member){ 
		.n = e->n, .id = e->id, .instance = e->instance, .nval = e->nval, .val = c->nword,
		.reads = names_reference(e, REF_LOAD), .writes = names_reference(e, REF_STORE)
	};
	c->word = mem_xgrow(c->word, &c->capword, c->nword + e->nval + 1, sizeof *c->word);
	if (e->nval)
		memcpy(c->word + c->nword, e->val, e->nval * sizeof *e->val);
	c->nword += e->nval;
	hash_xadd(&c->by_who, hash_number(e->instance * 0x10001u + e->id), (uint32_t)c->nmember++);
	return 0;
}

static int
chain_is_address(const struct chain *c, const struct query_edge *d)
{
	const struct wport *p = &query_stmt(c->j->q, d->id)->port;

	return d->port && d->port <= p->nuse && p->addrs >> (d->port - 1) & 1;
}

static void
chain_add_edge(void *arg, const struct query_edge *d)
{
	struct chain *c = arg;
	struct chain_member *m = chain_find(c, d->id, d->instance);

	if (!m || (d->on == d->id && d->oninstance == d->instance))
		return;
	if (m->done && !(m == &c->member[c->from] && chain_is_address(c, d)))
		return;
	if (d->port == 0 && c->parents) {
		m->on = d->on;
		m->onn = d->onn;
		m->oninstance = d->oninstance;
		return;
	}
	c->edge = mem_xgrow(c->edge, &c->capedge, c->nedge + 1, sizeof *c->edge);
	c->edge[c->nedge] = (struct chain_edge){
		.id = d->on, .instance = d->oninstance, .next = m->edge,
		.address = chain_is_address(c, d), .memory = d->port > query_stmt(c->j->q, d->id)->port.nuse
	};
	m->edge = (uint32_t)++c->nedge;
}

unsigned
chain_role(const struct chain *c, const struct chain_member *m)
{
	return query_stmt(c->j->q, m->id)->port.role;
}

int
chain_is_copy(const struct chain *c, const struct chain_member *m)
{
	return chain_role(c, m) & WPORT_COPY && m->edge;
}

int
chain_maps(const struct chain *c, const struct chain_member *m)
{
	return m && chain_role(c, m) & WPORT_SYSTEM && m->nval == 1 &&
	    c->word[m->val] > UINT32_MAX && (int64_t)c->word[m->val] > 0;
}

static int
chain_at(void *arg, const struct query_path *p)
{
	*(uint32_t *)arg = p->id[p->from];
	return 1;
}

uint32_t
chain_parent(struct chain *c, struct chain_member *m)
{
	uint32_t on = m->on;

	/* a capture told its position; without an answer it is not said */
	if (!on && m->onn && query_flow(c->j->q, m->onn, 1, 0, chain_at, &on) == 0)
		m->on = on;
	return m->on;
}

int
chain_slice(struct chain *c, unsigned flags, uint64_t n)
{
	struct job *j = c->j;
	struct query_slice s = { .n = n, .flags = flags, .fn = chain_add, .edge = chain_add_edge, .arg = c };
	int bad;

	s.count = xcalloc(query_nstmt(j->q) + 1u, sizeof *s.count);
	bad = query_slice(j->q, &s) != 0 ? job_bad(j) : 0;
	free(s.count);
	return bad;
}

