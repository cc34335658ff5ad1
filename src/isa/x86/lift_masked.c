/*
 * Lifting of x86-64 instructions: accesses of which a mask chooses the elements, and gathers and scatters.  No analysis
 * knows masks and vectors, so they are recorded before each such instruction.
 */
#include "isa/x86/lift_internal.h"
#include "isa/x86/operand.h"

#define VECTOR 64u      /* bytes of the largest one */

/* The bytes of a vector register; 0: it is none. */
static unsigned
vector_bytes(ZydisRegister r)
{
	switch (ZydisRegisterGetClass(r)) {
	case ZYDIS_REGCLASS_XMM: return 16;
	case ZYDIS_REGCLASS_YMM: return 32;
	case ZYDIS_REGCLASS_ZMM: return 64;
	default: return 0;
	}
}

static uint8_t
register_number(ZydisRegister r)
{
	return (uint8_t)ZydisRegisterGetId(r);
}

/* The mask of n elements is a mask register, or the highest bits of the elements of a vector register. */
static void
mask_from(struct lift *l, ZydisRegister r, unsigned n)
{
	struct insn_mask *m = &l->in->mask;

	m->form = l->z.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX ? IF_AVX512 :
	    l->z.encoding == ZYDIS_INSTRUCTION_ENCODING_VEX ? IF_AVX : IF_SSE;
	m->reg = register_number(r);
	m->vector = vector_bytes(r) != 0;
	m->bytes = (uint8_t)(m->vector ? vector_bytes(r) : n <= 16 ? 2 : n / 8);
}

static struct op_step *
masked_ref(struct lift *l, const struct sch_addr *m, unsigned cc, unsigned size, unsigned n)
{
	struct op_step *s = x86_ref(l, SO_MASKED, m, n);

	s->cc = (uint8_t)cc;
	s->w = (uint8_t)size;
	return s;
}

int
x86_byte_mask(ZydisMnemonic m)
{
	return m == ZYDIS_MNEMONIC_MASKMOVDQU || m == ZYDIS_MNEMONIC_VMASKMOVDQU;
}

const char *
x86_masked(struct lift *l, const ZydisDecodedOperand *o)
{
	static const char odd[] = "masked operand of odd size";
	unsigned store = (o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0, how = MA_RUNS, scale = 0;
	unsigned size = o->element_size / 8u, n;
	int evex = l->z.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX;
	struct sch_addr m;
	const char *why = x86_mem(l, o, &m);

	if (why)
		return why;
	if (x86_byte_mask(l->z.mnemonic)) {
		size = 1;
		n = 16;
	} else if (o->element_size && o->element_size % 8 == 0) {
		n = o->size / o->element_size;
	} else {
		return odd;
	}
	if (l->z.avx.broadcast.mode != ZYDIS_BROADCAST_MODE_INVALID) {
		scale = n;
		n = x86_broadcast_elements(&l->z);
		how = MA_FOLDED;
	} else if (x86_packs(l->z.mnemonic)) {
		how = MA_PACKED;
	} else if (!evex) {
		how = MA_RUNS_TOP;
	}
	if (n == 0 || n > VECTOR || (size != 1 && size != 2 && size != 4 && size != 8) || l->in->nref ||
	    (how == MA_FOLDED ? scale != 1 && scale != 2 && scale != 4 && scale != 8 : n * size > VECTOR))
		return odd;
	masked_ref(l, &m, MA_COND(store, how, scale), size, n);
	mask_from(l, evex ? l->z.avx.mask.reg : l->op[1].reg.value, n);
	return NULL;
}

static int
is_indexed(ZydisMnemonic m)
{
	switch (m) {
	case ZYDIS_MNEMONIC_VGATHERDPS: case ZYDIS_MNEMONIC_VPGATHERDD: case ZYDIS_MNEMONIC_VSCATTERDPS:
	case ZYDIS_MNEMONIC_VPSCATTERDD:
		return 1;
	default:
		return x86_quad_index(m) || x86_wide_element(m);
	}
}

const char *
x86_indexed(struct lift *l, const ZydisDecodedOperand *o)
{
	unsigned size = x86_wide_element(l->z.mnemonic) ? 8 : 4, isize = x86_quad_index(l->z.mnemonic) ? 8 : 4;
	unsigned n = l->z.avx.vector_length / 8u / (isize > size ? isize : size);
	unsigned store = (o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
	int evex = l->z.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX;
	unsigned how = evex ? (isize == 8 ? MA_INDEX8 : MA_INDEX4) : isize == 8 ? MA_INDEX8_TOP : MA_INDEX4_TOP;
	ZydisDecodedOperand base = *o;
	struct sch_addr m;
	const char *why;

	if (!is_indexed(l->z.mnemonic) || !vector_bytes(o->mem.index) || n == 0 || l->in->nref)
		return "vector-indexed operand";
	if (l->z.address_width != 64)
		return "vector-indexed operand with narrow addresses";
	base.mem.index = ZYDIS_REGISTER_NONE;
	base.mem.scale = 0;
	if ((why = x86_mem(l, &base, &m)) != NULL)
		return why;
	masked_ref(l, &m, MA_COND(store, how, o->mem.scale), size, n);
	mask_from(l, evex ? l->z.avx.mask.reg : l->op[2].reg.value, n);
	l->in->mask.index = register_number(o->mem.index);
	l->in->mask.nindex = (uint8_t)vector_bytes(o->mem.index);
	return NULL;
}
