/*
 * Lifting of x86-64 instructions: Zydis gives operands and registers, then x86_meaning adds what
 * computes addresses.
 */
#include <string.h>
#include <Zydis/Zydis.h>
#include "isa/x86/decode.h"
#include "isa/x86/lift.h"
#include "isa/x86/lift_internal.h"
#include "isa/x86/operand.h"

#define ARITH \
	(ZYDIS_CPUFLAG_CF | ZYDIS_CPUFLAG_PF | ZYDIS_CPUFLAG_AF | ZYDIS_CPUFLAG_ZF | ZYDIS_CPUFLAG_SF | \
	ZYDIS_CPUFLAG_OF)

static const char *const names[4][16] = {
	{ "al", "cl", "dl", "bl", "spl", "bpl", "sil", "dil", "r8b", "r9b", "r10b", "r11b", "r12b", "r13b",
	"r14b", "r15b" },
	{ "ax", "cx", "dx", "bx", "sp", "bp", "si", "di", "r8w", "r9w", "r10w", "r11w", "r12w", "r13w",
	"r14w", "r15w" },
	{ "eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi", "r8d", "r9d", "r10d", "r11d", "r12d",
	"r13d", "r14d", "r15d" },
	{ "rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13",
	"r14", "r15" }
};

const char *
x86_regname(int r, int size)
{
	return names[size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3][r & 15];
}

/* Condition of a jcc, setcc or cmovcc, by the low four bits of its opcode. */
uint8_t
x86_cond(unsigned nibble)
{
	static const uint8_t cc[16] = {
		INSN_NOCC, INSN_NOCC, SC_LTU, SC_GEU, SC_EQ, SC_NE, SC_LEU, SC_GTU,
		SC_NEG, SC_NNEG, INSN_NOCC, INSN_NOCC, SC_LT, SC_GE, SC_LE, SC_GT
	};

	return cc[nibble & 15];
}

/* Adds the field of `size` bytes at off if the linker fills it in; its index, or SCH_NOSYM. */
static int
add_field(struct lift *l, unsigned off, unsigned size, int rip)
{
	struct insn *in = l->in;

	if (size == 0 || (!rip && l->rel[off] == MR_NONE))
		return SCH_NOSYM;
	if (in->nfield > 0 && in->field[in->nfield - 1].off == off)     /* it was added before */
		return in->nfield - 1;
	in->field[in->nfield].off = (uint8_t)off;
	in->field[in->nfield].size = (uint8_t)(size / 8);
	in->field[in->nfield].rip = (uint8_t)rip;
	return in->nfield++;
}

const char *
x86_mem(struct lift *l, const ZydisDecodedOperand *o, struct sch_addr *m)
{
	int rip = o->mem.base == ZYDIS_REGISTER_RIP || o->mem.base == ZYDIS_REGISTER_EIP;

	memset(m, 0, sizeof *m);
	m->base = m->index = SCH_NOVAR;
	m->sym = SCH_NOSYM;
	m->scale = 1;
	if (o->mem.segment == ZYDIS_REGISTER_GS)
		return "gs-relative operand";
	m->fs = o->mem.segment == ZYDIS_REGISTER_FS;
	if (o->mem.base != ZYDIS_REGISTER_NONE && !rip) {
		m->base = (int16_t)x86_gpr(o->mem.base);
		if (m->base < 0)
			return "odd base register";
	}
	if (o->mem.index != ZYDIS_REGISTER_NONE) {
		m->index = (int16_t)x86_gpr(o->mem.index);
		if (m->index < 0)
			return "vector index register";
		m->scale = o->mem.scale;
	}
	m->narrow = l->z.address_width == 32;
	m->disp = o->mem.disp.has_displacement ? o->mem.disp.value : 0;
	if (o->visibility == ZYDIS_OPERAND_VISIBILITY_EXPLICIT) {
		m->sym = add_field(l, l->z.raw.disp.offset, l->z.raw.disp.size, rip);
		if (m->sym != SCH_NOSYM)
			m->disp = 0;
	}
	return NULL;
}

struct op_step *
x86_ref(struct lift *l, int op, const struct sch_addr *m, unsigned size)
{
	struct op_step *s = &l->in->ref[l->in->nref++];

	memset(s, 0, sizeof *s);
	s->op = (uint8_t)op;
	s->n = size;
	s->m = *m;
	s->dst = SCH_NOVAR;
	return s;
}

/* rsp + disp: the stack reference of push, pop, call and return. */
struct sch_addr
x86_stack(int64_t disp)
{
	struct sch_addr m = {
		.base = X86_RSP, .index = SCH_NOVAR, .scale = 1, .sym = SCH_NOSYM, .disp = disp
	};

	return m;
}

