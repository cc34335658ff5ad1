/* Which instructions a replay may execute: those of allow.def. See limits.h. */
#include <signal.h>
#include <Zydis/Zydis.h>
#include "isa/x86/limits.h"

int
x86_random_insn(const struct x86_inst *in)
{
	switch (in->z.mnemonic) {
	case ZYDIS_MNEMONIC_RDRAND: return X86_RDRAND;
	case ZYDIS_MNEMONIC_RDSEED: return X86_RDSEED;
	case ZYDIS_MNEMONIC_RDPID: return X86_RDPID;
	default: return 0;
	}
}

int
x86_trap_after(const struct x86_inst *in)
{
	switch (in->z.mnemonic) {
	case ZYDIS_MNEMONIC_INT3: case ZYDIS_MNEMONIC_INT1:
		return SIGTRAP;
	case ZYDIS_MNEMONIC_INT:                /* gates that programs may use: breakpoint and overflow */
		return in->op[0].imm.value.u == 3 ? SIGTRAP : in->op[0].imm.value.u == 4 ? SIGSEGV : 0;
	default:
		return 0;
	}
}

int
x86_trap_before(const struct x86_inst *in)
{
	switch (in->z.mnemonic) {
	case ZYDIS_MNEMONIC_UD0: case ZYDIS_MNEMONIC_UD1: case ZYDIS_MNEMONIC_UD2:
		return SIGILL;
	case ZYDIS_MNEMONIC_INT:
		return x86_trap_after(in) ? 0 : SIGSEGV;
	/* programs may not use ports or turn interrupts off */
	case ZYDIS_MNEMONIC_IN: case ZYDIS_MNEMONIC_OUT: case ZYDIS_MNEMONIC_CLI: case ZYDIS_MNEMONIC_STI:
	case ZYDIS_MNEMONIC_INSB: case ZYDIS_MNEMONIC_INSW: case ZYDIS_MNEMONIC_INSD:
	case ZYDIS_MNEMONIC_OUTSB: case ZYDIS_MNEMONIC_OUTSW: case ZYDIS_MNEMONIC_OUTSD:
		return SIGSEGV;
	default:
		return in->z.attributes & ZYDIS_ATTRIB_IS_PRIVILEGED ? SIGSEGV : 0;
	}
}

static int
x86_amx(const struct x86_inst *in)
{
	int i;

	for (i = 0; i < in->z.operand_count; i++)
		if (in->op[i].type == ZYDIS_OPERAND_TYPE_REGISTER
		    && ZydisRegisterGetClass(in->op[i].reg.value) == ZYDIS_REGCLASS_TMM)
			return 1;
	return in->z.meta.category == ZYDIS_CATEGORY_AMX_TILE;
}

enum allowed { NOT, ALWAYS, SAME_MAKER };

/* the table allow.def */
static enum allowed
x86_allowed(ZydisMnemonic m)
{
	switch (m) {
#define A(name) case ZYDIS_MNEMONIC_##name:
#define M(name)
#include "isa/x86/allow.def"
#undef A
#undef M
		return ALWAYS;
#define A(name)
#define M(name) case ZYDIS_MNEMONIC_##name:
#include "isa/x86/allow.def"
#undef A
#undef M
		return SAME_MAKER;
	default:
		return NOT;
	}
}

int
x86_approximates(const struct x86_inst *in)
{
	return x86_allowed(in->z.mnemonic) == SAME_MAKER;
}

/*
 * Refused instructions that have a message of their own. Any other that is not in allow.def is "an
 * instruction that cannot be replayed".
 */
