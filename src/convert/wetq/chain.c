/* wetq: the slice of a point in memory, with the dependences of its members. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "convert/wetq/chain.h"
#include "convert/wetq/name.h"
#include "format/ref/ref.h"
#include "isa/x86/decode.h"

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

static void
chain_add_words(struct chain *c, const struct query_insn *e)
{
	c->word = mem_xgrow(c->word, &c->capword, c->nword + e->nval + 1, sizeof *c->word);
	if (e->nval)
		memcpy(c->word + c->nword, e->val, e->nval * sizeof *e->val);
	c->nword += e->nval;
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
		.n = e->n, .id = e->id, .instance = e->instance, .nval = e->nval, .val = c->nword, .extra = c->extended,
		.reads = names_reference(e, REF_LOAD), .writes = names_reference(e, REF_STORE)
	};
	if (e->nval && !e->val)
		m->val = CHAIN_LATER;
	else
		chain_add_words(c, e);
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
	if (m->done && !((size_t)(m - c->member) == c->from && chain_is_address(c, d)))
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

static int
chain_later(void *arg, const struct query_insn *e)
{
	chain_add_words(arg, e);
	return 0;
}

int
chain_know(struct chain *c, struct chain_member *m)
{
	size_t at = c->nword;

	if (m->val != CHAIN_LATER || c->bad)
		return c->bad ? -1 : 0;
	if (query_insn_at(c->j->q, m->id, m->instance, QUERY_VALUES, chain_later, c) != 1 ||
	    c->nword - at != m->nval) {
		c->bad = 1;
		return job_bad(c->j);
	}
	m->val = at;
	return 0;
}

int
chain_maps(struct chain *c, struct chain_member *m)
{
	return m && chain_role(c, m) & WPORT_SYSTEM && m->nval == 1 && chain_know(c, m) == 0 &&
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


int
chain_extend(struct chain *c, unsigned flags, uint64_t n, uint32_t from)
{
	int cut = c->cut, bad;

	c->from = from;
	c->extended = 1;
	c->most = c->nmember + CHAIN_MORE;
	for (size_t i = 0; i < c->nmember; i++)
		c->member[i].done = 1;
	bad = chain_slice(c, flags, n);
	c->cut = cut;
	return bad;
}

int
chain_same_line(const struct chain *c, uint32_t a, uint32_t b)
{
	const struct place *p = job_place(c->j, a), *q = job_place(c->j, b);

	return p->line == q->line && p->file && q->file && strcmp(p->file, q->file) == 0 && p->func && q->func &&
	    strcmp(p->func, q->func) == 0;
}

/* A search for causes: members that were reached, each from which other one */
struct search { uint32_t *member, *from; unsigned char *address; size_t n, cap, capfrom, capaddress; };

static void
chain_reach(struct chain *c, struct search *s, const struct chain_edge *e, size_t from, int address)
{
	struct chain_member *p = chain_find(c, e->id, e->instance);

	if (!p || p->seen == c->stamp || chain_maps(c, p))
		return;
	p->seen = c->stamp;
	s->member = mem_xgrow(s->member, &s->cap, s->n + 1, sizeof *s->member);
	s->from = mem_xgrow(s->from, &s->capfrom, s->n + 1, sizeof *s->from);
	s->address = mem_xgrow(s->address, &s->capaddress, s->n + 1, 1);
	s->member[s->n] = (uint32_t)(p - c->member);
	s->from[s->n] = (uint32_t)from;
	s->address[s->n++] = (unsigned char)address;
}

static int
chain_by_member(const void *a, const void *b)
{
	const struct chain_cause *p = a, *q = b;

	return p->member < q->member ? -1 : p->member > q->member;
}

