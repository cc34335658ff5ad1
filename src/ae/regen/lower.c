/* Lowers the functions of a program to the interpreter's code: blocks, edges, switches. */
#include <stdlib.h>
#include <string.h>

#include "ae/regen/lower_internal.h"
#include "ae/regen/model.h"
#include "ae/regen/regen.h"
#include "format/ref/ref.h"
#include "isa/insn.h"

/* The loop events of an edge. */
static void
lower_events(struct low *l, const struct sch_succ *s)
{
	for (uint32_t i = 0; i < s->nev; i++) {
		const struct sch_block *h = l->f->block + l->f->loop[s->ev[i].loop].header;

		low_ref(l, ref_make(REF_ENTER + s->ev[i].kind, prog_pc(l->pf, h->frag, h->off), 0));
	}
}

/*
 * While a function is lowered, targets are numbers of blocks, or of stubs after them; patch()
 * replaces them by instructions.
 */
struct stub { const struct sch_succ *s; uint32_t ip; };

static uint32_t
lower_target(struct low *l, const struct sch_succ *s, struct stub *stub, uint32_t *nstub)
{
	if (!s->nev)
		return s->block;
	stub[*nstub].s = s;
	return l->f->nblock + (*nstub)++;
}

/* A block's number in the events, as a little-endian number. */
static uint64_t
regen_lower_mark(const struct low *l, uint32_t block)
{
	return l->c->g->big && l->f->block[block].mark == 2 ? (block & 255) << 8 | block >> 8 : block;
}

/* The table of instruction o: a switch's is keyed by address, one of the paper's targets by number. */
static void
lower_table(struct low *l, struct iop *o, const struct sch_block *b, struct stub *stub, uint32_t *nstub)
{
	struct code *c = l->c;
	uint32_t n = 4, *to;
	struct iswitch *sw;
	uint64_t *key;

	o->x = c->nsw;
	while (n < 2 * b->nsucc)
		n *= 2;
	sw = low_room(l, c->sw, c->nsw, 1, &l->swcap, sizeof *sw);
	if (sw)
		c->sw = sw;
	if (c->nswslot + n > l->slotcap) {
		uint32_t cap = l->slotcap, cap2 = cap;

		key = low_room(l, c->swkey, c->nswslot, n, &cap, sizeof *key);
		if (key)
			c->swkey = key;
		to = low_room(l, c->swto, c->nswslot, n, &cap2, sizeof *to);
		if (to)
			c->swto = to;
		l->slotcap = cap;
	}
	if (c->err)
		return;
	c->sw[c->nsw++] = (struct iswitch){c->nswslot, n - 1, l->pf};
	memset(c->swkey + c->nswslot, 0, n * sizeof *c->swkey);
	memset(c->swto + c->nswslot, 0, n * sizeof *c->swto);
	for (uint32_t i = 0; i < b->nsucc; i++) {
		const struct sch_block *t = l->f->block + b->succ[i].block;
		uint64_t addr = b->term == ST_TARGET ? regen_lower_mark(l, b->succ[i].block) :
		    prog_pc(l->pf, t->frag, t->off);
		uint32_t h = code_hash(addr);

		for (;; h++) {
			uint32_t k = c->nswslot + (h & (n - 1));

			if (c->swto[k] && c->swkey[k] == addr)
				break;          /* the first one counts */
			if (c->swto[k])
				continue;
			c->swkey[k] = addr;
			c->swto[k] = lower_target(l, b->succ + i, stub, nstub) + 1;
			break;
		}
	}
	c->nswslot += n;
}

