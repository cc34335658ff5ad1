/* Facts of an instruction, derived from its decoded operands. See fact.h. */
#include <stdlib.h>
#include <string.h>
#include <Zydis/Zydis.h>
#include "isa/reference.h"
#include "isa/x86/fact.h"
#include "isa/x86/limits.h"
#include "isa/x86/operand.h"

const uint8_t fact_lane_from[FACT_NLANE + 1] = { 0, 4, 8, 16, 32, 64 };

struct build {
	const struct x86_inst *in;
	unsigned allflags;
	struct fact f;
	struct fact_use use[FACT_MAXUSE];
	struct fact_def def[FACT_MAXUSE];
	struct fact_mem mem[FACT_MAXREF];
};

#define READS  (ZYDIS_OPERAND_ACTION_READ | ZYDIS_OPERAND_ACTION_CONDREAD)
#define KEEPS  ZYDIS_OPERAND_ACTION_CONDWRITE
#define WRITES (ZYDIS_OPERAND_ACTION_WRITE | ZYDIS_OPERAND_ACTION_CONDWRITE)

unsigned
fact_lanes(unsigned reg)
{
	return reg < 16 ? 7 : reg == FACT_FLAGS || reg >= FACT_VECTOR ? 31 : 1;
}

static void
fact_use(struct build *b, unsigned reg, unsigned lanes)
{
	unsigned i;

	for (i = 0; i < b->f.nuse; i++)
		if (b->use[i].reg == reg) {
			b->use[i].lanes |= (uint8_t)lanes;
			return;
		}
	if (lanes && i < FACT_MAXUSE)
		b->use[b->f.nuse++] = (struct fact_use){ (uint8_t)reg, (uint8_t)lanes };
}

static void
fact_def(struct build *b, unsigned reg, unsigned lanes, unsigned nval)
{
	unsigned i;

	for (i = 0; i < b->f.ndef && b->def[i].reg != reg; i++)
		;
	if (!lanes || i == FACT_MAXUSE)
		return;
	if (i == b->f.ndef)
		b->def[b->f.ndef++] = (struct fact_def){ .reg = (uint8_t)reg, .val = FACT_NOVALUE };
	b->def[i].lanes |= (uint8_t)lanes;
	b->def[i].whole = b->def[i].lanes == fact_lanes(reg);
	if (nval > b->def[i].nval)
		b->def[i].nval = (uint8_t)nval;
}

/* Lanes of the first n bytes of a vector. */
static unsigned
vector_lanes(unsigned n)
{
	return n <= 4 ? 1 : n <= 8 ? 3 : n <= 16 ? 7 : n <= 32 ? 15 : 31;
}

/* Lanes of operands whose size is that of the upper half. */
static unsigned
upper_half(const struct x86_inst *in, int i, unsigned lanes)
{
	int legacy = in->z.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY;

	switch (in->z.mnemonic) {
	case ZYDIS_MNEMONIC_MOVHPS: case ZYDIS_MNEMONIC_MOVHPD:
		return 4;
	case ZYDIS_MNEMONIC_VMOVHPS: case ZYDIS_MNEMONIC_VMOVHPD:
		return i == 1 && in->op[0].type == ZYDIS_OPERAND_TYPE_MEMORY ? 4 : lanes;
	case ZYDIS_MNEMONIC_MOVLHPS:
		return i == 0 ? 4 : 3;
	case ZYDIS_MNEMONIC_MOVHLPS:
		return i == 0 ? 3 : 4;
	case ZYDIS_MNEMONIC_VMOVHLPS:
		return i ? 4 : lanes;
	/* the part that is not replaced is read */
	case ZYDIS_MNEMONIC_VMOVLPS: case ZYDIS_MNEMONIC_VMOVLPD:
		return i == 1 && in->op[0].type == ZYDIS_OPERAND_TYPE_REGISTER ? 4 : lanes;
	case ZYDIS_MNEMONIC_UNPCKHPS: case ZYDIS_MNEMONIC_UNPCKHPD: case ZYDIS_MNEMONIC_PUNPCKHBW:
	case ZYDIS_MNEMONIC_PUNPCKHWD:
	case ZYDIS_MNEMONIC_PUNPCKHDQ: case ZYDIS_MNEMONIC_PUNPCKHQDQ:
		return legacy ? 7 : lanes;
	default:
		return lanes;
	}
}

