/* Decides for each statement of kind loads what is stored of it and how it is executed. */
#include <stdlib.h>
#include <Zydis/Zydis.h>

#include "isa/x86/decode.h"
#include "isa/x86/operand.h"
#include "wet/file/full/reexecute.h"

#define FACTS 65536u                    /* facts that are cached at a time */
#define STATE 16384u                    /* bytes of a saved processor state at most */

unsigned
load_state_offset(unsigned reg, uint16_t *at)
{
	if (reg < 16)
		*at = (uint16_t)(offsetof(struct load_state, r) + 8 * reg);
	else if (reg == FACT_FLAGS)
		*at = offsetof(struct load_state, flags);
	else if (reg == FACT_FSBASE || reg == FACT_GSBASE)
		*at = (uint16_t)(offsetof(struct load_state, seg) + 8 * (reg - FACT_FSBASE));
	else if (reg == FACT_MXCSR)
		*at = offsetof(struct load_state, mxcsr);
	else if (reg >= FACT_VECTOR && reg < FACT_NREG) {
		*at = (uint16_t)(offsetof(struct load_state, vec) + 64 * (reg - FACT_VECTOR));
		return 8;
	} else if (reg >= FACT_MASK && reg < FACT_VECTOR)
		*at = (uint16_t)(offsetof(struct load_state, mask) + 8 * (reg - FACT_MASK));
	else
		return 0;
	return 1;
}

static int
loads_definitions(struct load *l, struct load_stmt *s, const struct x86_inst *in, const struct fact *f)
{
	s->def = (uint32_t)l->ndef;
	if (l->ndef > UINT32_MAX / 2 || buf_grow(&l->def, &l->capdef, l->ndef + f->ndef, sizeof *l->def) != 0)
		return -1;
	for (unsigned i = 0; i < f->ndef; i++) {
		const struct fact_def *d = &f->def[i];
		struct load_def t = { .n = d->nval, .val = d->val };

		if (d->val == FACT_NOVALUE || !d->nval || s->ndefword + d->nval > LOAD_WORDS ||
		    load_state_offset(d->reg, &t.at) < d->nval)
			continue;
		t.clear = d->reg >= FACT_VECTOR && in->z.encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY;
		l->def[l->ndef++] = t;
		s->ndef++;
		s->ndefword = (uint8_t)(s->ndefword + d->nval);
	}
	return 0;
}

static void
loads_value(const struct load *l, struct load_stmt *s, const struct fact *f)
{
	struct wport p;

	wport_of(f, &p);
	for (unsigned i = 0; p.nval && i < s->ndef; i++)
		if (l->def[s->def + i].val == p.val) {
			s->val = l->def[s->def + i].at;
			s->nval = p.nval;
		}
}

