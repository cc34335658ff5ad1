/* From schema steps to the code of the interpreter: see code.def. */
#include <stdlib.h>
#include <string.h>

#include "code.h"
#include "format/ref.h"

struct low {
	struct code *c;
	const struct prog_func *pf;
	const struct sch_func *f;
	uint32_t nvar;
	uint64_t pc;
	uint64_t ipc;                   /* of the instruction last fetched */
	/* the open template */
	uint32_t refs;                  /* its REFS instruction, or NONE */
	uint32_t nref;
	/* blocks */
	uint32_t *at;                   /* block -> first instruction */
	uint32_t cap, tabcap, swcap, slotcap, sitecap;
};

#define NONE UINT32_MAX

static void
fail(struct low *l, const char *what)
{
	if (!l->c->err)
		l->c->err = what;
}

/* Room for n more elements */
static void *
room(struct low *l, void *p, uint32_t have, uint32_t n, uint32_t *cap, size_t size)
{
	size_t want = (size_t)have + n, c = *cap ? *cap : 256;
	void *q;

	if (want <= *cap)
		return p;
	while (c < want)
		c *= 2;
	q = c > INT32_MAX ? NULL : realloc(p, c * size);
	if (!q) {
		fail(l, "out of memory");
		return NULL;
	}
	*cap = (uint32_t)c;
	return q;
}

/* A new instruction; a scratch one when there is no memory */
static struct iop *
emit(struct low *l, unsigned op)
{
	static struct iop scratch;
	struct iop *p = room(l, l->c->op, l->c->nop, 1, &l->cap, sizeof *p);

	if (!p)
		return &scratch;
	l->c->op = p;
	p += l->c->nop++;
	memset(p, 0, sizeof *p);
	p->op = (uint8_t)op;
	return p;
}

/*
 * Instructions that stand behind p by a number of words, or that must know how
 * many words of the template come later, get their x when the template ends:
 * until then x is the number of words before.
 */
static void
close_template(struct low *l)
{
	struct code *c = l->c;

	if (l->refs == NONE || c->err)
		return;
	for (uint32_t i = l->refs + 1; i < c->nop; i++) {
		struct iop *o = c->op + i;

		switch (o->op) {
		case CO_R1:
		case CO_R2:
		case CO_RG:
		case CO_UNK8:
		case CO_UNK4:
		case CO_UNK1:
		case CO_UNKG:
		case CO_LOADRO:
			o->x = l->nref - o->x;
			break;
		default:
			break;
		}
	}
	l->refs = NONE;
	l->nref = 0;
}

/* One more word in the template */
static void
ref(struct low *l, uint64_t word)
{
	struct code *c = l->c;
	uint64_t *t;

	if (l->nref == CODE_ROOM)
		close_template(l);
	if (l->refs == NONE) {
		l->refs = c->nop;
		l->nref = 0;
		emit(l, CO_REFS)->x = c->ntab;
	}
	t = room(l, c->tab, c->ntab, 1, &l->tabcap, sizeof *t);
	if (!t)
		return;
	c->tab = t;
	t[c->ntab++] = word;
	l->nref++;
	c->op[l->refs].n = (uint16_t)l->nref;
}

static uint16_t
var(const struct low *l, int v)
{
	return (uint16_t)(v == SCH_NOVAR ? (int)SLOT_ZERO(l->nvar) : v);
}

static unsigned
log2of(unsigned v)
{
	return v == 8 ? 3 : v == 4 ? 2 : v == 2 ? 1 : 0;
}

/* Fill the address fields of o and choose among three forms */
static void
address(struct low *l, struct iop *o, const struct sch_addr *m, uint64_t imm, unsigned op1)
{
	o->a = var(l, m->base);
	o->b = var(l, m->index);
	o->sh = (uint8_t)log2of(m->scale);
	o->imm = imm;
	if (m->fs || m->narrow) {
		o->op = (uint8_t)(op1 + 2);
		o->n = (uint16_t)(m->fs | m->narrow << 1);
	} else if (m->index != SCH_NOVAR)
		o->op = (uint8_t)(op1 + 1);
	else
		o->op = (uint8_t)op1;
}

