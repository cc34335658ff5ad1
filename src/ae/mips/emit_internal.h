/* Internal to the MIPS emitter: pieces of code, register use, indirect jumps. */
#ifndef TM_AE_MIPS_EMIT_INTERNAL_H
#define TM_AE_MIPS_EMIT_INTERNAL_H

#include "ae/rewrite/emit.h"

#define MIPS_PATCH 8    /* bytes of a jump over an entry, with its slot */
#define NOP "\tnop\n"

void mips_fits(struct file *f, struct afunc *fn);
void mips_plain(struct buf *o, struct file *f, uint32_t no);
const char *mips_check(const struct afunc *fn, const uint64_t *live, uint32_t *at);

/* Instruction a unchanged: its text if that is one instruction, else its word. */
void mips_put(struct buf *o, const struct file *f, const struct ainsn *a);
/* The whole statement of a: several instructions (nth 0) with operands for the linker. */
void mips_statement(struct buf *o, const struct file *f, const struct ainsn *a);
/* The conditional branch of word w, without its operand: "beq $4,$0," */
void mips_branch(struct buf *o, uint32_t w);
/* Sets $x to 1 if the branch of word w would be taken, else to 0. */
void mips_condition(struct buf *o, uint32_t w, unsigned x);
/* A free register to work with, $1 if possible; larger than any register if there is none. */
unsigned mips_scratch(uint64_t used);
/* Registers in use around the branch of block k, whose delay slot is always executed or is a block. */
uint64_t mips_around(const struct afunc *fn, const struct ablock *k, uint64_t live);

/* Switches, in switch.c. */
void mips_switch(struct twin *t, uint32_t i, uint32_t blk);
void mips_maps(struct twin *t);

#endif
