/* Makes the schema from the slices: one step for each action of regeneration. */
#include <stdlib.h>
#include <string.h>
#include "ae/machine/machine.h"
#include "ae/rewrite/emit.h"
#include "ae/rewrite/frame.h"
#include "ae/rewrite/plan.h"
#include "ae/rewrite/slice.h"
#include "base/mem.h"

struct plan {
	struct file *f;
	struct sch_unit *u;
	uint32_t *number;       /* number in the unit of each function of the file, NONE if untraced */
	uint32_t *base;         /* constant of its first fragment */
	size_t capfield;
	/* the block under construction */
	struct afunc *fn;
	uint32_t fnno;
	struct op_step *step;
	size_t nstep, capstep;
	uint32_t site;          /* setjmp sites of the function so far */
	unsigned masked;        /* variables for its masked accesses */
};

static struct op_step *
plan_add(struct plan *p, int op)
{
	struct op_step *s;

	p->step = mem_xgrow(p->step, &p->capstep, p->nstep + 1, sizeof *p->step);
	s = &p->step[p->nstep++];
	memset(s, 0, sizeof *s);
	s->op = (uint8_t)op;
	s->dst = SCH_NOVAR;
	s->m.base = s->m.index = SCH_NOVAR;
	s->m.sym = SCH_NOSYM;
	s->m.scale = 1;
	return s;
}

/* The unit's constant for a field of instruction a. */
static int32_t
plan_field(struct plan *p, const struct ainsn *a, const struct insn_field *x)
{
	struct sch_unit *u = p->u;
	struct sch_field v;
	uint32_t i;

	memset(&v, 0, sizeof v);        /* including padding, because they are compared as bytes */
	v.sym = (int32_t)(p->base[p->fnno] + a->frag);
	v.off = a->off + x->off;
	v.end = x->rip ? a->off + a->in.len : 0;
	v.size = x->size;
	v.rip = x->rip;
	/* the same operand is requested several times in a row */
	for (i = u->nfield; i-- > 0 && u->nfield - i < 8; )
		if (memcmp(&u->field[i], &v, sizeof v) == 0)
			return (int32_t)(u->ncst + i);
	u->field = mem_xgrow(u->field, &p->capfield, u->nfield + 1, sizeof *u->field);
	u->field[u->nfield] = v;
	return (int32_t)(u->ncst + u->nfield++);
}

/* Copies a lifted step and replaces its field numbers by constants. */
static struct op_step *
add_copy(struct plan *p, const struct ainsn *a, const struct op_step *from)
{
	struct op_step *s = plan_add(p, from->op);

	*s = *from;
	if (s->m.sym != SCH_NOSYM)
		s->m.sym = plan_field(p, a, &a->in.field[s->m.sym]);
	if (s->a.kind == SV_SYM)
		s->a.var = plan_field(p, a, &a->in.field[s->a.var]);
	if (s->b.kind == SV_SYM)
		s->b.var = plan_field(p, a, &a->in.field[s->b.var]);
	return s;
}

static void
plan_unknown(struct plan *p, unsigned var, unsigned w, uint8_t ext)
{
	struct op_step *s = plan_add(p, SO_UNKNOWN);

	s->dst = (int16_t)var;
	s->w = (uint8_t)w;
	s->cc = ext;
}

static void
unknown_mask(struct plan *p, uint64_t regs)
{
	unsigned v;

	for (v = 0; v < p->f->m->nreg; v++)
		if (regs >> v & 1)
			plan_unknown(p, v, p->f->m->word, word_ext(p->fn, v));
}