static void
access(struct low *l, const struct sch_step *s, unsigned kind)
{
	uint64_t imm;

	if (prog_const(l->pf->u, &s->m, &imm)) {
		ref(l, ref_make(kind, imm, s->n));
		return;
	}
	ref(l, 0);
	if (l->c->err)
		return;
	struct iop *o = emit(l, CO_R1);

	address(l, o, &s->m, imm, CO_R1);
	o->x = l->nref - 1;
	o->k = ref_make(kind, 0, s->n);
}

static void
unknown(struct low *l, const struct sch_step *s)
{
	unsigned op = CO_UNKG;
	struct iop *o;

	if (s->w == 8)
		op = CO_UNK8;
	else if (s->w == 4 && (s->cc == 0 || s->cc == 2 || s->cc == 3))
		op = CO_UNK4;
	else if (s->w == 1 && s->cc == 0)
		op = CO_UNK1;
	o = emit(l, op);
	o->d = var(l, s->dst);
	o->w = s->w;
	o->sh = s->cc;
	o->x = l->nref;
}

/* The slot of an operand; what is not a variable goes through slot t */
static uint16_t
operand(struct low *l, const struct sch_val *v, unsigned t)
{
	struct iop *o;

	if (v->kind == SV_VAR)
		return (uint16_t)v->var;
	o = emit(l, CO_MOVI);
	o->d = (uint16_t)t;
	o->imm = prog_value(l->pf->u, v);
	return (uint16_t)t;
}

/* Forms with a constant operand or a common width; 1 if one was emitted */
static int
short_form(struct low *l, const struct sch_step *s)
{
	int ra = s->a.kind == SV_VAR, rb = s->b.kind == SV_VAR;
	uint64_t imm = rb ? 0 : prog_value(l->pf->u, &s->b);
	int op = -1;
	struct iop *o;

	if (!ra)
		return 0;
	if (s->w == 8) {
		switch (s->op) {
		case SO_MOV:
			op = CO_MOV;
			break;
		case SO_ADD:
			op = rb ? CO_ADD8 : CO_LEA1;
			break;
		case SO_SUB:
			op = rb ? CO_SUB8 : CO_LEA1;
			imm = 0 - imm;
			break;
		case SO_AND:
			op = rb ? CO_AND8 : CO_AND8I;
			break;
		case SO_SHL:
			op = rb ? -1 : CO_SHL8I;
			imm &= 63;
			break;
		case SO_SEXT:
			op = s->n == 4 ? CO_SX48 : -1;
			break;
		}
	} else if (s->w == 4) {
		switch (s->op) {
		case SO_ADD:
			op = rb ? CO_ADD4 : CO_ADD4I;
			break;
		case SO_SUB:
			op = rb ? CO_SUB4 : CO_ADD4I;
			imm = 0 - imm;
			break;
		case SO_AND:
			op = rb ? -1 : CO_AND4I;
			break;
		case SO_SHL:
			op = rb ? -1 : CO_SHL4I;
			imm &= 31;
			break;
		}
	}
	if (op < 0)
		return 0;
	o = emit(l, (unsigned)op);
	o->d = var(l, s->dst);
	o->a = (uint16_t)s->a.var;
	o->b = rb ? (uint16_t)s->b.var : 0;
	o->imm = imm;
	return 1;
}

static void
compute(struct low *l, const struct sch_step *s)
{
	uint16_t a, b = 0;
	struct iop *o;

	if (short_form(l, s))
		return;
	if (s->op == SO_MOV && s->w == 8) {
		o = emit(l, CO_MOVI);
		o->d = var(l, s->dst);
		o->imm = prog_value(l->pf->u, &s->a);
		return;
	}
	a = operand(l, &s->a, SLOT_T0(l->nvar));
	if (s->b.kind != SV_NONE)
		b = operand(l, &s->b, SLOT_T1(l->nvar));
	o = emit(l, CO_ALU);
	o->d = var(l, s->dst);
	o->a = a;
	o->b = b;
	o->n = s->op;
	o->w = s->w;
	o->sh = (uint8_t)s->n;
}

static void
lea(struct low *l, const struct sch_step *s)
{
	uint64_t imm;
	struct iop *o;
	int whole = prog_const(l->pf->u, &s->m, &imm);

	o = emit(l, CO_LEA1);
	o->d = var(l, s->dst);
	o->w = s->w;
	if (whole) {
		o->op = CO_MOVI;
		o->imm = s->w == 4 ? (uint32_t)imm : imm;
		return;
	}
	address(l, o, &s->m, imm, CO_LEA1);
	if (s->w != 8)
		o->op = CO_LEAG;
}

