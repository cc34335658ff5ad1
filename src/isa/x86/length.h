/*
 * The length of an x86-64 instruction, for most instructions of programs, in a tenth of the time that decoding
 * takes, and without Zydis.
 */
#ifndef TM_ISA_X86_LENGTH_H
#define TM_ISA_X86_LENGTH_H

#include <stddef.h>
#include <stdint.h>

/*
 * The length of the instruction at p, which is that of x86_decode; 0: decode it, it may be none.  *assumed becomes 1
 * if this is its length if it is an instruction: with a VEX or EVEX prefix, or three bytes of opcode.
 */
unsigned x86_length(const uint8_t *p, size_t n, int *assumed);

#endif
