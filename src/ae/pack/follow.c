/* Executes a program's instructions as far as they are known: see follow.h. */
#include "ae/pack/follow.h"

#include <stdlib.h>

#include "ae/regen/code.h"
#include "base/bytes.h"

#define MASK48 UINT64_C(0xffffffffffff)

enum follow_kind {
	F_END,
	F_LOAD,         /* mem <- w bytes at reference a */
	F_STORE,        /* w bytes at reference a <- mem */
	F_MOVES,        /* the last load is moved into a register */
	F_MOV8, F_MOVI8, F_MOV4, F_ADD8, F_ADD8I, F_ADD4, F_ADD4I,
	F_ALU, F_ALUI,  /* k: the operation, in width w, n */
	F_LEA,          /* a, and b << n */
	F_LEA4,
	F_FLAGS,        /* of a and b; n: the shift */
	F_FLAGSI, F_FLAGSAND, F_FLAGSANDI, F_NOFLAGS,
	F_SETCC, F_CMOV,
	F_TARGET,       /* a */
	F_NOTARGET
};

struct follow_op {
	uint8_t op, w, d, a, b, n, k, end;      /* end: it is the last one of its instruction */
	uint64_t imm;
};

void
follow_fill(void *prog, uint64_t addr, uint8_t page[RECALL_PAGE])
{
	const struct prog *g = prog;
	const struct prog_source *s = &g->src;

	memset(page, 0, RECALL_PAGE);
	addr -= g->loaded;
	if (!s->image || s->image(s->arg, addr, page, RECALL_PAGE))
		return;
	/* the ends of a segment */
	for (unsigned i = 0; i < RECALL_PAGE; i += 16)
		if (!s->image(s->arg, addr + i, page + i, 16))
			for (unsigned k = i; k < i + 16; k++)
				s->image(s->arg, addr + k, page + k, 1);
}

int
follow_init(struct follow *f, const struct machine *m, struct recall *s)
{
	memset(f, 0, sizeof *f);
	f->machine = m;
	f->recall = s;
	f->mem = machine_mem(m);
	f->nop = 1;
	f->cap = 256;
	f->op = calloc(f->cap, sizeof *f->op);
	return f->op ? 0 : -1;
}

void
follow_free(struct follow *f)
{
	free(f->op);
	f->op = NULL;
}

static struct follow_op *
follow_emit(struct follow *f, unsigned op)
{
	static struct follow_op none;
	struct follow_op *p;

	if (f->nop == f->cap) {
		p = f->cap > UINT32_MAX / 4 ? NULL : realloc(f->op, 2 * f->cap * sizeof *p);
		if (!p) {
			f->failed = 1;
			return &none;
		}
		f->op = p;
		f->cap *= 2;
	}
	p = f->op + f->nop++;
	memset(p, 0, sizeof *p);
	p->op = (uint8_t)op;
	return p;
}

/* An instruction being translated */
struct follow_insn {
	struct insn in;
	const uint8_t *bytes;
	uint64_t pc;
};

/* The constant that operand field k of the instruction is, in the executable */
static uint64_t
follow_field(const struct follow *f, const struct follow_insn *x, int k)
{
	const struct insn_field *d = x->in.field + k;
	uint64_t v = get_order(x->bytes + d->off, d->size, f->machine->big);
	unsigned sh = 64 - 8u * d->size;

	v = (uint64_t)((int64_t)(v << sh) >> sh);
	return d->rip ? v + x->pc + x->in.len : v;
}

static int
follow_constant(const struct follow *f, const struct follow_insn *x, const struct op_value *v, uint64_t *imm)
{
	if (v->kind == SV_VAR)
		return 0;
	*imm = v->kind == SV_IMM ? (uint64_t)v->imm : v->kind == SV_SYM ? follow_field(f, x, v->var) + (uint64_t)v->imm : 0;
	return 1;
}