static void
fact_vector(struct build *b, int i, const ZydisDecodedOperand *o)
{
	const struct x86_inst *in = b->in;
	unsigned reg = FACT_VECTOR + (unsigned)ZydisRegisterGetId(o->reg.value);
	unsigned lanes = upper_half(in, i, vector_lanes(o->size / 8u)), width;

	if (o->actions & (READS | KEEPS))
		fact_use(b, reg, lanes);
	if (!(o->actions & WRITES))
		return;
	width = in->z.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY ? 16 : in->z.avx.vector_length / 8u;
	if (in->z.encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY)
		lanes = 31;
	fact_def(b, reg, lanes, !(lanes & ~3u) ? 1 : width < 16 ? 2 : width / 8);
}

static void
fact_general(struct build *b, const ZydisDecodedOperand *o)
{
	unsigned reg = (unsigned)x86_gpr(o->reg.value), lanes = o->size >= 32 ? 7 : o->size == 16 ? 3 :
	    x86_highbyte(o->reg.value) ? 2 : 1;
	ZydisMnemonic m = b->in->z.mnemonic;
	int keeps = m == ZYDIS_MNEMONIC_BSF || m == ZYDIS_MNEMONIC_BSR || m == ZYDIS_MNEMONIC_LAR ||
	    m == ZYDIS_MNEMONIC_LSL;

	if (m == ZYDIS_MNEMONIC_LEAVE && reg == X86_RSP)
		keeps = 0;
	else if (o->actions & (READS | KEEPS) || (keeps && o->actions & WRITES))
		fact_use(b, reg, lanes);
	if (o->actions & WRITES)
		fact_def(b, reg, lanes, 1);
}

static void
one_container(struct build *b, const ZydisDecodedOperand *o, unsigned reg, int partly, unsigned nval)
{
	if (o->actions & (READS | KEEPS) || (partly && o->actions & WRITES))
		fact_use(b, reg, 1);
	if (o->actions & WRITES)
		fact_def(b, reg, 1, nval);
}

static void
reg_operand(struct build *b, int i)
{
	const ZydisDecodedOperand *o = &b->in->op[i];
	ZydisRegister r = o->reg.value;

	switch (ZydisRegisterGetClass(r)) {
	case ZYDIS_REGCLASS_GPR8: case ZYDIS_REGCLASS_GPR16: case ZYDIS_REGCLASS_GPR32:
	case ZYDIS_REGCLASS_GPR64:
		fact_general(b, o);
		break;
	case ZYDIS_REGCLASS_XMM: case ZYDIS_REGCLASS_YMM: case ZYDIS_REGCLASS_ZMM:
		fact_vector(b, i, o);
		break;
	case ZYDIS_REGCLASS_MASK:
		if (r != ZYDIS_REGISTER_K0 || o->encoding != ZYDIS_OPERAND_ENCODING_MASK)
			one_container(b, o, FACT_MASK + (unsigned)(r - ZYDIS_REGISTER_K0), 0, 1);
		break;
	case ZYDIS_REGCLASS_X87: case ZYDIS_REGCLASS_MMX:
		one_container(b, o, FACT_X87, 1, 0);
		break;
	default:
		if (r == ZYDIS_REGISTER_MXCSR)
			one_container(b, o, FACT_MXCSR, 0, 0);
		else if (r == ZYDIS_REGISTER_X87CONTROL || r == ZYDIS_REGISTER_X87STATUS ||
		    r == ZYDIS_REGISTER_X87TAG)
			one_container(b, o, FACT_X87, 1, 0);
	}
}

static void
fact_address(struct build *b, const ZydisDecodedOperand *o)
{
	int g;

	if (b->in->z.meta.category == ZYDIS_CATEGORY_NOP || b->in->z.meta.category == ZYDIS_CATEGORY_WIDENOP)
		return;
	if ((g = x86_gpr(o->mem.base)) >= 0)
		fact_use(b, (unsigned)g, 7);
	if ((g = x86_gpr(o->mem.index)) >= 0)
		fact_use(b, (unsigned)g, o->mem.index >= ZYDIS_REGISTER_EAX ? 7 : 1);
	else if (o->mem.type == ZYDIS_MEMOP_TYPE_VSIB)
		fact_use(b, FACT_VECTOR + (unsigned)ZydisRegisterGetId(o->mem.index),
		    vector_lanes(ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, o->mem.index) / 8u));
	if (o->mem.segment == ZYDIS_REGISTER_FS && o->mem.type != ZYDIS_MEMOP_TYPE_AGEN)
		fact_use(b, FACT_FSBASE, 1);
	if (o->mem.segment == ZYDIS_REGISTER_GS && o->mem.type != ZYDIS_MEMOP_TYPE_AGEN)
		fact_use(b, FACT_GSBASE, 1);
}

