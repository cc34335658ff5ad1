/* Which operations, with at most one access to memory each, an instruction is. */
#include <string.h>
#include <Zydis/Zydis.h>

#include "insns/micro_internal.h"
#include "isa/x86/operand.h"

static int
plan_in_address(const struct micro_plan *p, unsigned reg)
{
	return p->address[reg / 64] >> reg % 64 & 1;
}

static void
plan_use(struct micro_op *o, unsigned reg)
{
	for (unsigned i = 0; i < o->nin; i++)
		if (o->in[i] == reg)
			return;
	if (o->nin < MICRO_NIN)
		o->in[o->nin++] = (uint8_t)reg;
}

static void
plan_define(struct micro_op *o, unsigned reg, enum micro_from from, unsigned at, unsigned n)
{
	if (o->nout < MICRO_NOUT) {
		o->out[o->nout].reg = (uint8_t)reg;
		o->out[o->nout].from = (uint8_t)from;
		o->out[o->nout].at = (uint8_t)at;
		o->out[o->nout++].n = (uint8_t)n;
	}
}

static struct micro_op *
plan_op(struct micro_plan *p, enum micro_type type)
{
	struct micro_op *o = &p->op[p->n++];

	*o = (struct micro_op){ .type = (uint8_t)type };
	return o;
}

static unsigned
plan_loaded(unsigned i, unsigned size)
{
	return (size > 8 ? MICRO_WIDE : MICRO_LOADED) + (i & 1);
}

/* The registers of the address of reference i. */
static void
plan_address(const struct micro_plan *p, struct micro_op *o, unsigned i)
{
	const struct fact_addr *a = &p->ref[i];

	o->ref = (uint8_t)i;
	if (a->base != FACT_NOREG)
		plan_use(o, a->base);
	if (a->index != FACT_NOREG)
		plan_use(o, a->index);
	if (a->seg != FACT_NOREG)
		plan_use(o, a->seg);
	o->naddr = o->nin;
}

static enum micro_class
plan_class(const struct micro_plan *p)
{
	const struct fact *f = p->f;

	switch (p->in.z.mnemonic) {
	case ZYDIS_MNEMONIC_MUL: case ZYDIS_MNEMONIC_IMUL: case ZYDIS_MNEMONIC_MULX: case ZYDIS_MNEMONIC_DIV:
	case ZYDIS_MNEMONIC_IDIV: return MICRO_SLOW;
	default: break;
	}
	if (f->kind == FACT_LATE)
		return MICRO_SLOW;
	for (unsigned i = 0; i < f->nuse; i++)
		if (f->use[i].reg == FACT_X87 || f->use[i].reg >= FACT_VECTOR)
			return MICRO_VECTOR;
	for (unsigned i = 0; i < f->ndef; i++)
		if (f->def[i].reg == FACT_X87 || f->def[i].reg >= FACT_VECTOR)
			return MICRO_VECTOR;
	return MICRO_SIMPLE;
}

/* The first 16 bytes of vectors count. */
static void
plan_result(const struct micro_plan *p, struct micro_op *o, const struct fact_def *d)
{
	if (d->reg >= FACT_VECTOR && !(d->lanes & 7))
		return;
	if (d->val != FACT_NOVALUE)
		plan_define(o, d->reg, MICRO_VALUE, d->val, d->nval);
	else
		plan_define(o, d->reg, p->in.z.mnemonic == ZYDIS_MNEMONIC_VZEROALL ? MICRO_ZERO :
		    MICRO_UNKNOWN, 0, 0);
}

/* Does a single load make all of the instruction's only result? */
static const struct fact_def *
plan_only_load(const struct micro_plan *p)
{
	const struct fact_def *d = NULL;

	if (p->nload != 1 || p->nstore || (p->in.z.meta.category != ZYDIS_CATEGORY_DATAXFER &&
	    p->in.z.meta.category != ZYDIS_CATEGORY_POP))
		return NULL;
	for (unsigned i = 0; i < p->f->ndef; i++) {
		if (p->stack && p->f->def[i].reg == X86_RSP)
			continue;
		if (d)
			return NULL;
		d = &p->f->def[i];
	}
	if (!d || d->val == FACT_NOVALUE || d->reg == FACT_FLAGS ||
	    (d->reg >= FACT_VECTOR ? (d->lanes & 7) != 7 : !d->whole))
		return NULL;
	for (unsigned i = 0; i < p->f->nuse; i++)
		if (p->f->use[i].reg == d->reg && !plan_in_address(p, d->reg))
			return NULL;
	return d;
}

