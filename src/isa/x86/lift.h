/* x86-64: what one instruction does, from its bytes (decoded by Zydis). */
#ifndef TM_ISA_X86_LIFT_H
#define TM_ISA_X86_LIFT_H

#include <stddef.h>
#include <stdint.h>
#include "isa/insn.h"
#include "isa/x86/register.h"

/* Variables: registers, then flags, then memory. */
enum { X86_FLAGS = X86_NREG, X86_MEM, X86_NVAR };

/* Branches on rcx (ecx), insn.near; from X86_LOOP on, it becomes one less before, and no flag changes. */
enum x86_near { X86_JRCXZ = 1, X86_JECXZ, X86_LOOP, X86_LOOPE, X86_LOOPNE };

/* Registers that an unknown callee may change (System V ABI), and those whose values are returned. */
#define X86_CLOBBERED 0x0fc7u
#define X86_RESULTS   0x0005u

/*
 * Fills in *in from the n bytes at p; rel[i], i < n, is the enum insn_reloc that starts at byte i.
 * NULL, or a static string that says why this instruction cannot be traced.
 */
const char *x86_lift(const uint8_t *p, size_t n, const uint8_t *rel, struct insn *in);

/* The name of register r in `size` bytes (1, 2, 4, 8), without the %. Static. */
const char *x86_regname(int r, int size);

#endif