size_t
chain_causes(struct chain *c, uint32_t member, int address, struct chain_cause *to, size_t most)
{
	int system = place_is_system(job_place(c->j, c->member[member].id));
	struct search s = { 0 };
	size_t n = 0;

	c->stamp++;
	c->member[member].seen = c->stamp;
	for (size_t i = 0; i <= s.n && n < most && i < CHAIN_SEARCH; i++) {
		uint32_t at = i ? s.member[i - 1] : member;
		struct chain_member *m = &c->member[at];
		int led = i && s.address[i - 1];

		if (i && !chain_is_copy(c, m) && !(system && place_is_system(job_place(c->j, m->id)))) {
			if (led != address)
				continue;
			to[n] = (struct chain_cause){ .member = at };
			for (size_t k = s.from[i - 1]; k && !to[n].via; k = s.from[k - 1]) {
				const struct chain_member *p = &c->member[s.member[k - 1]];

				if (p->writes && chain_is_copy(c, p) && chain_same_line(c, p->id, m->id))
					to[n].via = s.member[k - 1] + 1;
			}
			n++;
			continue;
		}
		for (uint32_t e = m->edge; e; e = c->edge[e - 1].next)
			if (!c->edge[e - 1].address || (address && !led))
				chain_reach(c, &s, &c->edge[e - 1], i, led || c->edge[e - 1].address);
	}
	free(s.member);
	free(s.from);
	free(s.address);
	if (n > 1)
		qsort(to, n, sizeof *to, chain_by_member);
	return n;
}

size_t
chain_copies(struct chain *c, uint32_t member, uint32_t *to, size_t most)
{
	size_t n = 0;

	c->stamp++;
	to[n++] = member;
	for (size_t i = 0; i < n; i++)
		for (uint32_t e = c->member[to[i]].edge; e && n < most; e = c->edge[e - 1].next) {
			struct chain_member *m = chain_find(c, c->edge[e - 1].id, c->edge[e - 1].instance);

			if (!m || m->seen == c->stamp || !chain_is_copy(c, m))
				continue;
			m->seen = c->stamp;
			to[n++] = (uint32_t)(m - c->member);
		}
	return n;
}

int
chain_is_stack(const struct query_stmt *s)
{
	ZydisDecodedInstruction z;
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];

	if (x86_decode(&z, op, s->b, s->len, 0) != 0)
		return 0;
	for (unsigned i = 0; i < z.operand_count; i++)
		if (op[i].type == ZYDIS_OPERAND_TYPE_MEMORY && op[i].mem.index == ZYDIS_REGISTER_NONE &&
		    (op[i].mem.base == ZYDIS_REGISTER_RSP || op[i].mem.base == ZYDIS_REGISTER_RBP))
			return 1;
	return 0;
}

void
chain_ask(const struct chain *c, struct names *t, uint32_t member, uint32_t via)
{
	const struct chain_member *m = &c->member[member];

	if (place_is_system(job_place(c->j, m->id)))
		return;
	if (via)
		names_ask_write(t, c->member[via - 1].n, c->member[via - 1].id, c->member[via - 1].writes);
	names_ask(t, m->n, m->id, m->reads, m->writes);
}

void
chain_words(struct job *j, uint32_t id, uint64_t instance, const struct name *name, const struct buf *value,
    struct buf *b)
{
	const struct place *p = job_place(j, id);

	if (!place_is_system(p)) {
		put_place(b, p);
		buf_u8(b, ' ');
	}
	text_str(b, p->func);
	if (name) {
		buf_u8(b, ' ');
		name_text(name, b);
	}
	if (name && name->value)
		buf_printf(b, " = %s", name->value);
	else if (value->n)
		buf_printf(b, " = %.*s", (int)value->n, (const char *)value->p);
	buf_printf(b, " (%llu#%llu)", (unsigned long long)query_stmt_name(j->q, id), (unsigned long long)instance);
}

void
chain_value(const struct chain *c, const struct chain_member *m, struct buf *b)
{
	if (m->nval && !(chain_role(c, m) & WPORT_OFFLAGS))
		put_number(b, c->word + m->val, m->nval);
}
