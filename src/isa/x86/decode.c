/*
 * Decoding x86-64 instructions as Intel's or AMD's processors do: what Zydis reports, corrected.
 * See decode.h.
 */
#include <string.h>

#include "isa/x86/decode.h"

/* second opcode byte: prefetches; with a register operand, a nop or undefined */
#define NOP_0D 0x0du
#define UD1    0xb9u                    /* second opcode byte */

static const ZydisDecoder *
x86_decoder(int amd)
{
	static ZydisDecoder d[2];
	static int ready;

	if (!ready) {
		for (int i = 0; i < 2; i++)
			ZydisDecoderInit(&d[i], ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
		ZydisDecoderEnableMode(&d[1], ZYDIS_DECODER_MODE_AMD_BRANCHES, ZYAN_TRUE);
		ready = 1;
	}
	return &d[amd != 0];
}

static int
zydis_decode(ZydisDecodedInstruction *z, ZydisDecodedOperand *op, const uint8_t *p, size_t n, int amd)
{
	if (op)
		return ZYAN_SUCCESS(ZydisDecoderDecodeFull(x86_decoder(amd), p, n, z, op)) ? 0 : -1;
	return ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(x86_decoder(amd), NULL, p, n, z)) ? 0 : -1;
}

/* Is it a near transfer of control whose operand-size prefix counts? REX.W overrides the prefix. */
static int
x86_narrow(const ZydisDecodedInstruction *z)
{
	switch (z->meta.category) {
	case ZYDIS_CATEGORY_CALL: case ZYDIS_CATEGORY_RET: case ZYDIS_CATEGORY_UNCOND_BR:
	case ZYDIS_CATEGORY_COND_BR:
		break;
	default:
		return 0;
	}
	if (z->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR || z->mnemonic == ZYDIS_MNEMONIC_XBEGIN ||
	    z->raw.rex.W)
		return 0;
	for (int i = 0; i < z->raw.prefix_count; i++)
		if (z->raw.prefixes[i].value == 0x66)
			return 1;
	return 0;
}

/* The offset of its opcode after 0f, if it has a modrm byte with a register operand; else 0. */
static size_t
of_register(const ZydisDecodedInstruction *z, const uint8_t *p)
{
	size_t at = z->raw.modrm.offset;

	return z->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY && z->opcode_map == ZYDIS_OPCODE_MAP_0F &&
	    z->attributes & ZYDIS_ATTRIB_HAS_MODRM && z->raw.modrm.mod == 3 && at >= 2 &&
	    p[at - 2] == 0x0f ? at - 1 : 0;
}

/* Zydis reports no memory operand for clzero. */
static void
x86_line(ZydisDecodedInstruction *z, ZydisDecodedOperand *op)
{
	ZydisDecodedOperand o = { .id = z->operand_count, .visibility = ZYDIS_OPERAND_VISIBILITY_HIDDEN,
	    .actions = ZYDIS_OPERAND_ACTION_WRITE,
		.size = 8 * (X86_LINE + 1), .element_size = 8 * (X86_LINE + 1), .element_count = 1,
		    .type = ZYDIS_OPERAND_TYPE_MEMORY };

	o.mem.type = ZYDIS_MEMOP_TYPE_MEM;
	o.mem.segment = ZYDIS_REGISTER_DS;
	o.mem.base = op[0].reg.value;
	op[z->operand_count++] = o;
}

/*
 * Zydis 4.0 wrongly reports a 32-bit displacement and no base for r13d without displacement under
 * REX.B and prefix 67.
 */
static void
x86_baseless(const ZydisDecodedInstruction *z, ZydisDecodedOperand *op)
{
	for (int i = 0; i < z->operand_count; i++)
		if (op[i].type == ZYDIS_OPERAND_TYPE_MEMORY && op[i].mem.base == ZYDIS_REGISTER_R13D &&
		    z->raw.sib.offset && z->raw.modrm.mod == 0) {
			op[i].mem.base = ZYDIS_REGISTER_NONE;
			op[i].mem.disp.has_displacement = ZYAN_TRUE;
			op[i].mem.disp.value = z->raw.disp.value;
		}
}

/*
 * The last repeat prefix of loope or loopne; 0: none. On AMD's processors it decides which of the
 * two it is.
 */