static void
loadro(struct low *l, const struct sch_step *s)
{
	struct sch_step a = {.op = SO_LEA, .w = 8, .dst = (int16_t)SLOT_T0(l->nvar), .m = s->m};
	struct iop *o;

	lea(l, &a);
	o = emit(l, CO_LOADRO);
	o->d = var(l, s->dst);
	o->a = (uint16_t)SLOT_T0(l->nvar);
	o->n = (uint16_t)s->n;
	o->sh = s->cc;
	o->w = s->w;
	o->x = l->nref;
}

static void
flags(struct low *l, const struct sch_step *s)
{
	unsigned sh = 64 - 8u * s->w;
	uint16_t a = operand(l, &s->a, SLOT_T0(l->nvar));
	struct iop *o;

	if (s->op == SO_FLAGS_RES || (s->op == SO_FLAGS_SUB && s->b.kind != SV_VAR)) {
		o = emit(l, CO_FLAGSI);
		o->imm = s->op == SO_FLAGS_RES ? 0 : prog_value(l->pf->u, &s->b) << sh;
	} else {
		uint16_t b = operand(l, &s->b, SLOT_T1(l->nvar));

		o = emit(l, s->op == SO_FLAGS_AND ? CO_FLAGSAND : CO_FLAGS);
		o->b = b;
	}
	o->a = a;
	o->d = (uint16_t)SLOT_FA(l->nvar);
	o->sh = (uint8_t)sh;
}

static void
rep(struct low *l, const struct sch_step *s)
{
	struct iop *o;

	close_template(l);
	o = emit(l, CO_REP);
	o->sh = s->cc;
	o->w = s->w;
	o->k = ref_make(REF_INST, l->pc, s->n);
	l->ipc = l->pc;
	l->pc += s->n;
}

static void
call_setjmp(struct low *l, const struct sch_step *s, uint32_t site)
{
	struct iop *o;

	emit(l, CO_UNKNOWN)->a = l->pf->u->sp;
	o = emit(l, CO_SEQJ);
	o->x = s->n;
	o->a = l->pf->u->sp;
	o->d = (uint16_t)l->c->site[site].slot;
	l->c->site[site].ip = l->c->nop;
}

static void
call(struct low *l, const struct sch_step *s)
{
	const struct sch_func *callee;

	close_template(l);
	if (s->op == SO_CALLJ) {
		uint32_t site = l->c->fn[l->pf - l->c->g->func].site;

		while (l->c->site[site].no != s->n)
			site++;
		call_setjmp(l, s, site);
		return;
	}
	if (s->op == SO_CALL) {
		callee = l->pf->u->func + s->sym;
		emit(l, CO_CALL)->x = l->c->g->base[l->pf->unit] + (uint32_t)s->sym;
		if (!(callee->flags & SF_TAILOUT))
			return;
	} else
		emit(l, CO_UNKNOWN)->a = l->pf->u->sp;
	emit(l, CO_SEQ)->a = l->pf->u->sp;
}

static void
step(struct low *l, const struct sch_step *s)
{
	struct iop *o;

	switch (s->op) {
	case SO_INST:
		ref(l, ref_make(REF_INST, l->pc, s->n));
		l->ipc = l->pc;
		l->pc += s->n;
		break;
	case SO_GOTLOAD:
		if (!prog_gotload(l->c->g, l->ipc))
			break;
		/* fallthrough */
	case SO_LOAD:
		access(l, s, REF_LOAD);
		break;
	case SO_STORE:
		access(l, s, REF_STORE);
		break;
	case SO_MODIFY:
		access(l, s, REF_MODIFY);
		break;
	case SO_UNKNOWN:
		unknown(l, s);
		break;
	case SO_LEA:
		lea(l, s);
		break;
	case SO_LOADRO:
		loadro(l, s);
		break;
	case SO_FLAGS_SUB:
	case SO_FLAGS_RES:
	case SO_FLAGS_AND:
		flags(l, s);
		break;
	case SO_SETCC:
	case SO_CMOV:
		if (s->op == SO_CMOV) {
			uint16_t a = operand(l, &s->a, SLOT_T0(l->nvar));

			o = emit(l, CO_CMOV);
			o->a = a;
		} else
			o = emit(l, CO_SETCC);
		o->d = var(l, s->dst);
		o->b = (uint16_t)SLOT_FA(l->nvar);
		o->sh = s->cc;
		o->w = s->w;
		break;
	case SO_CALL:
	case SO_CALLX:
	case SO_CALLJ:
		call(l, s);
		break;
	case SO_REP:
		rep(l, s);
		break;
	default:
		compute(l, s);
	}
}