static const char *
refuse_mnemonic(ZydisMnemonic m)
{
	switch (m) {
	case ZYDIS_MNEMONIC_RDPMC: return "rdpmc: counters are not recorded";
	case ZYDIS_MNEMONIC_RDPRU: return "rdpru: counters are not recorded";
	case ZYDIS_MNEMONIC_MCOMMIT: return "mcommit: faults of the machine are not recorded";
	case ZYDIS_MNEMONIC_XBEGIN: case ZYDIS_MNEMONIC_XEND: case ZYDIS_MNEMONIC_XABORT:
		return "transactional memory";
	case ZYDIS_MNEMONIC_RDPKRU: case ZYDIS_MNEMONIC_WRPKRU:
		return "protection keys";
	case ZYDIS_MNEMONIC_SYSENTER: case ZYDIS_MNEMONIC_SYSEXIT: case ZYDIS_MNEMONIC_SYSRET:
		return "a system call by other means than syscall";
	case ZYDIS_MNEMONIC_IRET: case ZYDIS_MNEMONIC_IRETD: case ZYDIS_MNEMONIC_IRETQ:
	case ZYDIS_MNEMONIC_UIRET:
		return "a return from interrupt";
	case ZYDIS_MNEMONIC_UMWAIT: case ZYDIS_MNEMONIC_TPAUSE: case ZYDIS_MNEMONIC_UMONITOR:
	case ZYDIS_MNEMONIC_MONITORX: case ZYDIS_MNEMONIC_MWAITX: case ZYDIS_MNEMONIC_MONITOR:
	case ZYDIS_MNEMONIC_MWAIT:
		return "waiting for a write";
	case ZYDIS_MNEMONIC_SGDT: case ZYDIS_MNEMONIC_SIDT: case ZYDIS_MNEMONIC_SLDT:
	case ZYDIS_MNEMONIC_STR: case ZYDIS_MNEMONIC_SMSW:
		return "system tables";
	case ZYDIS_MNEMONIC_ENQCMD: case ZYDIS_MNEMONIC_ENQCMDS: case ZYDIS_MNEMONIC_MOVDIR64B:
		return "a command to a device";
	case ZYDIS_MNEMONIC_LDS: case ZYDIS_MNEMONIC_LES: case ZYDIS_MNEMONIC_LFS: case ZYDIS_MNEMONIC_LGS:
	case ZYDIS_MNEMONIC_LSS:
		return "a segment register is written";
	case ZYDIS_MNEMONIC_VMCALL: case ZYDIS_MNEMONIC_VMMCALL: case ZYDIS_MNEMONIC_VMFUNC:
	case ZYDIS_MNEMONIC_GETSEC:
	case ZYDIS_MNEMONIC_ENCLU: case ZYDIS_MNEMONIC_ENCLV:
		return "a call of what is below the system";
	case ZYDIS_MNEMONIC_SENDUIPI: case ZYDIS_MNEMONIC_STUI: case ZYDIS_MNEMONIC_CLUI:
	case ZYDIS_MNEMONIC_TESTUI:
		return "user interrupts";
	case ZYDIS_MNEMONIC_INCSSPD: case ZYDIS_MNEMONIC_INCSSPQ: case ZYDIS_MNEMONIC_SAVEPREVSSP:
	case ZYDIS_MNEMONIC_RSTORSSP:
	case ZYDIS_MNEMONIC_WRSSD: case ZYDIS_MNEMONIC_WRSSQ:
		return "shadow stacks";
	default:
		return NULL;
	}
}

const char *
x86_refuse(const struct x86_inst *in)
{
	const char *why = refuse_mnemonic(in->z.mnemonic);

	if (why)
		return why;
	if (in->z.mnemonic == ZYDIS_MNEMONIC_INT && in->b[in->z.length - 1] == 0x80)
		return "int 0x80: a system call of 32-bit programs";
	if (x86_amx(in))
		return "tile registers";
	if (in->z.meta.isa_ext == ZYDIS_ISA_EXT_KNC || in->z.meta.isa_ext == ZYDIS_ISA_EXT_KNCE ||
	    in->z.meta.isa_ext == ZYDIS_ISA_EXT_KNCV || in->z.encoding == ZYDIS_INSTRUCTION_ENCODING_XOP ||
	    in->z.encoding == ZYDIS_INSTRUCTION_ENCODING_MVEX)
		return "an encoding of other processors";
	if (in->z.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR)
		return "a far transfer";
	if (in->z.operand_count && in->op[0].type == ZYDIS_OPERAND_TYPE_REGISTER
	    && ZydisRegisterGetClass(in->op[0].reg.value) == ZYDIS_REGCLASS_SEGMENT
	    && (in->op[0].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
		return "a segment register is written";
	if (in->z.meta.category == ZYDIS_CATEGORY_XSAVE || in->z.meta.category == ZYDIS_CATEGORY_XSAVEOPT)
		switch (in->z.mnemonic) {
		case ZYDIS_MNEMONIC_XSAVE: case ZYDIS_MNEMONIC_XSAVE64: case ZYDIS_MNEMONIC_XSAVEC:
		case ZYDIS_MNEMONIC_XSAVEC64:
		case ZYDIS_MNEMONIC_XSAVEOPT: case ZYDIS_MNEMONIC_XSAVEOPT64: case ZYDIS_MNEMONIC_XRSTOR:
		case ZYDIS_MNEMONIC_XRSTOR64:
		case ZYDIS_MNEMONIC_XGETBV:
			break;
		default:
			return "a processor state that user code cannot save";
		}
	if (!x86_trap_before(in) && x86_allowed(in->z.mnemonic) == NOT)
		return "an instruction that cannot be replayed";
	return NULL;
}
