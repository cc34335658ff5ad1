/*
 * The MIPS lifter.
 *
 *   mipstest                      facts of some instructions, in words
 *   mipstest gen SEED N BIG       a program in assembly: N random instructions of every kind, on random
 *   registers mipstest compare SEED N BIG   what that program wrote (standard input) against the effects
 *   mipstest words SEED N BIG     random words, most of them instructions
 *   mipstest names all BIG        objdump's listing (standard input) against the mnemonics: all are known
 *   mipstest names some BIG       ... : those known are the same
 */
#include <stdlib.h>
#include <string.h>
#include "../check.h"
#include "isa/mips/lift_internal.h"
#include "ae/machine/machine.h"
#include "ae/regen/code.h"

#define NREG MIPS_NREG
#define EFF_NREG MIPS_NREG
#define EFF_WORD 4
#include "effects.h"

#define TP 0x7654abcdu          /* the program's thread pointer */
#define CASES 0x20000000u       /* where its cases are */
#define MEMWORDS 16

/* One case in the program's memory, in words: registers before and after, memory, two marks */
enum { C_IN = 0, C_OUT = NREG, C_MEM = 2 * NREG, C_SKIP = C_MEM + MEMWORDS, C_SLOT, C_WORDS };

static uint32_t seed;
static int big;

static uint32_t
rnd(void)
{
	seed = seed * 1664525u + 1013904223u;
	return seed >> 16 | (seed * 69069u + 1u) << 16;
}

static const char *
lift(uint32_t w, unsigned rel, struct insn *in)
{
	uint8_t p[4], r[4] = { (uint8_t)rel };
	int i;

	for (i = 0; i < 4; i++)
		p[i] = (uint8_t)(w >> 8 * (big ? 3 - i : i));
	return mips_lift(big, p, 4, r, in);
}

/* Facts in words */
static const char *
describe(uint32_t w, unsigned rel)
{
	struct insn in;
	const char *why = lift(w, rel, &in);

	return say_insn(&in, why);
}

#include "mipstable.h"

static int
facts(void)
{
	struct insn in;
	uint8_t p[4] = { 0 }, rel[4] = { 0 };
	const struct machine *m = machine_byname("mipsel");
	size_t i;

	for (big = 0; big < 2; big++)
		for (i = 0; i < sizeof table / sizeof table[0]; i++) {
			char want[1024];
			const char *got = describe(table[i].w, table[i].rel);
			char *at;

			snprintf(want, sizeof want, "%s", table[i].facts);
			if (big && (at = strstr(want, "(field at 0")) != NULL)
				at[10] = '2';
			if (strcmp(got, want) != 0)
				printf("# %08x\n# got:  %s\n# want: %s\n", table[i].w, got, want);
			CHECK(table[i].name, strcmp(got, want) == 0);
			CHECK("raw", lift(table[i].w, MR_NONE, &in) || (in.raw == table[i].w && in.len == 4));
		}
	CHECK("three bytes are no instruction", mips_lift(0, p, 3, rel, &in) != NULL);
	CHECK("masks", m && m->clobbered == 0x39300fffe && m->saved == 0xf0ff0000
	    && m->arguments == 0xf2ff80f0 && m->results == 0xc);
	CHECK("names of registers", strcmp(mips_regname(4), "R4") == 0 &&
	    strcmp(mips_regname(33), "lo") == 0 && !mips_regname(34));
	CHECK("relocations", mips_reloc(0, "x") == MR_NONE && mips_reloc(37, "x") == MR_HINT &&
	    mips_reloc(5, "x") == MR_PLAIN
	    && mips_reloc(42, "x") == MR_TABLE && mips_reloc(9, "x") == MR_TABLE &&
	    mips_reloc(248, "x") == MR_PCREL);
	return check_end();
}

/* Random instructions */

struct mcase {
	uint32_t w, in[NREG], mem[MEMWORDS];
	struct insn insn;
	const struct mips_op *op;
};