/* A form for two operands, of which the second may be constant: op, op + 1 */
static void
follow_binary(struct follow *f, const struct follow_insn *x, const struct op_step *s, unsigned op)
{
	uint64_t ia, ib = 0;
	int ka = follow_constant(f, x, &s->a, &ia), kb = follow_constant(f, x, &s->b, &ib);
	struct follow_op *o;

	if (ka) {               /* neg is 0 - a: rare */
		o = follow_emit(f, F_MOVI8);
		o->d = FOLLOW_VARS - 1;
		o->imm = ia;
	}
	o = follow_emit(f, op + (kb != 0));
	o->d = (uint8_t)s->dst;
	o->w = s->w;
	o->a = ka ? FOLLOW_VARS - 1 : (uint8_t)s->a.var;
	o->b = kb ? 0 : (uint8_t)s->b.var;
	o->n = (uint8_t)s->n;
	o->k = s->op;
	o->imm = ib;
}

static void
follow_move(struct follow *f, const struct follow_insn *x, const struct op_step *s)
{
	uint64_t imm;
	struct follow_op *o;

	if (s->w < 4) {
		struct op_step t = *s;

		t.b = (struct op_value){0};
		follow_binary(f, x, &t, F_ALU);
		return;
	}
	if (follow_constant(f, x, &s->a, &imm)) {
		o = follow_emit(f, F_MOVI8);
		o->imm = s->w == 4 ? (uint32_t)imm : imm;
	} else {
		o = follow_emit(f, s->w == 8 ? F_MOV8 : F_MOV4);
		o->a = (uint8_t)s->a.var;
	}
	o->d = (uint8_t)s->dst;
}

static void
follow_lea(struct follow *f, const struct follow_insn *x, const struct op_step *s)
{
	struct follow_op *o = follow_emit(f, s->w == 8 && !s->m.narrow ? F_LEA : F_LEA4);
	unsigned zero = FOLLOW_VARS - 2;

	o->d = (uint8_t)s->dst;
	o->a = s->m.base == SCH_NOVAR ? (uint8_t)zero : (uint8_t)s->m.base;
	o->b = s->m.index == SCH_NOVAR ? (uint8_t)zero : (uint8_t)s->m.index;
	o->n = s->m.scale == 8 ? 3 : s->m.scale == 4 ? 2 : s->m.scale == 2 ? 1 : 0;
	o->imm = (uint64_t)s->m.disp + (s->m.sym == SCH_NOSYM ? 0 : follow_field(f, x, s->m.sym));
}

static void
follow_flags(struct follow *f, const struct follow_insn *x, const struct op_step *s)
{
	struct op_step t = *s;
	unsigned op = s->op == SO_FLAGS_AND ? F_FLAGSAND : F_FLAGS;

	if (s->op == SO_FLAGS_RES)
		t.b = (struct op_value){SV_IMM, 0, 0};
	t.n = 64 - 8u * s->w;
	t.dst = 0;
	follow_binary(f, x, &t, op);
	if (f->op[f->nop - 1].op == F_FLAGSI)
		f->op[f->nop - 1].imm <<= t.n;
}

static void
follow_effect(struct follow *f, const struct follow_insn *x, const struct op_step *s)
{
	struct follow_op *o;

	switch (s->op) {
	case SO_UNKNOWN:
		if (s->dst == (int)machine_flags(f->machine))
			follow_emit(f, F_NOFLAGS);
		return;
	case SO_MOV:
		follow_move(f, x, s);
		return;
	case SO_LEA:
		follow_lea(f, x, s);
		return;
	case SO_ADD:
		follow_binary(f, x, s, s->w == 8 ? F_ADD8 : s->w == 4 ? F_ADD4 : F_ALU);
		return;
	case SO_FLAGS_SUB:
	case SO_FLAGS_RES:
	case SO_FLAGS_AND:
		follow_flags(f, x, s);
		return;
	case SO_SETCC:
		o = follow_emit(f, F_SETCC);
		o->d = (uint8_t)s->dst;
		o->w = s->w;
		o->k = s->cc;
		return;
	case SO_CMOV:
		o = follow_emit(f, F_CMOV);
		o->d = (uint8_t)s->dst;
		o->a = s->a.kind == SV_VAR ? (uint8_t)s->a.var : (uint8_t)s->dst;
		o->w = s->w;
		o->k = s->cc;
		return;
	case SO_REP:
		return;
	default:
		follow_binary(f, x, s, F_ALU);
	}
}

