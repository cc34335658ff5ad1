/* x86-64: register numbers of operands, and kinds of references to memory. */
#include <Zydis/Zydis.h>
#include "isa/reference.h"
#include "isa/x86/operand.h"

int
x86_gpr(ZydisRegister r)
{
	if (r < ZYDIS_REGISTER_AL || r > ZYDIS_REGISTER_R15)
		return -1;
	if (r >= ZYDIS_REGISTER_RAX)
		return r - ZYDIS_REGISTER_RAX;
	if (r >= ZYDIS_REGISTER_EAX)
		return r - ZYDIS_REGISTER_EAX;
	if (r >= ZYDIS_REGISTER_AX)
		return r - ZYDIS_REGISTER_AX;
	if (r >= ZYDIS_REGISTER_SPL)
		return r - ZYDIS_REGISTER_SPL + 4;
	return (r - ZYDIS_REGISTER_AL) & 3;
}

int
x86_highbyte(ZydisRegister r)
{
	return r >= ZYDIS_REGISTER_AH && r <= ZYDIS_REGISTER_BH;
}

int
x86_refkind(const ZydisDecodedOperand *o)
{
	int rd = (o->actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0,
	    wr = (o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;

	return rd && wr ? REF_MODIFY : rd ? REF_LOAD : wr ? REF_STORE : -1;
}

int
x86_no_reference(const ZydisDecodedInstruction *z)
{
	switch (z->meta.category) {
	case ZYDIS_CATEGORY_NOP:
	case ZYDIS_CATEGORY_WIDENOP:
	case ZYDIS_CATEGORY_PREFETCH:
	case ZYDIS_CATEGORY_PREFETCHWT1:
	case ZYDIS_CATEGORY_CLDEMOTE:
	case ZYDIS_CATEGORY_CLFLUSHOPT:
	case ZYDIS_CATEGORY_CLWB:
		return 1;
	default:
		break;
	}
	switch (z->mnemonic) {
	case ZYDIS_MNEMONIC_CLFLUSH:
	case ZYDIS_MNEMONIC_ENDBR64: case ZYDIS_MNEMONIC_ENDBR32:
	case ZYDIS_MNEMONIC_PAUSE:
		return 1;
	default:
		return 0;
	}
}

/* Do masked-off elements cause no access and no fault? */
static int
x86_suppresses(const ZydisDecodedInstruction *z)
{
	if (z->encoding != ZYDIS_INSTRUCTION_ENCODING_EVEX || z->avx.mask.reg == ZYDIS_REGISTER_NONE
	    || z->avx.mask.reg == ZYDIS_REGISTER_K0)
		return 0;
	/* E4NF, which Zydis 4.0 takes for E4 */
	if (z->mnemonic == ZYDIS_MNEMONIC_VDBPSADBW || z->mnemonic == ZYDIS_MNEMONIC_VGF2P8AFFINEQB ||
	    z->mnemonic == ZYDIS_MNEMONIC_VGF2P8AFFINEINVQB || z->mnemonic == ZYDIS_MNEMONIC_VCVTNE2PS2BF16)
		return 0;
	switch (z->meta.exception_class) {
	case ZYDIS_EXCEPTION_CLASS_E1NF: case ZYDIS_EXCEPTION_CLASS_E2NF: case ZYDIS_EXCEPTION_CLASS_E3NF:
	case ZYDIS_EXCEPTION_CLASS_E4NF: case ZYDIS_EXCEPTION_CLASS_E5NF: case ZYDIS_EXCEPTION_CLASS_E6NF:
	case ZYDIS_EXCEPTION_CLASS_E9NF: case ZYDIS_EXCEPTION_CLASS_E10NF: case ZYDIS_EXCEPTION_CLASS_E11NF:
		return 0;
	default:
		return 1;
	}
}

static int
vex_masked(ZydisMnemonic m)
{
	return m == ZYDIS_MNEMONIC_VMASKMOVPS || m == ZYDIS_MNEMONIC_VMASKMOVPD
	    || m == ZYDIS_MNEMONIC_VPMASKMOVD || m == ZYDIS_MNEMONIC_VPMASKMOVQ;
}

static int
bit_string(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *op)
{
	switch (z->mnemonic) {
	case ZYDIS_MNEMONIC_BT: case ZYDIS_MNEMONIC_BTS: case ZYDIS_MNEMONIC_BTR: case ZYDIS_MNEMONIC_BTC:
		return op[0].type == ZYDIS_OPERAND_TYPE_MEMORY && op[1].type == ZYDIS_OPERAND_TYPE_REGISTER;
	default:
		return 0;
	}
}

enum x86_refs
x86_refs_depend_on(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *op)
{
	if (x86_suppresses(z) || vex_masked(z->mnemonic))
		return X86_BY_MASK;
	if (bit_string(z, op))
		return X86_BY_BIT;
	if (z->meta.category == ZYDIS_CATEGORY_XSAVE || z->meta.category == ZYDIS_CATEGORY_XSAVEOPT)
		return X86_BY_STATE;
	return X86_BY_ADDRESS;
}

unsigned
x86_broadcast_elements(const ZydisDecodedInstruction *z)
{
	switch (z->avx.broadcast.mode) {
	case ZYDIS_BROADCAST_MODE_1_TO_2: return 2;
	case ZYDIS_BROADCAST_MODE_1_TO_4: case ZYDIS_BROADCAST_MODE_2_TO_4: return 4;
	case ZYDIS_BROADCAST_MODE_1_TO_8: case ZYDIS_BROADCAST_MODE_2_TO_8: case ZYDIS_BROADCAST_MODE_4_TO_8: return 8;
	case ZYDIS_BROADCAST_MODE_1_TO_16: case ZYDIS_BROADCAST_MODE_2_TO_16: case ZYDIS_BROADCAST_MODE_4_TO_16:
	case ZYDIS_BROADCAST_MODE_8_TO_16: return 16;
	case ZYDIS_BROADCAST_MODE_1_TO_32: return 32;
	case ZYDIS_BROADCAST_MODE_1_TO_64: return 64;
	default: return 0;
	}
}

int
x86_packs(ZydisMnemonic m)
{
	switch (m) {
	case ZYDIS_MNEMONIC_VCOMPRESSPD: case ZYDIS_MNEMONIC_VCOMPRESSPS: case ZYDIS_MNEMONIC_VEXPANDPD:
	case ZYDIS_MNEMONIC_VEXPANDPS:
	case ZYDIS_MNEMONIC_VPCOMPRESSB: case ZYDIS_MNEMONIC_VPCOMPRESSW: case ZYDIS_MNEMONIC_VPCOMPRESSD:
	case ZYDIS_MNEMONIC_VPCOMPRESSQ:
	case ZYDIS_MNEMONIC_VPEXPANDB: case ZYDIS_MNEMONIC_VPEXPANDW: case ZYDIS_MNEMONIC_VPEXPANDD:
	case ZYDIS_MNEMONIC_VPEXPANDQ:
		return 1;
	default:
		return 0;
	}
}

int
x86_quad_index(ZydisMnemonic m)
{
	switch (m) {
	case ZYDIS_MNEMONIC_VGATHERQPD: case ZYDIS_MNEMONIC_VGATHERQPS: case ZYDIS_MNEMONIC_VPGATHERQD:
	case ZYDIS_MNEMONIC_VPGATHERQQ:
	case ZYDIS_MNEMONIC_VSCATTERQPD: case ZYDIS_MNEMONIC_VSCATTERQPS: case ZYDIS_MNEMONIC_VPSCATTERQD:
	case ZYDIS_MNEMONIC_VPSCATTERQQ:
		return 1;
	default:
		return 0;
	}
}

int
x86_wide_element(ZydisMnemonic m)
{
	switch (m) {
	case ZYDIS_MNEMONIC_VGATHERQPD: case ZYDIS_MNEMONIC_VPGATHERQQ: case ZYDIS_MNEMONIC_VGATHERDPD:
	case ZYDIS_MNEMONIC_VPGATHERDQ:
	case ZYDIS_MNEMONIC_VSCATTERQPD: case ZYDIS_MNEMONIC_VPSCATTERQQ: case ZYDIS_MNEMONIC_VSCATTERDPD:
	case ZYDIS_MNEMONIC_VPSCATTERDQ:
		return 1;
	default:
		return 0;
	}
}