static int
executable(const struct mips_op *op)
{
	/* privileged; traps; pairs of singles */
	static const char *const no[] = { "cache", "ctc1", "cvt.s.pu", "cvt.s.pl" };
	size_t i;

	if ((op->meaning >= M_JR && op->meaning <= M_CALL) ||
	    (op->meaning >= M_CALLC && op->meaning <= M_TRAPI)
	    || op->meaning == M_ALIGN8 || strstr(op->name, ".ps"))
		return 0;
	for (i = 0; i < sizeof no / sizeof no[0]; i++)
		if (strcmp(op->name, no[i]) == 0)
			return 0;
	return 1;
}

static uint32_t
random_value(void)
{
	static const uint32_t some[] = { 0, 1, 0xffffffff, 0x7fffffff, 0x80000000, 0xffff8000, 0x7fff, 31,
	    32 };

	return rnd() % 2 ? rnd() >> rnd() % 32 : some[rnd() % (sizeof some / sizeof some[0])];
}

static uint32_t
random_word(const struct mips_op *op)
{
	uint32_t w = op->match | (rnd() & ~op->mask), major = w >> 26;

	if (op->meaning == M_BRANCH || op->meaning == M_BRANCHZ || op->meaning == M_BRANCHF)
		w = (w & 0xffff0000) | 2;               /* to the code after the two marks */
	if (rnd() % 8 == 0 && !(op->mask & 0x3ff0000))
		w = (w & ~0x1f0000u) | mips_s(w) << 16;
	if (rnd() % 8 == 0)
		w &= ~(0x1fu << (11 + 5 * (rnd() % 3))) | op->mask;     /* $0 */
	if (op->meaning == M_EXT && rnd() % 4 == 0)             /* up to the last bit, or nearly */
		w = (w & ~0xf800u) | (uint32_t)(31 - mips_sa(w) - (mips_sa(w) < 31 && rnd() % 2)) << 11;
	if (op->meaning == M_RDHWR)
		w = (w & ~0xf800u) | 29 << 11;
	if (op->meaning == M_COUNT)
		w = (w & ~0x1f0000u) | mips_d(w) << 16;
	/* doubles are in even registers */
	if (major == 0x11 || major == 0x13)
		w &= ~(0x00210840 & ~op->mask);
	if (strcmp(op->name, "cfc1") == 0)
		w |= 31 << 11;
	if (op->meaning == M_LOADF || op->meaning == M_STOREX)
		w &= ~0x10000u;
	return w;
}

/* Would add, addi or sub trap? */
static int
overflows(const struct mcase *c)
{
	int64_t s = (int32_t)c->in[mips_s(c->w)], t = (int32_t)c->in[mips_t(c->w)], v;

	if (strcmp(c->op->name, "addi") == 0)
		v = s + mips_imm(c->w);
	else if (strcmp(c->op->name, "add") == 0)
		v = s + t;
	else if (strcmp(c->op->name, "sub") == 0)
		v = s - t;
	else
		return 0;
	return v != (int32_t)v;
}

/* Let the base register point into the memory of case i; 0 if there is none */
static int
point(struct mcase *c, uint32_t i)
{
	uint32_t at = CASES + 4 * (C_WORDS * i + C_MEM) + 16, b = (uint32_t)mips_s(c->w);
	int indexed = strchr(c->op->operands, 'x') != NULL;

	if (!strchr(c->op->operands, 'b'))
		return 1;
	if (b == 0 || (indexed && b == (uint32_t)mips_t(c->w)))
		return 0;
	if (c->op->meaning == M_LOADPART || c->op->meaning == M_STOREPART)
		at += rnd() % 8;
	c->in[b] = at - (indexed ? c->in[mips_t(c->w)] : (uint32_t)mips_imm(c->w));
	return 1;
}

