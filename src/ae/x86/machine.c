/* x86-64 as a machine: System V ABI, AT&T syntax. */
#include <elf.h>
#include <stddef.h>
#include "ae/x86/emit_internal.h"
#include "isa/x86/lift.h"

#define R(r) BIT(X86_##r)
#define SAVED (R(RBX) | R(RSP) | R(RBP) | R(R12) | R(R13) | R(R14) | R(R15))

static const char *
x86_machine_regname(int r)
{
	return r < X86_NREG ? x86_regname(r, 8) : NULL;
}

static enum insn_reloc
x86_machine_reloc(unsigned type, const char *symbol)
{
	(void)symbol;
	switch (type) {
	case R_X86_64_GOTPCREL: case R_X86_64_GOTTPOFF: case 41: case 42:       /* GOTPCRELX, REX_GOTPCRELX */
		return MR_GOT;
	case R_X86_64_TLSGD: case R_X86_64_TLSLD:
		return MR_TLSCALL;
	case R_X86_64_GOTPC32_TLSDESC:
		return MR_TLSDESC;
	case R_X86_64_TLSDESC_CALL:
		return MR_TLSDESCCALL;
	case R_X86_64_TLSDESC:
		return MR_TLSMODEL;
	default:
		return MR_PLAIN;
	}
}

static const char *
x86_machine_lift(const struct machine *m, const uint8_t *p, size_t n, const uint8_t *rel, struct insn *in)
{
	const char *why = x86_lift(p, n, rel, in);

	return !why && !m->lent && (in->reads | in->writes) & R(R15) ? "uses r15" : why;
}

static const char *const prefixes[] = {
	"lock", "rep", "repe", "repz", "repne", "repnz", "notrack", "bnd", "data16", "cs", "ds", "es", "rex64",
	".value\t0x6666", ".byte\t0x66",      /* only in a sequence for thread-local data: text.c */
	NULL
};
static const char *const words[] = { ".quad", ".long", ".int", ".8byte", ".4byte", ".value", ".word",
	".short", ".2byte", ".byte", NULL };
static const char *const none[] = { NULL };
static const char *const asargs[] = { "--64", NULL };

extern const struct emitter x86_emit;
extern const struct dialect x86_intel;

/* rax counts vector arguments, r10 is the static chain */
#define ARGUMENTS (R(RDI) | R(RSI) | R(RDX) | R(RCX) | R(R8) | R(R9) | R(RAX) | R(R10))

#define X86_MACHINE \
	.name = "x86-64", .elf = EM_X86_64, .elfclass = ELFCLASS64, .elfdata = ELFDATA2LSB, .word = 8, .push = 8, \
	.nreg = X86_NREG, .sp = X86_RSP, .link = -1, .fp = X86_RBP, .buffer = X86_R15, .clobbered = X86_CLOBBERED, \
	.results = X86_RESULTS, .arguments = ARGUMENTS, .argument = X86_RDI, .saved = SAVED, .maxinsn = 15, \
	.patch = X86_PATCH, .as = "x86_64-linux-gnu-as", .asargs = asargs, .filler = 0x90, .regchar = '%', \
	.prefixes = prefixes, .words = words, .emitting = none, .dialect = &x86_intel, .regname = x86_machine_regname, \
	.reloc = x86_machine_reloc, .lift = x86_machine_lift, .emit = &x86_emit

static const struct machine machine_x86_lent = { X86_MACHINE, .lent = 1, .alike = R(R12) | R(R13) | R(R14) };
const struct machine machine_x86 = { X86_MACHINE, .unreserved = &machine_x86_lent };

extern const struct machine *const machines_x86[];
const struct machine *const machines_x86[] = { &machine_x86, NULL };