static void
lower_end(struct low *l, uint32_t no, struct stub *stub, uint32_t *nstub)
{
	const struct sch_block *b = l->f->block + no;
	struct iop *o;
	uint16_t a;
	uint32_t t;

	switch (b->term) {
	case ST_JUMP:
	case ST_LANDING:
		lower_events(l, b->succ);
		low_close(l);
		if (b->succ->block != no + 1)
			low_emit(l, CO_JUMP)->x = b->succ->block;
		return;
	case ST_BRANCH:
	case ST_COND:
		low_close(l);
		if (b->term == ST_BRANCH)
			low_event(l, RK_BRANCH, 1)->sh = l->cc;
		o = low_emit(l, b->term == ST_COND ? CO_COND : CO_BRANCH);
		o->a = (uint16_t)SLOT_FA(l->nvar);
		o->sh = b->cc;
		o->x = lower_target(l, b->succ, stub, nstub);
		t = lower_target(l, b->succ + 1, stub, nstub);
		o->imm = t;
		return;
	case ST_SWITCH:
		low_close(l);
		a = low_operand(l, &b->target, SLOT_T0(l->nvar));
		o = low_emit(l, CO_SWITCH);
		o->a = a;
		o->sh = b->cc;
		lower_table(l, o, b, stub, nstub);
		return;
	case ST_TARGET:
		low_close(l);
		if (l->c->model)
			low_event(l, RK_BLOCK, l->f->block[b->succ->block].mark)->b = 1;
		o = low_emit(l, CO_TARGET);
		o->w = l->f->block[b->succ->block].mark;
		lower_table(l, o, b, stub, nstub);
		return;
	case ST_RETURN:
		low_close(l);
		low_emit(l, CO_RETURN);
		return;
	case ST_TAIL:
		low_close(l);
		low_emit(l, CO_TAIL)->x = l->c->g->base[l->pf->unit] + b->callee;
		return;
	case ST_TAILX:
		low_close(l);
		low_emit(l, CO_TAILX);
		return;
	default:
		low_close(l);
		low_emit(l, CO_NEVER);
	}
}

static uint32_t
lower_place(const struct low *l, const struct stub *stub, uint64_t t)
{
	return t < l->f->nblock ? l->at[t] : stub[t - l->f->nblock].ip;
}

static void
lower_patch(struct low *l, const struct stub *stub, uint32_t first, uint32_t firstsw)
{
	struct code *c = l->c;

	for (uint32_t i = first; i < c->nop; i++) {
		struct iop *o = c->op + i;

		if (o->op != CO_JUMP && o->op != CO_BRANCH && o->op != CO_COND && o->op != CO_LANDING)
			continue;
		o->x = lower_place(l, stub, o->x);
		if (o->op == CO_BRANCH || o->op == CO_COND)
			o->imm = lower_place(l, stub, o->imm);
	}
	for (uint32_t i = firstsw; i < c->nswslot; i++)
		if (c->swto[i])
			c->swto[i] = lower_place(l, stub, c->swto[i] - 1) + 1;
}

static void
lower_sites(struct low *l, struct ifunc *fn)
{
	struct code *c = l->c;

	fn->site = c->nsite;
	for (uint32_t i = 0; i < l->f->nblock; i++) {
		for (uint32_t j = 0; j < l->f->block[i].nstep; j++) {
			const struct op_step *s = l->f->block[i].step + j;
			struct isite *p;

			if (s->op != SO_CALLJ)
				continue;
			p = low_room(l, c->site, c->nsite, 1, &l->sitecap, sizeof *p);
			if (!p)
				return;
			c->site = p;
			p[c->nsite++] = (struct isite){s->n, 0, SLOT_SITE(l->nvar) + fn->nsite++};
		}
	}
	fn->nslot = SLOT_SITE(l->nvar) + fn->nsite;
	if (fn->nslot > UINT16_MAX)
		low_fail(l, "too many variables");
}

static void
lower_mark(struct low *l, uint32_t no)
{
	unsigned w = l->f->block[no].mark;
	struct iop *o;

	if (!w)
		return;
	low_event(l, RK_BLOCK, w);
	o = low_emit(l, CO_MARK);
	o->w = (uint8_t)w;
	o->imm = regen_lower_mark(l, no);
}

