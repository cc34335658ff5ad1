/* Use ports and values of statements. */
#include <Zydis/Zydis.h>

#include "isa/x86/decode.h"
#include "wet/model/port.h"

#define RSP 4u

/* Does an instruction whose references are known only after it ran read memory? */
static int
port_reads(const struct fact *f)
{
	ZydisDecodedInstruction z;
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];

	if (x86_decode(&z, op, f->b, f->len, f->amd) != 0)
		return 0;
	for (int i = 0; i < z.operand_count; i++)
		if (op[i].type == ZYDIS_OPERAND_TYPE_MEMORY && op[i].mem.type != ZYDIS_MEMOP_TYPE_AGEN &&
		    op[i].actions & ZYDIS_OPERAND_ACTION_MASK_READ)
			return 1;
	return 0;
}

/* Instructions that change rsp besides what they are for: rsp is not their value. */
static int
stack_only(const struct fact *f)
{
	switch (f->mnemonic) {
	case ZYDIS_MNEMONIC_PUSH: case ZYDIS_MNEMONIC_PUSHF: case ZYDIS_MNEMONIC_PUSHFQ:
	case ZYDIS_MNEMONIC_POP: case ZYDIS_MNEMONIC_POPF: case ZYDIS_MNEMONIC_POPFQ:
	case ZYDIS_MNEMONIC_CALL: case ZYDIS_MNEMONIC_RET:
	case ZYDIS_MNEMONIC_LEAVE: case ZYDIS_MNEMONIC_ENTER:
		return 1;
	default:
		return 0;
	}
}

/* Is it pop rsp, of whose two definitions of rsp the popped one stays? */
static int
pops_rsp(const struct fact *f)
{
	ZydisDecodedInstruction z;
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];

	return f->mnemonic == ZYDIS_MNEMONIC_POP && x86_decode(&z, op, f->b, f->len, f->amd) == 0 &&
	    op[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	    ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, op[0].reg.value) == ZYDIS_REGISTER_RSP;
}

/*
 * The definition that is the value of a statement: the first register that it defines, for a
 * string instruction the first of rax, rcx, rsi, rdi; if it defines no register, the flags.
 */
static const struct fact_def *
port_value(const struct fact *f)
{
	static const uint8_t string[] = { 0, 1, 6, 7 };
	const struct fact_def *flags = NULL;

	for (unsigned k = 0; f->kind == FACT_STRING && k < sizeof string; k++)
		for (unsigned i = 0; i < f->ndef; i++)
			if (f->def[i].reg == string[k])
				return &f->def[i];
	for (unsigned i = 0; i < f->ndef; i++) {
		const struct fact_def *d = &f->def[i];

		if (d->val == FACT_NOVALUE || !d->nval)
			continue;
		if (d->reg == FACT_FLAGS)
			flags = d;
		else if (d->reg != RSP || !stack_only(f) || pops_rsp(f))
			return d;
	}
	return flags;
}

void
wport_of(const struct fact *f, struct wport *p)
{
	const struct fact_def *d = port_value(f);

	*p = (struct wport){ .nuse = f->nuse, .nmem = f->nread };
	if (f->kind == FACT_STRING || f->kind == FACT_COUNTED) {
		p->nmem = (uint16_t)port_reads(f);
		p->any = 1;
	}
	wport_role(f, p);
	if (d) {
		p->val = d->val;
		p->reg = d->reg;
		p->nval = d->reg == FACT_FLAGS ? WPORT_FLAGS : d->nval;
		p->role |= d->reg == FACT_FLAGS ? WPORT_OFFLAGS : 0;
	}
}
