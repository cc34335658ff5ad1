/* Small pieces of MIPS code for the emitter. */
#include <ctype.h>
#include <string.h>
#include <strings.h>
#include "ae/mips/emit_internal.h"
#include "isa/mips/lift.h"

/* Does the compiler raise the ISA level for the statement, as it does for rdhwr and ll? */
static int
mips_code_raised(const struct file *f, uint32_t stmt)
{
	uint32_t i;

	for (i = stmt; i-- > 0 && stmt - i < 16; ) {
		const char *s = f->text.st[i].s;

		if (f->text.st[i].kind != ST_DIRECTIVE || !(s = text_directive(s, ".set")))
			continue;
		if (strncmp(s, "mips", 4) == 0 && isdigit((unsigned char)s[4]))
			return s[4] != '0';
		if (strcmp(s, "pop") == 0)
			return 0;
	}
	return 0;
}

void
mips_put(struct buf *o, const struct file *f, const struct ainsn *a)
{
	const char *s = f->text.st[a->stmt].s;

	if (a->nth || a->more || a->pad || *s == '.' || (!a->in.nfield && mips_code_raised(f, a->stmt)))
		buf_printf(o, "\t.word\t0x%08x\n", a->in.raw);
	/* la of a global is one instruction only in position-independent code */
	else if (a->in.table && !strchr(s, '%'))
		buf_printf(o, "\t.option pic2\n\t%s\n\t.option pic0\n", s);
	else
		buf_printf(o, "\t%s\n", s);
}

#define OP(w) ((w) >> 26)
#define RS(w) ((w) >> 21 & 31)
#define RT(w) ((w) >> 16 & 31)

void
mips_statement(struct buf *o, const struct file *f, const struct ainsn *a)
{
	const char *s = f->text.st[a->stmt].s;

	/* .cpload computes gp from its own address; the linker knows it */
	if (text_directive(s, ".cpload"))
		buf_str(o, "\tlui\t$28,%hi(__gnu_local_gp)\n\taddiu\t$28,$28,%lo(__gnu_local_gp)\n");
	else
		buf_printf(o, "\t.set\tmacro\n\t.set\tat\n\t%s\n\t.set\tnoat\n\t.set\tnomacro\n", s);
}

/* The kinds of conditional branches; likely branches have the same conditions. */
enum { BEQ, BNE, BLEZ, BGTZ, BLTZ, BGEZ, BC1F, BC1T };

static int
mips_code_kind(uint32_t w)
{
	switch (OP(w)) {
	case 0x01: return RT(w) & 1 ? BGEZ : BLTZ;
	case 0x11: return RT(w) & 1 ? BC1T : BC1F;
	case 0x04: case 0x14: return BEQ;
	case 0x05: case 0x15: return BNE;
	case 0x06: case 0x16: return BLEZ;
	default:   return BGTZ;
	}
}

void
mips_branch(struct buf *o, uint32_t w)
{
	static const char *const name[] = { "beq", "bne", "blez", "bgtz", "bltz", "bgez", "bc1f", "bc1t" };
	int k = mips_code_kind(w);

	buf_printf(o, "\t%s\t", name[k]);
	if (k <= BNE)
		buf_printf(o, "$%u,$%u,", RS(w), RT(w));
	else if (k < BC1F)
		buf_printf(o, "$%u,", RS(w));
	else if (RT(w) >> 2)    /* MIPS I has only one condition, and no name for it */
		buf_printf(o, "$fcc%u,", RT(w) >> 2);
}

unsigned
mips_scratch(uint64_t used)
{
	const uint64_t may = BIT(MIPS_AT) | (BIT(MIPS_T7 + 1) - BIT(MIPS_V0)) | BIT(MIPS_T8) | BIT(MIPS_T9);

	return used & BIT(MIPS_AT) ? (unsigned)ffsll((long long)(may & ~used & ~BIT(MIPS_AT))) - 1u : MIPS_AT;
}

void
mips_condition(struct buf *o, uint32_t w, unsigned x)
{
	unsigned s = RS(w), t = RT(w);

	switch (mips_code_kind(w)) {
	case BEQ:
	case BNE:
		if (s && t) {
			buf_printf(o, "\txor\t$%u,$%u,$%u\n", x, s, t);
			s = x;
		} else if (t)
			s = t;
		if (mips_code_kind(w) == BEQ)
			buf_printf(o, "\tsltiu\t$%u,$%u,1\n", x, s);
		else
			buf_printf(o, "\tsltu\t$%u,$0,$%u\n", x, s);
		return;
	case BLEZ:
		buf_printf(o, "\tslti\t$%u,$%u,1\n", x, s);
		return;
	case BGTZ:
		buf_printf(o, "\tslt\t$%u,$0,$%u\n", x, s);
		return;
	case BLTZ:
		buf_printf(o, "\tsrl\t$%u,$%u,31\n", x, s);
		return;
	case BGEZ:
		buf_printf(o, "\tsrl\t$%u,$%u,31\n\txori\t$%u,$%u,1\n", x, s, x, x);
		return;
	default:                /* no conditional move: MIPS I has none */
		mips_branch(o, w);
		buf_printf(o, "1f\n\tori\t$%u,$0,1\n\tori\t$%u,$0,0\n1:\n", x, x);
	}
}
