/* Facts: how the address of each memory reference is formed. */
#include <Zydis/Zydis.h>
#include "isa/reference.h"
#include "isa/x86/fact.h"
#include "isa/x86/operand.h"

static uint8_t
fact_addr_general(ZydisRegister r)
{
	int g = x86_gpr(r);

	return g < 0 ? FACT_NOREG : (uint8_t)g;
}

/* Is the reference on the stack, below rsp before the instruction? */
static int
fact_addr_pushes(const ZydisDecodedOperand *o)
{
	return o->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN && o->mem.base == ZYDIS_REGISTER_RSP &&
	    o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
}

/* The references of operand o, split into pieces. */
static unsigned
fact_addr_operand(const struct x86_inst *in, const ZydisDecodedOperand *o, struct fact_addr *a, unsigned most)
{
	unsigned left = o->size / 8u, n, k = 0, at = 0;
	uint64_t disp = (uint64_t)o->mem.disp.value;

	if (o->mem.base == ZYDIS_REGISTER_RIP)
		disp += in->next;
	if (fact_addr_pushes(o))
		disp -= left;
	for (; left && k < most; left -= n, k++, at += n) {
		n = left > REF_SIZEMAX ? REF_PIECE : left;
		a[k] = (struct fact_addr){ .disp = disp + at, .base = fact_addr_general(o->mem.base),
		    .index = fact_addr_general(o->mem.index), .scale = o->mem.scale,
			.kind = (uint8_t)x86_refkind(o), .size = (uint8_t)n };
		a[k].seg = o->mem.segment == ZYDIS_REGISTER_FS ? FACT_FSBASE :
		    o->mem.segment == ZYDIS_REGISTER_GS ? FACT_GSBASE : FACT_NOREG;
	}
	return k;
}

static void
fact_addr_stack(const struct x86_inst *in, struct fact_stack *s)
{
	unsigned size = in->z.operand_width / 8u;

	*s = (struct fact_stack){ .from = X86_RSP };
	switch (in->z.mnemonic) {
	case ZYDIS_MNEMONIC_PUSH: case ZYDIS_MNEMONIC_PUSHF:
	case ZYDIS_MNEMONIC_PUSHFQ: s->by = -(int)size; break;
	case ZYDIS_MNEMONIC_POP: case ZYDIS_MNEMONIC_POPF:
	case ZYDIS_MNEMONIC_POPFQ: s->by = (int)size; break;
	case ZYDIS_MNEMONIC_CALL: s->by = -(int)size; break;
	case ZYDIS_MNEMONIC_RET:
		s->by = (int)size + (in->op[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE ?
		    (int)in->op[0].imm.value.u : 0);
		break;
	case ZYDIS_MNEMONIC_LEAVE:
		s->from = X86_RBP;
		s->by = 8;
		break;
	default: s->from = FACT_NOREG;
	}
}

unsigned
fact_addrs(const struct fact *f, struct fact_addr a[FACT_MAXREF], struct fact_stack *s)
{
	struct x86_inst in;
	unsigned n = 0;

	*s = (struct fact_stack){ .from = FACT_NOREG };
	if (f->kind == FACT_SIGNAL || x86_inst_decode(&in, f->b, f->len, f->pc, f->amd) != 0)
		return 0;
	fact_addr_stack(&in, s);
	for (int store = 0; store < 2; store++) /* loads come first */
		for (int i = 0; i < in.z.operand_count; i++) {
			const ZydisDecodedOperand *o = &in.op[i];

			if (o->type == ZYDIS_OPERAND_TYPE_MEMORY && o->mem.type != ZYDIS_MEMOP_TYPE_AGEN &&
			    x86_refkind(o) >= 0 && (x86_refkind(o) == REF_STORE) == store)
				n += fact_addr_operand(&in, o, a + n, FACT_MAXREF - n);
		}
	return n;
}
