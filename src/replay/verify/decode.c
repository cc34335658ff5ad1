/*
 * What an instruction refers to: from its bytes, the registers before it and the processor
 * manual's list of operands (Zydis), with the conventions of ref(5).  It shares no code with
 * the replay, on purpose.
 */
#include <stdio.h>
#include <string.h>

#include "format/ref/ref.h"
#include "isa/x86/decode.h"
#include "replay/verify/verify_internal.h"

static void
verify_decode_add(struct expect *e, unsigned kind, uint64_t addr, unsigned size)
{
	while (size && e->n < MOST_REFS) {
		unsigned k = size > REF_SIZEMAX ? REF_PIECE : size;

		e->w[e->n++] = ref_make(kind, addr, k);
		addr += k;
		size -= k;
	}
}

int
verify_decode(struct insn *in, int amd)
{
	if (x86_decode(&in->z, in->op, in->b, 15, amd) != 0)
		return -1;
	in->string = x86_repeated(&in->z);
	in->counted = (in->z.address_width == 32 ? (uint32_t)in->at.r[WS_RCX] : in->at.r[WS_RCX]) != 0;
	return 0;
}

/* Does the operand belong to a push or pop? Its address has 64 bits even with an address-size prefix. */
static int
on_stack(const ZydisDecodedOperand *o)
{
	return o->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN && o->mem.base == ZYDIS_REGISTER_RSP;
}

static uint64_t
address_mask(const struct insn *in)
{
	return in->z.address_width == 32 ? UINT32_MAX : UINT64_MAX;
}

/* Computes the address of a memory operand; -1: it has none of its own. */
static int
verify_decode_address(const struct insn *in, const ZydisDecodedOperand *o, uint64_t *a)
{
	ZydisRegisterContext c;
	const uint64_t *r = in->at.r;

	if (on_stack(o)) {
		*a = r[WS_RSP];
		return 0;
	}
	memset(&c, 0, sizeof(c));
	for (int i = 0; i < 16; i++) {
		c.values[ZYDIS_REGISTER_RAX + i] = r[i];
		c.values[ZYDIS_REGISTER_EAX + i] = (uint32_t)r[i];
	}
	if (o->mem.type == ZYDIS_MEMOP_TYPE_VSIB ||
	    !ZYAN_SUCCESS(ZydisCalcAbsoluteAddressEx(&in->z, o, in->at.rip, &c, a)))
		return -1;
	if (in->z.mnemonic == ZYDIS_MNEMONIC_XLAT)
		*a = (r[WS_RBX] + (uint8_t)r[WS_RAX]) & address_mask(in);
	if (o->mem.segment == ZYDIS_REGISTER_FS)
		*a += in->at.fsbase;
	else if (o->mem.segment == ZYDIS_REGISTER_GS)
		*a += in->at.gsbase;
	return 0;
}

/* Hints, and instructions that do not access their operand. */
static int
verify_decode_none(const struct insn *in)
{
	switch (in->z.meta.category) {
	case ZYDIS_CATEGORY_NOP:
	case ZYDIS_CATEGORY_WIDENOP:
	case ZYDIS_CATEGORY_PREFETCH:
	case ZYDIS_CATEGORY_CLFLUSHOPT:
	case ZYDIS_CATEGORY_CLWB:
	case ZYDIS_CATEGORY_CLDEMOTE:
		return 1;
	default:
		return in->z.mnemonic == ZYDIS_MNEMONIC_CLFLUSH || in->z.mnemonic == ZYDIS_MNEMONIC_LEA;
	}
}

