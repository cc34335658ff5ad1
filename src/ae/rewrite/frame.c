/* Finds the stack slots of a function. See frame.h. */
#include <stdlib.h>
#include <string.h>
#include "ae/machine/machine.h"
#include "ae/rewrite/frame.h"
#include "ae/rewrite/origin.h"
#include "base/mem.h"

/* Contents of a register: nothing of the frame, a fixed distance from rsp at entry, or one of both. */
enum { UNSEEN, FOREIGN, FRAME, MIXED };
struct place { uint8_t kind; int64_t off; };
struct state { struct place sp, bp; };

struct access { int64_t off; uint32_t ins; uint16_t n; uint8_t store, spill; };

struct scan {
	const struct file *f;
	const struct afunc *fn;
	struct state *at;               /* at the start of each block */
	struct access *acc;
	size_t nacc, capacc;
	int seen;                       /* an address in the frame is used as a value */
	int lost;                       /* an access in the frame has an unknown offset */
};

static int
frame_merge(struct place *to, struct place from)
{
	struct place old = *to;

	if (from.kind == UNSEEN)
		return 0;
	if (to->kind == UNSEEN)
		*to = from;
	else if (to->kind != from.kind || (to->kind == FRAME && to->off != from.off))
		to->kind = MIXED;
	return old.kind != to->kind || old.off != to->off;
}

static struct place
of_register(const struct scan *c, const struct state *s, int r)
{
	struct place none = { FOREIGN, 0 };

	return r == c->fn->m->sp ? s->sp : r == c->fn->m->fp ? s->bp : none;
}

static int
frame_foreign(const struct scan *c, const struct state *s, const struct op_value *v)
{
	return v->kind != SV_VAR || of_register(c, s, v->var).kind == FOREIGN;
}

/* The offset that an effect on the stack or frame pointer computes. */
static struct place
frame_evaluate(const struct scan *c, const struct state *s, const struct op_step *e)
{
	struct place p = { FOREIGN, 0 }, a = p;

	if (frame_foreign(c, s, &e->a) && frame_foreign(c, s, &e->b) &&
	    of_register(c, s, e->m.base).kind == FOREIGN && of_register(c, s, e->m.index).kind == FOREIGN)
		return p;
	p.kind = MIXED;
	if (e->w != c->fn->m->word)
		return p;
	if (e->a.kind == SV_VAR)
		a = of_register(c, s, e->a.var);
	if (e->op == SO_MOV)
		return a;
	if ((e->op == SO_ADD || e->op == SO_SUB) && a.kind == FRAME && e->b.kind == SV_IMM) {
		a.off += e->op == SO_ADD ? e->b.imm : -e->b.imm;
		return a;
	}
	if (e->op == SO_LEA && e->m.index == SCH_NOVAR && e->m.sym == SCH_NOSYM) {
		a = of_register(c, s, e->m.base);
		a.off += e->m.disp;
		return a;
	}
	return p;
}

static void
frame_effects(const struct scan *c, struct state *s, const struct insn *in)
{
	struct state was = *s;
	int k;

	for (k = 0; k < in->neff; k++)
		if (in->eff[k].s.dst == c->fn->m->sp)
			s->sp = frame_evaluate(c, &was, &in->eff[k].s);
		else if (in->eff[k].s.dst == c->fn->m->fp)
			s->bp = frame_evaluate(c, &was, &in->eff[k].s);
}

static void
frame_propagate(struct scan *c)
{
	const struct graph *g = c->fn->g;
	int changed = 1;
	uint32_t i, k;

	c->at[0].sp = (struct place){ FRAME, 0 };
	c->at[0].bp = (struct place){ FOREIGN, 0 };
	while (changed) {
		changed = 0;
		for (i = 0; i < g->norder; i++) {
			uint32_t b = g->order[i];
			struct state s = c->at[b];

			for (k = c->fn->blk[b].first; k < c->fn->blk[b].last; k++)
				frame_effects(c, &s, &c->fn->ins[k].in);
			for (k = g->succ.at[b]; k < g->succ.at[b + 1]; k++) {
				struct state to = s;

				if (c->fn->pushes && g->succ.to[k] == c->fn->blk[b].pad)
					to.sp.kind = MIXED;
				changed |= frame_merge(&c->at[g->succ.to[k]].sp, to.sp);
				changed |= frame_merge(&c->at[g->succ.to[k]].bp, s.bp);
			}
		}
	}
}

