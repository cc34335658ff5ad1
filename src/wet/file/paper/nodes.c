/* Nodes of kind paper: finds classes of statements and groups of values. */
#include "wet/file/paper/nodes.h"

#include <stdlib.h>
#include <string.h>

#include "isa/x86/fact.h"

/* Inputs of a path: its registers, and each statement that reads memory. */
#define NINPUT (FACT_NREG + STORE_PATH)
#define NSET   ((NINPUT + 63) / 64)

struct inputs { uint64_t w[NSET]; };

struct split { uint32_t size, seen, to; };      /* of a class */

/* Splits the classes that path p contains only in part. */
static void
paper_nodes_split(struct paper_classes *t, struct split *x, const uint32_t *s, uint32_t n)
{
	uint32_t class[STORE_PATH], k = 0;

	for (uint32_t i = 0; i < n; i++)
		if (x[t->of[s[i]]].seen++ == 0)
			class[k++] = t->of[s[i]];
	while (k-- > 0) {
		struct split *c = &x[class[k]];

		c->to = class[k];
		if (c->seen < c->size) {
			c->to = t->n++;
			c->size -= c->seen;
			x[c->to] = (struct split){ .size = c->seen };
		}
		c->seen = 0;
	}
	for (uint32_t i = 0; i < n; i++)
		t->of[s[i]] = x[t->of[s[i]]].to;
}

/* Lists the classes of each path, and the class of each place.  seen: zeros. */
static int
paper_nodes_rows(struct paper_classes *t, const struct store_code *c, struct split *x)
{
	size_t cap = 0, n = 0;

	for (size_t i = 0; i < c->npath; i++) {
		const struct store_path *p = &c->path[i];

		t->first[i] = (uint32_t)n;
		if (buf_grow(&t->class, &cap, n + p->n, sizeof *t->class) != 0)
			return -1;
		for (uint32_t k = 0; k < p->n; k++) {
			uint32_t of = t->of[c->seq[p->first + k]];

			if (!x[of].seen) {
				t->class[n++] = of;
				x[of].seen = (uint32_t)n - t->first[i];
			}
			t->row[p->first + k] = x[of].seen - 1;
		}
		for (size_t k = t->first[i]; k < n; k++)
			x[t->class[k]].seen = 0;
	}
	t->first[c->npath] = (uint32_t)n;
	return 0;
}

static int
paper_nodes_twice(const struct store_code *c, struct split *x)
{
	for (size_t i = 0; i < c->npath; i++)
		for (uint32_t k = 0; k < c->path[i].n; k++) {
			uint32_t *last = &x[c->seq[c->path[i].first + k]].to;

			if (*last == i + 1)
				return 1;
			*last = (uint32_t)i + 1;
		}
	return 0;
}

int
paper_classes(struct paper_classes *t, const struct store_code *c)
{
	struct split *x = calloc(c->nstmt + 2, sizeof *x);
	int bad = x ? 0 : -1;

	*t = (struct paper_classes){ .of = calloc(c->nstmt + 1, sizeof *t->of),
		.row = calloc(c->nseq + 1, sizeof *t->row),
		.first = calloc(c->npath + 1, sizeof *t->first), .n = 1 };
	if (!t->of || !t->row || !t->first)
		bad = -1;
	if (!bad && paper_nodes_twice(c, x))
		bad = 1;
	if (!bad) {
		x[0].size = (uint32_t)c->nstmt;
		for (size_t i = 0; i < c->npath; i++)
			paper_nodes_split(t, x, c->seq + c->path[i].first, c->path[i].n);
		bad = paper_nodes_rows(t, c, x);
	}
	free(x);
	return bad;
}

void
paper_classes_free(struct paper_classes *t)
{
	free(t->of);
	free(t->row);
	free(t->class);
	free(t->first);
	*t = (struct paper_classes){ 0 };
}

static void
paper_nodes_join(struct inputs *a, const struct inputs *b)
{
	for (unsigned i = 0; i < NSET; i++)
		a->w[i] |= b->w[i];
}