static int
kind_of(const ZydisDecodedOperand *o)
{
	int r = (o->actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0,
	    w = (o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;

	return r && w ? REF_MODIFY : w ? REF_STORE : REF_LOAD;
}

/* Instructions whose bytes depend on a mask, an index vector or the state in use. */
static enum loose
verify_decode_looseness(const struct insn *in, const ZydisDecodedOperand *o)
{
	if (o->mem.type == ZYDIS_MEMOP_TYPE_VSIB)
		return KINDS;
	if (in->z.meta.category == ZYDIS_CATEGORY_XSAVE || in->z.meta.category == ZYDIS_CATEGORY_XSAVEOPT)
		return KINDS;
	if (in->z.avx.mask.mode >= ZYDIS_MASK_MODE_MERGING && in->z.avx.mask.reg != ZYDIS_REGISTER_K0)
		return BOUNDED;
	switch (in->z.mnemonic) {
	case ZYDIS_MNEMONIC_VMASKMOVPS: case ZYDIS_MNEMONIC_VMASKMOVPD:
	case ZYDIS_MNEMONIC_VPMASKMOVD: case ZYDIS_MNEMONIC_VPMASKMOVQ:
	case ZYDIS_MNEMONIC_MASKMOVQ: case ZYDIS_MNEMONIC_MASKMOVDQU: case ZYDIS_MNEMONIC_VMASKMOVDQU:
		return BOUNDED;
	default:
		return EXACT;
	}
}

/* bt and the like, with the bit's number in a register, reach beyond the operand. */
static int64_t
verify_decode_bits(const struct insn *in, const ZydisDecodedOperand *o)
{
	switch (in->z.mnemonic) {
	case ZYDIS_MNEMONIC_BT: case ZYDIS_MNEMONIC_BTC: case ZYDIS_MNEMONIC_BTR: case ZYDIS_MNEMONIC_BTS:
		break;
	default:
		return 0;
	}
	if (in->op[1].type != ZYDIS_OPERAND_TYPE_REGISTER)
		return 0;
	uint64_t r = in->at.r[ZydisRegisterGetId(in->op[1].reg.value) & 15];
	int64_t bit = o->size == 64 ? (int64_t)r : o->size == 32 ? (int32_t)r : (int16_t)r;
	int64_t n = o->size;

	return (bit >= 0 ? bit / n : -((-bit + n - 1) / n)) * (n / 8);
}

/* The address of an operand if the stack pointer moves before it is used. */
static uint64_t
verify_decode_moved(const struct insn *in, const ZydisDecodedOperand *o, uint64_t a, int kind)
{
	int size = o->size / 8;

	if (o->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN && in->z.mnemonic == ZYDIS_MNEMONIC_LEAVE)
		return in->at.r[WS_RBP];
	if (on_stack(o))
		return kind == REF_STORE ? a - (uint64_t)size : a;
	if (in->z.mnemonic == ZYDIS_MNEMONIC_CLZERO)
		return a & ~(uint64_t)X86_LINE;
	if (in->z.mnemonic == ZYDIS_MNEMONIC_POP &&
	    (o->mem.base == ZYDIS_REGISTER_RSP || o->mem.base == ZYDIS_REGISTER_ESP))
		return (a + (uint64_t)size) & address_mask(in);
	return a + (uint64_t)verify_decode_bits(in, o);
}
static void
verify_decode_operands(struct expect *e, const struct insn *in, int kind)
{
	int n = in->z.operand_count,
	    back = in->z.meta.category == ZYDIS_CATEGORY_STRINGOP && kind == REF_LOAD;

	for (int i = 0; i < n; i++) {
		const ZydisDecodedOperand *o = &in->op[back ? n - 1 - i : i];
		uint64_t a = 0;
		int loose;

		if (o->type != ZYDIS_OPERAND_TYPE_MEMORY || o->mem.type == ZYDIS_MEMOP_TYPE_AGEN ||
		    kind_of(o) != kind)
			continue;
		loose = verify_decode_looseness(in, o);
		if (verify_decode_address(in, o, &a) && loose == EXACT)
			loose = KINDS;
		if (loose != EXACT) {
			e->loose = (enum loose)loose;
			e->kind = kind;
			e->lo = a;
			e->hi = a + (o->size ? o->size / 8 : 16);
			continue;
		}
		verify_decode_add(e, (unsigned)kind, verify_decode_moved(in, o, a, kind), o->size / 8);
	}
}

void
verify_expect(struct expect *e, const struct insn *in)
{
	e->n = 0;
	e->loose = EXACT;
	verify_decode_add(e, REF_INST, in->at.rip, in->z.length);
	if (verify_decode_none(in) || (in->string && !in->counted))
		return;
	verify_decode_operands(e, in, REF_LOAD);
	verify_decode_operands(e, in, REF_STORE);
	verify_decode_operands(e, in, REF_MODIFY);
}

static const char *
verify_decode_word(char *buf, size_t size, const uint64_t *w, size_t i, size_t n)
{
	if (i >= n)
		snprintf(buf, size, "none");
	else
		snprintf(buf, size, "%s 0x%llx %u", ref_kind_name(ref_kind(w[i])),
		    (unsigned long long)ref_addr(w[i]), ref_size(w[i]));
	return buf;
}

const char *
verify_refs(const struct expect *e, const uint64_t *w, size_t n, char *buf, size_t size)
{
	char a[64], b[64];
	size_t i;

	for (i = 0; i < e->n && i < n && e->w[i] == w[i]; i++)
		;
	if (i == e->n && i == n)
		return NULL;
	for (; e->loose != EXACT && i < n; i++)
		if (ref_kind(w[i]) != (unsigned)e->kind || (e->loose == BOUNDED &&
		    (ref_addr(w[i]) < e->lo || ref_addr(w[i]) + ref_size(w[i]) > e->hi)))
			break;
	if (e->loose != EXACT && i == n)
		return NULL;
	snprintf(buf, size, "reference %zu: %s, where the instruction makes %s", i,
	    verify_decode_word(a, sizeof(a), w, i, n), verify_decode_word(b, sizeof(b), e->w, i, e->n));
	return buf;
}
