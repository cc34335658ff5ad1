/* Lowers the steps of a block to the interpreter's code, code.def. */

#include "ae/regen/lower_internal.h"
#include "ae/regen/model.h"
#include "format/ref/ref.h"

static uint16_t
lower_var(const struct low *l, int v)
{
	return (uint16_t)(v == SCH_NOVAR ? (int)SLOT_ZERO(l->nvar) : v);
}

static unsigned
lower_log2of(unsigned v)
{
	return v == 8 ? 3 : v == 4 ? 2 : v == 2 ? 1 : 0;
}

/* Fills in the address fields of o, and chooses among three forms. */
static void
lower_address(struct low *l, struct iop *o, const struct sch_addr *m, uint64_t imm, unsigned op1)
{
	o->a = lower_var(l, m->base);
	o->b = lower_var(l, m->index);
	o->sh = (uint8_t)lower_log2of(m->scale);
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
lower_access(struct low *l, const struct op_step *s, unsigned kind)
{
	uint64_t imm;

	if (prog_const(l->pf->u, &s->m, &imm)) {
		low_ref(l, ref_make(kind, imm, s->n));
		return;
	}
	low_ref(l, 0);
	if (l->c->err)
		return;
	struct iop *o = low_emit(l, CO_R1);

	lower_address(l, o, &s->m, imm, CO_R1);
	if (s->m.align)
		o->op = CO_RA;
	o->x = l->nref - 1;
	o->k = ref_make(kind, 0, s->n);
}

uint32_t
low_where(struct low *l, unsigned kind, uint64_t pc)
{
	struct code *c = l->c;
	struct regen_site *p;

	if (!c->count)
		return 0;
	p = low_room(l, c->where, c->nwhere, 1, &l->wherecap, sizeof *p);
	if (!p)
		return 0;
	c->where = p;
	p[c->nwhere] = (struct regen_site){pc, (enum regen_kind)kind, 0, 0};
	return c->nwhere++;
}

struct iop *
low_event(struct low *l, unsigned kind, unsigned n)
{
	struct iop *o;
	uint32_t where;

	if (!l->c->count)
		return &l->none;
	/* those two are read before the instruction that they belong to */
	where = low_where(l, kind, kind == RK_STRING || kind == RK_BLOCK ? l->pc : l->ipc);
	o = low_emit(l, l->c->model ? CO_EVENT : CO_COUNT);
	o->k = where;
	o->a = (uint16_t)kind;
	o->n = (uint16_t)n;
	o->x = l->nref;
	return o;
}

void
low_sync(struct low *l, int var)
{
	struct iop *o;

	if (!l->c->model || var < 0 || (uint32_t)var >= l->pf->u->nregs)
		return;
	o = low_emit(l, CO_SYNC);
	o->d = o->a = (uint16_t)var;
}

/* Is step s one of the references of the instruction that was fetched before? */
static int
follow_ref(const struct op_step *s)
{
	return s->op == SO_LOAD || s->op == SO_STORE || s->op == SO_MODIFY || s->op == SO_GOTLOAD;
}

static int
follow_computes(const struct op_step *s)
{
	return s->op > SO_UNKNOWN && s->op < SO_CALL && s->op != SO_FLAGS_SUB && s->op != SO_FLAGS_RES &&
	    s->op != SO_FLAGS_AND;
}

/* An instruction and its references are complete when another step follows: then the model executes it. */
void
low_follow(struct low *l, const struct sch_block *b, uint32_t j)
{
	const struct regen_model *m = l->c->model;
	struct iop *o;
	uint32_t no;

	if (!m)
		return;
	if (l->begun && (j + 1 == b->nstep || !follow_ref(b->step + j + 1))) {
		l->begun = 0;
		no = m->insn(m->program, l->c->g, l->pf, l->ipc, l->nref - l->first, &l->cc);
		l->followed = no != 0;
		if (no) {
			o = low_emit(l, CO_MODEL);
			o->imm = no;
			o->x = l->first;
		}
	}
	if (follow_computes(b->step + j))
		low_sync(l, b->step[j].dst);
	else if (prog_iscall(b->step + j)) {
		l->followed = 0;
		low_sync(l, l->pf->u->sp);
	}
}

static void
lower_unknown(struct low *l, const struct op_step *s)
{
	int big = l->c->g->big;
	unsigned op = big ? CO_UNKGB : CO_UNKG;
	struct iop *o;
	uint64_t where;

	o = low_event(l, RK_VALUE, s->cc == 4 ? 4 : s->w);
	o->d = s->dst >= 0 && (uint32_t)s->dst < l->pf->u->nregs ? (uint16_t)s->dst : REGEN_MEM;
	o->sh = s->cc;
	o->b = l->followed ? 0 : 2;
	where = o->k;
	if (s->cc == 4)
		op = CO_UNKS;
	else if (s->w == 8)
		op = big ? CO_UNK8B : CO_UNK8;
	else if (s->w == 4 && (s->cc == 0 || s->cc == 2 || s->cc == 3))
		op = big ? CO_UNK4B : CO_UNK4;
	else if (s->w == 1 && s->cc == 0)
		op = CO_UNK1;
	o = low_emit(l, op);
	o->d = lower_var(l, s->dst);
	o->w = s->w;
	o->sh = s->cc;
	o->k = where;
	o->x = l->nref;
}

/* The slot of an operand; an operand that is not a variable is loaded into slot t. */
uint16_t
low_operand(struct low *l, const struct op_value *v, unsigned t)
{
	struct iop *o;

	if (v->kind == SV_VAR)
		return (uint16_t)v->var;
	o = low_emit(l, CO_MOVI);
	o->d = (uint16_t)t;
	o->imm = prog_value(l->pf->u, v);
	return (uint16_t)t;
}

/* Forms with a constant operand or a common width; 1 if one was emitted. */
static int
short_form(struct low *l, const struct op_step *s)
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
	o = low_emit(l, (unsigned)op);
	o->d = lower_var(l, s->dst);
	o->a = (uint16_t)s->a.var;
	o->b = rb ? (uint16_t)s->b.var : 0;
	o->imm = imm;
	return 1;
}

