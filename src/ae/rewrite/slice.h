/*
 * The slice of a function that regeneration computes again (seed 001 section 4.1.1): which
 * definitions an address needs, and which of them are recorded.
 *
 * The paper's scheme (file.paper): every impossible definition that is needed is recorded, in full
 * width, and so is the stack pointer at entry; every target of a conditional branch records its
 * number; calls, memory and conditions give no information.
 */
#ifndef TM_AE_REWRITE_SLICE_H
#define TM_AE_REWRITE_SLICE_H

#include "ae/rewrite/file.h"

enum def_fate { DF_UNUSED, DF_COMPUTE, DF_RECORD };

#define DEF_ENTRY NONE          /* def.ins of a value at function entry */
#define DEF_CALL  255           /* def.eff of a register after a call */

struct def {
	uint32_t ins;
	uint8_t eff, fate;      /* number of the effect, or DEF_CALL */
	uint16_t var;
	uint32_t vertex;        /* in the cut; NONE: not reached */
};

struct slice {
	struct def *def;
	uint32_t ndef;
	uint32_t *first;        /* by instruction: its first definition; [nins] the end */
	uint8_t *recbranch;     /* by block: the branch is recorded, not computed */
	uint64_t *callrec;      /* by instruction: registers recorded just before a known call or tail jump */
	uint64_t *known;        /* by instruction: registers that are known anyway at a call of emit_linked() */
	uint64_t entryrec;      /* registers recorded at entry besides fn->need */
};

/*
 * Bytes for recording definition d; *ext is how the register is extended when it is read
 * (SO_UNKNOWN's cc).
 */
#define EXT_SHORT 4
unsigned def_bytes(const struct afunc *fn, const struct def *d, uint8_t *ext);

/* The same of a register that is recorded where no flag is live: before a call, at an entry */
uint8_t word_ext(const struct afunc *fn, unsigned var);

/* Variable var of an effect of instruction i: a slot if it is memory that is a slot. */
unsigned effect_var(const struct afunc *fn, uint32_t i, unsigned var);

/*
 * Slices every traced function; sets need, slice and tailout of each. Nonzero if a function failed:
 * then everything must be done again.
 */
int slice_file(struct file *f);
void slice_free(struct slice *s);

#endif
