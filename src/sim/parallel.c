/* The parallelism of loops: the nest of active loops, its clocks, and what a dependence does to them. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "format/ref/ref.h"
#include "sim/parallel_internal.h"

static inline uint64_t
greater(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static inline struct nest_level *
innermost(struct parallel *p)
{
	return &p->level[p->nlevel - 1];
}

void
nest_unref(struct nest_iteration *i)
{
	while (i && --i->refs == 0) {
		struct nest_invocation *v = i->in;

		free(i);
		if (--v->refs != 0)
			break;
		i = v->parent;
		free(v);
	}
}

/* Begins iteration `number` of the innermost loop, whose clocks are 0 now. 0, or -1: no memory. */
static int
nest_iterate(struct parallel *p, struct nest_invocation *v, uint64_t number)
{
	struct nest_level *l = innermost(p);
	struct nest_iteration *i = calloc(1, sizeof *i);

	if (!i)
		return -1;
	i->in = v;
	i->number = number;
	i->refs = 1;
	v->refs++;
	nest_unref(l->now);
	l->now = i;
	for (int k = 0; k < NCLOCKS; k++)
		l->zero[k] = p->ninsn;
	memset(l->alone, 0, sizeof l->alone);
	memset(l->why, 0, sizeof l->why);
	l->needs.n = 0;
	if (v->level)
		p->loop[v->loop].iterations++;
	return 0;
}

/* Adds a need to those of the same level. 0, or -1: no memory. */
static int
need_add(struct nest_needs *to, const struct nest_need *need)
{
	size_t i = to->n;

	while (i > 0 && to->v[i - 1].level != need->level)
		i--;
	if (i > 0) {
		for (int m = 0; m < PARALLEL_NMODELS; m++)
			if (to->v[i - 1].least[m] < need->least[m])
				to->v[i - 1].least[m] = need->least[m];
		return 0;
	}
	if (buf_grow(&to->v, &to->cap, to->n + 1, sizeof *to->v) != 0)
		return -1;
	to->v[to->n++] = *need;
	return 0;
}

/*
 * Passes needs on to what contains them and is earlier by `at`.  Those of `level` stay behind; so do those
 * that are met anyway.
 */
static int
need_pass(struct nest_needs *to, const struct nest_needs *from, uint32_t level, const uint64_t *at)
{
	for (size_t i = 0; i < from->n; i++) {
		struct nest_need need = from->v[i];
		int open = 0;

		for (int m = 0; m < PARALLEL_NMODELS; m++) {
			need.least[m] -= (int64_t)at[m];
			open |= need.least[m] > 0;
		}
		if (open && need.level != level && need_add(to, &need) != 0)
			return -1;
	}
	return 0;
}

/* Ends the current iteration of the innermost loop: its begin is known now. 0, or -1: no memory. */
static int
nest_end_iteration(struct parallel *p)
{
	struct nest_level *l = innermost(p);
	struct nest_iteration *i = l->now;
	struct parallel_loop *loop = &p->loop[l->in->loop];

	i->at[CLOCK_SERIAL] = l->zero[CLOCK_SERIAL] - l->entered;
	for (size_t k = 0; k < l->needs.n; k++)
		if (l->needs.v[k].level == l->in->level)
			for (int m = 0; m < PARALLEL_NMODELS; m++)
				if (l->needs.v[k].least[m] > 0)
					i->at[m] = (uint64_t)l->needs.v[k].least[m];
	for (int m = 0; m < PARALLEL_NMODELS; m++) {
		i->alone[m] = l->alone[m];
		l->end[m] = greater(l->end[m], i->at[m] + p->ninsn - l->zero[m]);
		l->endalone[m] = greater(l->endalone[m], i->alone[m] + p->ninsn - l->zero[CLOCK_SERIAL]);
		if (l->why[m]) {
			p->dep[l->why[m] - 1].decided[m]++;
			loop->delayed[m] += !l->again;
		}
	}
	return need_pass(&l->past, &l->needs, l->in->level, i->at);
}

/* The index of the loop with this header; HASH_NONE: no memory. */
static uint32_t
loop_find(struct parallel *p, uint64_t pc)
{
	uint32_t h = hash_number(pc), at = h, i;

	while ((i = hash_find(&p->loops, h, &at)) != HASH_NONE && p->loop[i].pc != pc)
		;
	if (i != HASH_NONE)
		return i;
	i = (uint32_t)p->nloop;
	if (buf_grow(&p->loop, &p->caploop, p->nloop + 1, sizeof *p->loop) != 0 ||
	    buf_grow(&p->active, &p->capactive, p->nloop + 1, sizeof *p->active) != 0 ||
	    hash_add(&p->loops, h, i) != 0)
		return HASH_NONE;
	p->loop[i] = (struct parallel_loop){ .pc = pc };
	p->active[i] = 0;
	p->nloop++;
	return i;
}