/* The loop events of an edge */
static void
events(struct low *l, const struct sch_succ *s)
{
	for (uint32_t i = 0; i < s->nev; i++) {
		const struct sch_block *h = l->f->block + l->f->loop[s->ev[i].loop].header;

		ref(l, ref_make(REF_ENTER + s->ev[i].kind, prog_pc(l->pf, h->frag, h->off), 0));
	}
}

/*
 * While a function is lowered, targets are numbers of blocks, or of stubs
 * behind them: patch() makes instructions of them.
 */
struct stub { const struct sch_succ *s; uint32_t ip; };

static uint32_t
target(struct low *l, const struct sch_succ *s, struct stub *stub, uint32_t *nstub)
{
	if (!s->nev)
		return s->block;
	stub[*nstub].s = s;
	return l->f->nblock + (*nstub)++;
}

static void
lower_switch(struct low *l, const struct sch_block *b, struct stub *stub, uint32_t *nstub)
{
	struct code *c = l->c;
	uint16_t a = operand(l, &b->target, SLOT_T0(l->nvar));
	struct iop *o = emit(l, CO_SWITCH);
	uint32_t n = 4, *to;
	struct iswitch *sw;
	uint64_t *key;

	o->a = a;
	o->x = c->nsw;
	while (n < 2 * b->nsucc)
		n *= 2;
	sw = room(l, c->sw, c->nsw, 1, &l->swcap, sizeof *sw);
	if (sw)
		c->sw = sw;
	if (c->nswslot + n > l->slotcap) {
		uint32_t cap = l->slotcap, cap2 = cap;

		key = room(l, c->swkey, c->nswslot, n, &cap, sizeof *key);
		if (key)
			c->swkey = key;
		to = room(l, c->swto, c->nswslot, n, &cap2, sizeof *to);
		if (to)
			c->swto = to;
		l->slotcap = cap;
	}
	if (c->err)
		return;
	c->sw[c->nsw++] = (struct iswitch){c->nswslot, n - 1};
	memset(c->swkey + c->nswslot, 0, n * sizeof *c->swkey);
	memset(c->swto + c->nswslot, 0, n * sizeof *c->swto);
	for (uint32_t i = 0; i < b->nsucc; i++) {
		const struct sch_block *t = l->f->block + b->succ[i].block;
		uint64_t addr = prog_pc(l->pf, t->frag, t->off);
		uint32_t h = code_hash(addr);

		for (;; h++) {
			uint32_t k = c->nswslot + (h & (n - 1));

			if (c->swto[k] && c->swkey[k] == addr)
				break;          /* the first one counts */
			if (c->swto[k])
				continue;
			c->swkey[k] = addr;
			c->swto[k] = target(l, b->succ + i, stub, nstub) + 1;
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
	uint32_t t;

	switch (b->term) {
	case ST_JUMP:
		events(l, b->succ);
		close_template(l);
		if (b->succ->block != no + 1)
			emit(l, CO_JUMP)->x = b->succ->block;
		return;
	case ST_BRANCH:
	case ST_COND:
		close_template(l);
		o = emit(l, b->term == ST_COND ? CO_COND : CO_BRANCH);
		o->a = (uint16_t)SLOT_FA(l->nvar);
		o->sh = b->cc;
		o->x = target(l, b->succ, stub, nstub);
		t = target(l, b->succ + 1, stub, nstub);
		o->imm = t;
		return;
	case ST_SWITCH:
		close_template(l);
		lower_switch(l, b, stub, nstub);
		return;
	case ST_RETURN:
		close_template(l);
		emit(l, CO_RETURN);
		return;
	case ST_TAIL:
		close_template(l);
		emit(l, CO_TAIL)->x = l->c->g->base[l->pf->unit] + b->callee;
		return;
	case ST_TAILX:
		close_template(l);
		emit(l, CO_TAILX);
		return;
	default:
		close_template(l);
		emit(l, CO_NEVER);
	}
}

static uint32_t
place(const struct low *l, const struct stub *stub, uint64_t t)
{
	return t < l->f->nblock ? l->at[t] : stub[t - l->f->nblock].ip;
}

static void
patch(struct low *l, const struct stub *stub, uint32_t first, uint32_t firstsw)
{
	struct code *c = l->c;

	for (uint32_t i = first; i < c->nop; i++) {
		struct iop *o = c->op + i;

		if (o->op != CO_JUMP && o->op != CO_BRANCH && o->op != CO_COND)
			continue;
		o->x = place(l, stub, o->x);
		if (o->op != CO_JUMP)
			o->imm = place(l, stub, o->imm);
	}
	for (uint32_t i = firstsw; i < c->nswslot; i++)
		if (c->swto[i])
			c->swto[i] = place(l, stub, c->swto[i] - 1) + 1;
}

static void
sites(struct low *l, struct ifunc *fn)
{
	struct code *c = l->c;

	fn->site = c->nsite;
	for (uint32_t i = 0; i < l->f->nblock; i++) {
		for (uint32_t j = 0; j < l->f->block[i].nstep; j++) {
			const struct sch_step *s = l->f->block[i].step + j;
			struct isite *p;

			if (s->op != SO_CALLJ)
				continue;
			p = room(l, c->site, c->nsite, 1, &l->sitecap, sizeof *p);
			if (!p)
				return;
			c->site = p;
			p[c->nsite++] = (struct isite){s->n, 0, SLOT_SITE(l->nvar) + fn->nsite++};
		}
	}
	fn->nslot = SLOT_SITE(l->nvar) + fn->nsite;
	if (fn->nslot > UINT16_MAX)
		fail(l, "too many variables");
}

static void
lower_func(struct low *l, struct ifunc *fn)
{
	uint32_t first = l->c->nop, firstsw = l->c->nswslot, nedge = 0, nstub = 0;
	struct stub *stub;

	fn->ip = first;
	fn->need = l->f->need;
	fn->nneed = l->f->nneed;
	fn->sp = l->pf->u->sp;
	sites(l, fn);
	for (uint32_t i = 0; i < l->f->nblock; i++)
		for (uint32_t j = 0; j < l->f->block[i].nsucc; j++)
			nedge += l->f->block[i].succ[j].nev != 0;
	l->at = malloc(l->f->nblock * sizeof *l->at);
	stub = malloc((nedge + 1) * sizeof *stub);
	if (!l->at || !stub)
		fail(l, "out of memory");
	l->refs = NONE;
	for (uint32_t i = 0; !l->c->err && i < l->f->nblock; i++) {
		const struct sch_block *b = l->f->block + i;

		l->at[i] = l->c->nop;
		l->pc = l->ipc = prog_pc(l->pf, b->frag, b->off);
		for (uint32_t j = 0; j < b->nstep; j++) {
			/* a full template ends before the step, so that positions in it stay right */
			if (l->nref >= CODE_ROOM - 1)
				close_template(l);
			step(l, b->step + j);
		}
		if (l->nref + (b->term == ST_JUMP ? b->succ->nev : 0) > CODE_ROOM)
			close_template(l);
		lower_end(l, i, stub, &nstub);
	}
	for (uint32_t i = 0; !l->c->err && i < nstub; i++) {
		stub[i].ip = l->c->nop;
		events(l, stub[i].s);
		close_template(l);
		emit(l, CO_JUMP)->x = stub[i].s->block;
	}
	if (!l->c->err)
		patch(l, stub, first, firstsw);
	free(stub);
	free(l->at);
}

int
code_lower(struct code *c, const struct prog *g)
{
	struct low l = {.c = c};

	memset(c, 0, sizeof *c);
	c->g = g;
	c->fn = calloc((size_t)g->nfunc + 1, sizeof *c->fn);
	if (!c->fn)
		fail(&l, "out of memory");
	else
		emit(&l, CO_SEQROOT);
	for (uint32_t i = 0; !c->err && i < g->nfunc; i++) {
		l.pf = g->func + i;
		l.f = l.pf->f;
		l.nvar = l.f->nvar;
		lower_func(&l, c->fn + i);
	}
	for (int i = 0; i < CODE_PAD; i++)
		ref(&l, 0);
	return c->err ? -1 : 0;
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
	memset(c, 0, sizeof *c);
}
