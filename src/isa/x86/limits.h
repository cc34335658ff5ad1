/* x86-64: which instructions a replay may execute, and which of them trap or have results of their own. */
#ifndef TM_ISA_X86_LIMITS_H
#define TM_ISA_X86_LIMITS_H

#include "isa/x86/decode.h"

/* NULL, or a static message why it cannot be replayed */
const char *x86_refuse(const struct x86_inst *in);
int x86_approximates(const struct x86_inst *in);        /* does its result differ between makers? */

/*
 * The signal that it always raises, or 0: x86_trap_before instead of executing, x86_trap_after
 * after executing.
 */
int x86_trap_before(const struct x86_inst *in);
int x86_trap_after(const struct x86_inst *in);

/* Instructions whose result comes from the processor alone; 0: none of them. */
enum x86_random_insn { X86_RDRAND = 1, X86_RDSEED, X86_RDPID };
int x86_random_insn(const struct x86_inst *in);

#endif