static unsigned
flag_lanes(ZydisAccessedFlagsMask f)
{
	return (f & ZYDIS_CPUFLAG_CF ? FACT_CF : 0u) | (f & ZYDIS_CPUFLAG_OF ? FACT_OF : 0u) |
	    (f & ZYDIS_CPUFLAG_ZF ? FACT_ZF : 0u)
	    | (f & (ZYDIS_CPUFLAG_PF | ZYDIS_CPUFLAG_AF | ZYDIS_CPUFLAG_SF) ? FACT_PAS : 0u) |
	    (f & ZYDIS_CPUFLAG_DF ? FACT_DF : 0u);
}

/* Is the same register used twice, so that the result does not depend on it (a zero idiom)? */
static int
zero_idiom(const struct x86_inst *in)
{
	int n = in->z.operand_count_visible, first = n == 3;

	switch (in->z.mnemonic) {
	case ZYDIS_MNEMONIC_XOR: case ZYDIS_MNEMONIC_SUB: case ZYDIS_MNEMONIC_PXOR: case ZYDIS_MNEMONIC_XORPS:
	case ZYDIS_MNEMONIC_XORPD:
	case ZYDIS_MNEMONIC_VPXOR: case ZYDIS_MNEMONIC_VXORPS: case ZYDIS_MNEMONIC_VXORPD:
	case ZYDIS_MNEMONIC_PCMPEQB: case ZYDIS_MNEMONIC_PCMPEQW: case ZYDIS_MNEMONIC_PCMPEQD:
	case ZYDIS_MNEMONIC_PSUBB: case ZYDIS_MNEMONIC_PSUBW: case ZYDIS_MNEMONIC_PSUBD:
	case ZYDIS_MNEMONIC_PSUBQ:
		break;
	case ZYDIS_MNEMONIC_VPCMPEQB: case ZYDIS_MNEMONIC_VPCMPEQW: case ZYDIS_MNEMONIC_VPCMPEQD:
		if (in->z.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX)
			return 0;
		break;
	case ZYDIS_MNEMONIC_VPXORD: case ZYDIS_MNEMONIC_VPXORQ:
		if (in->z.avx.mask.reg != ZYDIS_REGISTER_NONE && in->z.avx.mask.reg != ZYDIS_REGISTER_K0)
			return 0;
		return n == 4 && in->op[2].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    in->op[2].reg.value == in->op[3].reg.value &&
		    in->op[3].type == ZYDIS_OPERAND_TYPE_REGISTER;
	default:
		return 0;
	}
	return (n == 2 || n == 3) && in->op[first].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	    in->op[first + 1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	    in->op[first].reg.value == in->op[first + 1].reg.value;
}

static void
fact_flags(struct build *b)
{
	const ZydisAccessedFlags *c = b->in->z.cpu_flags;
	unsigned lanes, i;
	int valued = 0;

	if (c == NULL || b->in->z.mnemonic == ZYDIS_MNEMONIC_SYSCALL)
		return;
	fact_use(b, FACT_FLAGS, flag_lanes(c->tested));
	if (b->in->z.mnemonic == ZYDIS_MNEMONIC_PUSHF || b->in->z.mnemonic == ZYDIS_MNEMONIC_PUSHFQ)
		fact_use(b, FACT_FLAGS, 31);
	lanes = flag_lanes(c->modified | c->set_0 | c->set_1 | c->undefined);
	switch (b->in->z.mnemonic) {            /* Zydis reports fewer flags for these */
	case ZYDIS_MNEMONIC_VPTEST: case ZYDIS_MNEMONIC_VTESTPS:
	case ZYDIS_MNEMONIC_VTESTPD: lanes = 31 & ~FACT_DF; break;
	default: break;
	}
	for (i = 0; i < b->f.ndef && !b->allflags; i++)
		valued |= b->def[i].nval;
	fact_def(b, FACT_FLAGS, lanes, !valued && lanes != FACT_DF);
}

/* Instructions that use or define all of the vector state, and more. */
static void
whole_state(struct build *b, int writes)
{
	unsigned i;

	for (i = FACT_X87; i < FACT_NREG; i++) {
		fact_use(b, i, fact_lanes(i));
		if (writes)
			fact_def(b, i, fact_lanes(i), 0);
	}
}

static void
fact_states(struct build *b)
{
	unsigned i;

	switch (b->in->z.mnemonic) {
	case ZYDIS_MNEMONIC_XSAVE: case ZYDIS_MNEMONIC_XSAVE64: case ZYDIS_MNEMONIC_XSAVEC:
	case ZYDIS_MNEMONIC_XSAVEC64:
	case ZYDIS_MNEMONIC_XSAVEOPT: case ZYDIS_MNEMONIC_XSAVEOPT64: case ZYDIS_MNEMONIC_FXSAVE:
	case ZYDIS_MNEMONIC_FXSAVE64:
		whole_state(b, 0);
		break;
	case ZYDIS_MNEMONIC_XRSTOR: case ZYDIS_MNEMONIC_XRSTOR64: case ZYDIS_MNEMONIC_FXRSTOR:
	case ZYDIS_MNEMONIC_FXRSTOR64:
		whole_state(b, 1);
		break;
	case ZYDIS_MNEMONIC_LDMXCSR: case ZYDIS_MNEMONIC_VLDMXCSR:
		fact_def(b, FACT_MXCSR, 1, 0);
		break;
	case ZYDIS_MNEMONIC_STMXCSR: case ZYDIS_MNEMONIC_VSTMXCSR:
		fact_use(b, FACT_MXCSR, 1);
		break;
	case ZYDIS_MNEMONIC_VZEROUPPER: case ZYDIS_MNEMONIC_VZEROALL:
		for (i = 0; i < 16; i++)
			fact_def(b, FACT_VECTOR + i, b->in->z.mnemonic == ZYDIS_MNEMONIC_VZEROALL ? 31 :
			    24, 0);
		break;
	case ZYDIS_MNEMONIC_RDFSBASE: fact_use(b, FACT_FSBASE, 1); break;
	case ZYDIS_MNEMONIC_RDGSBASE: fact_use(b, FACT_GSBASE, 1); break;
	case ZYDIS_MNEMONIC_WRFSBASE: fact_def(b, FACT_FSBASE, 1, 0); break;
	case ZYDIS_MNEMONIC_WRGSBASE: fact_def(b, FACT_GSBASE, 1, 0); break;
	default:
		if (b->in->z.meta.isa_ext == ZYDIS_ISA_EXT_X87 ||
		    b->in->z.meta.isa_ext == ZYDIS_ISA_EXT_MMX) {
			fact_use(b, FACT_X87, 1);
			fact_def(b, FACT_X87, 1, 0);
		}
	}
}

/*
 * A system call: uses as many arguments as any call has; defines its result, and what the
 * instruction itself destroys.
 */
static void
system_call(struct build *b)
{
	static const uint8_t in[] = { X86_RAX, X86_RDI, X86_RSI, X86_RDX, X86_R10, X86_R8, X86_R9 };
	unsigned i;

	for (i = 0; i < sizeof in; i++)
		fact_use(b, in[i], 7);
	fact_def(b, X86_RAX, 7, 1);
	fact_def(b, X86_RCX, 7, 1);
	fact_def(b, X86_R11, 7, 1);
}

/* Address registers of string instructions: Zydis does not report all of them. */
static void
fact_string(struct build *b)
{
	unsigned op = b->in->z.opcode & 0xfe;

	if (op != 0xaa && op != 0xae) {         /* all but stos and scas */
		fact_use(b, X86_RSI, 7);
		fact_def(b, X86_RSI, 7, 1);
	}
	if (op != 0xac) {                       /* all but lods */
		fact_use(b, X86_RDI, 7);
		fact_def(b, X86_RDI, 7, 1);
	}
}

static unsigned
fact_npieces(unsigned n)
{
	return n <= REF_SIZEMAX ? n != 0 : (n - REF_SIZEMAX + REF_PIECE - 1) / REF_PIECE + 1;
}

/* Number of references, and their kind in the stream. */
static void
fact_references(struct build *b)
{
	const struct x86_inst *in = b->in;
	ZydisMnemonic m = in->z.mnemonic;
	unsigned n = 0, nread = 0, k;
	int i;

	if (m == ZYDIS_MNEMONIC_SYSCALL || m == ZYDIS_MNEMONIC_RDTSC || m == ZYDIS_MNEMONIC_RDTSCP ||
	    m == ZYDIS_MNEMONIC_CPUID || x86_random_insn(in))
		b->f.kind = FACT_LATE;
	else if (in->z.meta.category == ZYDIS_CATEGORY_STRINGOP)
		b->f.kind = FACT_STRING;
	else if (x86_no_reference(&in->z))
		;
	else if ((in->mem >= 0 && (x86_refs_depend_on(&in->z, in->op) != X86_BY_ADDRESS ||
	    in->op[in->mem].mem.type == ZYDIS_MEMOP_TYPE_VSIB))
	    || m == ZYDIS_MNEMONIC_MASKMOVQ || m == ZYDIS_MNEMONIC_MASKMOVDQU ||
	    m == ZYDIS_MNEMONIC_VMASKMOVDQU)
		b->f.kind = FACT_COUNTED;
	else
		for (i = 0; i < in->z.operand_count; i++)
			if (in->op[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
			    in->op[i].mem.type != ZYDIS_MEMOP_TYPE_AGEN && x86_refkind(&in->op[i]) >= 0) {
				n += k = fact_npieces(in->op[i].size / 8u);
				nread += x86_refkind(&in->op[i]) == REF_STORE ? 0 : k;
			}
	b->f.nread = (uint8_t)nread;
	b->f.nref = (uint8_t)n;
}

/* Assigns words of the stream to the values. */
static void
fact_places(struct build *b)
{
	unsigned i, n = 0;

	for (i = 0; i < b->f.ndef; i++) {
		struct fact_def *d = &b->def[i];

		if (b->f.kind == FACT_LATE) {
			d->val = (uint8_t)(!x86_random_insn(b->in) ? d->reg == X86_R11 ? 4 : d->reg :
			    d->reg == FACT_FLAGS ? 6 : 5);
			d->nval = 1;
		} else if (b->f.kind == FACT_STRING) {
			d->val = d->reg == X86_RCX ? 0 : d->reg == X86_RSI ? 1 : d->reg == X86_RDI ? 2 :
			    d->reg == X86_RAX ? 3 : 4;
			d->nval = 1;
		} else if (d->nval) {
			d->val = (uint8_t)n;
			n += d->nval;
		}
	}
	b->f.nval = (uint8_t)(b->f.kind == FACT_LATE ? FACT_NLATE : b->f.kind == FACT_STRING ?
	    FACT_RECORD - 1 : n);
}

static void
fact_fill(struct build *b)
{
	const struct x86_inst *in = b->in;
	int i, idiom = zero_idiom(in);

	for (i = 0; i < in->z.operand_count; i++) {
		if (in->op[i].type == ZYDIS_OPERAND_TYPE_REGISTER)
			reg_operand(b, i);
		else if (in->op[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
			fact_address(b, &in->op[i]);
	}
	if (in->z.mnemonic == ZYDIS_MNEMONIC_SYSCALL) {
		b->f.nuse = b->f.ndef = 0;
		system_call(b);
	}
	if (in->z.meta.category == ZYDIS_CATEGORY_STRINGOP)
		fact_string(b);
	if (idiom || in->z.meta.category == ZYDIS_CATEGORY_NOP ||
	    in->z.meta.category == ZYDIS_CATEGORY_WIDENOP)
		b->f.nuse = 0;
	fact_flags(b);
	fact_states(b);
	fact_references(b);
	fact_places(b);
}

const struct fact *
fact_get(struct facts *t, const struct x86_inst *in)
{
	struct fact **head, *f;
	struct build b;
	size_t nu, nd, nm = 0;

	if ((head = facts_bucket(t, in->pc)) == NULL)
		return NULL;
	for (f = *head; f; f = f->hnext)
		if (f->pc == in->pc && f->len == in->z.length && memcmp(f->b, in->b, f->len) == 0)
			return f;
	b = (struct build){ .in = in, .allflags = t->allflags };
	fact_fill(&b);
	nu = b.f.nuse * sizeof *b.use;
	nd = b.f.ndef * sizeof *b.def;
	b.f.def = b.def;
	if (t->memory && b.f.kind == FACT_PLAIN) {
		b.f.nmem = (uint8_t)fact_memory(in, &b.f, b.mem);
		nm = b.f.nref * sizeof *b.mem;
	}
	if ((f = facts_alloc(t, sizeof *f + nm + nu + nd)) == NULL)
		return NULL;
	b.f.pc = in->pc;
	b.f.len = in->z.length;
	b.f.amd = in->amd;
	memcpy(b.f.b, in->b, in->z.length);
	b.f.mnemonic = (uint16_t)in->z.mnemonic;
	b.f.id = t->n++;
	b.f.hnext = *head;
	b.f.mem = nm ? memcpy(f + 1, b.mem, nm) : NULL;
	b.f.use = memcpy((char *)(f + 1) + nm, b.use, nu);
	b.f.def = memcpy((char *)(f + 1) + nm + nu, b.def, nd);
	*f = b.f;
	return *head = f;
}
