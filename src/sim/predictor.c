/* Simulates a gshare branch predictor and an LRU data cache. */
#include "sim/predictor.h"

#include <stdlib.h>

struct arch {
	struct arch_params p;
	uint8_t *counter;               /* owned */
	/* Line number plus 1, 0: none; in each set, the most recently used first.  Owned. */
	uint64_t *tag;
	uint64_t history;
	uint64_t sets;
};

static int
predictor_power(uint64_t v, uint64_t most)
{
	return v && v <= most && (v & (v - 1)) == 0;
}

int
arch_params_valid(const struct arch_params *p)
{
	return p->history <= 32 && predictor_power(p->counters, 1u << 24) &&
	    predictor_power(p->size, 1u << 30) && predictor_power(p->ways, 1u << 10) &&
	    predictor_power(p->line, 1u << 16) && p->ways * p->line <= p->size;
}

struct arch *
arch_new(const struct arch_params *p)
{
	struct arch *a = calloc(1, sizeof *a);

	if (!a)
		return NULL;
	a->p = *p;
	a->sets = p->size / (p->ways * p->line);
	a->counter = malloc(p->counters);
	a->tag = calloc(a->sets * p->ways, sizeof *a->tag);
	if (!a->counter || !a->tag) {
		arch_free(a);
		return NULL;
	}
	for (uint64_t i = 0; i < p->counters; i++)
		a->counter[i] = 1;
	return a;
}

void
arch_free(struct arch *a)
{
	if (!a)
		return;
	free(a->counter);
	free(a->tag);
	free(a);
}

int
arch_branch(struct arch *a, uint64_t pc, int taken)
{
	uint8_t *c = &a->counter[(pc ^ a->history) & (a->p.counters - 1)];
	int wrong = (*c >= 2) != taken;         /* 2 and 3 predict that it is taken */

	if (taken && *c < 3)
		++*c;
	if (!taken && *c > 0)
		--*c;
	a->history = (a->history << 1 | (unsigned)taken) & ((UINT64_C(1) << a->p.history) - 1);
	return wrong;
}

static int
predictor_line(struct arch *a, uint64_t n)
{
	uint64_t *set = a->tag + (n & (a->sets - 1)) * a->p.ways, i;
	int miss;

	for (i = 0; i < a->p.ways - 1 && set[i] != n + 1; i++)
		;
	miss = set[i] != n + 1;
	for (; i > 0; i--)
		set[i] = set[i - 1];
	set[0] = n + 1;
	return miss;
}

int
arch_access(struct arch *a, uint64_t addr, unsigned size)
{
	uint64_t from = addr / a->p.line, to = (addr + (size ? size - 1 : 0)) / a->p.line;
	int miss = 0;

	for (; from <= to; from++)
		miss |= predictor_line(a, from);
	return miss;
}

uint64_t
arch_ones(const struct arch_stmt *s, enum arch_kind k)
{
	uint64_t n = 0;

	for (uint32_t i = 0; s->bits[k] && i < (s->count + 7) / 8; i++)
		n += (unsigned)__builtin_popcount(s->bits[k][i]);
	return n;
}