static void
lower_compute(struct low *l, const struct op_step *s)
{
	uint16_t a, b = 0;
	struct iop *o;

	if (short_form(l, s))
		return;
	if (s->op == SO_MOV && s->w == 8) {
		o = low_emit(l, CO_MOVI);
		o->d = lower_var(l, s->dst);
		o->imm = prog_value(l->pf->u, &s->a);
		return;
	}
	a = low_operand(l, &s->a, SLOT_T0(l->nvar));
	if (s->b.kind != SV_NONE)
		b = low_operand(l, &s->b, SLOT_T1(l->nvar));
	o = low_emit(l, CO_ALU);
	o->d = lower_var(l, s->dst);
	o->a = a;
	o->b = b;
	o->n = s->op;
	o->w = s->w;
	o->sh = (uint8_t)s->n;
}

static void
lower_lea(struct low *l, const struct op_step *s)
{
	uint64_t imm;
	struct iop *o;
	int whole = prog_const(l->pf->u, &s->m, &imm);

	o = low_emit(l, CO_LEA1);
	o->d = lower_var(l, s->dst);
	o->w = s->w;
	if (whole) {
		o->op = CO_MOVI;
		o->imm = s->w == 4 ? (uint32_t)imm : imm;
		return;
	}
	lower_address(l, o, &s->m, imm, CO_LEA1);
	if (s->m.align) {
		o = low_emit(l, s->w == 8 ? CO_AND8I : CO_AND4I);
		o->d = o->a = lower_var(l, s->dst);
		o->imm = ~UINT64_C(3);
	} else if (s->w != 8)
		o->op = CO_LEAG;
}

static void
lower_loadro(struct low *l, const struct op_step *s)
{
	struct op_step a = {.op = SO_LEA, .w = 8, .dst = (int16_t)SLOT_T0(l->nvar), .m = s->m};
	struct iop *o;

	lower_lea(l, &a);
	o = low_emit(l, CO_LOADRO);
	o->d = lower_var(l, s->dst);
	o->a = (uint16_t)SLOT_T0(l->nvar);
	o->n = (uint16_t)s->n;
	o->b = l->c->g->big;
	o->sh = s->cc;
	o->w = s->w;
	o->k = l->pf->lib;
	o->x = l->nref;
}

static void
lower_flags(struct low *l, const struct op_step *s)
{
	unsigned sh = 64 - 8u * s->w;
	uint16_t a = low_operand(l, &s->a, SLOT_T0(l->nvar));
	struct iop *o;

	if (s->op == SO_FLAGS_RES || (s->op == SO_FLAGS_SUB && s->b.kind != SV_VAR)) {
		o = low_emit(l, CO_FLAGSI);
		o->imm = s->op == SO_FLAGS_RES ? 0 : prog_value(l->pf->u, &s->b) << sh;
	} else {
		uint16_t b = low_operand(l, &s->b, SLOT_T1(l->nvar));

		o = low_emit(l, s->op == SO_FLAGS_AND ? CO_FLAGSAND : CO_FLAGS);
		o->b = b;
	}
	o->a = a;
	o->d = (uint16_t)SLOT_FA(l->nvar);
	o->sh = (uint8_t)sh;
}

static void
lower_rep(struct low *l, const struct op_step *s)
{
	struct iop *o;

	low_close(l);
	if (s->cc == SR_CMPS || s->cc == SR_SCAS)
		low_event(l, RK_STRING, 9)->sh = s->cc;
	o = low_emit(l, CO_REP);
	o->sh = s->cc;
	o->w = s->w;
	o->k = ref_make(REF_INST, l->pc, s->n);
	l->ipc = l->pc;
	l->pc += s->n;
}

