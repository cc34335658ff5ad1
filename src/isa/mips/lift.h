/* MIPS32 with the o32 ABI: what one instruction does, from its word (opcode.def). */
#ifndef TM_ISA_MIPS_LIFT_H
#define TM_ISA_MIPS_LIFT_H

#include <stddef.h>
#include <stdint.h>
#include "isa/insn.h"

/* Variables: $0 .. $31 by number, HI and LO, the comparison of a branch or slt, memory. */
enum {
	MIPS_ZERO, MIPS_AT, MIPS_V0, MIPS_V1, MIPS_A0, MIPS_A1, MIPS_A2, MIPS_A3,
	MIPS_T0, MIPS_T1, MIPS_T2, MIPS_T3, MIPS_T4, MIPS_T5, MIPS_T6, MIPS_T7,
	MIPS_S0, MIPS_S1, MIPS_S2, MIPS_S3, MIPS_S4, MIPS_S5, MIPS_S6, MIPS_S7,
	MIPS_T8, MIPS_T9, MIPS_K0, MIPS_K1, MIPS_GP, MIPS_SP, MIPS_FP, MIPS_RA,
	MIPS_HI, MIPS_LO, MIPS_NREG, MIPS_FLAGS = MIPS_NREG, MIPS_MEM
};

/* Like x86_lift (isa/x86/lift.h). big: words are big-endian. */
const char *mips_lift(int big, const uint8_t *p, size_t n, const uint8_t *rel, struct insn *in);
enum insn_reloc mips_reloc(unsigned type, const char *symbol);
const char *mips_regname(int r);

/* The mnemonic of an instruction, never an alias ("sll" for nop); NULL if mips_lift does not know it. */
const char *mips_mnemonic(uint32_t word);

#endif