static unsigned
x86_repeat(const ZydisDecodedInstruction *z)
{
	if (z->mnemonic == ZYDIS_MNEMONIC_LOOPE || z->mnemonic == ZYDIS_MNEMONIC_LOOPNE)
		for (int i = z->raw.prefix_count; i-- > 0; )
			if (z->raw.prefixes[i].value == 0xf2 || z->raw.prefixes[i].value == 0xf3)
				return z->raw.prefixes[i].value;
	return 0;
}

/*
 * f3 90 with REX.B is pause on Intel's processors, as Zydis reports it. AMD's test REX.B first, and exchange
 * rax and r8. The prefix has no other effect, so it is replaced by a segment prefix.
 */
static int
x86_exchange(ZydisDecodedInstruction *z, ZydisDecodedOperand *op, const uint8_t *p, int amd)
{
	uint8_t b[ZYDIS_MAX_INSTRUCTION_LENGTH];

	memcpy(b, p, z->length);
	for (int i = 0; i < z->raw.prefix_count; i++)
		if (b[i] == 0xf3 || b[i] == 0xf2)
			b[i] = 0x3e;
	return zydis_decode(z, op, b, z->length, amd);
}

int
x86_decode(ZydisDecodedInstruction *z, ZydisDecodedOperand *op, const uint8_t *p, size_t n, int amd)
{
	uint8_t b[ZYDIS_MAX_INSTRUCTION_LENGTH];
	size_t at;

	if (zydis_decode(z, op, p, n, amd) != 0)
		return -1;
	if (amd && z->mnemonic == ZYDIS_MNEMONIC_PAUSE && z->raw.rex.B)
		return x86_exchange(z, op, p, amd);
	if (z->mnemonic == ZYDIS_MNEMONIC_CLZERO && op)
		x86_line(z, op);
	if (op)
		x86_baseless(z, op);
	if (!amd)
		return 0;
	if (x86_repeat(z))
		z->mnemonic = x86_repeat(z) == 0xf3 ? ZYDIS_MNEMONIC_LOOPE : ZYDIS_MNEMONIC_LOOPNE;
	if ((at = of_register(z, p)) != 0 && p[at] == NOP_0D) {
		memcpy(b, p, z->length);
		b[at] = UD1;
		return zydis_decode(z, op, b, z->length, amd);
	}
	if (!x86_narrow(z))
		return 0;
	z->operand_width = 16;
	for (int i = 0; op && i < z->operand_count; i++)
		if (op[i].type == ZYDIS_OPERAND_TYPE_MEMORY ||
		    (op[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
			op[i].visibility == ZYDIS_OPERAND_VISIBILITY_EXPLICIT))
			op[i].size = op[i].element_size = 16;
	return 0;
}

int
x86_inst_decode(struct x86_inst *in, const uint8_t *p, size_t n, uint64_t pc, int amd)
{
	int i;

	if (x86_decode(&in->z, in->op, p, n, amd) != 0)
		return -1;
	in->amd = (uint8_t)(amd != 0);
	memset(in->b, 0, sizeof in->b);
	memcpy(in->b, p, in->z.length);
	in->pc = pc;
	in->next = pc + in->z.length;
	in->mem = -1;
	for (i = 0; i < in->z.operand_count_visible; i++)
		if (in->op[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    in->op[i].encoding == ZYDIS_OPERAND_ENCODING_MODRM_RM)
			in->mem = i;
	return 0;
}

/* f3 90 with REX.B */
static int
x86_pauses(const ZydisDecodedInstruction *z, const uint8_t *p)
{
	if (!z->raw.rex.B || p[z->length - 1] != 0x90 || z->opcode_map != ZYDIS_OPCODE_MAP_DEFAULT || z->opcode != 0x90)
		return 0;
	for (unsigned i = 0; i + 1 < z->length; i++)
		if (p[i] == 0xf3)
			return 1;
	return 0;
}

int
x86_makers_differ(const ZydisDecodedInstruction *z, const uint8_t *p)
{
	size_t at = of_register(z, p);

	return x86_narrow(z) || x86_repeat(z) || (at && p[at] == NOP_0D) || x86_pauses(z, p);
}

uint64_t
x86_target(const ZydisDecodedInstruction *z, uint64_t next)
{
	return x86_rip(z, next + (uint64_t)z->raw.imm[0].value.s);
}
