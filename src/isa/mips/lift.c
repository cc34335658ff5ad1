/* Lifting of MIPS instructions: finds the row of opcode.def, which gives registers and meaning. */
#include <string.h>
#include "isa/mips/lift_internal.h"

const struct mips_op mips_ops[] = {
#define MIPS_OP(name, match, mask, operands, meaning, a, b) \
	{ name, match, mask, operands, M_##meaning, a, b },
#include "isa/mips/opcode.def"
#undef MIPS_OP
};
const size_t mips_nops = sizeof mips_ops / sizeof mips_ops[0];

static const struct mips_op *
mips_find(uint32_t w)
{
	size_t i;

	for (i = 0; i < mips_nops; i++)
		if ((w & mips_ops[i].mask) == mips_ops[i].match)
			return &mips_ops[i];
	return NULL;
}

const char *
mips_mnemonic(uint32_t word)
{
	const struct mips_op *op = mips_find(word);

	return op ? op->name : NULL;
}

const char *
mips_regname(int r)
{
	static const char *const names[MIPS_NREG] = {
		"R0", "R1", "R2", "R3", "R4", "R5", "R6", "R7", "R8", "R9", "R10", "R11",
		"R12", "R13", "R14", "R15", "R16", "R17", "R18", "R19", "R20", "R21", "R22", "R23",
		"R24", "R25", "R26", "R27", "R28", "R29", "R30", "R31", "hi", "lo"
	};

	return r >= 0 && r < MIPS_NREG ? names[r] : NULL;
}

/* Relocations by number: include/elf/mips.h of binutils. */
enum insn_reloc
mips_reloc(unsigned type, const char *symbol)
{
	if (strcmp(symbol, "_gp_disp") == 0)
		return MR_PCREL;
	switch (type) {
	case 0:                 /* R_MIPS_NONE */
		return MR_NONE;
	/* R_MIPS_JALR: ld may make a direct call of the indirect one, with the same references */
	case 37:
		return MR_HINT;
	case 9: case 11:        /* R_MIPS_GOT16, CALL16 */
	/* GOT_DISP, GOT_PAGE, GOT_HI16, GOT_LO16, CALL_HI16, CALL_LO16 */
	case 19: case 20: case 22: case 23: case 30: case 31:
	case 42: case 43: case 46:      /* TLS_GD, TLS_LDM, TLS_GOTTPREL; ld does not change TLS models */
		return MR_TABLE;
	case 62: case 63:       /* R_MIPS_PC18_S3, PC19_S2: loads and addresses of release 6 */
	case 64: case 65:       /* R_MIPS_PCHI16, PCLO16 */
	case 248:               /* R_MIPS_PC32 */
		return MR_PCREL;
	default:
		return MR_PLAIN;
	}
}

/* Registers read and written: the operand column of the table. */
static void
mips_facts(struct lift *l)
{
	struct insn *in = l->in;
	const char *s;

	for (s = l->op->operands; *s; s++) {
		int r, wr = *s >= 'A' && *s <= 'Z';
		uint64_t bit;

		switch (wr ? *s - 'A' + 'a' : *s) {
		case 's': case 'b': r = mips_s(l->w); break;
		case 't': case 'x': r = mips_t(l->w); break;
		case 'd': r = mips_d(l->w); break;
		case 'h': r = MIPS_HI; break;
		case 'l': r = MIPS_LO; break;
		default: r = MIPS_RA; break;
		}
		if (r == MIPS_ZERO)
			continue;
		bit = UINT64_C(1) << r;
		if (wr)
			in->writes |= bit;
		else
			in->reads |= bit;
		if (!wr && *s != 'b' && *s != 'x')
			in->vreads |= bit;
	}
}

const char *
mips_lift(int big, const uint8_t *p, size_t n, const uint8_t *rel, struct insn *in)
{
	struct lift l = { .in = in, .big = big };
	const char *why;

	memset(in, 0, sizeof *in);
	in->cc = INSN_NOCC;
	in->mref = -1;
	if (n < 4)
		return "not an instruction that can be decoded";
	l.w = big ? (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3]
	    : (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
	in->len = 4;
	in->raw = l.w;
	l.op = mips_find(l.w);
	if (!l.op)
		return "not an instruction that can be decoded";
	/* in either byte order, a relocation is for the whole word */
	in->pcrel = rel[0] == MR_PCREL;
	in->table = rel[0] == MR_TABLE;
	l.reloc = rel[0] == MR_PLAIN || in->table || in->pcrel;
	mips_facts(&l);
	if ((in->reads | in->writes) >> MIPS_S7 & 1)
		return "uses $23, which holds the event pointer";
	why = mips_meaning(&l);
	if (in->ctl == IC_BRANCH && !l.reloc)
		in->jump = 4 + (int16_t)l.w * 4;
	return why;
}