/* Enters an invocation of the loop: 0, or -1: no memory. */
static int
nest_enter(struct parallel *p, uint32_t loop)
{
	struct nest_invocation *v = calloc(1, sizeof *v);
	size_t old = p->caplevel;
	struct nest_level *l;

	if (!v || buf_grow(&p->level, &p->caplevel, p->nlevel + 1, sizeof *p->level) != 0) {
		free(v);
		return -1;
	}
	if (p->caplevel != old)         /* levels keep the room of their needs */
		memset(p->level + old, 0, (p->caplevel - old) * sizeof *p->level);
	v->loop = loop;
	v->level = (uint32_t)p->nlevel;
	if (p->nlevel) {
		l = innermost(p);
		v->parent = l->now;
		v->parent->refs++;
		for (int k = 0; k < NCLOCKS; k++)
			v->at[k] = p->ninsn - l->zero[k];
	}
	l = &p->level[p->nlevel++];
	*l = (struct nest_level){ .in = v, .entered = p->ninsn, .needs = l->needs, .past = l->past };
	l->needs.n = l->past.n = 0;
	if (v->level) {
		l->again = p->active[loop]++ > 0;
		p->loop[loop].invocations++;
	}
	if (nest_iterate(p, v, 0) == 0)
		return 0;
	p->nlevel--;
	free(v);
	return -1;
}

/* Leaves the innermost loop: 0, or -1: no memory. */
static int
nest_exit(struct parallel *p)
{
	struct nest_level *l = innermost(p), *outer = l - 1;
	struct parallel_loop *loop = &p->loop[l->in->loop];
	int got = nest_end_iteration(p);

	if (!l->again) {
		loop->ninsn += p->ninsn - l->entered;
		for (int m = 0; m < PARALLEL_NMODELS; m++)
			loop->alone[m] += l->endalone[m];
	}
	p->active[l->in->loop]--;
	/* it took the outer loop until its last iteration has ended */
	for (int m = 0; m < PARALLEL_NMODELS; m++)
		outer->zero[m] = p->ninsn - (l->in->at[m] + l->end[m]);
	if (got == 0)
		got = need_pass(&outer->needs, &l->past, UINT32_MAX, l->in->at);
	nest_unref(l->now);
	p->nlevel--;
	return got;
}

/* Leaves the loops within the innermost active one with this header; 0: there is none. */
static int
nest_find(struct parallel *p, uint64_t pc)
{
	size_t k = p->nlevel;

	while (k > 1 && p->loop[p->level[k - 1].in->loop].pc != pc)
		k--;
	if (k <= 1)
		return 0;
	while (p->nlevel > k)
		p->failed |= nest_exit(p) != 0;
	return 1;
}

static void
nest_event(struct parallel *p, unsigned kind, uint64_t pc)
{
	uint32_t loop;
	struct nest_iteration *i;

	if (kind == REF_BACK && nest_find(p, pc)) {
		i = innermost(p)->now;
		p->failed |= nest_end_iteration(p) != 0 || nest_iterate(p, i->in, i->number + 1) != 0;
	} else if (kind == REF_ENTER || kind == REF_BACK) {     /* longjmp goes into a loop without entering it */
		loop = loop_find(p, pc);
		p->failed |= loop == HASH_NONE || nest_enter(p, loop) != 0;
	} else if (kind == REF_EXIT && nest_find(p, pc)) {
		p->failed |= nest_exit(p) != 0;
	}
}

/* The index of the dependence between two instructions; HASH_NONE: no memory. */
static uint32_t
dep_find(struct parallel *p, uint32_t loop, enum parallel_kind kind, uint64_t from)
{
	uint32_t h = hash_number((from * 31 + p->pc) * 31 + loop * PARALLEL_NKINDS + kind), at = h, i;

	while ((i = hash_find(&p->deps, h, &at)) != HASH_NONE && !(p->dep[i].from == from &&
	    p->dep[i].to == p->pc && p->dep[i].loop == loop && p->dep[i].kind == kind))
		;
	if (i != HASH_NONE)
		return i;
	i = (uint32_t)p->ndep;
	if (buf_grow(&p->dep, &p->capdep, p->ndep + 1, sizeof *p->dep) != 0 || hash_add(&p->deps, h, i) != 0)
		return HASH_NONE;
	p->dep[p->ndep++] = (struct parallel_dep){ .loop = loop, .kind = kind, .from = from, .to = p->pc,
		.nearest = UINT64_MAX };
	return i;
}

