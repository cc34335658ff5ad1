/* Plans of blocks: the writers that are known before a block runs. */
#include <stdlib.h>
#include <string.h>

#include "cfg/control.h"
#include "replay/itrace/plan.h"

#define MOST 64u                        /* instructions of a block at most: RP_MAXINST */

struct make {
	struct plan p;
	/* instruction of the block that last wrote the lane; -1: none */
	int8_t by[FACT_NREG][FACT_NLANE];
	struct plan_live live[MOST * FACT_MAXUSE];
	struct plan_mixed mixed[MOST * FACT_MAXUSE];
	struct plan_refs refs[MOST];
	struct plan_end end[FACT_NREG * FACT_NLANE];
	uint8_t port[MOST * (FACT_MAXUSE + 256)];
	struct fact_at at[MOST];
};

static void
plan_use(struct make *m, const struct fact_use *u)
{
	const int8_t *by = m->by[u->reg];
	struct plan *p = &m->p;
	int k = -2, same = 1;

	for (unsigned l = 0; l < FACT_NLANE; l++)
		if (u->lanes >> l & 1) {
			same &= k == -2 || k == by[l];
			k = by[l];
		}
	m->port[p->nport] = (uint8_t)(same && k >= 0 ? k : 0);
	if (!same) {
		struct plan_mixed *x = &m->mixed[p->nmixed++];

		x->port = p->nport;
		x->use = *u;
		memcpy(x->k, by, sizeof x->k);
	} else if (k < 0)
		m->live[p->nlive++] = (struct plan_live){ p->nport, *u };
	p->nport++;
}

/* RP_CONTROL: the records of string instructions, and what control dependence needs. */
static void
plan_bare(struct make *m, const struct fact *f)
{
	struct fact_at *a = &m->at[m->p.n++];

	*a = (struct fact_at){ .fact = f };
	if (control_has_words(f)) {
		a->ref = m->p.nword;
		a->nref = f->nref;
		a->val = (uint16_t)(a->ref + f->nref);
		m->p.nword = (uint16_t)(a->val + f->nval + f->nmem);
	} else if (f->kind == FACT_STRING) {
		m->p.last = f;
		a->val = (uint16_t)(m->p.nword + 1u);   /* after the state, as in plan_insn */
		m->p.nword += FACT_RECORD;
	}
}

static void
plan_insn(struct make *m, const struct fact *f)
{
	struct plan *p = &m->p;
	struct fact_at *a = &m->at[p->n];

	*a = (struct fact_at){ f, p->nword, (uint16_t)(p->nword + f->nref), p->nport, f->nref };
	for (unsigned i = 0; i < f->nuse; i++)
		plan_use(m, &f->use[i]);
	if (f->nref)
		m->refs[p->nrefs++] = (struct plan_refs){ p->nword, p->nport, f->nref, (uint8_t)p->n };
	for (unsigned i = 0; i < f->nread; i++)
		m->port[p->nport++] = 0;
	for (unsigned i = 0; i < f->ndef; i++)
		for (unsigned l = 0; l < FACT_NLANE; l++)
			if (f->def[i].lanes >> l & 1)
				m->by[f->def[i].reg][l] = (int8_t)p->n;
	if (f->kind == FACT_COUNTED || f->kind == FACT_STRING)
		p->last = f;
	if (f->kind == FACT_COUNTED) {
		a->ref++;
		a->val++;
		p->nword++;
	} else if (f->kind == FACT_STRING) {
		a->val++;
		a->ref = (uint16_t)(a->ref + FACT_RECORD);
		p->nword = (uint16_t)(p->nword + FACT_RECORD);
	} else
		p->nword = (uint16_t)(p->nword + f->nref + f->nval + f->nmem);
	p->n++;
}

/* The last definitions of a register in the block. */
static void
plan_ends(struct make *m, unsigned reg)
{
	unsigned all = fact_lanes(reg), done = 0;

	for (unsigned l = 0; l < FACT_NLANE; l++) {
		unsigned lanes = 0;
		int k = m->by[reg][l];

		if (!(all >> l & 1) || k < 0 || done >> l & 1)
			continue;
		for (unsigned i = l; i < FACT_NLANE; i++)
			if (all >> i & 1 && m->by[reg][i] == k)
				lanes |= 1u << i;
		done |= lanes;
		m->end[m->p.nend++] = (struct plan_end){ (uint8_t)reg, (uint8_t)lanes, lanes == all,
			(uint8_t)k };
	}
}

/* Copies the plan and its lists to one piece of memory. */
static struct plan *
plan_settle(const struct make *m)
{
	size_t n = sizeof(struct plan), size[6] = {
		m->p.n * sizeof *m->at, m->p.nlive * sizeof *m->live, m->p.nmixed * sizeof *m->mixed,
		    m->p.nrefs * sizeof *m->refs, m->p.nend * sizeof *m->end, m->p.nport
	};
	const void *from[6] = { m->at, m->live, m->mixed, m->refs, m->end, m->port };
	void *to[6];
	char *c;
	struct plan *p;
	unsigned i;

	for (i = 0; i < 6; i++)
		n += size[i];
	c = malloc(n);
	if (c == NULL)
		return NULL;
	p = (struct plan *)(void *)c;
	*p = m->p;
	c += sizeof *p;
	for (i = 0; i < 6; i++) {       /* in order of alignment: structs of 16-bit members have even sizes */
		to[i] = memcpy(c, from[i], size[i]);
		c += size[i];
	}
	p->at = to[0];
	p->live = to[1];
	p->mixed = to[2];
	p->refs = to[3];
	p->end = to[4];
	p->by = to[5];
	return p;
}

const struct plan *
plan_of(struct fact_block *b)
{
	struct make *m;

	if (b->plan)
		return b->plan;
	if (b->n > MOST || (m = malloc(sizeof *m)) == NULL)
		return NULL;
	memset(&m->p, 0, sizeof m->p);
	memset(m->by, -1, sizeof m->by);
	for (unsigned i = 0; i < b->n; i++) {
		if (b->bare)
			plan_bare(m, b->f[i]);
		else
			plan_insn(m, b->f[i]);
	}
	for (unsigned i = 0; i < FACT_NREG; i++)
		plan_ends(m, i);
	b->plan = plan_settle(m);
	free(m);
	return b->plan;
}