/* A pair of cases: the second differs in all registers that the instruction does not read */
static void
random_pair(struct mcase *c, uint32_t i, const struct mips_op *op)
{
	uint32_t save;
	int r;

	do {
		c->op = op;
		c->w = random_word(op);
		for (r = 1; r < NREG; r++)
			c->in[r] = random_value();
		if (rnd() % 4 == 0)
			c->in[mips_t(c->w)] = c->in[mips_s(c->w)];
		c->in[0] = 0;
		for (r = 0; r < MEMWORDS; r++)
			c->mem[r] = rnd();
		save = seed;
	} while (lift(c->w, MR_NONE, &c->insn) || !point(c, i) || overflows(c));
	c[1] = c[0];
	for (r = 1; r < NREG; r++)
		if (!(c->insn.reads >> r & 1))
			c[1].in[r] = rnd();
	seed = save;
	point(&c[1], i + 1);
}

static struct mcase *
random_cases(uint32_t n)
{
	struct mcase *c = calloc(n + 1, sizeof *c);
	size_t op = 0;
	uint32_t i;

	for (i = 0; c && i + 1 < n; i += 2) {
		/* arithmetic in the FPU has less to do here */
		while (!executable(&mips_ops[op % mips_nops]) ||
		    (!*mips_ops[op % mips_nops].operands && rnd() % 8))
			op++;
		random_pair(&c[i], i, &mips_ops[op++ % mips_nops]);
	}
	return c;
}

static int
gen(uint32_t n)
{
	struct mcase *c = random_cases(n);
	uint32_t i;
	int r;

	printf("\t.set noreorder\n\t.set noat\n\t.set nomacro\n\t.text\n\t.globl __start\n\t.macro T w\n");
	printf("\tlw $1,%d($23)\n\tmthi $1\n\tlw $1,%d($23)\n\tmtlo $1\n", 4 * MIPS_HI, 4 * MIPS_LO);
	for (r = 1; r < 32; r++)
		if (r != MIPS_S7)
			printf("\tlw $%d,%d($23)\n", r, 4 * r);
	printf("\t.word \\w\n\tsw $0,%d($23)\n\tsw $0,%d($23)\n", 4 * C_SLOT, 4 * C_SKIP);
	for (r = 1; r < 32; r++)
		if (r != MIPS_S7)
			printf("\tsw $%d,%d($23)\n", r, 4 * (C_OUT + r));
	printf("\tmfhi $1\n\tsw $1,%d($23)\n\tmflo $1\n\tsw $1,%d($23)\n", 4 * (C_OUT + MIPS_HI),
	    4 * (C_OUT + MIPS_LO));
	printf("\taddiu $23,$23,%d\n\t.endm\n__start:\n", 4 * C_WORDS);
	printf("\tlui $4,%#x\n\tori $4,$4,%#x\n\taddiu $2,$0,4283\n\tsyscall\n\tlui $23,%#x\n", TP >> 16,
	    TP & 0xffff, CASES >> 16);
	for (i = 0; c && i < n; i++)
		printf("\tT %#x\n", c[i].w);
	printf("\taddiu $4,$0,1\n\tlui $5,%#x\n\tlui $6,%#x\n\tori $6,$6,%#x\n\taddiu "
	    "$2,$0,4004\n\tsyscall\n",
	    CASES >> 16, 4 * C_WORDS * n >> 16, 4 * C_WORDS * n & 0xffff);
	printf("\taddu $4,$0,$0\n\taddiu $2,$0,4001\n\tsyscall\n\t.section .cases,\"aw\"\n");
	for (i = 0; c && i < n; i++) {
		for (r = 0; r < NREG; r++)
			printf("%s%u", r ? "," : "\t.word ", c[i].in[r]);
		printf("\n\t.skip %d\n", 4 * NREG);
		for (r = 0; r < MEMWORDS; r++)
			printf("%s%u", r ? "," : "\t.word ", c[i].mem[r]);
		printf(",1,1\n");
	}
	free(c);
	return fflush(stdout) != 0;
}

#include "mipseval.h"

