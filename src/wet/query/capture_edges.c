/*
 * Queries of a capture: the dependences of the members of a backward slice, as the scan finds them.  What a
 * member uses is wanted until the scan reaches the instance that wrote it.
 */
#include <stdlib.h>
#include <string.h>

#include "wet/query/capture_edges_internal.h"

void
qedges_init(struct qedges *g, struct query_slice *s)
{
	*g = (struct qedges){ .s = s };
}

void
qedges_free(struct qedges *g)
{
	free(g->member);
	free(g->want);
	free(g->hit);
}

static uint32_t *
edges_bucket(struct qedges *g, enum qedges_kind kind, uint64_t key)
{
	return &g->head[kind][hash_number(key) % QEDGES_BUCKETS];
}

static int
edges_add(struct qedges *g, enum qedges_kind kind, uint64_t key, uint64_t mask, const struct qwant *as)
{
	uint32_t *head = edges_bucket(g, kind, key), i = g->unused;

	if (i)
		g->unused = g->want[i - 1].next;
	else if (g->nwant >= UINT32_MAX - 1 ||
	    buf_grow(&g->want, &g->capwant, g->nwant + 1, sizeof *g->want) != 0)
		return -1;
	else
		i = (uint32_t)++g->nwant;
	g->want[i - 1] = (struct qwant){
		.key = key, .mask = mask, .member = as->member, .port = as->port, .leaf = as->leaf, .next =
		    *head
	};
	*head = i;
	g->left++;
	return 0;
}

/* Notes that the instance that is being looked at wrote what this one wants. */
static int
edges_note(struct qedges *g, const struct qwant *w)
{
	for (size_t i = 0; i < g->nhit; i++)
		if (g->hit[i].member == w->member && g->hit[i].port == w->port) {
			g->hit[i].leaf &= w->leaf;
			return 0;
		}
	if (buf_grow(&g->hit, &g->caphit, g->nhit + 1, sizeof *g->hit) != 0)
		return -1;
	g->hit[g->nhit++] = *w;
	return 0;
}

/* What is wanted of this key and mask is wanted no more, and noted. */
static int
edges_take(struct qedges *g, enum qedges_kind kind, uint64_t key, uint64_t mask)
{
	for (uint32_t *at = edges_bucket(g, kind, key); *at;) {
		struct qwant *w = &g->want[*at - 1];
		uint32_t i = *at;

		if (w->key != key || !(w->mask & mask)) {
			at = &w->next;
			continue;
		}
		if (edges_note(g, w) != 0)
			return -1;
		if ((w->mask &= ~mask) != 0) {
			at = &w->next;
			continue;
		}
		*at = w->next;
		w->next = g->unused;
		g->unused = i;
		g->left--;
	}
	return 0;
}

/* The bytes of one granule that begin at *addr, of *n bytes: sets *key and *mask, and moves on. */
static void
edges_granule(uint64_t *addr, uint64_t *n, uint64_t *key, uint64_t *mask)
{
	uint64_t k = 64 - *addr % 64;

	if (k > *n)
		k = *n;
	*key = (*addr & BYTESET_ADDR) / 64;
	*mask = (k == 64 ? ~UINT64_C(0) : (UINT64_C(1) << k) - 1) << *addr % 64;
	*addr += k;
	*n -= k;
}

static int
edges_take_memory(struct qedges *g, uint64_t addr, uint64_t n)
{
	uint64_t key, mask;
	int bad = 0;

	/* a file that was mapped may be large: then what is wanted is looked through instead */
	if (n > 64 * QEDGES_BUCKETS) {
		for (size_t i = 0; i < g->nwant && !bad; i++) {
			uint64_t at = g->want[i].key * 64;

			if (g->want[i].mask && at + 64 > (addr & BYTESET_ADDR) &&
			    at < (addr & BYTESET_ADDR) + n)
				bad = edges_take(g, QEDGES_MEMORY, g->want[i].key, ~UINT64_C(0));
		}
		return bad;
	}
	while (n && !bad) {
		edges_granule(&addr, &n, &key, &mask);
		bad = edges_take(g, QEDGES_MEMORY, key, mask);
	}
	return bad;
}

static int
edges_want_memory(struct qedges *g, uint64_t addr, uint64_t n, const struct qwant *as)
{
	uint64_t key, mask;

	while (n) {
		edges_granule(&addr, &n, &key, &mask);
		if (edges_add(g, QEDGES_MEMORY, key, mask, as) != 0)
			return -1;
	}
	return 0;
}

int
qedges_bytes(struct qedges *g, uint64_t addr, uint64_t n)
{
	if (buf_grow(&g->member, &g->capmember, g->nmember + 1, sizeof *g->member) != 0)
		return -1;
	g->member[g->nmember] = (struct qmember){ 0 };
	return edges_want_memory(g, addr, n, &(struct qwant){ .member = (uint32_t)g->nmember++, .leaf = 1 });
}

int
qedges_lanes(struct qedges *g, unsigned reg)
{
	if (buf_grow(&g->member, &g->capmember, g->nmember + 1, sizeof *g->member) != 0)
		return -1;
	g->member[g->nmember] = (struct qmember){ 0 };
	return edges_add(g, QEDGES_REGISTER, reg, fact_lanes(reg),
	    &(struct qwant){ .member = (uint32_t)g->nmember++, .leaf = 1 });
}