/* Is an address in the frame used as a value here? */
static int
frame_escapes(const struct scan *c, const struct state *s, const struct insn *in)
{
	const struct machine *m = c->fn->m;
	int k;

	if (!((in->vreads >> m->sp & 1 && s->sp.kind != FOREIGN) ||
		(in->vreads >> m->fp & 1 && s->bp.kind != FOREIGN)))
		return 0;
	/* unless it only moves between the two registers */
	for (k = 0; k < in->neff; k++)
		if (in->eff[k].s.dst != m->sp && in->eff[k].s.dst != m->fp &&
		    in->eff[k].s.dst != (int)machine_flags(m))
			return 1;
	return in->neff == 0 || (in->nref > 0 && in->ref[0].op != SO_LOAD);
}

static void
frame_references(struct scan *c, const struct state *s, uint32_t i)
{
	const struct insn *in = &c->fn->ins[i].in;
	int k;

	for (k = 0; k < in->nref; k++) {
		const struct op_step *r = &in->ref[k];
		struct place p;
		struct access *a;

		if (r->m.index == c->fn->m->fp && s->bp.kind != FOREIGN)
			c->seen = 1;            /* possibly anywhere in the frame */
		if (r->m.base != c->fn->m->sp && r->m.base != c->fn->m->fp)
			continue;
		p = of_register(c, s, r->m.base);
		if (p.kind == FOREIGN)
			continue;
		if (p.kind != FRAME) {
			c->lost = 1;
			return;
		}
		if (r->m.index != SCH_NOVAR || r->m.sym != SCH_NOSYM || r->m.narrow || r->m.align ||
		    c->fn->ins[i].in.mask.nindex) {
			c->seen = 1;
			continue;
		}
		c->acc = mem_xgrow(c->acc, &c->capacc, c->nacc + 1, sizeof *c->acc);
		a = &c->acc[c->nacc++];
		a->off = p.off + r->m.disp;
		a->n = (uint16_t)(r->op == SO_MASKED ? r->n * r->w : r->n);
		a->store = r->op != SO_LOAD && (r->op != SO_MASKED || MA_STORE(r->cc));
		a->spill = c->f->text.st[c->fn->ins[i].stmt].spill;
		a->ins = k == in->mref ? i : NONE;
	}
}

/* Walks all blocks with their states. */
static void
frame_collect(struct scan *c)
{
	const struct graph *g = c->fn->g;
	uint32_t i, k;

	for (i = 0; i < g->norder && !c->lost; i++) {
		uint32_t b = g->order[i];
		struct state s = c->at[b];

		for (k = c->fn->blk[b].first; k < c->fn->blk[b].last; k++) {
			c->seen |= frame_escapes(c, &s, &c->fn->ins[k].in);
			frame_references(c, &s, k);
			frame_effects(c, &s, &c->fn->ins[k].in);
			if (s.sp.kind != FRAME || c->fn->ins[k].twice) {
				c->lost = 1;
				return;
			}
		}
	}
}

static int
by_offset(const void *a, const void *b)
{
	const struct access *x = a, *y = b;

	if (x->off != y->off)
		return x->off < y->off ? -1 : 1;
	return y->n - x->n;     /* wide ones first */
}

static int
frame_regular(unsigned n)
{
	return n == 1 || n == 2 || n == 4 || n == 8;
}

/*
 * A slot is an offset at which stores start and into which no other store reaches. Widths may
 * differ, since slots are reused. A load may take fewer bytes than were stored, never more: slice.c
 * checks the stores that reach it.
 */
