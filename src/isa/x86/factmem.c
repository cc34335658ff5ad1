/* Facts: where the stream has the contents of memory that an instruction loads and stores. */
#include <Zydis/Zydis.h>
#include "isa/reference.h"
#include "isa/x86/fact.h"
#include "isa/x86/operand.h"

/* Does it copy what it loads into its first operand, byte for byte from the lowest? */
static int
is_load(ZydisMnemonic m)
{
	switch (m) {
	case ZYDIS_MNEMONIC_MOV: case ZYDIS_MNEMONIC_MOVZX: case ZYDIS_MNEMONIC_MOVSX:
	case ZYDIS_MNEMONIC_MOVSXD: case ZYDIS_MNEMONIC_POP:
	case ZYDIS_MNEMONIC_MOVD: case ZYDIS_MNEMONIC_MOVQ: case ZYDIS_MNEMONIC_MOVSS:
	case ZYDIS_MNEMONIC_MOVSD:
	case ZYDIS_MNEMONIC_MOVAPS: case ZYDIS_MNEMONIC_MOVAPD: case ZYDIS_MNEMONIC_MOVUPS:
	case ZYDIS_MNEMONIC_MOVUPD:
	case ZYDIS_MNEMONIC_MOVDQA: case ZYDIS_MNEMONIC_MOVDQU: case ZYDIS_MNEMONIC_LDDQU:
	case ZYDIS_MNEMONIC_VMOVD: case ZYDIS_MNEMONIC_VMOVQ: case ZYDIS_MNEMONIC_VMOVSS:
	case ZYDIS_MNEMONIC_VMOVSD:
	case ZYDIS_MNEMONIC_VMOVAPS: case ZYDIS_MNEMONIC_VMOVAPD: case ZYDIS_MNEMONIC_VMOVUPS:
	case ZYDIS_MNEMONIC_VMOVUPD:
	case ZYDIS_MNEMONIC_VMOVDQA: case ZYDIS_MNEMONIC_VMOVDQU: case ZYDIS_MNEMONIC_VLDDQU:
	case ZYDIS_MNEMONIC_VMOVDQA32: case ZYDIS_MNEMONIC_VMOVDQA64: case ZYDIS_MNEMONIC_VMOVDQU8:
	case ZYDIS_MNEMONIC_VMOVDQU16:
	case ZYDIS_MNEMONIC_VMOVDQU32: case ZYDIS_MNEMONIC_VMOVDQU64:
		return 1;
	default:
		return 0;
	}
}

/* The offset at which a register's value has it; -1: it has to be stored separately. */
static int
in_register(const struct x86_inst *in, const struct fact *f, unsigned size)
{
	const ZydisDecodedOperand *o = &in->op[0];
	int g;

	if (!is_load(in->z.mnemonic) || f->nref != 1 || o->type != ZYDIS_OPERAND_TYPE_REGISTER ||
	    (in->z.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX && in->z.avx.mask.reg != ZYDIS_REGISTER_NONE &&
		in->z.avx.mask.reg != ZYDIS_REGISTER_K0))
		return -1;
	g = x86_gpr(o->reg.value);
	if (g < 0 && ZydisRegisterGetClass(o->reg.value) >= ZYDIS_REGCLASS_XMM &&
	    ZydisRegisterGetClass(o->reg.value) <= ZYDIS_REGCLASS_ZMM)
		g = (int)FACT_VECTOR + ZydisRegisterGetId(o->reg.value);
	for (unsigned i = 0; g >= 0 && i < f->ndef; i++)
		if (f->def[i].reg == g && f->def[i].val != FACT_NOVALUE && size <= 8u * f->def[i].nval)
			return 8 * f->def[i].val + (x86_highbyte(o->reg.value) ? 1 : 0);
	return -1;
}

struct places {
	struct fact_mem *m;
	unsigned n, words;              /* references so far; words of memory so far */
	unsigned base;                  /* words of values before them */
};

static unsigned
fact_mem_place(struct places *p, unsigned size)
{
	unsigned at = 8 * (p->base + p->words);

	p->words += (size + 7) / 8;
	return at;
}

/* The references of operand o, split into pieces. */
static void
fact_mem_operand(struct places *p, const struct x86_inst *in, const struct fact *f,
    const ZydisDecodedOperand *o)
{
	int kind = x86_refkind(o), reg;
	unsigned left = o->size / 8u, n;

	for (; left && p->n < FACT_MAXREF; left -= n, p->n++) {
		struct fact_mem *m = &p->m[p->n];

		n = left > REF_SIZEMAX ? REF_PIECE : left;
		m->load = m->store = FACT_NOMEM;
		if (kind == REF_LOAD || kind == REF_MODIFY) {
			reg = kind == REF_LOAD ? in_register(in, f, n) : -1;
			m->load = (uint16_t)(reg >= 0 ? (unsigned)reg : fact_mem_place(p, n));
		}
		if (kind == REF_STORE || kind == REF_MODIFY)
			m->store = (uint16_t)fact_mem_place(p, n);
	}
}

unsigned
fact_memory(const struct x86_inst *in, const struct fact *f, struct fact_mem *m)
{
	struct places p = { m, 0, 0, f->nval };
	int i, store;

	for (store = 0; f->nref && store < 2; store++)  /* loads come first */
		for (i = 0; i < in->z.operand_count; i++) {
			const ZydisDecodedOperand *o = &in->op[i];

			if (o->type == ZYDIS_OPERAND_TYPE_MEMORY && o->mem.type != ZYDIS_MEMOP_TYPE_AGEN &&
			    x86_refkind(o) >= 0 && (x86_refkind(o) == REF_STORE) == store)
				fact_mem_operand(&p, in, f, o);
		}
	return p.words;
}
