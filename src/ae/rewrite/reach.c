/* Reaching definitions of a function: bit-vector data flow over every definition of every variable. */
#include <stdlib.h>
#include <string.h>
#include "ae/machine/machine.h"
#include "ae/rewrite/reach.h"
#include "base/bits.h"
#include "base/mem.h"

static uint64_t
reach_clobbers(const struct machine *m, const struct ainsn *a)
{
	if (a->in.ctl != IC_CALL && a->in.ctl != IC_CALLIND && !a->lands)
		return 0;
	if (a->twice)           /* a second return restores old registers */
		return (BIT(NREGVAR(m)) - 1) & ~BIT(m->sp) & ~(m->lent ? 0 : BIT(m->buffer));
	return machine_clobbers(m, &a->in) | BIT(machine_flags(m));
}

static void
add_def(struct slice *s, uint32_t ins, unsigned eff, unsigned var)
{
	struct def *d = &s->def[s->ndef++];

	d->ins = ins;
	d->eff = (uint8_t)eff;
	d->var = (uint16_t)var;
	d->fate = DF_UNUSED;
	d->vertex = NONE;
}

static void
reach_collect(struct afunc *fn, struct slice *s)
{
	const struct machine *m = fn->m;
	size_t cap = machine_slot0(m) + fn->nslot, i;
	unsigned v;

	for (i = 0; i < fn->nins; i++)
		cap += fn->ins[i].in.neff + (reach_clobbers(m, &fn->ins[i]) ? NREGVAR(m) : 0);
	s->def = xcalloc(cap, sizeof *s->def);
	s->first = xcalloc(fn->nins + 1, sizeof *s->first);
	for (v = 0; v < machine_slot0(m) + fn->nslot; v++)
		add_def(s, DEF_ENTRY, 0, v);
	for (i = 0; i < fn->nins; i++) {
		uint64_t c = reach_clobbers(m, &fn->ins[i]);

		s->first[i] = s->ndef;
		for (v = 0; v < fn->ins[i].in.neff; v++)
			add_def(s, (uint32_t)i, v,
			    effect_var(fn, (uint32_t)i, (unsigned)fn->ins[i].in.eff[v].s.dst));
		for (v = 0; v < NREGVAR(m); v++)
			if (c >> v & 1)
				add_def(s, (uint32_t)i, DEF_CALL, v);
	}
	s->first[fn->nins] = s->ndef;
}

void
reach_find(struct reach *c, struct afunc *fn, struct slice *s)
{
	uint64_t *gen, *kill, *out, *seen;
	uint32_t b, d, k;

	reach_collect(fn, s);
	c->fn = fn;
	c->s = s;
	c->nvar = machine_slot0(fn->m) + fn->nslot;
	c->list = xcalloc(c->nvar, sizeof *c->list);
	c->nlist = xcalloc(c->nvar, sizeof *c->nlist);
	seen = xcalloc(BITS_WORDS(c->nvar), sizeof *seen);
	for (d = 0; d < s->ndef; d++)
		c->nlist[s->def[d].var]++;
	for (k = 0; k < c->nvar; k++) {
		c->list[k] = xcalloc(c->nlist[k] + 1, sizeof *c->list[k]);
		c->nlist[k] = 0;
	}
	for (d = 0; d < s->ndef; d++) {
		k = s->def[d].var;
		c->list[k][c->nlist[k]++] = d;
	}
	c->words = BITS_WORDS(s->ndef);
	c->in = xcalloc(fn->nblk * c->words, sizeof *c->in);
	gen = xcalloc(fn->nblk * c->words, sizeof *gen);
	kill = xcalloc(fn->nblk * c->words, sizeof *kill);
	out = xcalloc(fn->nblk * c->words, sizeof *out);
	for (d = 0; d < c->nvar; d++)
		bit_set(c->in, d);
	for (b = 0; b < fn->nblk; b++) {
		uint32_t lo, hi;

		memset(seen, 0, BITS_WORDS(c->nvar) * sizeof *seen);
		if (fn->blk[b].first == fn->blk[b].last)
			continue;
		lo = s->first[fn->blk[b].first];
		hi = s->first[fn->blk[b].last];
		/* backward: the last definition of each variable leaves the block */
		for (d = hi; d-- > lo; ) {
			uint32_t v = s->def[d].var;

			if (bit_get(seen, v))
				continue;
			bit_set(seen, v);
			for (k = 0; k < c->nlist[v]; k++)
				bit_set(kill + b * c->words, c->list[v][k]);
			bit_set(gen + b * c->words, d);
		}
	}
	graph_flow(fn->g, 0, c->words, gen, kill, c->in, out);
	free(gen);
	free(kill);
	free(out);
	free(seen);
}

void
reach_each(const struct reach *c, uint32_t b, uint32_t i, unsigned k, unsigned var, reach_fn *fn, void *arg)
{
	const struct slice *s = c->s;
	uint32_t lo, d, n;

	if (c->fn->blk[b].first < c->fn->blk[b].last) {
		lo = s->first[c->fn->blk[b].first];
		for (d = s->first[i] + k; d-- > lo; )
			if (s->def[d].var == var) {
				fn(arg, d);
				return;
			}
	}
	for (n = 0; n < c->nlist[var]; n++)
		if (bit_get(c->in + b * c->words, c->list[var][n]))
			fn(arg, c->list[var][n]);
}

void
reach_free(struct reach *c)
{
	uint32_t v;

	for (v = 0; v < c->nvar; v++)
		free(c->list[v]);
	free(c->list);
	free(c->nlist);
	free(c->in);
}
