/*
 * Decoding x86-64 instructions as processors of one maker do.
 *
 * Near jumps, calls, returns and loops with an operand-size prefix (66) take
 * 16 bits on AMD's processors: what they push, pop or load has 2 bytes, a
 * displacement of 32 bits has 16, and rip is cut to 16 bits when control goes
 * there.  Intel's ignore the prefix.  A repeat prefix of loope or loopne says
 * on AMD's which of them it is.  0f 0d with a register is no instruction on
 * AMD's, and a nop on Intel's.
 *
 * A program does what its processor did: a capture says which that was.
 */
#ifndef TM_ISA_X86_DECODE_H
#define TM_ISA_X86_DECODE_H

#include <stddef.h>
#include <stdint.h>
#include <Zydis/Zydis.h>

#define X86_LINE 63u                    /* within a line of clzero */

/* Is a processor whose cpuid says this of leaf 0 of AMD's kind? */
int x86_amd(uint32_t ebx, uint32_t edx, uint32_t ecx);
int x86_amd_here(void);                         /* is this one? */

/*
 * op has ZYDIS_MAX_OPERAND_COUNT of them, or is NULL; -1: not an instruction.
 * For AMD's, branches of 16 bits have operand_width 16 and operands of this
 * size, and 0f 0d with a register is ud1.  clzero has the line that it zeroes
 * as a hidden operand, at what rax says: X86_LINE is to be masked off.
 */
int x86_decode(ZydisDecodedInstruction *z, ZydisDecodedOperand *op, const uint8_t *p, size_t n, int amd);

/* An instruction with its place, as whoever asks for facts of it has it */
struct x86_inst {
	ZydisDecodedInstruction z;
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	uint8_t b[16];
	uint64_t pc, next;
	int mem;                        /* operand that is explicit memory, or -1 */
	uint8_t amd;                    /* decoded as AMD's processors do */
};
/* 0; -1: not an instruction */
int x86_inst_decode(struct x86_inst *in, const uint8_t *p, size_t n, uint64_t pc, int amd);

int x86_makers_differ(const ZydisDecodedInstruction *z, const uint8_t *p);      /* the instruction at p: do they take it differently? */

/* Where control goes if z, a relative branch with `next` behind it, is taken; or from an address of which it takes some bits */
uint64_t x86_target(const ZydisDecodedInstruction *z, uint64_t next);
static inline uint64_t
x86_rip(const ZydisDecodedInstruction *z, uint64_t to)
{
	return z->operand_width == 16 ? to & 0xffff : to;
}

#endif