static void
name_slots(struct scan *c, struct afunc *fn)
{
	size_t i, j;

	if (c->nacc)
		qsort(c->acc, c->nacc, sizeof *c->acc, by_offset);
	for (i = 0; i < c->nacc; i = j) {
		int64_t end = c->acc[i].off + c->acc[i].n, off = c->acc[i].off;
		unsigned n = 0, ok = 1;
		size_t k;

		for (j = i; j < c->nacc && c->acc[j].off < end; j++) {  /* the accesses that overlap */
			if (c->acc[j].off + c->acc[j].n > end)
				end = c->acc[j].off + c->acc[j].n;
			/* not a slot of the register allocator: a pointer may lead to it */
			if (c->seen && !c->acc[j].spill)
				ok = 0;
			if (!c->acc[j].store)
				continue;
			if (n == 0)
				n = c->acc[j].n;        /* the widest, by the sort order */
			if (c->acc[j].off != off || c->acc[j].ins == NONE || !frame_regular(c->acc[j].n))
				ok = 0;
		}
		if (!ok || !frame_regular(n) || fn->nslot == MAXSLOT)
			continue;
		for (k = i; k < j; k++)
			if (c->acc[k].ins != NONE && c->acc[k].off == off && c->acc[k].n <= n)
				fn->slot[c->acc[k].ins] = (int16_t)fn->nslot;
		fn->nslot++;
	}
}

/* Is it a symbol of a read-only section of this file? */
static int
frame_readonly(const struct sym *y)
{
	return y && y->where == 2 && y->readonly && !y->weak;
}

/*
 * Loads from read-only sections of this file, addressed by a register that has the address of a symbol: position-independent
 * code has no other way to elements of an array.
 */
static void
frame_pointed(const struct file *f, struct afunc *fn)
{
	uint64_t bases = 0;
	struct origin s;
	uint32_t i, from;
	unsigned r;

	for (i = 0; i < fn->nins; i++)
		for (r = 0; r < fn->m->nreg; r++)
			if ((fn->ins[i].in.writes >> r & 1) && frame_readonly(origin_address(f, &fn->ins[i], r)))
				bases |= BIT(r);
	if (!bases)
		return;
	origin_begin(&s, fn);
	for (i = 0; i < fn->nins; i++) {
		const struct insn *in = &fn->ins[i].in;
		const struct sch_addr *m;

		if (fn->slot[i] != NOSLOT || in->mref < 0 || in->ref[in->mref].op != SO_LOAD || in->table ||
		    in->ref[in->mref].n > 8 || fn->g->rpo[fn->blkof[i]] == NO_NODE)
			continue;
		m = &in->ref[in->mref].m;
		if (m->sym != SCH_NOSYM || m->fs || m->narrow || m->align || m->base < 0 || m->base >= (int)fn->m->nreg ||
		    !(bases >> m->base & 1))
			continue;
		from = origin_find(&s, i, (unsigned)m->base);
		if (from != NONE && frame_readonly(origin_address(f, &fn->ins[from], (unsigned)m->base)))
			fn->slot[i] = ROMEM;
	}
	origin_end(&s);
}

/* Loads from read-only sections of this file, addressed by symbol. */
static void
frame_constants(const struct file *f, struct afunc *fn)
{
	size_t i, n;

	for (i = 0; i < fn->nins; i++) {
		const struct insn *in = &fn->ins[i].in;
		const struct sym *y;
		const char *s;

		if (fn->slot[i] != NOSLOT || in->mref < 0 || in->ref[in->mref].op != SO_LOAD ||
		    in->ref[in->mref].m.sym == SCH_NOSYM || in->table || in->ref[in->mref].n > 8)
			continue;
		for (s = text_place(f->m, f->text.st[fn->ins[i].stmt].s, &n); s; s = text_symbol(f->m, s + n, &n)) {
			y = symtab_find(&f->sym, s, n);
			if (frame_readonly(y) && s[n] != '@') {
				fn->slot[i] = ROMEM;
				break;
			}
		}
	}
}

void
frame_slots(const struct file *f, struct afunc *fn)
{
	struct scan c = { .f = f, .fn = fn };
	size_t i;

	fn->slot = xcalloc(fn->nins, sizeof *fn->slot);
	fn->nslot = 0;
	for (i = 0; i < fn->nins; i++)
		fn->slot[i] = NOSLOT;
	if (fn->paper)
		return;
	c.at = xcalloc(fn->nblk, sizeof *c.at);
	frame_propagate(&c);
	frame_collect(&c);
	if (!c.lost)
		name_slots(&c, fn);
	frame_constants(f, fn);
	frame_pointed(f, fn);
	free(c.at);
	free(c.acc);
}