static void
paper_nodes_set(struct inputs *a, unsigned i)
{
	a->w[i / 64] |= UINT64_C(1) << i % 64;
}

static int
paper_nodes_none(const struct inputs *a)
{
	for (unsigned i = 0; i < NSET; i++)
		if (a->w[i])
			return 0;
	return 1;
}

/* Is a a subset of b? */
static int
paper_nodes_within(const struct inputs *a, const struct inputs *b)
{
	for (unsigned i = 0; i < NSET; i++)
		if (a->w[i] & ~b->w[i])
			return 0;
	return 1;
}

static unsigned
paper_nodes_count(const struct inputs *a)
{
	unsigned n = 0;

	for (unsigned i = 0; i < NSET; i++)
		n += (unsigned)__builtin_popcountll(a->w[i]);
	return n;
}

static int
paper_nodes_defines(const struct store_code *c, const struct store_stmt *v, unsigned reg)
{
	for (uint32_t i = 0; i < v->ndef; i++)
		if (c->reg[v->reg + v->nuse + i] >> 5 == reg)
			return 1;
	return 0;
}

/*
 * The inputs that statement k of a path depends on.  A statement that reads memory is an input
 * itself; registers that it does not define are its address, and do not count.
 */
static struct inputs
paper_nodes_inputs(const struct store_code *c, const struct store_stmt *v, uint32_t k,
    struct inputs reg[FACT_NREG])
{
	struct inputs in = { 0 };
	const uint16_t *r = c->reg + v->reg;

	for (uint32_t i = 0; i < v->nuse; i++)
		if (!v->nmem || paper_nodes_defines(c, v, r[i] >> 5))
			paper_nodes_join(&in, &reg[r[i] >> 5]);
	if (v->nmem)
		paper_nodes_set(&in, FACT_NREG + k);
	for (uint32_t i = v->nuse; i < v->nuse + v->ndef; i++)
		if ((r[i] & 31) == fact_lanes(r[i] >> 5))
			reg[r[i] >> 5] = in;
	for (uint32_t i = v->nuse; i < v->nuse + v->ndef; i++)
		if ((r[i] & 31) != fact_lanes(r[i] >> 5))
			paper_nodes_join(&reg[r[i] >> 5], &in);
	return in;
}

unsigned
paper_groups(const struct store_code *c, uint32_t path, uint16_t group[STORE_PATH], uint16_t into[STORE_PATH])
{
	struct inputs reg[FACT_NREG], set_of[STORE_PATH];
	const struct store_path *p = &c->path[path];
	unsigned n = 0;

	memset(reg, 0, sizeof reg);
	for (unsigned i = 0; i < FACT_NREG; i++)
		paper_nodes_set(&reg[i], i);
	for (uint32_t k = 0; k < p->n; k++) {
		const struct store_stmt *v = &c->stmt[c->seq[p->first + k]];
		struct inputs in = paper_nodes_inputs(c, v, k, reg);
		unsigned g;

		group[k] = PAPER_NOGROUP;
		if (!v->nval)
			continue;
		for (g = 0; g < n && memcmp(&set_of[g], &in, sizeof in) != 0; g++)
			;
		set_of[g] = in;
		n += g == n;
		group[k] = (uint16_t)g;
	}
	/* choose the smallest group that depends on more; a group without inputs stays alone */
	for (unsigned g = 0; g < n; g++) {
		into[g] = (uint16_t)g;
		for (unsigned h = 0; h < n && !paper_nodes_none(&set_of[g]); h++)
			if (h != g && paper_nodes_within(&set_of[g], &set_of[h]) &&
			    (into[g] == g ||
				paper_nodes_count(&set_of[h]) < paper_nodes_count(&set_of[into[g]])))
				into[g] = (uint16_t)h;
	}
	for (unsigned g = 0; g < n; g++)
		while (into[into[g]] != into[g])
			into[g] = into[into[g]];
	return n;
}