/* Effect k of instruction i, computed: memory becomes its slot, or is first read from the constant image. */
static void
plan_computation(struct plan *p, uint32_t i, unsigned k)
{
	const struct ainsn *a = &p->fn->ins[i];
	const struct op_step *e = &a->in.eff[k].s;
	const int mem = (int)machine_mem(p->f->m);
	int uses = (e->a.kind == SV_VAR && e->a.var == mem) || (e->b.kind == SV_VAR && e->b.var == mem);
	struct op_step *s;

	if (uses && p->fn->slot[i] == ROMEM) {
		s = add_copy(p, a, &a->in.ref[a->in.mref]);
		s->op = SO_LOADRO;
		s->dst = (int16_t)mem;
		s->w = 8;
	}
	if (e->op == SO_SETCC && e->dst == mem) {
		s = plan_add(p, SO_MOV);        /* a byte slot is written as a whole */
		s->dst = (int16_t)effect_var(p->fn, i, (unsigned)mem);
		s->w = 8;
		s->a.kind = SV_IMM;
	}
	s = add_copy(p, a, e);
	if (s->a.kind == SV_VAR)
		s->a.var = (int32_t)effect_var(p->fn, i, (unsigned)s->a.var);
	if (s->b.kind == SV_VAR)
		s->b.var = (int32_t)effect_var(p->fn, i, (unsigned)s->b.var);
	if (s->dst == (int)machine_flags(p->f->m)) {
		s->dst = SCH_NOVAR;
	} else {
		s->dst = (int16_t)effect_var(p->fn, i, (unsigned)s->dst);
		if (e->dst == mem && s->op == SO_MOV && s->w < 4) {
			s->op = SO_ZEXT;
			s->n = s->w;
			s->w = 8;
		}
	}
}

static void
plan_call(struct plan *p, uint32_t i)
{
	const struct ainsn *a = &p->fn->ins[i];

	if (callee_if_traced(p->f, a) != NONE)
		plan_add(p, SO_CALL)->sym = (int32_t)p->number[a->callee];
	else if (a->twice)
		plan_add(p, SO_CALLJ)->n = p->site++;
	else if (emit_linked(p->f, p->fn, i)) {
		static const struct insn_field target = { .off = EMIT_CALLLEN - 4, .size = 4, .rip = 1 };
		int32_t k = plan_field(p, a, &target);
		struct op_step *s = plan_add(p, SO_LINKED);

		s->a.kind = SV_SYM;
		s->a.var = k;
		s->n = (uint32_t)p->fn->slice->known[i];
	} else
		plan_add(p, SO_CALLX);
}

/* What is recorded before a masked access, and its reference; the variables for that come after those of the slots. */
static void
plan_masked(struct plan *p, const struct ainsn *a)
{
	const struct insn_mask *m = &a->in.mask;
	unsigned var = machine_slot0(p->f->m) + p->fn->nslot, at = var;
	struct op_step *s;

	for (unsigned n = 0; n < m->bytes; n += 8)
		plan_unknown(p, at++, m->bytes < 8 ? m->bytes : 8, 0);
	for (unsigned n = 0; n < m->nindex; n += 8)
		plan_unknown(p, at++, 8, 0);
	s = add_copy(p, a, &a->in.ref[0]);
	s->a = insn_var((int)var);
	s->b = m->nindex ? insn_var((int)var + (m->bytes + 7) / 8) : insn_imm(0);
	p->masked = at - var > p->masked ? at - var : p->masked;
}

static void
plan_instruction(struct plan *p, uint32_t i)
{
	const struct ainsn *a = &p->fn->ins[i];
	const struct slice *sl = p->fn->slice;
	int iscall = a->in.ctl == IC_CALL || a->in.ctl == IC_CALLIND;
	uint32_t d;
	int k;

	if (!a->in.rep && !a->lands) {
		plan_add(p, SO_INST)->n = a->in.len;
		if (a->in.mask.bytes)
			plan_masked(p, a);
		else
			for (k = 0; k < a->in.nref; k++)
				add_copy(p, a, &a->in.ref[k]);
	}
	for (d = sl->first[i]; d < sl->first[i + 1]; d++) {
		const struct def *f = &sl->def[d];
		uint8_t ext;
		unsigned w;

		/* the effects of the instruction itself (a delay slot) are done */
		if (iscall && f->eff == DEF_CALL) {
			unknown_mask(p, sl->callrec[i]);
			plan_call(p, i);
			iscall = 0;
		}
		if (f->eff != DEF_CALL && a->in.eff[f->eff].s.op == SO_REP) {
			if (f->var == a->in.tgt)        /* the count */
				add_copy(p, a, &a->in.eff[f->eff].s);
		} else if (f->fate == DF_RECORD) {
			w = def_bytes(p->fn, f, &ext);
			plan_unknown(p, f->var, w, ext);
		} else if (f->fate == DF_COMPUTE) {
			plan_computation(p, i, f->eff);
		}
	}
	if (a->in.ctl == IC_JUMP || a->in.ctl == IC_SWITCH)     /* out of the function */
		unknown_mask(p, sl->callrec[i]);
}

