/* cachesim: where misses come from. */
#include <stdlib.h>
#include <string.h>

#include "apps/cachesim/cachesim.h"
#include "base/diag.h"
#include "base/hash.h"
#include "base/mem.h"

#define MOST (1u << 22)         /* instructions that are told from each other */

/* An instruction and the accesses that missed while it was the last one fetched */
struct place {
	uint64_t pc;
	unsigned size;                  /* 0: there was no fetch before */
	uint64_t miss[HIER_N];
};

struct places {
	struct hash hash;
	struct place *place;            /* owned; the first is for all that are too many */
	size_t n, cap;
	size_t last;
};

static size_t
places_add(struct places *m, uint64_t pc, unsigned size)
{
	m->place = mem_xgrow(m->place, &m->cap, m->n + 1, sizeof *m->place);
	m->place[m->n] = (struct place){ .pc = pc, .size = size };
	return m->n++;
}

struct places *
places_new(void)
{
	struct places *m = xcalloc(1, sizeof *m);

	places_add(m, 0, 0);
	return m;
}

void
places_free(struct places *m)
{
	if (!m)
		return;
	hash_free(&m->hash);
	free(m->place);
	free(m);
}

void
places_miss(void *arg, enum hier_cache where, uint64_t pc, unsigned size)
{
	struct places *m = arg;

	if (m->place[m->last].pc != pc || !m->last) {
		uint32_t h = hash_number(pc), at = h, i;

		while ((i = hash_find(&m->hash, h, &at)) != HASH_NONE && m->place[i].pc != pc)
			;
		if (i == HASH_NONE && size && m->n < MOST)
			hash_xadd(&m->hash, h, i = (uint32_t)places_add(m, pc, size));
		m->last = i == HASH_NONE ? 0 : i;
	}
	m->place[m->last].miss[where]++;
}

void
places_check(struct places *m, struct refs *s)
{
	const char *why;

	if (!refs_named(s))
		warn("%s: has no names of functions and lines%s", refs_path(s),
		    "; -e names the executable that has them");
	for (size_t i = 1; i < m->n; i++)
		refs_code(s, m->place[i].pc, m->place[i].size);
	while ((why = refs_complaint(s)) != NULL)
		warn("%s: %s", refs_path(s), why);
}

static int
places_order(const char *a, const char *b)
{
	return !a || !b ? !a - !b : strcmp(a, b);
}

static int
places_by_name(const void *x, const void *y)
{
	const struct row *a = x, *b = y;
	int c = places_order(a->file, b->file);

	if (c == 0)
		c = (a->line > b->line) - (a->line < b->line);
	if (c == 0)
		c = places_order(a->func, b->func);
	return c ? c : places_order(a->object, b->object);
}

static int
places_by_cost(const void *x, const void *y)
{
	const struct row *a = x, *b = y;

	return a->cost != b->cost ? (a->cost < b->cost) - (a->cost > b->cost) : places_by_name(a, b);
}

static void
places_sum(struct row *to, const struct row *from)
{
	for (int i = 0; i < HIER_N; i++)
		to->miss[i] += from->miss[i];
	to->cost += from->cost;
}

static struct row
places_row(const struct place *k, struct refs *s, int lines)
{
	struct refs_place p = { 0 };
	struct row r;

	if (k->size)
		refs_place(s, k->pc, &p);
	r = (struct row){ .func = p.func, .object = p.object };
	if (r.object && strrchr(r.object, '/'))
		r.object = strrchr(r.object, '/') + 1;
	if (lines && p.file) {
		r.file = p.file;
		r.line = p.line;
	}
	memcpy(r.miss, k->miss, sizeof r.miss);
	return r;
}

static uint64_t
places_cost(const struct row *r, const struct hier_params *p)
{
	uint64_t cost = 10 * (r->miss[HIER_I1] + r->miss[HIER_D1]);

	if (p->cache[HIER_L3].size)
		cost += 100 * r->miss[HIER_L3];
	else if (p->cache[HIER_L2].size)
		cost += 100 * r->miss[HIER_L2];
	return cost;
}

void
places_table(struct places *m, struct refs *s, const struct hier_params *p, int lines, size_t top,
    struct table *t)
{
	size_t n = 0;

	*t = (struct table){ .lines = lines, .row = xcalloc(m->n, sizeof *t->row) };
	for (size_t i = 0; i < m->n; i++)
		t->row[i] = places_row(&m->place[i], s, lines);
	qsort(t->row, m->n, sizeof *t->row, places_by_name);
	for (size_t i = 0; i < m->n; i++) {
		t->row[i].cost = places_cost(&t->row[i], p);
		places_sum(&t->total, &t->row[i]);
		if (n && places_by_name(&t->row[n - 1], &t->row[i]) == 0)
			places_sum(&t->row[n - 1], &t->row[i]);
		else
			t->row[n++] = t->row[i];
	}
	qsort(t->row, n, sizeof *t->row, places_by_cost);
	/* those of instructions without a place of their own may have none */
	while (n && !memcmp(t->row[n - 1].miss, (uint64_t[HIER_N]){ 0 }, sizeof t->row->miss))
		n--;
	t->n = n < top ? n : top;
	t->more = n - t->n;
	for (size_t i = t->n; i < n; i++)
		places_sum(&t->others, &t->row[i]);
}

void
places_table_free(struct table *t)
{
	free(t->row);
}
