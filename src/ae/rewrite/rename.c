/*
 * Where the compiler has not reserved the event pointer's register, a twin has another register for it if it can: one of
 * those that the function keeps for its callers, and uses less, or not at all. The two are exchanged in the whole twin; the
 * original stays as it is. That is the same function as long as neither says anything to who calls it or to whom it calls. What
 * would be an exception (a calling convention of its own, inline assembly) is seen by a value that nobody reads, or
 * that the function has not made.
 */
#include <stdlib.h>
#include <string.h>
#include "ae/rewrite/emit.h"
#include "ae/rewrite/rename.h"
#include "base/mem.h"

/* Pushes the only register that it reads, or pops one */
static int
saves(const struct machine *m, const struct ainsn *a, uint64_t regs)
{
	uint64_t sp = BIT(m->sp);

	return a->in.writes == sp && (a->in.reads & regs) && !(a->in.reads & ~(regs | sp)) &&
	    a->in.nref == 1 && a->in.ref[0].op == SO_STORE;
}

static int
restores(const struct machine *m, const struct ainsn *a)
{
	return a->in.reads == BIT(m->sp) && a->in.nref == 1 && a->in.ref[0].op == SO_LOAD && (a->in.writes & BIT(m->sp));
}

/* Which of regs does instruction i read, other than to save it? */
static uint64_t
rename_reads(const struct afunc *fn, uint32_t i, uint64_t regs)
{
	return saves(fn->m, &fn->ins[i], regs) ? 0 : fn->ins[i].in.reads & regs;
}

/* Those of regs that the function reads at the end of each block, or later: nblk sets, which the caller frees */
static uint64_t *
rename_live(const struct afunc *fn, uint64_t regs, uint64_t *entry)
{
	uint64_t *set = xcalloc(fn->nblk * 4u, sizeof *set), *gen = set, *kill = gen + fn->nblk, *in = kill + fn->nblk;
	uint64_t *out = in + fn->nblk, *r = xcalloc(fn->nblk, sizeof *r);
	uint32_t b, i;

	for (b = 0; b < fn->nblk; b++)
		for (i = fn->blk[b].last; i-- > fn->blk[b].first; ) {
			uint64_t def = fn->ins[i].in.writes & regs;

			gen[b] = (gen[b] & ~def) | rename_reads(fn, i, regs);
			kill[b] |= def;
		}
	graph_flow(fn->g, 1, 1, gen, kill, in, out);
	*entry = (out[0] & ~kill[0]) | gen[0];
	memcpy(r, out, fn->nblk * sizeof *r);
	free(set);
	return r;
}

/* Those of regs that may not be exchanged */
static uint64_t
rename_odd(const struct afunc *fn, uint64_t regs)
{
	uint64_t odd, *live = rename_live(fn, regs, &odd), set;
	uint32_t b, i;

	for (b = 0; b < fn->nblk; b++)
		for (set = live[b], i = fn->blk[b].last; i-- > fn->blk[b].first; ) {
			uint64_t def = fn->ins[i].in.writes & regs;

			if (!restores(fn->m, &fn->ins[i]))
				odd |= def & ~set;
			set = (set & ~def) | rename_reads(fn, i, regs);
		}
	free(live);
	return odd;
}

/* How often instructions run that name register r, other than to save it for callers */
static uint64_t
rename_weight(const struct afunc *fn, unsigned r)
{
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i < fn->nins; i++) {
		const struct ainsn *a = &fn->ins[i];

		if ((a->in.reads | a->in.writes) & BIT(r) && !saves(fn->m, a, BIT(r)) && !restores(fn->m, a))
			sum += fn->blk[fn->blkof[i]].freq;
	}
	return sum;
}

static unsigned
exchanged(unsigned v, unsigned a, unsigned b)
{
	return v == a ? b : v == b ? a : v;
}

static uint64_t
exchanged_set(uint64_t set, unsigned a, unsigned b)
{
	uint64_t differ = (set >> a ^ set >> b) & 1;

	return set ^ (differ << a | differ << b);
}

static void
exchange_step(struct op_step *s, unsigned a, unsigned b)
{
	struct op_value *v[2] = { &s->a, &s->b };
	int k;

	if (s->dst >= 0)
		s->dst = (int16_t)exchanged((unsigned)s->dst, a, b);
	if (s->m.base >= 0)
		s->m.base = (int16_t)exchanged((unsigned)s->m.base, a, b);
	if (s->m.index >= 0)
		s->m.index = (int16_t)exchanged((unsigned)s->m.index, a, b);
	for (k = 0; k < 2; k++)
		if (v[k]->kind == SV_VAR && v[k]->var >= 0)
			v[k]->var = (int32_t)exchanged((unsigned)v[k]->var, a, b);
}

static void
exchange(struct insn *in, unsigned a, unsigned b)
{
	int k;

	for (k = 0; k < in->nref; k++)
		exchange_step(&in->ref[k], a, b);
	for (k = 0; k < in->neff; k++)
		exchange_step(&in->eff[k].s, a, b);
	in->reads = exchanged_set(in->reads, a, b);
	in->writes = exchanged_set(in->writes, a, b);
	in->vreads = exchanged_set(in->vreads, a, b);
	if (in->setsdst == 1 || in->rep)
		in->tgt = (int16_t)exchanged((unsigned)in->tgt, a, b);
}

/* Do the frame directives of the function say registers only by names, which can be exchanged? */
static int
frames_named(const struct file *f, const struct afunc *fn)
{
	static const char *const numbers[] = { ".cfi_offset", ".cfi_rel_offset", ".cfi_restore", ".cfi_register",
		".cfi_same_value", ".cfi_undefined", ".cfi_val_offset" };
	uint32_t i;
	unsigned frag;
	size_t k;

	for (frag = 0; frag < fn->nfrag; frag++)
		for (i = fn->ins[fn->frag[frag].first].stmt; i < f->text.n; i++) {
			const char *s = f->text.st[i].s, *a = NULL;

			if (f->text.st[i].kind != ST_DIRECTIVE)
				continue;
			if (text_directive(s, ".cfi_endproc"))
				break;
			/* but the one that says how many bytes of arguments there are */
			if ((a = text_directive(s, ".cfi_escape")) != NULL && strncmp(a, "0x2e,", 5) != 0)
				return 0;
			for (k = 0, a = NULL; k < sizeof numbers / sizeof numbers[0] && !a; k++)
				a = text_directive(s, numbers[k]);
			if (a && *a >= '0' && *a <= '9')
				return 0;
		}
	return 1;
}

void
rename_buffer(struct file *f, struct afunc *fn)
{
	const struct machine *m = f->m;
	uint64_t odd, least = rename_weight(fn, m->buffer), w;
	unsigned best = m->buffer, r;
	uint32_t i;

	if (fn->renamed || !least || !frames_named(f, fn))
		return;
	odd = rename_odd(fn, m->alike | BIT(m->buffer));
	if (odd >> m->buffer & 1)
		return;
	for (r = 0; r < m->nreg; r++)
		if (m->alike & ~odd & BIT(r) && (w = rename_weight(fn, r)) < least) {
			best = r;
			least = w;
		}
	if (best == m->buffer)
		return;
	fn->renamed = (uint8_t)best;
	for (i = 0; i < fn->nins; i++) {
		exchange(&fn->ins[i].in, m->buffer, best);
		fn->ins[i].text = m->emit->rename(f->text.st[fn->ins[i].stmt].s, m->buffer, best);
	}
}