/* The address of a switch's target: a register, a table entry or a recorded value. */
static void
plan_target(struct plan *p, struct sch_block *b, uint32_t i)
{
	const struct ainsn *a = &p->fn->ins[i];
	struct op_step *s;

	b->target.kind = SV_VAR;
	if (a->in.setsdst == 1) {
		b->target.var = a->in.tgt;
		return;
	}
	b->target.var = (int32_t)VAR_TARGET(p->f->m);
	if (a->table != NONE) {
		s = add_copy(p, a, &a->in.ref[0]);
		s->op = SO_LOADRO;
		s->dst = (int16_t)VAR_TARGET(p->f->m);
		s->w = 8;
		s->n = p->f->m->word;
	} else {
		plan_unknown(p, VAR_TARGET(p->f->m), p->f->m->word, 0);
	}
}

static void
loop_events(struct plan *p, uint32_t from, uint32_t to, struct sch_succ *s)
{
	const struct graph *g = p->fn->g;
	int32_t l;

	s->block = to;
	for (l = g->inner[from]; l >= 0; l = g->loop[l].parent)
		if (!graph_inloop(g, (uint32_t)l, to)) {
			s->ev = xreallocarray(s->ev, s->nev + 1, sizeof *s->ev);
			s->ev[s->nev++] = (struct sch_loopev){ SL_EXIT, (uint32_t)l };
		}
	l = g->inner[to];
	if (l >= 0 && g->loop[l].header == to) {
		s->ev = xreallocarray(s->ev, s->nev + 1, sizeof *s->ev);
		s->ev[s->nev++] = (struct sch_loopev){ graph_inloop(g, (uint32_t)l, from) ? SL_BACK :
		    SL_ENTER, (uint32_t)l };
	}
}

static void
plan_block(struct plan *p, uint32_t n, struct sch_block *b)
{
	const struct ablock *k = &p->fn->blk[n];
	uint32_t i, at = k->first < p->fn->nins ? k->first : (uint32_t)p->fn->nins - 1;

	p->nstep = 0;
	b->frag = p->fn->ins[at].frag;
	b->off = p->fn->ins[at].off;
	b->term = ST_NONE;
	if (p->fn->g->rpo[n] == NO_NODE)
		return;
	if (n == 0)
		unknown_mask(p, p->fn->slice->entryrec);
	if (k->first == k->last && k->term == ST_TAIL)
		unknown_mask(p, p->fn->slice->callrec[k->last - 1]);
	for (i = k->first; i < k->last; i++)
		plan_instruction(p, i);
	b->term = k->term;
	b->cc = 0;
	b->mark = k->mark;
	if (p->f->paper && (k->term == ST_BRANCH || (k->term == ST_SWITCH && !k->range))) {
		b->term = ST_TARGET;
	} else if (k->term == ST_BRANCH && !p->fn->slice->recbranch[n]) {
		b->term = ST_COND;
		b->cc = k->cc;
	} else if (k->term == ST_SWITCH) {
		plan_target(p, b, k->last - 1);
		b->cc = k->range;
	} else if (k->term == ST_TAIL) {
		b->callee = p->number[k->callee];
	}
	b->nstep = (uint32_t)p->nstep;
	b->step = xcalloc(p->nstep + 1, sizeof *b->step);
	memcpy(b->step, p->step, p->nstep * sizeof *b->step);
	b->nsucc = k->nsucc;
	b->succ = xcalloc(k->nsucc + 1, sizeof *b->succ);
	for (i = 0; i < k->nsucc; i++)
		loop_events(p, n, k->succ[i], &b->succ[i]);
	if (k->pad != NONE)
		loop_events(p, n, k->pad, &b->succ[b->nsucc++]);
}

