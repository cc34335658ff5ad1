/*
 * What MIPS instructions compute. Nearly all results in general registers have a case here; every
 * other result is "impossible", to be recorded when an address needs it.
 */
#include <string.h>
#include "isa/mips/lift_internal.h"

#define CC_ALL 0xfffu

struct op_value
mips_reg(int r)
{
	return r == MIPS_ZERO ? insn_imm(0) : insn_var(r);
}

/* The index of the field for the low 16 bits, which the linker fills in. */
int
mips_field(struct lift *l)
{
	l->in->nfield = 1;
	l->in->field[0].off = l->big ? 2 : 0;
	l->in->field[0].size = 2;
	return 0;
}

/* The 16-bit immediate, sign-extended. */
struct op_value
mips_immediate(struct lift *l)
{
	struct op_value v = insn_imm(mips_imm(l->w));

	if (l->reloc) {
		v.kind = SV_SYM;
		v.imm = 0;
		v.var = mips_field(l);
	}
	return v;
}

/* dst <- a op b; nothing if dst is $0. */
void
mips_compute(struct lift *l, int op, int dst, struct op_value a, struct op_value b)
{
	struct insn_effect *e;

	if (dst == MIPS_ZERO)
		return;
	e = insn_effect(l->in, op, dst, 4);
	e->s.a = a;
	e->s.b = b;
}

void
mips_flags(struct lift *l, int op, struct op_value a, struct op_value b)
{
	struct insn_effect *e = insn_effect(l->in, op, MIPS_FLAGS, 4);

	e->s.a = a;
	e->s.b = b;
	e->ccmask = CC_ALL;
}

/* Everything that is written becomes unknown. */
void
mips_unknown(struct lift *l)
{
	int r;

	for (r = 1; r < MIPS_NREG; r++)
		if (l->in->writes >> r & 1)
			insn_effect(l->in, SO_UNKNOWN, r, 4);
}

static int
is_zero(struct op_value v)
{
	return v.kind == SV_IMM && v.imm == 0;
}

/*
 * dst <- a op b, or a plain move if the operation only moves. gcc writes moves like that, and stack
 * frames are followed through them.
 */
static void
mips_alu(struct lift *l, int op, int dst, struct op_value a, struct op_value b)
{
	int same = a.kind == SV_VAR && b.kind == SV_VAR && a.var == b.var;

	if (op == SO_AND ? is_zero(a) || is_zero(b) : same && (op == SO_SUB || op == SO_XOR))
		mips_compute(l, SO_MOV, dst, insn_imm(0), insn_imm(0));
	else if (op != SO_AND && is_zero(b))
		mips_compute(l, SO_MOV, dst, a, insn_imm(0));
	else if (op == SO_SUB && is_zero(a))
		mips_compute(l, SO_NEG, dst, b, insn_imm(0));
	else if (op != SO_AND && is_zero(a))
		mips_compute(l, SO_MOV, dst, b, insn_imm(0));
	else
		mips_compute(l, op, dst, a, b);
}

static void
alu_immediate(struct lift *l)
{
	struct op_value b = l->op->b ? mips_immediate(l) : insn_imm(l->w & 0xffff);

	if (!l->op->b && l->reloc)      /* a field is a signed number */
		mips_unknown(l);
	else
		mips_alu(l, l->op->a, mips_t(l->w), mips_reg(mips_s(l->w)), b);
}

static void
mips_nor(struct lift *l)
{
	int d = mips_d(l->w), s = mips_s(l->w), t = mips_t(l->w);

	if (s && t) {
		mips_compute(l, SO_OR, d, mips_reg(s), mips_reg(t));
		mips_compute(l, SO_NOT, d, mips_reg(d), insn_imm(0));
	} else
		mips_compute(l, SO_NOT, d, mips_reg(s | t), insn_imm(0));
}

/* dst <- 1 if a cc b, else 0. */
static void
mips_set_condition(struct lift *l, int dst, struct op_value a, struct op_value b)
{
	if (dst == MIPS_ZERO)
		return;
	mips_flags(l, SO_FLAGS_SUB, a, b);
	insn_effect(l->in, SO_SETCC, dst, 4)->s.cc = l->op->a;
}

static void
conditional_move(struct lift *l)
{
	struct insn_effect *e;

	if (mips_d(l->w) == MIPS_ZERO)
		return;
	mips_flags(l, SO_FLAGS_RES, mips_reg(mips_t(l->w)), insn_imm(0));
	e = insn_effect(l->in, SO_CMOV, mips_d(l->w), 4);
	e->s.cc = l->op->a;
	e->s.a = mips_reg(mips_s(l->w));
}

/* t <- n bits of s, from bit `pos` on. */
static const char *
mips_extract(struct lift *l)
{
	int t = mips_t(l->w), s = mips_s(l->w), pos = mips_sa(l->w), n = mips_d(l->w) + 1;

	if (pos + n > 32)
		return "not an instruction that can be decoded";
	if (pos) {
		mips_compute(l, SO_SHR, t, mips_reg(s), insn_imm(pos));
		s = t;
	}
	if (pos + n < 32)
		mips_compute(l, SO_AND, t, mips_reg(s), insn_imm((INT64_C(1) << n) - 1));
	else if (pos == 0)
		mips_compute(l, SO_MOV, t, mips_reg(s), insn_imm(0));
	return NULL;
}