/* Is what it stores what it has in a register, or has loaded? */
static int
plan_only_store(const struct micro_plan *p)
{
	ZydisInstructionCategory c = p->in.z.meta.category;

	if (c == ZYDIS_CATEGORY_CALL || p->f->kind == FACT_STRING)
		return 1;
	return p->nstore == 1 && p->nref == p->nload + p->nstore && (c == ZYDIS_CATEGORY_PUSH ||
	    c == ZYDIS_CATEGORY_POP || c == ZYDIS_CATEGORY_DATAXFER);
}

static void
plan_loads(struct micro_plan *p)
{
	const struct fact_def *d = plan_only_load(p);
	unsigned k = 0;

	for (unsigned i = 0; i < p->nref; i++) {
		struct micro_op *o;

		if (p->ref[i].kind == REF_STORE)
			continue;
		o = plan_op(p, MICRO_LOAD);
		plan_address(p, o, i);
		if (d)
			plan_result(p, o, d);
		else if (p->branch == BRANCH_RETURN)
			plan_define(o, MICRO_LINK, MICRO_FROM_LOAD, 0, 0);
		else
			plan_define(o, plan_loaded(k++, p->ref[i].size), MICRO_FROM_LOAD, 0, 0);
	}
}

/* What a computation uses: what was loaded, and the registers that only addresses are not made of. */
static void
plan_uses(const struct micro_plan *p, struct micro_op *o)
{
	unsigned k = 0;

	for (unsigned i = 0; i < p->nref && p->branch != BRANCH_RETURN; i++)
		if (p->ref[i].kind != REF_STORE)
			plan_use(o, plan_loaded(k++, p->ref[i].size));
	for (unsigned i = 0; i < p->f->nuse; i++) {
		unsigned reg = p->f->use[i].reg;

		if (!plan_in_address(p, reg) && !(p->stack && reg == X86_RSP))
			plan_use(o, reg);
	}
	/* of a general register, the bytes that are not written are kept */
	for (unsigned i = 0; i < p->f->ndef && o->type == MICRO_COMPUTE; i++)
		if (p->f->def[i].reg < 16 && !p->f->def[i].whole)
			plan_use(o, p->f->def[i].reg);
}

/* The registers that no load defines, and what is computed to be stored. */
static void
plan_computes(struct micro_plan *p)
{
	struct micro_op *o = plan_op(p, MICRO_COMPUTE);
	int only = plan_only_load(p) != NULL;

	o->class = (uint8_t)plan_class(p);
	plan_uses(p, o);
	for (unsigned i = 0; i < p->f->ndef && !only; i++)
		if (!(p->stack && p->f->def[i].reg == X86_RSP))
			plan_result(p, o, &p->f->def[i]);
	for (unsigned i = 0; i < p->nref && !plan_only_store(p); i++)
		if (p->ref[i].kind != REF_LOAD) {
			plan_define(o, p->ref[i].size > 8 ? MICRO_WIDE + 2 : MICRO_STORED, MICRO_FROM_STORE, i, 0);
			break;
		}
	if (!o->nout)
		p->n--;
	if (p->stack) {
		o = plan_op(p, MICRO_COMPUTE);
		plan_use(o, X86_RSP);
		for (unsigned i = 0; i < p->f->ndef; i++)
			if (p->f->def[i].reg == X86_RSP)
				plan_result(p, o, &p->f->def[i]);
	}
}

/* What is stored if it is no other register than those of the address. */
static unsigned
plan_source(const struct micro_plan *p)
{
	int push = p->in.z.meta.category == ZYDIS_CATEGORY_PUSH;
	const ZydisDecodedOperand *o = &p->in.op[!push];
	int g = p->branch == BRANCH_NONE && o->type == ZYDIS_OPERAND_TYPE_REGISTER ? x86_gpr(o->reg.value) : -1;

	return g < 0 ? (unsigned)MICRO_CONSTANT : (unsigned)g;
}

static void
plan_stores(struct micro_plan *p)
{
	for (unsigned i = 0; i < p->nref; i++) {
		struct micro_op *o;

		if (p->ref[i].kind == REF_LOAD)
			continue;
		o = plan_op(p, MICRO_STORE);
		plan_address(p, o, i);
		if (!plan_only_store(p))
			plan_use(o, p->ref[i].size > 8 ? MICRO_WIDE + 2 : MICRO_STORED);
		else if (p->branch == BRANCH_NONE)
			plan_uses(p, o);
		if (o->nin == o->naddr)
			o->in[o->nin++] = (uint8_t)plan_source(p);
	}
}

static void
plan_branches(struct micro_plan *p)
{
	struct micro_op *o = plan_op(p, MICRO_BRANCH);

	if (p->branch == BRANCH_RETURN)
		plan_use(o, MICRO_LINK);
	else
		plan_uses(p, o);
	if (p->branch == BRANCH_CALL || p->branch == BRANCH_CALL_IND)
		plan_define(o, MICRO_LINK, MICRO_RETURN, 0, 0);
}

