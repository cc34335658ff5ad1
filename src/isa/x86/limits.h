/* x86-64: which instructions a replay may execute, and which of them trap or have results of their own. */
#ifndef TM_ISA_X86_LIMITS_H
#define TM_ISA_X86_LIMITS_H

#include "isa/x86/decode.h"

const char *x86_refuse(const struct x86_inst *in);      /* why it cannot be replayed, or NULL */
int x86_approximates(const struct x86_inst *in);        /* its results are of the maker's choice */

/* The signal that it always gives, or 0: instead of being executed; when it has been executed */
int x86_traps(const struct x86_inst *in);
int x86_trapped(const struct x86_inst *in);

/* An instruction whose result the processor makes up: which; 0: it is none */
enum x86_random { X86_RDRAND = 1, X86_RDSEED, X86_RDPID };
int x86_random(const struct x86_inst *in);

#endif