static int
follow_uses(const struct insn *in, unsigned mem)
{
	for (unsigned i = 0; i < in->neff; i++) {
		const struct op_step *s = &in->eff[i].s;

		if ((s->a.kind == SV_VAR && s->a.var == (int)mem) || (s->b.kind == SV_VAR && s->b.var == (int)mem))
			return 1;
	}
	return in->setsdst == 2;
}

/* Is the value that it loads what an event of it has? */
static unsigned
follow_moved(const struct insn *in, unsigned mem)
{
	const struct op_step *s = &in->eff[0].s;

	if (in->setsdst == 2)
		return in->ref[0].n;
	if (in->neff == 0 || s->a.kind != SV_VAR || s->a.var != (int)mem || s->dst == (int)mem)
		return 0;
	if (s->op == SO_MOV)
		return s->w;
	return s->op == SO_ZEXT || s->op == SO_SEXT ? s->n : 0;
}

static void
follow_translate(struct follow *f, struct follow_insn *x, unsigned nref)
{
	struct insn *in = &x->in;
	int at = in->setsdst == 2 ? 0 : in->mref;
	unsigned mem = f->mem, moved = 0, n = 0;
	struct follow_op *o;
	int writes = 0, unknown = 0;

	if (at >= 0 && (nref == in->nref))
		n = in->ref[at].n;
	if (n > 8)
		n = 0;
	if (n && in->ref[at].op != SO_STORE && (follow_uses(in, mem) || in->ref[at].op == SO_MODIFY)) {
		o = follow_emit(f, F_LOAD);
		o->a = (uint8_t)at;
		o->w = (uint8_t)n;
		moved = follow_moved(in, mem);
		if (moved) {
			o = follow_emit(f, F_MOVES);
			o->a = (uint8_t)at;
			o->w = (uint8_t)moved;
		}
	}
	if (in->setsdst)
		follow_emit(f, F_TARGET)->a = in->setsdst == 1 ? (uint8_t)in->tgt : (uint8_t)mem;
	else if (in->ctl == IC_CALL)
		follow_emit(f, F_NOTARGET);
	for (unsigned i = 0; i < in->neff; i++) {
		writes |= in->eff[i].s.dst == (int)mem;
		unknown |= in->eff[i].s.dst == (int)mem && in->eff[i].s.op == SO_UNKNOWN;
		follow_effect(f, x, &in->eff[i].s);
	}
	if (n && writes && !unknown && (in->ref[at].op == SO_STORE || in->ref[at].op == SO_MODIFY)) {
		o = follow_emit(f, F_STORE);
		o->a = (uint8_t)at;
		o->w = (uint8_t)n;
	}
}

uint32_t
follow_insn(void *arg, const struct prog *g, const struct prog_func *pf, uint64_t pc, unsigned nref, uint8_t *cc)
{
	static const uint8_t rel[32];
	struct follow *f = arg;
	struct follow_insn x;
	uint8_t b[32] = { 0 };
	const struct prog_source *s = pf->lib ? &g->lib[pf->lib - 1].src : &g->src;
	uint64_t at = pc - (pf->lib ? g->lib[pf->lib - 1].loaded : g->loaded);
	uint32_t first = f->nop;
	size_t n = f->machine->maxinsn < 15 ? f->machine->maxinsn : 15;

	f->g = g;
	*cc = INSN_NOCC;
	while (n && (!s->image || !s->image(s->arg, at, b, n)))
		n--;
	if (!n || f->machine->lift(f->machine, b, n, rel, &x.in))
		return 0;
	x.bytes = b;
	x.pc = pc;
	*cc = x.in.cc;
	if (!x.in.rep)
		follow_translate(f, &x, nref);
	if (f->nop == first)
		return 0;
	f->op[f->nop - 1].end = 1;
	return f->failed ? 0 : first;
}

int
follow_branch(const struct follow *f, unsigned cc)
{
	return code_cond(cc, f->fa, f->fb);
}