/* An instruction whose references are known only when it runs: a load of many, what it computes, a store. */
static void
plan_counted(struct micro_plan *p)
{
	struct micro_op *o = plan_op(p, MICRO_LOAD);

	for (unsigned i = 0; i < p->f->nuse; i++)
		if (p->f->use[i].reg < 16)
			plan_use(o, p->f->use[i].reg);
	o->naddr = o->nin;
	plan_define(o, MICRO_LOADED, MICRO_FROM_LOAD, 0, 0);
	o = plan_op(p, MICRO_COMPUTE);
	o->class = (uint8_t)plan_class(p);
	if (p->in.mem >= 0 && x86_refkind(&p->in.op[p->in.mem]) != REF_STORE)
		plan_use(o, MICRO_LOADED);
	plan_uses(p, o);
	for (unsigned i = 0; i < p->f->ndef; i++)
		plan_result(p, o, &p->f->def[i]);
	o = plan_op(p, MICRO_STORE);
	*o = p->op[0];
	o->type = MICRO_STORE;
	o->nout = 0;
	for (unsigned i = p->f->nuse; i-- > 0;)
		if (p->f->use[i].reg >= FACT_VECTOR) {
			plan_use(o, p->f->use[i].reg);
			break;
		}
	if (o->nin == o->naddr && o->nin < MICRO_NIN)
		o->in[o->nin++] = MICRO_CONSTANT;
}

/* The references of an iteration of a string instruction, and where it has their addresses. */
static void
plan_string(struct micro_plan *p)
{
	unsigned op = p->in.z.opcode & 0xfeu, size = p->in.z.operand_width / 8u;
	static const uint8_t movs[] = { REF_LOAD, REF_STORE }, cmps[] = { REF_LOAD, REF_LOAD };
	const uint8_t *kind = op == 0xa4 ? movs : op == 0xa6 ? cmps : op == 0xaa ? movs + 1 : movs;
	int rsi = op == 0xa4 || op == 0xa6 || op == 0xac;

	if (!(p->in.z.opcode & 1))
		size = 1;
	p->nref = op == 0xa4 || op == 0xa6 ? 2 : 1;
	p->nload = p->nstore = 0;
	for (unsigned i = 0; i < p->nref; i++) {
		p->ref[i] = (struct fact_addr){ .base = rsi && i == 0 ? X86_RSI : X86_RDI, .index = FACT_NOREG,
		    .seg = FACT_NOREG, .kind = kind[i], .size = (uint8_t)size };
		if (kind[i] == REF_LOAD)
			p->nload++;
		else
			p->nstore++;
	}
	plan_loads(p);
	plan_stores(p);
	/* of a store, the data is rax or what was loaded: not the count */
	for (unsigned i = 0; i < p->n; i++)
		if (p->op[i].type == MICRO_STORE) {
			p->op[i].nin = p->op[i].naddr;
			plan_use(&p->op[i], op == 0xa4 ? (unsigned)MICRO_LOADED : (unsigned)X86_RAX);
		}
	p->address[0] = p->address[1] = 0;
	plan_computes(p);
}

void
micro_plan(struct micro_plan *p, const struct fact *f, enum branch_kind branch)
{
	struct fact_stack s;

	memset(p, 0, sizeof *p);
	p->f = f;
	p->branch = branch;
	if (x86_inst_decode(&p->in, f->b, f->len, f->pc, f->amd) != 0)
		return;
	if (f->kind == FACT_COUNTED) {
		plan_counted(p);
		return;
	}
	if (f->kind == FACT_STRING) {
		plan_string(p);
		return;
	}
	p->nref = f->nref ? fact_addrs(f, p->ref, &s) : 0;
	for (unsigned i = 0; i < p->nref; i++) {
		const struct fact_addr *a = &p->ref[i];
		uint8_t reg[] = { a->base, a->index, a->seg };

		p->nload += a->kind != REF_STORE;
		p->nstore += a->kind != REF_LOAD;
		for (unsigned k = 0; k < 3; k++)
			if (reg[k] != FACT_NOREG)
				p->address[reg[k] / 64] |= UINT64_C(1) << reg[k] % 64;
	}
	p->stack = branch == BRANCH_CALL || branch == BRANCH_CALL_IND || branch == BRANCH_RETURN ||
	    p->in.z.meta.category == ZYDIS_CATEGORY_PUSH ||
	    (p->in.z.meta.category == ZYDIS_CATEGORY_POP && (f->ndef > 1 || p->nstore));
	plan_loads(p);
	plan_computes(p);
	plan_stores(p);
	if (branch != BRANCH_NONE)
		plan_branches(p);
	if (!p->n) {
		int vector = plan_class(p) == MICRO_VECTOR;

		plan_op(p, MICRO_COMPUTE)->class = vector ? MICRO_VECTOR : MICRO_SLOW;
	}
}
