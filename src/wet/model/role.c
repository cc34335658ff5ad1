/* What an instruction does with its operands: which only form addresses, does it copy, has it a result. */
#include <Zydis/Zydis.h>

#include "isa/x86/decode.h"
#include "isa/x86/operand.h"
#include "wet/model/port.h"

#define READS  (ZYDIS_OPERAND_ACTION_READ | ZYDIS_OPERAND_ACTION_CONDREAD)

struct insn {
	const struct fact *f;
	ZydisDecodedInstruction z;
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
};

/* The container of a register, as fact.h numbers them; FACT_NREG: another one */
static unsigned
role_container(ZydisRegister r)
{
	int g = x86_gpr(r);

	if (g >= 0)
		return (unsigned)g;
	switch (ZydisRegisterGetClass(r)) {
	case ZYDIS_REGCLASS_XMM: case ZYDIS_REGCLASS_YMM: case ZYDIS_REGCLASS_ZMM:
		return FACT_VECTOR + (unsigned)ZydisRegisterGetId(r);
	case ZYDIS_REGCLASS_MASK:
		return FACT_MASK + (unsigned)ZydisRegisterGetId(r);
	default:
		return r == ZYDIS_REGISTER_FS ? FACT_FSBASE : r == ZYDIS_REGISTER_GS ? FACT_GSBASE :
		    FACT_NREG;
	}
}

/* Does it move the stack pointer, besides what it is for? */
static int
role_moves_stack(ZydisMnemonic m)
{
	return m == ZYDIS_MNEMONIC_PUSH || m == ZYDIS_MNEMONIC_PUSHF || m == ZYDIS_MNEMONIC_PUSHFQ ||
	    m == ZYDIS_MNEMONIC_POP || m == ZYDIS_MNEMONIC_POPF || m == ZYDIS_MNEMONIC_POPFQ ||
	    m == ZYDIS_MNEMONIC_CALL || m == ZYDIS_MNEMONIC_RET || m == ZYDIS_MNEMONIC_LEAVE ||
	    m == ZYDIS_MNEMONIC_ENTER;
}

/* Is a register that a string instruction uses one that its values do not come from? */
static int
role_string_address(const struct insn *in, unsigned reg)
{
	switch (in->z.mnemonic) {
	case ZYDIS_MNEMONIC_SCASB: case ZYDIS_MNEMONIC_SCASW: case ZYDIS_MNEMONIC_SCASD:
	case ZYDIS_MNEMONIC_SCASQ:
	case ZYDIS_MNEMONIC_CMPSB: case ZYDIS_MNEMONIC_CMPSW: case ZYDIS_MNEMONIC_CMPSD:
	case ZYDIS_MNEMONIC_CMPSQ:
		return reg == X86_RSI || reg == X86_RDI || reg == FACT_FLAGS;
	default:
		return reg == X86_RSI || reg == X86_RDI || reg == X86_RCX || reg == FACT_FLAGS;
	}
}

/* Is the value of register reg used, not only as a part of an address? */
static int
role_uses_value(const struct insn *in, unsigned reg)
{
	if (in->z.mnemonic == ZYDIS_MNEMONIC_SYSCALL || in->z.mnemonic == ZYDIS_MNEMONIC_LEAVE)
		return 0;
	if (in->f->kind == FACT_STRING)
		return !role_string_address(in, reg);
	for (unsigned i = 0; i < in->z.operand_count; i++) {
		const ZydisDecodedOperand *o = &in->op[i];

		if (o->type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    o->actions & (READS | ZYDIS_OPERAND_ACTION_CONDWRITE) &&
		    role_container(o->reg.value) == reg && !(reg == X86_RSP &&
			o->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN && role_moves_stack(in->z.mnemonic)))
			return 1;
		if (o->type == ZYDIS_OPERAND_TYPE_MEMORY && o->mem.type == ZYDIS_MEMOP_TYPE_AGEN &&
		    (role_container(o->mem.base) == reg || role_container(o->mem.index) == reg))
			return 1;
	}
	return 0;
}

/* Is register reg used to form the address of a reference, or moved by a push and its kin? */
static int
role_forms_address(const struct insn *in, unsigned reg)
{
	if (in->z.mnemonic == ZYDIS_MNEMONIC_SYSCALL || in->z.mnemonic == ZYDIS_MNEMONIC_LEAVE)
		return 1;
	if (in->f->kind == FACT_STRING)
		return role_string_address(in, reg);
	if (reg == X86_RSP && role_moves_stack(in->z.mnemonic))
		return 1;
	for (unsigned i = 0; i < in->z.operand_count; i++) {
		const ZydisDecodedOperand *o = &in->op[i];

		if (o->type == ZYDIS_OPERAND_TYPE_MEMORY && o->mem.type != ZYDIS_MEMOP_TYPE_AGEN &&
		    (role_container(o->mem.base) == reg || role_container(o->mem.index) == reg ||
			role_container(o->mem.segment) == reg))
			return 1;
	}
	return 0;
}

