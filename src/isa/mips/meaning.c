/* References and control of MIPS instructions. */
#include <string.h>
#include "isa/mips/lift_internal.h"

static struct sch_addr
mips_address(struct lift *l)
{
	struct sch_addr m = {
		.base = SCH_NOVAR, .index = SCH_NOVAR, .scale = 1, .sym = SCH_NOSYM, .disp = mips_imm(l->w)
	};

	if (mips_s(l->w) != MIPS_ZERO)
		m.base = (int16_t)mips_s(l->w);
	if (l->reloc) {
		m.sym = mips_field(l);
		m.disp = 0;
	}
	return m;
}

/* s + t. Either may be negative, so the sum is truncated to 32 bits. */
static struct sch_addr
address_sum(struct lift *l)
{
	struct sch_addr m = {
		.base = SCH_NOVAR, .index = SCH_NOVAR, .scale = 1, .sym = SCH_NOSYM, .narrow = 1
	};

	if (mips_s(l->w) != MIPS_ZERO)
		m.base = (int16_t)mips_s(l->w);
	if (mips_t(l->w) != MIPS_ZERO)
		m.index = (int16_t)mips_t(l->w);
	return m;
}

static struct op_step *
mips_reference(struct lift *l, int op, struct sch_addr m)
{
	struct op_step *s = &l->in->ref[l->in->nref++];

	memset(s, 0, sizeof *s);
	s->op = (uint8_t)op;
	s->n = l->op->a;
	s->m = m;
	s->dst = SCH_NOVAR;
	l->in->mref = 0;
	return s;
}

static void
mips_load(struct lift *l)
{
	struct insn_effect *e;
	int t = mips_t(l->w);

	mips_reference(l, SO_LOAD, mips_address(l));
	if (t == MIPS_ZERO)
		return;
	e = insn_effect(l->in, l->op->b, t, 4);
	e->s.a = mips_reg(MIPS_MEM);
	if (l->op->b != SO_MOV)
		e->s.n = l->op->a;
}

/* A store of rt or of an unknown value (and the result of sc in rt). */
static void
mips_store(struct lift *l, struct sch_addr m, int known)
{
	struct insn_effect *e;

	mips_reference(l, SO_STORE, m);
	mips_unknown(l);
	e = insn_effect(l->in, known ? SO_MOV : SO_UNKNOWN, MIPS_MEM, l->op->a);
	if (known)
		e->s.a = mips_reg(mips_t(l->w));
}

/* lwl, lwr, swl, swr: some bytes of an aligned word. Effects cannot use such a reference as memory. */
static void
mips_partial_word(struct lift *l, int op)
{
	struct sch_addr m = mips_address(l);

	m.align = 1;
	mips_reference(l, op, m);
	l->in->mref = -1;
	mips_unknown(l);
}

static void
mips_set_jump(struct lift *l, int ctl)
{
	l->in->ctl = (uint8_t)ctl;
	l->in->slot = 1;
	if (ctl == IC_SWITCH || ctl == IC_CALLIND) {
		l->in->setsdst = 1;
		l->in->tgt = (int16_t)mips_s(l->w);
	}
	mips_unknown(l);        /* $31 */
}

static const char *
jump_register(struct lift *l)
{
	int s = mips_s(l->w), d = mips_d(l->w);

	if (s == MIPS_ZERO)
		return "jump to the address in $0";
	if (l->op->meaning == M_JALR) {
		if (d != MIPS_RA || s == MIPS_RA)
			return "call that links in an unusual register";
		mips_set_jump(l, IC_CALLIND);
	} else
		mips_set_jump(l, s == MIPS_RA ? IC_RETURN : IC_SWITCH);
	return NULL;
}

static void
isa_mips_branch(struct lift *l)
{
	int s = mips_s(l->w), t = l->op->meaning == M_BRANCH ? mips_t(l->w) : MIPS_ZERO, cc = l->op->a;

	if (l->op->meaning != M_BRANCHF && s == t && (cc == SC_EQ || cc == SC_LE || cc == SC_GE)) {
		mips_set_jump(l, IC_JUMP);
		return;
	}
	l->in->ctl = IC_BRANCH;
	l->in->slot = l->op->b ? 2 : 1;
	if (l->op->meaning == M_BRANCHF)
		return;
	mips_flags(l, SO_FLAGS_SUB, mips_reg(s), mips_reg(t));
	l->in->cc = (uint8_t)cc;
}

static const char *
conditional_call(struct lift *l)
{
	if (!l->op->a || mips_s(l->w) != MIPS_ZERO)
		return "conditional call";
	mips_set_jump(l, IC_CALL);
	return NULL;
}

static void
mips_trap(struct lift *l)
{
	int always = l->op->meaning == M_BREAK;

	if (l->op->meaning == M_TRAP)
		always = l->op->a && mips_s(l->w) == mips_t(l->w);
	else if (l->op->meaning == M_TRAPI)
		always = l->op->a && mips_s(l->w) == MIPS_ZERO && mips_imm(l->w) == 0;
	if (always)
		l->in->ctl = IC_STOP;
}

static void
mips_references(struct lift *l)
{
	switch (l->op->meaning) {
	case M_LOAD:
		mips_load(l);
		break;
	case M_LOADPART:
		mips_partial_word(l, SO_LOAD);
		break;
	case M_LOADF:
		mips_reference(l, SO_LOAD, mips_address(l));
		break;
	case M_LOADFX:
		mips_reference(l, SO_LOAD, address_sum(l));
		break;
	case M_STORE:
		mips_store(l, mips_address(l), 1);
		break;
	case M_STOREX:
		mips_store(l, mips_address(l), 0);
		break;
	case M_STOREFX:
		mips_store(l, address_sum(l), 0);
		break;
	default:        /* M_STOREPART */
		mips_partial_word(l, SO_STORE);
		break;
	}
}

/* A flat switch: one case for each meaning. */
const char *
mips_meaning(struct lift *l)
{
	switch (l->op->meaning) {
	case M_JR: case M_JALR:
		return jump_register(l);
	case M_JUMP:
		mips_set_jump(l, IC_JUMP);
		return NULL;
	case M_CALL:
		mips_set_jump(l, IC_CALL);
		return NULL;
	case M_CALLC:
		return conditional_call(l);
	case M_BRANCH: case M_BRANCHZ: case M_BRANCHF:
		isa_mips_branch(l);
		return NULL;
	case M_SYSCALL:
		return "system call instruction";
	case M_BREAK: case M_TRAP: case M_TRAPI:
		mips_trap(l);
		return NULL;
	case M_ALIGN8:
		return "reference that ignores low bits of its address";
	case M_LOAD: case M_LOADPART: case M_LOADF: case M_LOADFX:
	case M_STORE: case M_STOREPART: case M_STOREX: case M_STOREFX:
		mips_references(l);
		return NULL;
	default:
		return mips_computation(l);
	}
}
