/* Encodes addresses of references to memory: ADDR sections of a .wet file. */
#include <stdlib.h>
#include <string.h>

#include "wet/file/writer.h"

/* A reference that differs from the prediction. */
struct miss { uint32_t slot; uint64_t gap, by; };

struct put {
	struct store_cap *c;
	struct miss *miss;              /* in order of time; owned */
	size_t n, cap;
	uint64_t *since;                /* references of each slot since its last exception; owned */
	/* exceptions of each slot; later their first index in slot order; owned */
	uint32_t *many;
	/* numbers of references of statements with `any`; their key is the statement */
	struct col count;
	struct col key;
};

int
store_addr_stmt(struct store_cap *c, const struct fact *f, const struct wport *p)
{
	struct fact_addr expr[FACT_MAXREF];
	struct fact_stack stack;
	struct waddr_stmt s = { .any = f->kind == FACT_STRING || f->kind == FACT_COUNTED };

	s.nexpr = (uint8_t)fact_addrs(f, expr, &stack);
	if (!s.any && f->nref < s.nexpr)
		s.nexpr = f->nref;
	for (; !s.any && s.nexpr < f->nref; s.nexpr++)
		expr[s.nexpr] = (struct fact_addr){
			.base = FACT_NOREG, .index = FACT_NOREG, .seg = FACT_NOREG
		};
	if (s.any && s.nexpr > WADDR_PERIOD)
		s.nexpr = WADDR_PERIOD;
	for (; s.any && s.nexpr == 0; s.nexpr++)
		expr[0] = (struct fact_addr){ .base = FACT_NOREG, .index = FACT_NOREG, .seg = FACT_NOREG };
	if (stack.from != FACT_NOREG) {
		s.from = stack.from;
		s.by = stack.by;
	}
	if (p->nval && p->reg < 16)
		s.val = (uint8_t)(p->reg + 1);
	return waddr_add(&c->addr.tab, &s, expr);
}

/* Appends references of the last instance with a variable number. */
static int
go_on(struct store_addr *a, const struct waddr_stmt *v, const uint64_t *ref, uint32_t n)
{
	struct addr_many *m = &a->many[a->nmany - 1];
	unsigned p = v->nexpr;

	for (uint32_t i = 0; i < n; i++, m->n++) {
		uint64_t last = m->ring[(m->n + p) % (2 * p)],
		    expected = last + (m->n >= 2 * p ? last - m->ring[m->n % (2 * p)] : ref_size(last));

		if (m->n < p)
			m->first[m->n] = ref[i];
		else if (ref[i] != expected) {
			if (buf_grow(&a->miss, &a->capmiss, a->nmiss + 1, sizeof *a->miss) != 0)
				return -1;
			a->miss[a->nmiss++] = (struct addr_miss){ m->n, ref[i] - expected };
			m->nmiss++;
		}
		m->ring[m->n % (2 * p)] = ref[i];
	}
	return 0;
}

int
store_addr_refs(struct store_cap *c, uint32_t s, const uint64_t *ref, uint32_t n, int again)
{
	struct store_addr *a = &c->addr;
	const struct waddr_stmt *v = &a->tab.stmt[s];

	a->n += n;
	if (!v->any) {
		for (uint32_t i = 0; i < n; i++)
			col_add(&a->ref, ref[i]);
		return a->ref.nomem ? -1 : 0;
	}
	if (!again) {
		if (buf_grow(&a->many, &a->capmany, a->nmany + 1, sizeof *a->many) != 0)
			return -1;
		a->many[a->nmany++] = (struct addr_many){ .miss = a->nmiss };
	}
	return go_on(a, v, ref, n);
}

void
store_addr_free(struct store_addr *a)
{
	waddr_free(&a->tab);
	col_free(&a->ref);
	col_free(&a->val);
	free(a->many);
	free(a->miss);
}

/* Encodes a reference that is `by` off the prediction. */
static int
addr_encode_one(struct put *t, uint32_t slot, uint64_t by)
{
	if (!by) {
		t->since[slot]++;
		return 0;
	}
	if (buf_grow(&t->miss, &t->cap, t->n + 1, sizeof *t->miss) != 0)
		return -1;
	t->miss[t->n++] = (struct miss){ slot, t->since[slot], by };
	t->since[slot] = 0;
	t->many[slot]++;
	return 0;
}

/* Encodes the n references of expressions.  -1: no memory. */
static int
addr_encode_expressions(struct put *t, const struct waddr_stmt *v, const uint64_t *ref, uint64_t n)
{
	struct store_addr *a = &t->c->addr;

	for (uint32_t k = 0; k < n; k++) {
		const struct fact_addr *e = &a->tab.expr[v->slot + k];
		uint64_t expected = waddr_expect(&a->model, e);

		if (addr_encode_one(t, v->slot + k, ref[k] - expected) != 0)
			return -1;
		if (ref[k] != expected)
			waddr_correct(&a->model, e, ref[k], expected);
	}
	return 0;
}

