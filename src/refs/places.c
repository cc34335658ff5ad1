/* Counters of instructions, summed up by function and by line. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "refs/places_internal.h"

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
	free(m->name);
	hash_free(&m->texts);
	for (size_t i = 0; i < m->ntext; i++)
		free(m->text[i]);
	free(m->text);
	free(m);
}

size_t
places_index(struct places *m, uint64_t pc, unsigned size)
{
	uint32_t h = hash_number(pc), at = h, i;

	while ((i = hash_find(&m->hash, h, &at)) != HASH_NONE && m->place[i].pc != pc)
		;
	if (i == HASH_NONE && size && m->n < PLACES_MOST)
		hash_xadd(&m->hash, h, i = (uint32_t)places_add(m, pc, size));
	return i == HASH_NONE ? 0 : i;
}

uint64_t *
places_at(struct places *m, uint64_t pc, unsigned size)
{
	size_t *near = &m->near[pc % PLACES_NEAR];

	if (!size)
		return m->place[0].n;
	if (!*near || m->place[*near].pc != pc)
		*near = places_index(m, pc, size);
	return m->place[*near].n;
}

/* Is one of the instructions in a file whose names are known? */
static int
places_known(const struct places *m, struct refs *s)
{
	struct refs_place p;

	for (size_t i = 1; i < m->n; i++) {
		refs_place(s, m->place[i].pc, &p);
		if (p.object || p.func || p.file)
			return 1;
	}
	return m->n <= 1;
}

const char *
places_complaint(struct places *m, struct refs *s)
{
	int first = !m->checked;

	m->checked = 1;
	for (size_t i = 1; first && i < m->n; i++)
		refs_code(s, m->place[i].pc, m->place[i].size);
	if (!refs_named(s))
		return first ? "has no names of functions and lines; -e names the executable that has them" : NULL;
	if (first && !places_known(m, s))
		return REFS_ELSEWHERE;
	return refs_complaint(s);
}

static int
places_order(const char *a, const char *b)
{
	return !a || !b ? !a - !b : strcmp(a, b);
}

static int
places_by_name(const void *x, const void *y)
{
	const struct places_row *a = x, *b = y;
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
	const struct places_row *a = x, *b = y;

	return a->cost != b->cost ? (a->cost < b->cost) - (a->cost > b->cost) : places_by_name(a, b);
}

static void
places_sum(struct places_row *to, const struct places_row *from)
{
	for (int i = 0; i < PLACES_COUNTS; i++)
		to->n[i] += from->n[i];
	to->cost += from->cost;
}

static struct places_row
places_row(const struct places *m, size_t i, struct refs *s, int lines)
{
	const struct place *k = &m->place[i];
	struct refs_place p = { 0 };
	struct places_row r;

	if (k->size && s)
		refs_place(s, k->pc, &p);
	else if (i < m->nname)
		p = m->name[i];
	r = (struct places_row){ .func = p.func, .object = p.object };
	if (r.object && strrchr(r.object, '/'))
		r.object = strrchr(r.object, '/') + 1;
	if (lines && p.file) {
		r.file = p.file;
		r.line = p.line;
	}
	memcpy(r.n, k->n, sizeof r.n);
	return r;
}

static uint64_t
places_cost(const struct places_row *r, const struct places_counts *c)
{
	uint64_t cost = 0;

	for (int i = 0; i < PLACES_COUNTS; i++)
		cost += r->n[i] * c->weight[i];
	return cost;
}

/* Leaves out rows of which nothing was counted: those of parts, and of instructions without a place of their own */
static size_t
places_counted(struct places_row *row, size_t n)
{
	static const uint64_t none[PLACES_COUNTS];
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (memcmp(row[i].n, none, sizeof none) != 0)
			row[kept++] = row[i];
	return kept;
}

void
places_table(struct places *m, struct refs *s, const struct places_counts *c, int lines, size_t top,
    struct places_table *t)
{
	size_t n = 0;

	*t = (struct places_table){ .counts = c, .lines = lines, .row = xcalloc(m->n, sizeof *t->row) };
	for (size_t i = 0; i < m->n; i++)
		t->row[i] = places_row(m, i, s, lines);
	qsort(t->row, m->n, sizeof *t->row, places_by_name);
	for (size_t i = 0; i < m->n; i++) {
		t->row[i].cost = places_cost(&t->row[i], c);
		places_sum(&t->total, &t->row[i]);
		if (n && places_by_name(&t->row[n - 1], &t->row[i]) == 0)
			places_sum(&t->row[n - 1], &t->row[i]);
		else
			t->row[n++] = t->row[i];
	}
	n = places_counted(t->row, n);
	qsort(t->row, n, sizeof *t->row, places_by_cost);
	t->n = n < top ? n : top;
	t->more = n - t->n;
	for (size_t i = t->n; i < n; i++)
		places_sum(&t->others, &t->row[i]);
}

void
places_table_free(struct places_table *t)
{
	free(t->row);
}
