/* The MIPS machines: o32 in both byte orders. */
#include "ae/machine/machine.h"
#include "isa/mips/lift.h"

extern const struct emitter mips_emit;

#define BITS(from, to) ((UINT64_C(2) << (to)) - (UINT64_C(1) << (from)))
#define R(r) BITS(r, r)
/*
 * $28 is in both: code that is not position-independent keeps it, callers in position-independent
 * code reload it
 */
#define CLOBBERED \
	(BITS(MIPS_AT, MIPS_T7) | BITS(MIPS_T8, MIPS_T9) | R(MIPS_GP) | R(MIPS_RA) | R(MIPS_HI) | R(MIPS_LO))
#define SAVED (BITS(MIPS_S0, MIPS_S7) | BITS(MIPS_GP, MIPS_RA))
#define ARGUMENTS (BITS(MIPS_A0, MIPS_A3) | R(MIPS_T7) | R(MIPS_T9) | SAVED)

static const char *const prefixes[] = { NULL };
static const char *const words[] = { ".word", ".gpword", ".long", ".4byte", ".half", ".short", ".2byte", ".byte",
	NULL };
static const char *const emitting[] = { ".cprestore", ".cpload", ".cpsetup", ".cpreturn", ".cpadd",
	".cplocal", NULL };
static const char *const asargs[] = { "-mno-fix-loongson3-llsc", NULL };

static const char *
mips_machine_lift(const struct machine *m, const uint8_t *p, size_t n, const uint8_t *rel, struct insn *in)
{
	return mips_lift(m->big, p, n, rel, in);
}

#define MACHINE(name_, data, big_) { \
	.name = name_, .elf = 8, .elfclass = 1, .elfdata = data, .word = 4, .big = big_, .push = 0, \
	.nreg = MIPS_NREG, .sp = MIPS_SP, .fp = MIPS_FP, .link = MIPS_RA, .buffer = MIPS_S7, \
	.clobbered = CLOBBERED, .results = BITS(MIPS_V0, MIPS_V1), .arguments = ARGUMENTS, .saved = SAVED, \
	.norecord = R(MIPS_HI) | R(MIPS_LO), .maxinsn = 4, .macros = 1, .patch = 8, \
	.as = name_ "-linux-gnu-as", .asargs = asargs, .emitting = emitting, \
	.regchar = '$', .prefixes = prefixes, .words = words, \
	.regname = mips_regname, .reloc = mips_reloc, .lift = mips_machine_lift, .emit = &mips_emit }

/* ELF: EM_MIPS, ELFCLASS32, ELFDATA2LSB and ELFDATA2MSB */
static const struct machine little = MACHINE("mipsel", 1, 0);
static const struct machine big = MACHINE("mips", 2, 1);

extern const struct machine *const machines_mips[];
const struct machine *const machines_mips[] = { &little, &big, NULL };