static const char *
x86_unsupported(const struct lift *l)
{
	switch (l->z.mnemonic) {
	case ZYDIS_MNEMONIC_ENTER: case ZYDIS_MNEMONIC_STD: case ZYDIS_MNEMONIC_IRETQ:
	case ZYDIS_MNEMONIC_IRETD:
	case ZYDIS_MNEMONIC_XBEGIN: case ZYDIS_MNEMONIC_XLAT:
	case ZYDIS_MNEMONIC_MASKMOVQ:
	case ZYDIS_MNEMONIC_FXSAVE: case ZYDIS_MNEMONIC_FXRSTOR: case ZYDIS_MNEMONIC_FXSAVE64:
	case ZYDIS_MNEMONIC_FXRSTOR64:
	case ZYDIS_MNEMONIC_CMPXCHG16B: case ZYDIS_MNEMONIC_CMPXCHG8B: case ZYDIS_MNEMONIC_CLZERO:
	case ZYDIS_MNEMONIC_FNSAVE: case ZYDIS_MNEMONIC_FRSTOR: case ZYDIS_MNEMONIC_FLDENV:
	case ZYDIS_MNEMONIC_FNSTENV:
	case ZYDIS_MNEMONIC_WRFSBASE: case ZYDIS_MNEMONIC_WRGSBASE: case ZYDIS_MNEMONIC_POPFQ:
	case ZYDIS_MNEMONIC_POPF:
	/* of Xeon Phi: four elements in memory for a mask of sixteen */
	case ZYDIS_MNEMONIC_V4FMADDPS: case ZYDIS_MNEMONIC_V4FMADDSS: case ZYDIS_MNEMONIC_V4FNMADDPS:
	case ZYDIS_MNEMONIC_V4FNMADDSS: case ZYDIS_MNEMONIC_VP4DPWSSD: case ZYDIS_MNEMONIC_VP4DPWSSDS:
		return "instruction not supported";
	case ZYDIS_MNEMONIC_BT: case ZYDIS_MNEMONIC_BTS: case ZYDIS_MNEMONIC_BTR: case ZYDIS_MNEMONIC_BTC:
		if (l->op[0].type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    l->op[1].type == ZYDIS_OPERAND_TYPE_REGISTER)
			return "bit string operand";
		break;
	default:
		break;
	}
	if ((l->z.meta.category == ZYDIS_CATEGORY_XSAVE || l->z.meta.category == ZYDIS_CATEGORY_XSAVEOPT) &&
	    l->z.mnemonic != ZYDIS_MNEMONIC_XGETBV)
		return "processor state save";
	return NULL;
}