void
follow_run(void *arg, uint32_t no, const uint64_t *refs)
{
	struct follow *f = arg;
	const struct follow_op *o = f->op + no;
	uint64_t *v = f->var;

	f->moved = 0;
	for (;; o++) {
		switch ((enum follow_kind)o->op) {
		case F_END:
			break;
		case F_LOAD:
			v[f->mem] = recall_load(f->recall, refs[o->a] & MASK48, o->w);
			break;
		case F_STORE:
			recall_store(f->recall, refs[o->a] & MASK48, o->w, v[f->mem]);
			break;
		case F_MOVES:
			f->addr = refs[o->a] & MASK48;
			f->moved = o->w;
			break;
		case F_MOV8:
			v[o->d] = v[o->a];
			break;
		case F_MOVI8:
			v[o->d] = o->imm;
			break;
		case F_MOV4:
			v[o->d] = (uint32_t)v[o->a];
			break;
		case F_ADD8:
			v[o->d] = v[o->a] + v[o->b];
			break;
		case F_ADD8I:
			v[o->d] = v[o->a] + o->imm;
			break;
		case F_ADD4:
			v[o->d] = (uint32_t)(v[o->a] + v[o->b]);
			break;
		case F_ADD4I:
			v[o->d] = (uint32_t)(v[o->a] + o->imm);
			break;
		case F_ALU:
			v[o->d] = code_result(o->w, v[o->d], code_alu(o->k, o->w, o->n, v[o->a], v[o->b]));
			break;
		case F_ALUI:
			v[o->d] = code_result(o->w, v[o->d], code_alu(o->k, o->w, o->n, v[o->a], o->imm));
			break;
		case F_LEA:
			v[o->d] = v[o->a] + (v[o->b] << o->n) + o->imm;
			break;
		case F_LEA4:
			v[o->d] = (uint32_t)(v[o->a] + (v[o->b] << o->n) + o->imm);
			break;
		case F_FLAGS:
			f->fa = v[o->a] << o->n;
			f->fb = v[o->b] << o->n;
			f->flags = 1;
			break;
		case F_FLAGSI:
			f->fa = v[o->a] << o->n;
			f->fb = o->imm;
			f->flags = 1;
			break;
		case F_FLAGSAND:
			f->fa = (v[o->a] & v[o->b]) << o->n;
			f->fb = 0;
			f->flags = 1;
			break;
		case F_FLAGSANDI:
			f->fa = (v[o->a] & o->imm) << o->n;
			f->fb = 0;
			f->flags = 1;
			break;
		case F_NOFLAGS:
			f->flags = 0;
			break;
		case F_SETCC:
			v[o->d] = code_result(o->w, o->w == 1 ? v[o->d] : 0, (uint64_t)code_cond(o->k, f->fa, f->fb));
			break;
		case F_TARGET:
			f->target = v[o->a];
			break;
		case F_NOTARGET:
			f->target = 0;
			break;
		case F_CMOV:
			v[o->d] = code_result(o->w, v[o->d], code_cond(o->k, f->fa, f->fb) ? v[o->a] : v[o->d]);
			break;
		}
		if (o->end)
			return;
	}
}

void
follow_string(void *arg, unsigned how, unsigned w, uint64_t n, uint64_t rsi, uint64_t rdi)
{
	struct follow *f = arg;
	uint8_t b[8];

	if (how != SR_MOVS && how != SR_STOS)
		return;
	for (unsigned i = 0; i < w; i++)
		b[i] = (uint8_t)(f->var[0] >> 8 * i);
	for (; n; n--, rsi += w, rdi += w) {
		if (how == SR_MOVS)
			recall_read(f->recall, rsi & MASK48, b, w);
		recall_write(f->recall, rdi & MASK48, b, w);
	}
}

void
follow_correct(struct follow *f, const struct regen_ask *a, uint64_t v)
{
	unsigned sh = 64 - 8 * a->n;

	if (f->moved && !a->alone && (a->n >= f->moved || !f->machine->big))
		recall_store(f->recall, f->addr, a->n < f->moved ? a->n : f->moved, v);
	f->moved = 0;
	if (a->reg == REGEN_MEM) {
		f->var[f->mem] = v;
		return;
	}
	if (a->how == 1 || a->how == 3) {
		v = (uint64_t)((int64_t)(v << sh) >> sh);
		if (a->how == 3)
			v = (uint32_t)v;
	} else if (a->how == 2)
		v = code_result(a->n, f->var[a->reg], v);
	f->var[a->reg] = v;
}