static void
lower_masked(struct low *l, const struct op_step *s)
{
	const struct op_step at = {.op = SO_LEA, .w = 8, .dst = (int16_t)SLOT_T0(l->nvar), .m = s->m};
	struct iop *o;

	low_close(l);
	lower_lea(l, &at);
	o = low_emit(l, CO_MASKED);
	o->d = (uint16_t)SLOT_T0(l->nvar);
	o->a = (uint16_t)s->a.var;
	o->b = (uint16_t)(s->b.kind == SV_VAR ? s->b.var : s->a.var);
	o->n = (uint16_t)s->n;
	o->w = s->w;
	o->sh = s->cc;
}

static void
unknown_call(struct low *l)
{
	struct iop *o = low_emit(l, CO_UNKNOWN);

	o->a = l->pf->u->sp;
	o->imm = l->pf->u->push;
}

static void
call_setjmp(struct low *l, const struct op_step *s, uint32_t site)
{
	struct iop *o;
	uint32_t where;

	unknown_call(l);
	where = low_where(l, RK_ITEM, l->ipc);
	o = low_emit(l, CO_SEQJ);
	o->k = where;
	o->x = s->n;
	o->a = l->pf->u->sp;
	o->d = (uint16_t)l->c->site[site].slot;
	l->c->site[site].ip = l->c->nop;
}

/* What the callee needs and the events have is known in the caller from there on, as the registers are the same. */
static void
lower_linked(struct low *l, const struct op_step *s)
{
	const struct sch_func *callee = l->c->g->func[s->sym].f;
	struct iop *o;

	l->followed = 0;
	for (uint32_t i = 0; s->cc && i < callee->nneed; i++) {
		const struct op_step value = prog_need(l->pf->u, callee, i);

		lower_unknown(l, &value);
	}
	o = low_emit(l, CO_CALL);
	o->x = (uint32_t)s->sym;
	o->imm = l->pf->u->push;
}

static void
lower_call(struct low *l, const struct op_step *s)
{
	const struct sch_func *callee;
	struct iop *o;
	uint32_t where;

	low_close(l);
	if (s->op == SO_CALLJ) {
		uint32_t site = l->c->fn[l->pf - l->c->g->func].site;

		while (l->c->site[site].no != s->n)
			site++;
		call_setjmp(l, s, site);
		return;
	}
	if (s->op == SO_LINKED && s->sym != SCH_NOSYM) {
		lower_linked(l, s);
		return;
	}
	if (s->op == SO_CALL) {
		callee = l->pf->u->func + s->sym;
		o = low_emit(l, CO_CALL);
		o->x = l->c->g->base[l->pf->unit] + (uint32_t)s->sym;
		o->imm = l->pf->u->push;
		if (!(callee->flags & SF_TAILOUT))
			return;
	} else
		unknown_call(l);
	where = low_where(l, RK_ITEM, l->ipc);
	o = low_emit(l, CO_SEQ);
	o->a = l->pf->u->sp;
	o->k = where;
}

void
low_step(struct low *l, const struct op_step *s)
{
	struct iop *o;
	int loads;

	switch (s->op) {
	case SO_INST:
		if (l->c->model && l->nref > CODE_ROOM - 8)
			low_close(l);
		low_ref(l, ref_make(REF_INST, l->pc, s->n));
		l->first = l->nref;
		l->begun = 1;
		l->ipc = l->pc;
		l->pc += s->n;
		l->nop = 0;
		break;
	case SO_GOTLOAD:
		loads = prog_gotload(l->c->g, l->pf, l->ipc);
		l->nop = loads < 0;
		if (loads <= 0)
			break;
		/* fallthrough */
	case SO_LOAD:
		lower_access(l, s, REF_LOAD);
		break;
	case SO_STORE:
		if (!l->nop)
			lower_access(l, s, REF_STORE);
		break;
	case SO_MODIFY:
		lower_access(l, s, REF_MODIFY);
		break;
	case SO_UNKNOWN:
		lower_unknown(l, s);
		break;
	case SO_LEA:
		lower_lea(l, s);
		break;
	case SO_LOADRO:
		lower_loadro(l, s);
		break;
	case SO_FLAGS_SUB:
	case SO_FLAGS_RES:
	case SO_FLAGS_AND:
		lower_flags(l, s);
		break;
	case SO_SETCC:
	case SO_CMOV:
		if (s->op == SO_CMOV) {
			uint16_t a = low_operand(l, &s->a, SLOT_T0(l->nvar));

			o = low_emit(l, CO_CMOV);
			o->a = a;
		} else
			o = low_emit(l, s->w == 1 ? CO_SETCC : CO_SETCC8);
		o->d = lower_var(l, s->dst);
		o->b = (uint16_t)SLOT_FA(l->nvar);
		o->sh = s->cc;
		o->w = s->w;
		break;
	case SO_CALL:
	case SO_CALLX:
	case SO_CALLJ:
	case SO_LINKED:
		lower_call(l, s);
		break;
	case SO_REP:
		lower_rep(l, s);
		break;
	case SO_MASKED:
		lower_masked(l, s);
		break;
	default:
		lower_compute(l, s);
	}
}
