/*
 * Decoding x86-64 instructions as Intel's or AMD's processors do.
 *
 * Near jumps, calls, returns and loops with an operand-size prefix (66) are 16 bits wide on AMD's
 * processors: they push, pop or load 2 bytes, a displacement of 32 bits becomes one of 16, and rip
 * is truncated to 16 bits. Intel's ignore the prefix. On AMD's, a repeat prefix of loope or loopne
 * decides which of them it is. 0f 0d with a register operand is undefined on AMD's, and a nop on
 * Intel's.
 *
 * A program behaves as its processor did, so a capture records which that was.
 */
#ifndef TM_ISA_X86_DECODE_H
#define TM_ISA_X86_DECODE_H

#include <stddef.h>
#include <stdint.h>
#include <Zydis/Zydis.h>

#include "isa/x86/maker.h"

#define X86_LINE 63u                    /* mask: address within the line of clzero */

/*
 * 0, or -1 if it is not an instruction. op is NULL or has room for ZYDIS_MAX_OPERAND_COUNT
 * operands. As AMD's: branches of 16 bits have operand_width 16 and operands of that size, and 0f
 * 0d with a register is ud1. clzero has the line that it zeroes as a hidden operand with rax as its
 * address, of which the caller masks off X86_LINE.
 */
int x86_decode(ZydisDecodedInstruction *z, ZydisDecodedOperand *op, const uint8_t *p, size_t n, int amd);

/* A decoded instruction and its address. */
struct x86_inst {
	ZydisDecodedInstruction z;
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	uint8_t b[16];
	uint64_t pc, next;
	int mem;                        /* index of the explicit memory operand, or -1 */
	uint8_t amd;                    /* decoded as AMD's processors do */
};
/* 0, or -1 if it is not an instruction. */
int x86_inst_decode(struct x86_inst *in, const uint8_t *p, size_t n, uint64_t pc, int amd);

/* do Intel and AMD decode the instruction at p differently? */
int x86_makers_differ(const ZydisDecodedInstruction *z, const uint8_t *p);

/*
 * x86_target: where the relative branch z goes if it is taken; `next` is the address after it.
 * x86_rip: the target truncated to the operand's width.
 */
uint64_t x86_target(const ZydisDecodedInstruction *z, uint64_t next);
static inline uint64_t
x86_rip(const ZydisDecodedInstruction *z, uint64_t to)
{
	return z->operand_width == 16 ? to & 0xffff : to;
}

/* Has it a repeat prefix that counts?  Only string instructions do; each iteration is a fetch, ref(5). */
static inline int
x86_repeated(const ZydisDecodedInstruction *z)
{
	return (z->attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE)) != 0;
}

#endif