static void
lower_func(struct low *l, struct ifunc *fn, int watched)
{
	uint32_t first = l->c->nop, firstsw = l->c->nswslot, nedge = 0, nstub = 0;
	struct stub *stub;

	fn->ip = first;
	fn->need = l->f->need;
	fn->nneed = l->f->nneed;
	fn->isshort = (l->f->flags & SF_SHORT) != 0;
	fn->sp = l->pf->u->sp;
	fn->where = low_where(l, RK_NEED, l->pf->entry);
	for (uint32_t i = 1; l->c->model && i < fn->nneed; i++)
		low_where(l, RK_NEED, l->pf->entry);
	lower_sites(l, fn);
	for (uint32_t i = 0; i < l->f->nblock; i++)
		for (uint32_t j = 0; j < l->f->block[i].nsucc; j++)
			nedge += l->f->block[i].succ[j].nev != 0;
	l->at = malloc(l->f->nblock * sizeof *l->at);
	stub = malloc((nedge + 1) * sizeof *stub);
	if (!l->at || !stub)
		low_fail(l, "out of memory");
	l->refs = LOW_NONE;
	if (watched)
		low_emit(l, CO_BEGIN);
	low_sync(l, fn->sp);
	for (uint32_t i = 0; !l->c->err && i < l->f->nblock; i++) {
		const struct sch_block *b = l->f->block + i;
		uint32_t landing = b->term == ST_LANDING ? prog_lastcall(b) : b->nstep;

		l->at[i] = l->c->nop;
		l->pc = l->ipc = prog_pc(l->pf, b->frag, b->off);
		l->followed = l->begun = 0;
		l->cc = INSN_NOCC;
		lower_mark(l, i);
		for (uint32_t j = 0; j < b->nstep; j++) {
			/* a full template ends before the step, so that positions in it remain right */
			if (l->nref >= CODE_ROOM - 1)
				low_close(l);
			low_step(l, b->step + j);
			low_follow(l, b, j);
			if (j == landing) {
				uint32_t to = lower_target(l, b->succ + 1, stub, &nstub);

				low_emit(l, CO_LANDING)->x = to;
			}
		}
		if (l->nref + (b->term == ST_JUMP || b->term == ST_LANDING ? b->succ->nev : 0) > CODE_ROOM)
			low_close(l);
		lower_end(l, i, stub, &nstub);
	}
	for (uint32_t i = 0; !l->c->err && i < nstub; i++) {
		stub[i].ip = l->c->nop;
		lower_events(l, stub[i].s);
		low_close(l);
		low_emit(l, CO_JUMP)->x = stub[i].s->block;
	}
	if (!l->c->err)
		lower_patch(l, stub, first, firstsw);
	free(stub);
	free(l->at);
}

/* Lowers the functions from number `first` on. */
static int
lower_funcs(struct low *l, uint32_t first, const uint8_t *watch)
{
	struct code *c = l->c;

	for (uint32_t i = first; !c->err && i < c->g->nfunc; i++) {
		l->pf = c->g->func + i;
		l->f = l->pf->f;
		l->nvar = l->f->nvar;
		lower_func(l, c->fn + i, watch && watch[i]);
	}
	for (int i = 0; i < CODE_PAD; i++)
		low_ref(l, 0);
	return c->err ? -1 : 0;
}

int
code_lower(struct code *c, const struct prog *g, int count, const struct regen_model *model, const uint8_t *watch)
{
	struct low l = {.c = c};

	memset(c, 0, sizeof *c);
	c->g = g;
	c->count = count;
	c->model = model;
	c->fn = calloc((size_t)g->nfunc + 1, sizeof *c->fn);
	if (!c->fn)
		low_fail(&l, "out of memory");
	else
		low_emit(&l, CO_SEQROOT)->k = low_where(&l, RK_ITEM, 0);
	for (int i = 0; !c->err && watch && i < 3; i++)
		low_emit(&l, CO_END);
	return lower_funcs(&l, 0, watch);
}

int
code_lower_more(struct code *c, uint32_t first, const uint8_t *watch)
{
	struct ifunc *fn = realloc(c->fn, ((size_t)c->g->nfunc + 1) * sizeof *fn);
	struct low l = {.c = c};

	if (!fn) {
		low_fail(&l, "out of memory");
		return -1;
	}
	c->fn = fn;
	memset(fn + first, 0, ((size_t)c->g->nfunc + 1 - first) * sizeof *fn);
	return lower_funcs(&l, first, watch);
}

void
code_free(struct code *c)
{
	free(c->op);
	free(c->tab);
	free(c->fn);
	free(c->sw);
	free(c->swkey);
	free(c->swto);
	free(c->site);
	free(c->where);
	memset(c, 0, sizeof *c);
}