/* A shift by a count of zero leaves the flags unchanged. */
static int
keeps_flags(const struct lift *l)
{
	const ZydisDecodedOperand *count = &l->op[l->z.operand_count_visible ?
	    l->z.operand_count_visible - 1 : 0];

	if (l->z.meta.category == ZYDIS_CATEGORY_STRINGOP)
		return 1;
	if (l->z.meta.category != ZYDIS_CATEGORY_SHIFT && l->z.meta.category != ZYDIS_CATEGORY_ROTATE)
		return 0;
	if (count->type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
		return !(count->imm.value.u & (l->op[0].size == 64 ? 63 : 31));
	return count->type == ZYDIS_OPERAND_TYPE_REGISTER && count->reg.value == ZYDIS_REGISTER_CL;
}

/* The condition flags in one byte: CF, PF, AF, ZF, SF in their own bits 0, 2, 4, 6, 7; OF in bit 1. */
static uint8_t
flag_bits(uint32_t f)
{
	return (uint8_t)((f & 0xd5) | (f & ZYDIS_CPUFLAG_OF ? 2 : 0));
}

/*
 * Is operand o written only sometimes? That is also true of bsf and bsr, which leave it unchanged
 * for 0; Zydis does not report that.
 */
int
x86_maywrite(const struct lift *l, const ZydisDecodedOperand *o)
{
	return o->actions & ZYDIS_OPERAND_ACTION_CONDWRITE ||
	    ((l->z.mnemonic == ZYDIS_MNEMONIC_BSF || l->z.mnemonic == ZYDIS_MNEMONIC_BSR) && o == &l->op[0]);
}

/* Registers and flags that are read and written. */
static void
x86_facts(struct lift *l)
{
	struct insn *in = l->in;
	int i;

	for (i = 0; i < l->z.operand_count; i++) {
		const ZydisDecodedOperand *o = &l->op[i];
		int r;

		if (o->type == ZYDIS_OPERAND_TYPE_MEMORY) {
			uint32_t m = 0;

			if ((r = x86_gpr(o->mem.base)) >= 0)
				m |= 1u << r;
			if ((r = x86_gpr(o->mem.index)) >= 0)
				m |= 1u << r;
			in->reads |= m;
			if (o->mem.type == ZYDIS_MEMOP_TYPE_AGEN)
				in->vreads |= m;
		}
		if (o->type != ZYDIS_OPERAND_TYPE_REGISTER || (r = x86_gpr(o->reg.value)) < 0)
			continue;
		if (o->actions & ZYDIS_OPERAND_ACTION_MASK_READ) {
			in->reads |= 1u << r;
			if (o->visibility != ZYDIS_OPERAND_VISIBILITY_HIDDEN || r != X86_RSP)
				in->vreads |= 1u << r;
		}
		if (o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) {
			in->writes |= 1u << r;
			if (o->size < 32 || x86_maywrite(l, o))
				in->reads |= 1u << r;
		}
	}
	if (l->z.cpu_flags) {
		const ZydisAccessedFlags *f = l->z.cpu_flags;
		uint32_t wr = f->modified | f->set_0 | f->set_1 | f->undefined;

		in->flreads = flag_bits(f->tested);
		if (!keeps_flags(l))
			in->flwrites = flag_bits(wr);
		l->anyflags = (wr & ARITH) != 0;
	}
}

/* The memory operands in order, for instructions without a case of their own. */
static const char *
x86_references(struct lift *l)
{
	int i, pass;

	if (x86_no_reference(&l->z))
		return NULL;
	/* loads before stores */
	for (pass = 0; pass < 2; pass++)
		for (i = 0; i < l->z.operand_count; i++) {
			const ZydisDecodedOperand *o = &l->op[i];
			struct sch_addr m;
			const char *why;
			int rd, wr, op;

			if (o->type != ZYDIS_OPERAND_TYPE_MEMORY || o->mem.type == ZYDIS_MEMOP_TYPE_AGEN)
				continue;
			rd = (o->actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0;
			wr = (o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
			if (pass != (wr && !rd) || (!rd && !wr))
				continue;
			if (o->mem.type == ZYDIS_MEMOP_TYPE_VSIB)
				return x86_indexed(l, o);
			if (o->mem.type != ZYDIS_MEMOP_TYPE_MEM)
				return "odd memory operand";
			if (x86_refs_depend_on(&l->z, l->op) == X86_BY_MASK || x86_byte_mask(l->z.mnemonic))
				return x86_masked(l, o);
			if (o->size == 0 || o->size % 8 || o->size / 8 > 64)
				return "operand of odd size";
			if (l->in->nref == 3)
				return "too many memory operands";
			if ((why = x86_mem(l, o, &m)) != NULL)
				return why;
			op = rd && wr ? SO_MODIFY : rd ? SO_LOAD : SO_STORE;
			if (m.sym != SCH_NOSYM && l->rel[l->in->field[m.sym].off] == MR_GOT)
				op = SO_GOTLOAD;
			x86_ref(l, op, &m, o->size / 8);
		}
	if (l->in->nref == 1)
		l->in->mref = 0;
	return NULL;
}

const char *
x86_lift(const uint8_t *p, size_t n, const uint8_t *rel, struct insn *in)
{
	struct lift l;
	const char *why;
	size_t i;

	memset(in, 0, sizeof *in);
	memset(&l, 0, sizeof l);
	l.in = in;
	l.rel = rel;
	l.bytes = p;
	if (x86_decode(&l.z, l.op, p, n, 0) != 0)
		return "not an instruction that can be decoded";
	in->len = l.z.length;
	for (i = 0; i < in->len; i++) {
		if (rel[i] == MR_TLSMODEL || (rel[i] == MR_TLSDESC && l.z.mnemonic != ZYDIS_MNEMONIC_LEA) ||
		    (rel[i] == MR_TLSDESCCALL && (i || l.z.mnemonic != ZYDIS_MNEMONIC_CALL)))
			return "thread-local access through a linker-rewritten sequence";
		in->tls |= rel[i] == MR_TLSCALL;
	}
	if ((why = x86_unsupported(&l)) != NULL)
		return why;
	x86_facts(&l);
	in->cc = INSN_NOCC;
	in->mref = -1;
	return x86_meaning(&l);
}

const char *
x86_memory_operands(struct lift *l)
{
	return x86_references(l);
}

int
x86_immfield(struct lift *l, int i)
{
	const ZydisDecodedInstructionRaw *r = &l->z.raw;

	return r->imm[i].size ? add_field(l, r->imm[i].offset, r->imm[i].size, 0) : SCH_NOSYM;
}