/*
 * n bits of t, from bit `pos` on, <- s. s is $0, which aligns, or all bits are replaced; other
 * cases have more steps than there is room for.
 */
static const char *
mips_insert(struct lift *l)
{
	int t = mips_t(l->w), s = mips_s(l->w), pos = mips_sa(l->w), n = mips_d(l->w) + 1 - pos;

	if (n < 1)
		return "not an instruction that can be decoded";
	if (n == 32)
		mips_compute(l, SO_MOV, t, mips_reg(s), insn_imm(0));
	else if (s == MIPS_ZERO)
		mips_compute(l, SO_AND, t, mips_reg(t),
		    insn_imm(0xffffffff & ~(((INT64_C(1) << n) - 1) << pos)));
	else
		mips_unknown(l);
	return NULL;
}

/* Multiply to LO: 32 bits of it are easy. HI holds the product meanwhile and is unknown afterwards. */
static void
mips_multiply(struct lift *l)
{
	struct op_value s = mips_reg(mips_s(l->w)), t = mips_reg(mips_t(l->w));

	if (l->op->a == SO_MOV)
		mips_compute(l, SO_MUL, MIPS_LO, s, t);
	else {
		mips_compute(l, SO_MUL, MIPS_HI, s, t);
		mips_compute(l, l->op->a, MIPS_LO, mips_reg(MIPS_LO), mips_reg(MIPS_HI));
	}
	insn_effect(l->in, SO_UNKNOWN, MIPS_HI, 4);
}

static void
mips_move(struct lift *l)
{
	uint64_t r = l->in->reads, w = l->in->writes;
	int from = MIPS_ZERO, to = MIPS_ZERO, i;

	for (i = 1; i < MIPS_NREG; i++) {
		from = r >> i & 1 ? i : from;
		to = w >> i & 1 ? i : to;
	}
	mips_compute(l, SO_MOV, to, mips_reg(from), insn_imm(0));
}

/* User Local ($29) is the thread pointer */
static void
hardware_register(struct lift *l)
{
	struct insn_effect *e;

	if (mips_t(l->w) == MIPS_ZERO)
		return;
	if (mips_d(l->w) != 29) {
		mips_unknown(l);
		return;
	}
	e = insn_effect(l->in, SO_LEA, mips_t(l->w), 4);
	e->s.m.scale = 1;
	e->s.m.fs = 1;
}

/* A flat switch: one case for each computation. */
const char *
mips_computation(struct lift *l)
{
	int s = mips_s(l->w), t = mips_t(l->w), d = mips_d(l->w), op = l->op->a;

	switch (l->op->meaning) {
	case M_ALU:
		mips_alu(l, op, d, mips_reg(s), mips_reg(t));
		break;
	case M_ALUI:
		alu_immediate(l);
		break;
	case M_NOR:
		mips_nor(l);
		break;
	case M_SHIFT:
		if (mips_sa(l->w))
			mips_compute(l, op, d, mips_reg(t), insn_imm(mips_sa(l->w)));
		else
			mips_compute(l, SO_MOV, d, mips_reg(t), insn_imm(0));
		break;
	case M_SHIFTV:
		mips_compute(l, op, d, mips_reg(t), mips_reg(s));
		break;
	case M_SLT:
		mips_set_condition(l, d, mips_reg(s), mips_reg(t));
		break;
	case M_SLTI:
		mips_set_condition(l, t, mips_reg(s), mips_immediate(l));
		break;
	case M_LUI:
		if (l->reloc)
			mips_compute(l, SO_SHL, t, mips_immediate(l), insn_imm(16));
		else
			mips_compute(l, SO_MOV, t, insn_imm((int64_t)(l->w & 0xffff) << 16), insn_imm(0));
		break;
	case M_MOVC:
		conditional_move(l);
		break;
	case M_WSBH:
		mips_compute(l, SO_BSWAP, d, mips_reg(t), insn_imm(0));
		mips_compute(l, SO_ROR, d, mips_reg(d), insn_imm(16));
		break;
	case M_SEXT:
		mips_compute(l, SO_SEXT, d, mips_reg(t), insn_imm(0));
		l->in->eff[0].s.n = l->op->a;
		break;
	case M_MOVE:
		mips_move(l);
		break;
	case M_MULT:
		mips_multiply(l);
		break;
	case M_MUL:
		mips_compute(l, SO_MUL, d, mips_reg(s), mips_reg(t));
		insn_effect(l->in, SO_UNKNOWN, MIPS_HI, 4);
		insn_effect(l->in, SO_UNKNOWN, MIPS_LO, 4);
		break;
	case M_EXT:
		return mips_extract(l);
	case M_INS:
		return mips_insert(l);
	case M_RDHWR:
		hardware_register(l);
		break;
	case M_COUNT:
		mips_unknown(l);
		return t == d ? NULL : "not an instruction that can be decoded";
	default:
		mips_unknown(l);
		break;
	}
	return NULL;
}