/* Bytes that the instruction moves the stack pointer by for one operand. */
static unsigned
loads_stacked(const struct x86_inst *in)
{
	for (int i = in->z.operand_count_visible; i < in->z.operand_count; i++)
		if (in->op[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
			return in->op[i].size / 8u;
	return 0;
}

static uint8_t
loads_number(ZydisRegister r)
{
	return (uint8_t)(x86_gpr(r) < 0 ? 16 : x86_gpr(r));
}

static void
loads_address(struct load_stmt *s, const struct x86_inst *in, const ZydisDecodedOperand *o)
{
	s->base = loads_number(o->mem.base);
	s->index = loads_number(o->mem.index);
	s->scale = o->mem.scale;
	s->disp = (uint64_t)o->mem.disp.value + (o->mem.base == ZYDIS_REGISTER_RIP ? in->next : 0);
	s->seg = o->mem.segment == ZYDIS_REGISTER_FS ? 0 : o->mem.segment == ZYDIS_REGISTER_GS ? 1 : 2;
	s->narrow = in->z.address_width == 32;
}

/* The operand is at a register, mostly rsp, plus disp. */
static void
loads_at(struct load_stmt *s, unsigned base, uint64_t disp)
{
	s->base = (uint8_t)base;
	s->index = 16;
	s->seg = 2;
	s->disp = disp;
}

/* What the instruction stores is not known: determines what to forget. */
static void
loads_unknown(struct load_stmt *s, const struct x86_inst *in)
{
	for (int i = 0; i < in->z.operand_count; i++) {
		const ZydisDecodedOperand *o = &in->op[i];
		unsigned n = o->size / 8u;

		if (o->type != ZYDIS_OPERAND_TYPE_MEMORY || o->mem.type == ZYDIS_MEMOP_TYPE_AGEN ||
		    !(o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			continue;
		if (o->mem.type != ZYDIS_MEMOP_TYPE_MEM || s->forget) {
			s->forget = LOAD_ANYWHERE;
			return;
		}
		loads_address(s, in, o);
		s->forget = (uint16_t)(n && n < STATE ? n : STATE);
	}
}

static void
loads_push(struct load_stmt *s, const struct x86_inst *in)
{
	const ZydisDecodedOperand *o = &in->op[0];
	unsigned n = loads_stacked(in);

	if (!n)
		return;
	s->kind = LOAD_STACK;
	s->arg = -(uint64_t)n;
	loads_at(s, X86_RSP, s->arg);
	s->forget = (uint16_t)n;
	if (n != 8)
		return;
	if (in->z.mnemonic == ZYDIS_MNEMONIC_CALL) {
		s->kind = LOAD_CALL;
		s->arg = in->next;
	} else if (in->z.mnemonic != ZYDIS_MNEMONIC_PUSH)
		return;
	else if (o->type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
		s->kind = LOAD_CALL;
		s->arg = (uint64_t)o->imm.value.s;
	} else if (o->type == ZYDIS_OPERAND_TYPE_REGISTER && o->size == 64 && x86_gpr(o->reg.value) >= 0) {
		s->kind = LOAD_PUSH;
		s->dst = loads_number(o->reg.value);
	} else
		return;
	s->forget = 0;
	s->nstore = 8;
}

static void
loads_pop(struct load_stmt *s, const struct x86_inst *in)
{
	const ZydisDecodedOperand *o = &in->op[0];

	if (o->type == ZYDIS_OPERAND_TYPE_REGISTER && o->size == 64 && x86_gpr(o->reg.value) >= 0) {
		s->kind = LOAD_POP;
		s->dst = (uint8_t)x86_gpr(o->reg.value);
		s->nload = 8;
		loads_at(s, X86_RSP, 0);
	} else if (o->type == ZYDIS_OPERAND_TYPE_MEMORY) {
		loads_unknown(s, in);
		s->forget = LOAD_ANYWHERE;
		s->kind = LOAD_STACK;
		s->arg = loads_stacked(in);
	}
}

static void
loads_lea(struct load_stmt *s, const struct x86_inst *in)
{
	const ZydisDecodedOperand *o = &in->op[0], *m = &in->op[1];

	if (m->mem.base != ZYDIS_REGISTER_RIP || o->size < 32 || x86_gpr(o->reg.value) < 0)
		return;
	s->kind = LOAD_CONST;
	s->dst = (uint8_t)x86_gpr(o->reg.value);
	s->arg = in->next + (uint64_t)m->mem.disp.value;
	if (o->size == 32)
		s->arg = (uint32_t)s->arg;
}

/* Instructions that are executed in C. */
static void
by_hand(struct load_stmt *s, const struct x86_inst *in)
{
	unsigned n;

	switch (in->z.mnemonic) {
	case ZYDIS_MNEMONIC_PUSH: case ZYDIS_MNEMONIC_PUSHF: case ZYDIS_MNEMONIC_PUSHFQ:
	case ZYDIS_MNEMONIC_CALL:
		loads_push(s, in);
		break;
	case ZYDIS_MNEMONIC_RET:
		if ((n = loads_stacked(in)) != 0) {
			s->kind = LOAD_STACK;
			s->arg = n + (in->z.operand_count_visible ? in->op[0].imm.value.u : 0);
		}
		break;
	case ZYDIS_MNEMONIC_POP: loads_pop(s, in); break;
	case ZYDIS_MNEMONIC_LEAVE:
	case ZYDIS_MNEMONIC_POPFQ:
		if (loads_stacked(in) == 8) {
			s->kind = in->z.mnemonic == ZYDIS_MNEMONIC_LEAVE ? LOAD_LEAVE : LOAD_POPF;
			s->nload = 8;
			loads_at(s, s->kind == LOAD_LEAVE ? X86_RBP : X86_RSP, 0);
		}
		break;
	case ZYDIS_MNEMONIC_LDMXCSR: case ZYDIS_MNEMONIC_VLDMXCSR:
		s->kind = LOAD_LDMXCSR;
		s->nload = 4;
		loads_address(s, in, &in->op[0]);
		break;
	case ZYDIS_MNEMONIC_VZEROUPPER: s->kind = LOAD_UPPER; break;
	case ZYDIS_MNEMONIC_VZEROALL: s->kind = LOAD_ALL; break;
	case ZYDIS_MNEMONIC_XSAVE: case ZYDIS_MNEMONIC_XSAVE64: case ZYDIS_MNEMONIC_XSAVEC:
	case ZYDIS_MNEMONIC_XSAVEC64:
	case ZYDIS_MNEMONIC_XSAVEOPT: case ZYDIS_MNEMONIC_XSAVEOPT64: case ZYDIS_MNEMONIC_FXSAVE:
	case ZYDIS_MNEMONIC_FXSAVE64:
		s->kind = LOAD_SAVE;
		loads_unknown(s, in);
		break;
	case ZYDIS_MNEMONIC_XRSTOR: case ZYDIS_MNEMONIC_XRSTOR64: case ZYDIS_MNEMONIC_FXRSTOR:
	case ZYDIS_MNEMONIC_FXRSTOR64:
		s->kind = LOAD_RESTORE;
		break;
	case ZYDIS_MNEMONIC_LEA: loads_lea(s, in); break;
	case ZYDIS_MNEMONIC_STOSB: case ZYDIS_MNEMONIC_STOSW: case ZYDIS_MNEMONIC_STOSD:
	case ZYDIS_MNEMONIC_STOSQ:
	case ZYDIS_MNEMONIC_MOVSB: case ZYDIS_MNEMONIC_MOVSW: case ZYDIS_MNEMONIC_MOVSD:
	case ZYDIS_MNEMONIC_MOVSQ:
		if (in->z.meta.category == ZYDIS_CATEGORY_STRINGOP) {
			s->kind = (in->z.opcode & 0xfe) == 0xaa ? LOAD_STOS : LOAD_MOVS;
			s->arg = in->op[0].size / 8u;
		}
		break;
	default: break;
	}
}

/*
 * Finds the divisor.  dst: a general register; 16 + n: its second byte, as ah; 32: memory.
 * arg: bytes, plus 16 if signed.
 */
static void
loads_divides(struct load_stmt *s, const struct x86_inst *in)
{
	const ZydisDecodedOperand *o = &in->op[0];

	s->kind = LOAD_DIV;
	s->arg = o->size / 8u | (in->z.mnemonic == ZYDIS_MNEMONIC_IDIV ? 16u : 0);
	s->dst = (uint8_t)(o->type == ZYDIS_OPERAND_TYPE_MEMORY ? 32 :
	    x86_gpr(o->reg.value) | (x86_highbyte(o->reg.value) ? 16 : 0));
}

static int
loads_native(struct load *l, struct load_stmt *s, const struct x86_inst *in, const struct fact *f)
{
	int e = f->kind == FACT_PLAIN ? load_stub(l, s, in, f) : 1;

	if (e)
		return e;
	s->kind = LOAD_NATIVE;
	if (in->z.mnemonic == ZYDIS_MNEMONIC_DIV || in->z.mnemonic == ZYDIS_MNEMONIC_IDIV)
		loads_divides(s, in);
	if (in->mem >= 0 && in->op[in->mem].mem.type == ZYDIS_MEMOP_TYPE_MEM) {
		const ZydisDecodedOperand *o = &in->op[in->mem];

		loads_address(s, in, o);
		if (o->actions & ZYDIS_OPERAND_ACTION_MASK_READ)
			s->nload = (uint8_t)(o->size / 8);
		if (o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
			s->nstore = (uint8_t)(o->size / 8);
	}
	return 0;
}

static int
loads_stores(const struct x86_inst *in)
{
	for (int i = 0; i < in->z.operand_count; i++)
		if (in->op[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    in->op[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
			return 1;
	return 0;
}

static int
loads_prepare(struct load *l, struct load_stmt *s, const struct x86_inst *in, const struct fact *f)
{
	if (loads_definitions(l, s, in, f) != 0)
		return -1;
	loads_value(l, s, f);
	s->kind = LOAD_NONE;
	if (!x86_makers_differ(&in->z, in->b))
		by_hand(s, in);
	if (s->kind == LOAD_NONE && (s->ndef || loads_stores(in))) {
		int e = loads_native(l, s, in, f);

		if (e < 0)
			return -1;
		if (e) {
			s->kind = s->ndef ? LOAD_GIVEN : LOAD_NONE;
			loads_unknown(s, in);
		}
	}
	s->nstored = s->kind >= LOAD_STOS ? s->ndefword : (uint8_t)((s->nload + 7) / 8);
	return 0;
}

int
load_add(struct load *l, uint64_t pc, const uint8_t *b, size_t n)
{
	struct load_stmt s = { 0 };
	struct x86_inst in;
	const struct fact *f;

	/*
	 * the file does not say which vendor's code it is: instructions that only AMD has
	 * differ in length, or are not executed in C
	 */
	if ((x86_inst_decode(&in, b, n, pc, 0) != 0 || in.z.length != n) &&
	    (x86_inst_decode(&in, b, n, pc, 1) != 0 || in.z.length != n))
		return 1;
	if (l->facts && l->facts->n >= FACTS) {
		facts_free(l->facts);
		l->facts = NULL;
	}
	if (!l->facts && (l->facts = calloc(1, sizeof *l->facts)) == NULL)
		return -1;
	f = fact_get(l->facts, &in);
	if (!f || loads_prepare(l, &s, &in, f) != 0 ||
	    buf_grow(&l->stmt, &l->capstmt, l->nstmt + 1, sizeof *l->stmt) != 0)
		return -1;
	l->stmt[l->nstmt++] = s;
	return 0;
}