static int
addr_encode_any(struct put *t, const struct waddr_stmt *v, uint32_t s, const struct addr_many *m)
{
	const struct addr_miss *miss = t->c->addr.miss + m->miss;
	uint64_t at = v->nexpr;

	col_add(&t->count, m->n);
	col_add(&t->key, s);
	if (addr_encode_expressions(t, v, m->first, m->n < v->nexpr ? m->n : v->nexpr) != 0)
		return -1;
	for (size_t i = 0; i < m->nmiss; i++) {
		t->since[v->slot + v->nexpr] += miss[i].k - at;
		at = miss[i].k + 1;
		if (addr_encode_one(t, v->slot + v->nexpr, miss[i].by) != 0)
			return -1;
	}
	if (m->n > at)
		t->since[v->slot + v->nexpr] += m->n - at;
	return 0;
}

/* Encodes all references of the segment. */
static int
addr_encode_walk(struct put *t)
{
	struct store_cap *c = t->c;
	const struct store_code *tab = &c->tab;
	const uint64_t *value = c->load ? c->addr.val.v : c->seg.val.v, *ref = c->addr.ref.v;
	const struct addr_many *many = c->addr.many;

	for (size_t i = 0; i < c->seg.path.n; i++) {
		const struct store_path *path = &tab->path[c->seg.path.v[i]];

		for (uint32_t k = 0; k < path->n; k++) {
			uint32_t s = tab->seq[path->first + k];
			const struct store_stmt *v = &tab->stmt[s];
			const struct waddr_stmt *w = &c->addr.tab.stmt[s];

			if ((w->any ? addr_encode_any(t, w, s, many) :
				addr_encode_expressions(t, w, ref, w->nexpr)) != 0)
				return -1;
			waddr_update(&c->addr.model, w, tab->reg + v->reg + v->nuse, v->ndef,
			    v->nval ? *value : 0);
			if (w->any) {
				waddr_update_many(&c->addr.model, &c->addr.tab, w, many->ring, many->n);
				many++;
			} else
				ref += w->nexpr;
			value += v->nval;
		}
	}
	return 0;
}

/* Writes the exceptions: slots that have some, and their number; then, by slot, when and by how much. */
static int
addr_encode_columns(struct put *t)
{
	struct store_out *o = &t->c->out;
	struct col slot = { 0 }, times = { 0 }, gap = { 0 }, by = { 0 }, key = { 0 };
	uint32_t at = 0, last = 0;
	int bad;

	for (uint32_t i = 0; i < t->c->addr.tab.nexpr; i++) {
		uint32_t n = t->many[i];

		if (n) {
			col_add(&slot, i - last);
			col_add(&times, n);
			last = i;
		}
		t->many[i] = at;
		at += n;
	}
	bad = col_room(&gap, t->n) != 0 || col_room(&by, t->n) != 0 || col_room(&key, t->n) != 0;
	for (size_t i = 0; !bad && i < t->n; i++) {
		uint32_t k = t->many[t->miss[i].slot]++;

		gap.v[k] = t->miss[i].gap;
		by.v[k] = col_zig(t->miss[i].by);
		key.v[k] = t->miss[i].slot;
	}
	gap.n = by.n = key.n = t->n;
	bad = bad || store_col(o, &slot, NULL) != 0 || store_col(o, &times, NULL) != 0 ||
	    store_col(o, &gap, &key) != 0 || store_col(o, &by, &key) != 0;
	col_free(&slot);
	col_free(&times);
	col_free(&gap);
	col_free(&by);
	col_free(&key);
	return bad ? -1 : 0;
}

int
store_addr_section(struct store_cap *c)
{
	struct store_out *o = &c->out;
	struct store_addr *a = &c->addr;
	struct put t = { .c = c,
		.since = calloc(a->tab.nexpr + 1, sizeof *t.since),
		.many = calloc(a->tab.nexpr + 1, sizeof *t.many) };
	int bad = !t.since || !t.many || a->val.nomem;

	if (!bad) {
		bad = waddr_encode(&a->tab, &c->tab, a->done, c->tab.nstmt, o) != 0;
		waddr_save(&a->model, &o->b);
		a->done = c->tab.nstmt;
		bad = bad || addr_encode_walk(&t) != 0 ||
		    store_col(o, &t.count, &t.key) != 0 ||
		    addr_encode_columns(&t) != 0;
	}
	a->ref.n = a->val.n = a->nmany = a->nmiss = 0;
	a->n = 0;
	free(t.miss);
	free(t.since);
	free(t.many);
	col_free(&t.count);
	col_free(&t.key);
	return bad ? -1 : store_section(o, WETFILE_ADDR, c->nseg, STORE_P_ADDR);
}