/*
 * The loop of l carries a dependence on an access of its iteration i, at times `at` of i, by the instruction
 * that is executed.
 */
static int
nest_carry(struct parallel *p, struct nest_level *l, const struct nest_iteration *i, const uint64_t *at,
    enum parallel_kind kind, uint64_t from)
{
	uint64_t serial = p->ninsn - 1 - l->zero[CLOCK_SERIAL], distance = l->now->number - i->number;
	uint32_t d = dep_find(p, l->in->loop, kind, from);
	struct nest_need need = { .level = l->in->level };
	struct nest_level *in = innermost(p);
	int open = 0;

	if (d == HASH_NONE)
		return -1;
	p->loop[l->in->loop].ndep[kind]++;
	p->dep[d].n++;
	if (distance < p->dep[d].nearest)
		p->dep[d].nearest = distance;
	p->dep[d].farthest = greater(p->dep[d].farthest, distance);
	for (int m = kind == PARALLEL_FLOW ? PARALLEL_RENAMED : PARALLEL_ALL; m < PARALLEL_NMODELS; m++) {
		uint64_t end = i->alone[m] + at[CLOCK_SERIAL] + 1;

		if (end > serial && end - serial > l->alone[m]) {
			l->alone[m] = end - serial;
			l->why[m] = d + 1;
		}
		need.least[m] = (int64_t)(i->at[m] + at[m] + 1) - (int64_t)(p->ninsn - 1 - in->zero[m]);
		open |= need.least[m] > 0;
	}
	return open ? need_add(&in->needs, &need) : 0;
}

void
nest_depend(struct parallel *p, const struct access *a, enum parallel_kind kind)
{
	const struct nest_iteration *i = a->in;
	uint64_t at[NCLOCKS];

	memcpy(at, a->at, sizeof at);
	for (;;) {
		const struct nest_invocation *v = i->in;
		struct nest_level *l = v->level < p->nlevel ? &p->level[v->level] : NULL;

		if (l && l->now == i)
			return;                 /* no loop has the two in different iterations */
		if (l && l->in == v) {
			p->failed |= nest_carry(p, l, i, at, kind, a->pc) != 0;
			return;
		}
		for (int k = 0; k < NCLOCKS; k++)
			at[k] += i->at[k] + v->at[k];
		i = v->parent;
	}
}

struct parallel *
parallel_new(void)
{
	struct parallel *p = calloc(1, sizeof *p);

	if (p && nest_enter(p, 0) != 0) {
		parallel_free(p);
		return NULL;
	}
	return p;
}

int
parallel_take(struct parallel *p, const uint64_t *w, size_t n)
{
	for (size_t i = 0; i < n && !p->failed; i++) {
		uint64_t addr = ref_addr(w[i]);
		unsigned kind = ref_kind(w[i]), size = ref_size(w[i]);

		if (kind == REF_INST) {
			p->pc = addr;
			p->ninsn++;
			continue;
		}
		if (kind == REF_LOAD || kind == REF_MODIFY)
			memory_read(p, addr, size);
		if (kind == REF_STORE || kind == REF_MODIFY)
			memory_write(p, addr, size);
		if (kind > REF_MODIFY)
			nest_event(p, kind, addr);
	}
	return p->failed ? -1 : 0;
}

int
parallel_end(struct parallel *p, struct parallel_result *r)
{
	while (p->nlevel > 1)
		p->failed |= nest_exit(p) != 0;
	*r = (struct parallel_result){ .ninsn = p->ninsn, .loop = p->loop,
		.nloop = p->nloop, .dep = p->dep, .ndep = p->ndep };
	for (int m = 0; m < PARALLEL_NMODELS; m++)
		r->time[m] = p->ninsn - p->level[0].zero[m];
	return p->failed ? -1 : 0;
}

void
parallel_free(struct parallel *p)
{
	if (!p)
		return;
	memory_free(p);
	while (p->nlevel)
		nest_unref(p->level[--p->nlevel].now);
	for (size_t i = 0; i < p->caplevel; i++) {
		free(p->level[i].needs.v);
		free(p->level[i].past.v);
	}
	free(p->level);
	free(p->loop);
	free(p->active);
	free(p->dep);
	hash_free(&p->loops);
	hash_free(&p->deps);
	free(p);
}