int
qedges_found(struct qedges *g, const struct qfound *e)
{
	int bad, follow = e->n == g->s->n;

	g->nhit = 0;
	bad = edges_take(g, QEDGES_POSITION, e->n, 1);
	for (unsigned i = 0; i < e->fact->ndef && !bad; i++)
		bad = edges_take(g, QEDGES_REGISTER, e->fact->def[i].reg, e->fact->def[i].lanes);
	for (size_t i = 0; i < e->nref && !bad; i++)
		if (visit_writes(e->ref[i]))
			bad = edges_take_memory(g, ref_addr(e->ref[i]), ref_size(e->ref[i]));
	for (size_t i = 0; i < g->nhit && !bad; i++) {
		const struct qmember *m = &g->member[g->hit[i].member];
		struct query_edge d = {
			.id = m->id, .instance = m->instance, .port = g->hit[i].port,
			.on = e->id, .oninstance = e->instance, .onn = e->n
		};

		follow |= !g->hit[i].leaf;
		g->s->edge(g->s->arg, &d);
	}
	return bad ? -1 : follow;
}

/* What an element of a string instruction reads may have been written by one before it. */
static int
edges_elements(struct qedges *g, const struct qfound *e, struct qwant *as)
{
	int bad = 0;

	as->port = (uint16_t)(e->fact->nuse + 1u);
	for (size_t i = e->nref; i-- > 0 && !bad;) {
		if (visit_writes(e->ref[i]))
			bad = edges_take_memory(g, ref_addr(e->ref[i]), ref_size(e->ref[i]));
		if (visit_reads(e->ref[i]) && !bad)
			bad = edges_want_memory(g, ref_addr(e->ref[i]), ref_size(e->ref[i]), as);
	}
	return bad;
}

int
qedges_follow(struct qedges *g, const struct qfound *e, const struct wport *port, uint64_t parent)
{
	struct qwant as = { .member = (uint32_t)g->nmember, .leaf = (g->s->flags & QUERY_STEP) != 0 };
	unsigned flags = qcap_flags_of(g->s, e->n), k = 0;
	int bad = 0;

	if (g->nmember >= UINT32_MAX ||
	    buf_grow(&g->member, &g->capmember, g->nmember + 1, sizeof *g->member) != 0)
		return -1;
	g->member[g->nmember++] = (struct qmember){ e->id, e->instance };
	for (unsigned i = 0; i < e->fact->nuse && !bad; i++) {
		as.port = (uint16_t)(i + 1);
		if (qcap_follows(flags, e->fact, i, port))
			bad = edges_add(g, QEDGES_REGISTER, e->fact->use[i].reg, e->fact->use[i].lanes, &as);
	}
	if (port->any && !(flags & QUERY_CONTROL))
		bad = bad || edges_elements(g, e, &as) != 0;
	else
		for (size_t i = 0; i < e->nref && !bad && !(flags & QUERY_CONTROL); i++) {
			if (!visit_reads(e->ref[i]))
				continue;
			as.port = (uint16_t)(e->fact->nuse + 1u + k++);
			bad = edges_want_memory(g, ref_addr(e->ref[i]), ref_size(e->ref[i]), &as);
		}
	as.port = 0;
	if (parent && !bad && flags & QUERY_PARENTS)
		g->s->edge(g->s->arg, &(struct query_edge){ .id = e->id, .instance = e->instance, .onn =
		    parent });
	else if (parent && !bad)
		bad = edges_add(g, QEDGES_POSITION, parent, 1, &as);
	return bad;
}

/* What was noted is wanted from the instance at position n instead. */
static int
edges_put_off(struct qedges *g, uint64_t n)
{
	int bad = 0;

	for (size_t i = 0; i < g->nhit && n && !bad; i++) {
		struct qwant as = g->hit[i];

		bad = edges_add(g, QEDGES_POSITION, n, 1, &as);
	}
	return bad;
}

int
qedges_moved(struct qedges *g, uint64_t from, uint64_t to, uint64_t n)
{
	int bad = 0;

	/* pages move, so that granules stay whole */
	for (uint64_t at = 0; at < n && !bad; at += 64) {
		g->nhit = 0;
		for (uint32_t i = *edges_bucket(g, QEDGES_MEMORY, ((to + at) & BYTESET_ADDR) / 64); i &&
		    !bad;) {
			struct qwant w = g->want[i - 1];

			i = w.next;
			if (w.key == ((to + at) & BYTESET_ADDR) / 64)
				bad = edges_add(g, QEDGES_MEMORY, ((from + at) & BYTESET_ADDR) / 64, w.mask,
				    &w);
		}
		if (!bad)
			bad = edges_take(g, QEDGES_MEMORY, ((to + at) & BYTESET_ADDR) / 64, ~UINT64_C(0));
	}
	return bad;
}

int
qedges_written(struct qedges *g, uint64_t addr, uint64_t len, uint64_t n)
{
	g->nhit = 0;
	return edges_take_memory(g, addr, len) != 0 ? -1 : edges_put_off(g, n);
}

int
qedges_register(struct qedges *g, unsigned reg, uint64_t n)
{
	g->nhit = 0;
	return edges_take(g, QEDGES_REGISTER, reg, fact_lanes(reg)) != 0 ? -1 : edges_put_off(g, n);
}

int
qedges_signal(struct qedges *g, const struct fact *f, uint64_t n)
{
	int bad;

	g->nhit = 0;
	bad = edges_take(g, QEDGES_POSITION, n, 1);
	for (unsigned i = 0; i < f->ndef && !bad; i++)
		bad = edges_take(g, QEDGES_REGISTER, f->def[i].reg, f->def[i].lanes);
	return bad ? -1 : edges_put_off(g, n - 1);
}