static void
plan_function(struct plan *p, uint32_t no, struct sch_func *s)
{
	struct afunc *fn = &p->f->fn[no];
	uint32_t i;

	p->fn = fn;
	p->fnno = no;
	p->site = 0;
	p->masked = 0;
	s->name = xstrdup(fn->name);
	s->nvar = machine_slot0(fn->m) + fn->nslot;
	s->nfrag = fn->nfrag;
	s->frag = xcalloc(fn->nfrag, sizeof *s->frag);
	for (i = 0; i < fn->nfrag; i++) {
		s->frag[i].sym = (int32_t)(p->base[no] + i);
		s->frag[i].size = fn->frag[i].size;
	}
	s->need = xcalloc(fn->m->nreg, sizeof *s->need);
	for (i = 0; i < fn->m->nreg; i++)
		if (fn->need >> i & 1)
			s->need[s->nneed++] = (uint16_t)i;
	s->nblock = fn->nblk;
	s->block = xcalloc(fn->nblk, sizeof *s->block);
	for (i = 0; i < fn->nblk; i++)
		plan_block(p, i, &s->block[i]);
	s->nvar += p->masked;
	s->nloop = fn->g->nloop;
	s->loop = xcalloc(s->nloop + 1, sizeof *s->loop);
	for (i = 0; i < s->nloop; i++) {
		s->loop[i].header = fn->g->loop[i].header;
		s->loop[i].parent = fn->g->loop[i].parent;
	}
	s->flags = (s->nneed && word_ext(fn, s->need[0]) ? SF_SHORT : 0) | (fn->tailout ? SF_TAILOUT : 0) | (p->site ? SF_SETJMP : 0) | (fn->library ? SF_LIBRARY : 0);
}

struct sch_unit *
plan_unit(struct file *f, const uint32_t *fn, uint32_t n)
{
	struct plan p = { .f = f };
	uint32_t i;

	p.u = xcalloc(1, sizeof *p.u);
	p.number = xcalloc(f->nfn + 1, sizeof *p.number);
	p.base = xcalloc(f->nfn + 1, sizeof *p.base);
	p.u->source = xstrdup(f->source);
	p.u->machine = f->m->elf;
	p.u->word = f->m->word;
	p.u->big = f->m->big;
	p.u->push = f->m->push;
	p.u->nregs = f->m->nreg;
	p.u->sp = f->m->sp;
	p.u->nfunc = n;
	for (i = 0; i < f->nfn; i++)
		p.number[i] = NONE;
	for (i = 0; i < n; i++) {
		p.number[fn[i]] = i;
		p.base[fn[i]] = p.u->ncst;
		p.u->ncst += f->fn[fn[i]].nfrag;
	}
	p.u->func = xcalloc(n + 1, sizeof *p.u->func);
	for (i = 0; i < n; i++)
		plan_function(&p, fn[i], &p.u->func[i]);
	free(p.step);
	free(p.number);
	free(p.base);
	return p.u;
}

void
plan_free(struct sch_unit *u)
{
	uint32_t i, b, s;

	for (i = 0; i < u->nfunc; i++) {
		struct sch_func *f = &u->func[i];

		for (b = 0; b < f->nblock; b++) {
			for (s = 0; s < f->block[b].nsucc; s++)
				free(f->block[b].succ[s].ev);
			free(f->block[b].succ);
			free(f->block[b].step);
		}
		free(f->block);
		free(f->frag);
		free(f->need);
		free(f->loop);
		free(f->name);
	}
	free(u->func);
	free(u->field);
	free(u->source);
	free(u);
}
