/*
 * What x86-64 instructions compute. Only computations of addresses and loop conditions have a case
 * here; every other result is "impossible", to be recorded when an address needs it.
 */
#include <string.h>
#include "isa/x86/lift_internal.h"
#include "isa/x86/operand.h"

#define CC(x) (1u << SC_##x)
#define CC_ZS (CC(EQ) | CC(NE) | CC(NEG) | CC(NNEG))
#define CC_ALL 0xfffu
#define CC_NOCARRY (CC_ALL & ~(CC(LTU) | CC(LEU) | CC(GTU) | CC(GEU)))

/* Operand o as a value; 0 if it is not a simple one (high byte, vector register). */
static int
x86_value(struct lift *l, const ZydisDecodedOperand *o, struct op_value *v)
{
	int f;

	if (o->type == ZYDIS_OPERAND_TYPE_MEMORY) {
		*v = insn_var(X86_MEM);
		return l->in->mref >= 0;
	}
	if (o->type == ZYDIS_OPERAND_TYPE_REGISTER) {
		if (x86_gpr(o->reg.value) < 0 || x86_highbyte(o->reg.value))
			return 0;
		*v = insn_var(x86_gpr(o->reg.value));
		return 1;
	}
	if (o->type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
		return 0;
	f = x86_immfield(l, 0);
	*v = insn_imm((int64_t)o->imm.value.u);
	if (f != SCH_NOSYM) {
		v->kind = SV_SYM;
		v->var = f;
		v->imm = 0;
	}
	return 1;
}

/* "Impossible": records the whole register that operand o names, or the narrow result. */
static void
x86_impossible(struct lift *l, const ZydisDecodedOperand *o)
{
	int r = x86_gpr(o->reg.value);

	/* the upper half is unchanged if the 32 bits are not written */
	insn_effect(l->in, SO_UNKNOWN, r, o->size == 32 && !x86_maywrite(l, o) ? 4 : 8);
}

/* The variable that operand o is as a destination; -1 if none. */
static int
x86_destination(const struct lift *l, const ZydisDecodedOperand *o)
{
	if (o->type == ZYDIS_OPERAND_TYPE_MEMORY)
		return l->in->mref >= 0 ? X86_MEM : -1;
	return o->type == ZYDIS_OPERAND_TYPE_REGISTER &&
	    !x86_highbyte(o->reg.value) ? x86_gpr(o->reg.value) : -1;
}

static void
flags_unknown(struct lift *l)
{
	if (l->anyflags)
		insn_effect(l->in, SO_UNKNOWN, X86_FLAGS, 8);
}

/* All general registers that are written, and the flags, become impossible. */
static const char *
default_effects(struct lift *l)
{
	uint32_t done = 0;
	int i;

	for (i = 0; i < l->z.operand_count; i++) {
		const ZydisDecodedOperand *o = &l->op[i];
		int r;

		if (o->type != ZYDIS_OPERAND_TYPE_REGISTER || !(o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
		    || (r = x86_gpr(o->reg.value)) < 0 || done >> r & 1)
			continue;
		if (r == X86_RSP)
			return "unusual change of the stack pointer";
		if (l->in->neff == INSN_MAXEFF - 2)
			return "too many results";
		done |= 1u << r;
		x86_impossible(l, o);
	}
	for (i = 0; i < l->in->nref; i++)
		if (i == l->in->mref && l->in->ref[i].op != SO_LOAD && l->in->ref[i].op != SO_GOTLOAD)
			insn_effect(l->in, SO_UNKNOWN, X86_MEM, 8);
	flags_unknown(l);
	return NULL;
}

static void
x86_flags(struct lift *l, int op, int w, struct op_value a, struct op_value b, unsigned ccmask)
{
	struct insn_effect *e = insn_effect(l->in, op, X86_FLAGS, w);

	e->s.a = a;
	e->s.b = b;
	e->ccmask = (uint16_t)ccmask;
}

static void
x86_compute(struct lift *l, int op, int dst, int w, struct op_value a, struct op_value b)
{
	struct insn_effect *e = insn_effect(l->in, op, dst, w);

	e->s.a = a;
	e->s.b = b;
}

/* mov, movzx, movsx, movsxd and the like; ext: 0 zero, 1 sign, 2 plain mov. */
static const char *
x86_move(struct lift *l, int ext)
{
	const ZydisDecodedOperand *d = &l->op[0], *s = &l->op[1];
	const char *why = x86_memory_operands(l);
	struct insn_effect *e;
	struct op_value v;
	int dst = x86_destination(l, d), w = d->size / 8;

	if (why)
		return why;
	if (dst < 0 || !x86_value(l, s, &v) || (ext != 2 && w < 4))
		return default_effects(l);
	e = insn_effect(l->in, ext == 2 ? SO_MOV : ext ? SO_SEXT : SO_ZEXT, dst, w);
	e->s.a = v;
	if (ext != 2)
		e->s.n = s->size / 8;
	return NULL;
}

/* Two-operand arithmetic. */
static const char *
x86_arithmetic(struct lift *l, int op)
{
	const ZydisDecodedOperand *d = &l->op[0], *s = &l->op[1];
	const char *why = x86_memory_operands(l);
	int dst, w = d->size / 8;
	struct op_value v;

	if (why)
		return why;
	dst = x86_destination(l, d);
	if (dst < 0 || !x86_value(l, s, &v))
		return default_effects(l);
	if ((op == SO_XOR || op == SO_SUB) && v.kind == SV_VAR && v.var == dst && dst < X86_NREG && w >= 4) {
		x86_compute(l, SO_MOV, dst, w, insn_imm(0), insn_imm(0));
		x86_flags(l, SO_FLAGS_RES, w, insn_var(dst), insn_imm(0), CC_ALL);
		return NULL;
	}
	if (op == SO_SUB)
		x86_flags(l, SO_FLAGS_SUB, w, insn_var(dst), v, CC_ALL);
	x86_compute(l, op, dst, w, insn_var(dst), v);
	if (op == SO_AND || op == SO_OR || op == SO_XOR)
		x86_flags(l, SO_FLAGS_RES, w, insn_var(dst), insn_imm(0), CC_ALL);
	else if (op == SO_ADD)
		x86_flags(l, SO_FLAGS_RES, w, insn_var(dst), insn_imm(0), CC_ZS);
	return NULL;
}

static const char *
x86_shift(struct lift *l, int op)
{
	const ZydisDecodedOperand *d = &l->op[0], *s = &l->op[1];
	const char *why = x86_memory_operands(l);
	struct op_value v;
	int dst = x86_destination(l, d), w = d->size / 8;

	if (why)
		return why;
	if (dst < 0 || !x86_value(l, s, &v) || v.kind == SV_SYM)
		return default_effects(l);
	/* narrow rotates by more than their width have no computation */
	if (w < 4 && (op == SO_ROL || op == SO_ROR))
		return default_effects(l);
	x86_compute(l, op, dst, w, insn_var(dst), v);
	if (v.kind == SV_IMM && (v.imm & (w == 8 ? 63 : 31)) && op != SO_ROL && op != SO_ROR)
		x86_flags(l, SO_FLAGS_RES, w, insn_var(dst), insn_imm(0), CC_ZS);
	else
		flags_unknown(l);
	return NULL;
}

/* inc, dec, neg, not, bswap */
static const char *
x86_unary(struct lift *l)
{
	const ZydisDecodedOperand *d = &l->op[0];
	const char *why = x86_memory_operands(l);
	int r = x86_destination(l, d), w = d->size / 8;

	if (why)
		return why;
	if (r < 0)
		return default_effects(l);
	switch (l->z.mnemonic) {
	case ZYDIS_MNEMONIC_INC:
		x86_compute(l, SO_ADD, r, w, insn_var(r), insn_imm(1));
		x86_flags(l, SO_FLAGS_RES, w, insn_var(r), insn_imm(0), CC_ZS);
		break;
	case ZYDIS_MNEMONIC_DEC:
		x86_flags(l, SO_FLAGS_SUB, w, insn_var(r), insn_imm(1), CC_NOCARRY);
		x86_compute(l, SO_SUB, r, w, insn_var(r), insn_imm(1));
		break;
	case ZYDIS_MNEMONIC_NEG:
		x86_flags(l, SO_FLAGS_SUB, w, insn_imm(0), insn_var(r), CC_ALL);
		x86_compute(l, SO_NEG, r, w, insn_var(r), insn_imm(0));
		break;
	case ZYDIS_MNEMONIC_NOT:
		x86_compute(l, SO_NOT, r, w, insn_var(r), insn_imm(0));
		break;
	default:
		if (w < 4)
			return default_effects(l);
		x86_compute(l, SO_BSWAP, r, w, insn_var(r), insn_imm(0));
		break;
	}
	return NULL;
}

static const char *
x86_compare(struct lift *l, int op)
{
	const char *why = x86_memory_operands(l);
	struct op_value a, b;

	if (why)
		return why;
	if (!x86_value(l, &l->op[0], &a) || !x86_value(l, &l->op[1], &b))
		flags_unknown(l);
	else
		x86_flags(l, op, l->op[0].size / 8, a, b, CC_ALL);
	return NULL;
}

static const char *
x86_multiply(struct lift *l)
{
	const ZydisDecodedOperand *d = &l->op[0];
	int n = l->z.operand_count_visible;
	const char *why = x86_memory_operands(l);
	struct op_value a, b;

	if (why)
		return why;
	if (n < 2 || d->size < 32 || !x86_value(l, &l->op[n - 1], &b) || !x86_value(l, &l->op[n - 2], &a))
		return default_effects(l);
	x86_compute(l, SO_MUL, x86_gpr(d->reg.value), d->size / 8, a, b);
	flags_unknown(l);
	return NULL;
}

static const char *
x86_lea(struct lift *l)
{
	const ZydisDecodedOperand *d = &l->op[0];
	struct insn_effect *e;
	const char *why;

	if (d->size < 32) {
		x86_impossible(l, d);
		return NULL;
	}
	e = insn_effect(l->in, SO_LEA, x86_gpr(d->reg.value), d->size / 8);
	why = x86_mem(l, &l->op[1], &e->s.m);
	/* the value is known only if the linker has changed nothing; else the call, which uses it, does nothing */
	if (!why && e->s.m.sym != SCH_NOSYM && l->rel[l->in->field[e->s.m.sym].off] == MR_TLSDESC)
		x86_ref(l, SO_GOTLOAD, &e->s.m, 8);
	return why;
}

static const char *
x86_push(struct lift *l)
{
	struct op_value v;
	struct sch_addr m;
	const char *why;

	if (l->z.operand_width == 16)
		return "16-bit push";
	if (l->op[0].type == ZYDIS_OPERAND_TYPE_MEMORY) {
		if ((why = x86_mem(l, &l->op[0], &m)) != NULL)
			return why;
		x86_ref(l, m.sym != SCH_NOSYM &&
		    l->rel[l->in->field[m.sym].off] == MR_GOT ? SO_GOTLOAD : SO_LOAD, &m, 8);
	}
	m = x86_stack(-8);
	x86_ref(l, SO_STORE, &m, 8);
	l->in->mref = (int8_t)(l->in->nref - 1);
	if (l->op[0].type != ZYDIS_OPERAND_TYPE_MEMORY && x86_value(l, &l->op[0], &v))
		x86_compute(l, SO_MOV, X86_MEM, 8, v, insn_imm(0));
	else
		insn_effect(l->in, SO_UNKNOWN, X86_MEM, 8);
	x86_compute(l, SO_SUB, X86_RSP, 8, insn_var(X86_RSP), insn_imm(8));
	return NULL;
}

static const char *
x86_pop(struct lift *l)
{
	struct sch_addr m = x86_stack(0);
	const char *why;

	if (l->z.operand_width == 16)
		return "16-bit pop";
	x86_ref(l, SO_LOAD, &m, 8);
	if (l->op[0].type == ZYDIS_OPERAND_TYPE_MEMORY) {
		if ((why = x86_mem(l, &l->op[0], &m)) != NULL)
			return why;
		if (m.base == X86_RSP)
			return "pop relative to the stack pointer";
		x86_ref(l, SO_STORE, &m, 8);
		l->in->mref = 1;
		insn_effect(l->in, SO_UNKNOWN, X86_MEM, 8);
	} else {
		if (x86_gpr(l->op[0].reg.value) == X86_RSP)
			return "pop of the stack pointer";
		l->in->mref = 0;
		x86_compute(l, SO_MOV, x86_gpr(l->op[0].reg.value), 8, insn_var(X86_MEM), insn_imm(0));
	}
	x86_compute(l, SO_ADD, X86_RSP, 8, insn_var(X86_RSP), insn_imm(8));
	return NULL;
}

static const char *
x86_leave(struct lift *l)
{
	struct sch_addr m = x86_stack(0);
	struct insn_effect *e;

	if (l->z.operand_width == 16)
		return "16-bit leave";
	m.base = X86_RBP;
	x86_ref(l, SO_LOAD, &m, 8);
	e = insn_effect(l->in, SO_LEA, X86_RSP, 8);
	e->s.m = m;
	e->s.m.disp = 8;
	l->in->mref = 0;
	x86_compute(l, SO_MOV, X86_RBP, 8, insn_var(X86_MEM), insn_imm(0));
	return NULL;
}

static void
x86_advance(struct lift *l, int r, int w)
{
	x86_compute(l, SO_ADD, r, 8, insn_var(r), insn_imm(w));
}

static uint8_t
near_kind(ZydisMnemonic m)
{
	switch (m) {
	case ZYDIS_MNEMONIC_JRCXZ: return X86_JRCXZ;
	case ZYDIS_MNEMONIC_JECXZ: return X86_JECXZ;
	case ZYDIS_MNEMONIC_LOOP: return X86_LOOP;
	case ZYDIS_MNEMONIC_LOOPE: return X86_LOOPE;
	case ZYDIS_MNEMONIC_LOOPNE: return X86_LOOPNE;
	default: return 0;
	}
}

/* call, ret, jmp and jcc */
static const char *
x86_control(struct lift *l)
{
	const ZydisDecodedOperand *o = &l->op[0];
	struct insn *in = l->in;
	struct sch_addr m;
	const char *why;

	if (l->z.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR)
		return "far transfer";
	if (l->z.meta.category == ZYDIS_CATEGORY_COND_BR) {
		in->ctl = IC_BRANCH;
		in->near = near_kind(l->z.mnemonic);
		in->cc = in->near ? INSN_NOCC : x86_cond(l->z.opcode);
		if (in->near >= X86_LOOP && l->z.address_width != 64)
			return "loop that counts in ecx";
		if (in->near >= X86_LOOP)
			x86_advance(l, X86_RCX, -1);
		return NULL;
	}
	if (l->z.meta.category == ZYDIS_CATEGORY_RET) {
		if (l->z.operand_count_visible)
			return "return that pops arguments";
		m = x86_stack(0);
		x86_ref(l, SO_LOAD, &m, 8);
		in->ctl = IC_RETURN;
		return NULL;
	}
	if (o->type == ZYDIS_OPERAND_TYPE_MEMORY) {
		if ((why = x86_mem(l, o, &m)) != NULL)
			return why;
		x86_ref(l, l->rel[0] == MR_TLSDESCCALL || (m.sym != SCH_NOSYM && l->rel[in->field[m.sym].off] == MR_GOT) ?
		    SO_GOTLOAD : SO_LOAD, &m, 8);
		in->setsdst = 2;
	} else if (o->type == ZYDIS_OPERAND_TYPE_REGISTER) {
		in->setsdst = 1;
		in->tgt = (int16_t)x86_gpr(o->reg.value);
	}
	if (l->z.meta.category == ZYDIS_CATEGORY_CALL) {
		m = x86_stack(-8);
		x86_ref(l, SO_STORE, &m, 8);
		in->mref = (int8_t)(in->nref - 1);
		insn_effect(l->in, SO_UNKNOWN, X86_MEM, 8);
		in->ctl = in->setsdst ? IC_CALLIND : IC_CALL;
		if (l->rel[0] == MR_TLSDESCCALL)
			in->changes = 1u << X86_RAX;
		in->reads |= 1u << X86_RSP;
	} else
		in->ctl = in->setsdst ? IC_SWITCH : IC_JUMP;
	return NULL;
}

/* movs stos lods cmps scas, with and without rep */
static const char *
x86_string(struct lift *l, int kind, int w)
{
	int rep = x86_repeated(&l->z);
	int si = kind == SR_MOVS || kind == SR_LODS || kind == SR_CMPS;
	int di = kind != SR_LODS;
	struct insn *in = l->in;
	struct insn_effect *e;
	struct sch_addr m;
	unsigned moved;

	if (l->z.address_width != 64)
		return "string instruction with narrow addresses";
	if (si && l->z.attributes & (ZYDIS_ATTRIB_HAS_SEGMENT_FS | ZYDIS_ATTRIB_HAS_SEGMENT_GS))
		return "string instruction with a segment";
	/* Zydis does not report that cmps changes its registers */
	moved = (si ? 1u << X86_RSI : 0) | (di ? 1u << X86_RDI : 0);
	in->reads |= moved;
	in->vreads |= moved;
	in->writes |= moved;
	m = x86_stack(0);
	if (kind == SR_CMPS) {          /* rdi is read first, as in ref(5) */
		m.base = X86_RDI;
		x86_ref(l, SO_LOAD, &m, (unsigned)w);
	}
	if (si) {
		m.base = X86_RSI;
		x86_ref(l, SO_LOAD, &m, (unsigned)w);
	}
	if (di && kind != SR_CMPS) {
		m.base = X86_RDI;
		x86_ref(l, kind == SR_SCAS ? SO_LOAD : SO_STORE, &m, (unsigned)w);
	}
	if (kind == SR_LODS)            /* nothing is loaded if rcx is 0 */
		insn_effect(l->in, SO_UNKNOWN, X86_RAX, w < 4 || rep ? 8 : w);
	if (!rep) {
		if (si)
			x86_advance(l, X86_RSI, w);
		if (di)
			x86_advance(l, X86_RDI, w);
		flags_unknown(l);
		return NULL;
	}
	in->rep = l->z.attributes & ZYDIS_ATTRIB_HAS_REPNE ? 2 : 1;
	in->tgt = X86_RCX;
	e = insn_effect(l->in, SO_REP, X86_RCX, w);
	e->s.cc = (uint8_t)kind;
	e->s.n = in->len;
	if (si)
		insn_effect(l->in, SO_REP, X86_RSI, w);
	if (di)
		insn_effect(l->in, SO_REP, X86_RDI, w);
	flags_unknown(l);
	return NULL;
}

/* setcc and cmovcc into a register */
static const char *
x86_conditional(struct lift *l, int cmov)
{
	const ZydisDecodedOperand *d = &l->op[0];
	const char *why = x86_memory_operands(l);
	uint8_t cc = x86_cond(l->z.opcode);
	struct insn_effect *e;
	struct op_value v = insn_imm(0);

	int dst = x86_destination(l, d);

	if (why)
		return why;
	if (cc == INSN_NOCC || dst < 0 || (cmov && !x86_value(l, &l->op[1], &v)))
		return default_effects(l);
	e = insn_effect(l->in, cmov ? SO_CMOV : SO_SETCC, dst, d->size / 8);
	e->s.cc = cc;
	e->s.a = v;
	return NULL;
}

/* cbw cwde cdqe (dst = rax) and cwd cdq cqo (dst = rdx) */
static const char *
x86_widen(struct lift *l, int dst, int w)
{
	struct insn_effect *e;

	if (dst == X86_RDX) {
		if (w == 2)
			return default_effects(l);
		x86_compute(l, SO_MOV, X86_RDX, w, insn_var(X86_RAX), insn_imm(0));
		x86_compute(l, SO_SAR, X86_RDX, w, insn_var(X86_RDX), insn_imm(w == 8 ? 63 : 31));
		return NULL;
	}
	e = insn_effect(l->in, SO_SEXT, X86_RAX, w);
	e->s.a = insn_var(X86_RAX);
	e->s.n = (uint32_t)w / 2;
	return NULL;
}

static const char *
string_op(struct lift *l)
{
	static const struct { uint8_t first, kind; } kinds[] = {
		{ 0xa4, SR_MOVS }, { 0xa6, SR_CMPS }, { 0xaa, SR_STOS }, { 0xac, SR_LODS }, { 0xae, SR_SCAS }
	};
	size_t i;

	for (i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		if ((l->z.opcode & 0xfe) == kinds[i].first)
			return x86_string(l, kinds[i].kind, l->z.opcode & 1 ? l->z.operand_width / 8 : 1);
	return "string instruction not supported";
}

static const char *
x86_other(struct lift *l)
{
	const char *why = x86_memory_operands(l);

	return why ? why : default_effects(l);
}

/* A flat switch: one case for each group of mnemonics. */
const char *
x86_meaning(struct lift *l)
{
	int sse = l->op[0].type == ZYDIS_OPERAND_TYPE_REGISTER && x86_gpr(l->op[0].reg.value) < 0;

	switch (l->z.meta.category) {
	case ZYDIS_CATEGORY_CALL:
	case ZYDIS_CATEGORY_RET:
	case ZYDIS_CATEGORY_COND_BR:
	case ZYDIS_CATEGORY_UNCOND_BR:
		return x86_control(l);
	case ZYDIS_CATEGORY_STRINGOP:
		return string_op(l);
	case ZYDIS_CATEGORY_CMOV:
		return x86_conditional(l, 1);
	case ZYDIS_CATEGORY_SETCC:
		return x86_conditional(l, 0);
	default:
		break;
	}
	if (sse)
		return x86_other(l);
	switch (l->z.mnemonic) {
	case ZYDIS_MNEMONIC_MOV: return x86_move(l, 2);
	case ZYDIS_MNEMONIC_MOVZX: return x86_move(l, 0);
	case ZYDIS_MNEMONIC_MOVSX:
	case ZYDIS_MNEMONIC_MOVSXD: return x86_move(l, 1);
	case ZYDIS_MNEMONIC_LEA: return x86_lea(l);
	case ZYDIS_MNEMONIC_ADD: return x86_arithmetic(l, SO_ADD);
	case ZYDIS_MNEMONIC_SUB: return x86_arithmetic(l, SO_SUB);
	case ZYDIS_MNEMONIC_AND: return x86_arithmetic(l, SO_AND);
	case ZYDIS_MNEMONIC_OR: return x86_arithmetic(l, SO_OR);
	case ZYDIS_MNEMONIC_XOR: return x86_arithmetic(l, SO_XOR);
	case ZYDIS_MNEMONIC_SHL: return x86_shift(l, SO_SHL);
	case ZYDIS_MNEMONIC_SHR: return x86_shift(l, SO_SHR);
	case ZYDIS_MNEMONIC_SAR: return x86_shift(l, SO_SAR);
	case ZYDIS_MNEMONIC_ROL: return x86_shift(l, SO_ROL);
	case ZYDIS_MNEMONIC_ROR: return x86_shift(l, SO_ROR);
	case ZYDIS_MNEMONIC_INC: case ZYDIS_MNEMONIC_DEC: case ZYDIS_MNEMONIC_NEG:
	case ZYDIS_MNEMONIC_NOT: case ZYDIS_MNEMONIC_BSWAP: return x86_unary(l);
	case ZYDIS_MNEMONIC_CMP: return x86_compare(l, SO_FLAGS_SUB);
	case ZYDIS_MNEMONIC_TEST: return x86_compare(l, SO_FLAGS_AND);
	case ZYDIS_MNEMONIC_IMUL: return x86_multiply(l);
	case ZYDIS_MNEMONIC_PUSH: return x86_push(l);
	case ZYDIS_MNEMONIC_POP: return x86_pop(l);
	case ZYDIS_MNEMONIC_LEAVE: return x86_leave(l);
	case ZYDIS_MNEMONIC_CBW: return x86_widen(l, X86_RAX, 2);
	case ZYDIS_MNEMONIC_CWDE: return x86_widen(l, X86_RAX, 4);
	case ZYDIS_MNEMONIC_CDQE: return x86_widen(l, X86_RAX, 8);
	case ZYDIS_MNEMONIC_CWD: return x86_widen(l, X86_RDX, 2);
	case ZYDIS_MNEMONIC_CDQ: return x86_widen(l, X86_RDX, 4);
	case ZYDIS_MNEMONIC_CQO: return x86_widen(l, X86_RDX, 8);
	case ZYDIS_MNEMONIC_XCHG:
	case ZYDIS_MNEMONIC_XADD:
		return x86_other(l);
	case ZYDIS_MNEMONIC_UD2:
	case ZYDIS_MNEMONIC_HLT:
		l->in->ctl = IC_STOP;
		return NULL;
	default:
		return x86_other(l);
	}
}