static int
compare(uint32_t n)
{
	static const char *const what[] = { "registers", "memory", "control", "what results depend on",
	    "facts fit together" };
	uint32_t bad[5] = { 0 }, i, known = 0, k;
	uint32_t (*got)[C_WORDS] = calloc(n, sizeof *got);
	struct mcase *c = random_cases(n);

	CHECK("the program ran", c && got && read_cases(got, n));
	for (i = 0; c && got && i < n; i++) {
		unsigned m = check_case(&c[i], got[i], i, &known);

		if (i & 1)
			m |= check_pair(&c[i - 1], got[i - 1], &c[i], got[i]) ? 0 : 8;
		for (k = 0; k < 5; k++)
			if (m >> k & 1 && bad[k]++ < 5)
				printf("# %s %08x: %s\n", c[i].op->name, c[i].w, describe(c[i].w, MR_NONE));
	}
	for (k = 0; k < 5; k++) {
		if (bad[k])
			printf("# %s: %u of %u\n", what[k], bad[k], n);
		CHECK(what[k], bad[k] == 0);
	}
	printf("# %u results computed, %u instructions, seed as given\n", known, n);
	CHECK("results were compared", known > n / 4);
	free(got);
	free(c);
	return check_end();
}

static int
words(uint32_t n)
{
	while (n--) {
		const struct mips_op *op = &mips_ops[rnd() % mips_nops];
		uint32_t w = rnd() % 4 ? op->match | (rnd() & ~op->mask) : rnd();
		int i;

		if (rnd() % 4 == 0)     /* almost an instruction */
			w ^= 1u << rnd() % 32;
		for (i = 0; i < 4; i++)
			putchar((int)(w >> 8 * (big ? 3 - i : i) & 255));
	}
	return fflush(stdout) != 0;
}

static int
in_table(const char *name)
{
	size_t i;

	for (i = 0; i < mips_nops; i++)
		if (strcmp(mips_ops[i].name, name) == 0)
			return 1;
	return 0;
}

static int
names(int all)
{
	static char kinds[4096];
	uint32_t n = 0, bad = 0, refused = 0, nkind = 0;
	char line[256], name[32], key[40];
	unsigned w;

	while (fgets(line, sizeof line, stdin)) {
		const char *mine, *why;
		struct insn in;

		if (sscanf(line, " %*x:\t%8x \t%31s", &w, name) != 2)
			continue;
		n++;
		/* aliases that it cannot do without */
		if (strcmp(name, "neg") == 0 || strcmp(name, "negu") == 0)
			strcpy(name, name[3] ? "subu" : "sub");
		if (strstr(line, "$ac"))        /* DSP extension: other accumulators than HI and LO */
			strcpy(name, "dsp");
		mine = mips_mnemonic(w);
		why = lift(w, MR_NONE, &in);
		refused += why != NULL;
		/* what is in our table is the same; what is not is not decoded */
		if (mine ? strcmp(mine, name) != 0 : all || in_table(name)) {
			if (bad++ < 20)
				printf("# %08x: %s is %s here\n", w, name, mine ? mine : "nothing");
		} else if (all && why && bad++ < 20)
			printf("# %08x: %s: %s\n", w, name, why);
		snprintf(key, sizeof key, " %s ", name);
		if (mine && !strstr(kinds, key) && strlen(kinds) + strlen(key) < sizeof kinds) {
			strcat(kinds, key);
			nkind++;
		}
	}
	printf("# %u words, %u mnemonics, %u refused\n", n, nkind, refused);
	CHECK("there are instructions", n > 1000 && nkind > 50);
	CHECK("all have their names", bad == 0);
	return check_end();
}

int
main(int argc, char **argv)
{
	uint32_t n = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) & ~1u : 0;

	if (argc == 1)
		return facts();
	big = atoi(argv[argc - 1]) != 0;
	seed = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;
	if (strcmp(argv[1], "gen") == 0)
		return gen(n);
	if (strcmp(argv[1], "compare") == 0)
		return compare(n);
	if (strcmp(argv[1], "words") == 0)
		return words(n);
	return names(strcmp(argv[2], "all") == 0);
}