/* Does it do nothing but bring a value somewhere else, perhaps extended? */
static int
role_copies(const struct insn *in)
{
	if (in->op[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
		return 0;
	switch (in->z.mnemonic) {
	case ZYDIS_MNEMONIC_MOV: case ZYDIS_MNEMONIC_MOVZX: case ZYDIS_MNEMONIC_MOVSX:
	case ZYDIS_MNEMONIC_MOVSXD:
	case ZYDIS_MNEMONIC_MOVSB: case ZYDIS_MNEMONIC_MOVSW: case ZYDIS_MNEMONIC_MOVSQ:
	case ZYDIS_MNEMONIC_LODSB: case ZYDIS_MNEMONIC_LODSW: case ZYDIS_MNEMONIC_LODSD:
	case ZYDIS_MNEMONIC_LODSQ:
	case ZYDIS_MNEMONIC_STOSB: case ZYDIS_MNEMONIC_STOSW: case ZYDIS_MNEMONIC_STOSD:
	case ZYDIS_MNEMONIC_STOSQ:
	case ZYDIS_MNEMONIC_MOVD: case ZYDIS_MNEMONIC_MOVQ: case ZYDIS_MNEMONIC_MOVNTI:
	case ZYDIS_MNEMONIC_MOVSS: case ZYDIS_MNEMONIC_MOVSD: case ZYDIS_MNEMONIC_LDDQU:
	case ZYDIS_MNEMONIC_MOVAPS: case ZYDIS_MNEMONIC_MOVAPD: case ZYDIS_MNEMONIC_MOVUPS:
	case ZYDIS_MNEMONIC_MOVUPD:
	case ZYDIS_MNEMONIC_MOVDQA: case ZYDIS_MNEMONIC_MOVDQU: case ZYDIS_MNEMONIC_MOVNTDQ:
	case ZYDIS_MNEMONIC_MOVNTPS:
	case ZYDIS_MNEMONIC_VMOVD: case ZYDIS_MNEMONIC_VMOVQ: case ZYDIS_MNEMONIC_VMOVSS:
	case ZYDIS_MNEMONIC_VMOVSD:
	case ZYDIS_MNEMONIC_VMOVAPS: case ZYDIS_MNEMONIC_VMOVAPD: case ZYDIS_MNEMONIC_VMOVUPS:
	case ZYDIS_MNEMONIC_VMOVUPD:
	case ZYDIS_MNEMONIC_VMOVDQA: case ZYDIS_MNEMONIC_VMOVDQU: case ZYDIS_MNEMONIC_VMOVDQU8:
	case ZYDIS_MNEMONIC_VMOVDQU16:
	case ZYDIS_MNEMONIC_VMOVDQA32: case ZYDIS_MNEMONIC_VMOVDQA64: case ZYDIS_MNEMONIC_VMOVDQU32:
	case ZYDIS_MNEMONIC_VMOVDQU64:
	case ZYDIS_MNEMONIC_VMOVNTDQ: case ZYDIS_MNEMONIC_VLDDQU:
	case ZYDIS_MNEMONIC_POP: case ZYDIS_MNEMONIC_LEAVE:
		return 1;
	case ZYDIS_MNEMONIC_PUSH:
		return in->op[0].type != ZYDIS_OPERAND_TYPE_IMMEDIATE;
	default:
		return 0;
	}
}

/* The address of something on the stack, as a value */
static int
role_stack_address(const struct insn *in)
{
	const ZydisDecodedOperand *o = &in->op[1];

	return in->z.mnemonic == ZYDIS_MNEMONIC_LEA ?
	    (o->mem.base == ZYDIS_REGISTER_RSP || o->mem.base == ZYDIS_REGISTER_RBP) &&
		o->mem.index == ZYDIS_REGISTER_NONE :
	    o->type == ZYDIS_OPERAND_TYPE_REGISTER && o->reg.value == ZYDIS_REGISTER_RSP;
}

static unsigned
role_result(const struct insn *in)
{
	int stores = 0, defines = 0;

	if (role_moves_stack(in->z.mnemonic) || in->z.mnemonic == ZYDIS_MNEMONIC_SYSCALL)
		return 0;
	for (unsigned i = 0; i < in->z.operand_count; i++)
		stores |= in->op[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    in->op[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
	for (unsigned i = 0; i < in->f->ndef; i++)
		defines |= in->f->def[i].reg != FACT_FLAGS && in->f->def[i].reg != X86_RSP;
	if (stores)
		return WPORT_RESULT;
	if (!defines)
		return 0;
	return (in->f->nuse || in->f->nread) && !role_stack_address(in) ? WPORT_RESULT : WPORT_CONSTANT;
}

void
wport_role(const struct fact *f, struct wport *p)
{
	struct insn in = { .f = f };

	p->addrs = p->role = 0;
	if (x86_decode(&in.z, in.op, f->b, f->len, f->amd) != 0)
		return;
	for (unsigned i = 0; i < f->nuse; i++)
		if (role_forms_address(&in, f->use[i].reg) && !role_uses_value(&in, f->use[i].reg))
			p->addrs |= UINT64_C(1) << i;
	p->role = (uint8_t)(role_result(&in) | (role_copies(&in) ? WPORT_COPY : 0u) |
	    (in.z.mnemonic == ZYDIS_MNEMONIC_CALL ? WPORT_CALL : 0u) |
	    (in.z.mnemonic == ZYDIS_MNEMONIC_SYSCALL ? WPORT_SYSTEM : 0u));
}
