/* Internal to the x86-64 emitter. */
#ifndef TM_AE_X86_EMIT_INTERNAL_H
#define TM_AE_X86_EMIT_INTERNAL_H

#include "ae/rewrite/emit.h"

#define X86_PATCH 5     /* bytes of a jump over an entry */

/* Of what gs points to, the state of the thread: fields of struct ae_thread in src/ae/runtime/aert.h */
#define X86_PTR  16     /* the event pointer while control is outside traced code */
#define X86_KEEP 32     /* room for registers */
#define X86_CB   64     /* untraced code has called back */
#define X86_DEPTH 80    /* running handlers that interrupted traced code */
#define X86_LENT 128    /* the program's r15, where the compiler has not reserved that */

/* With the registers that a function needs, of its entries: it may leave by a jump to an unknown function */
#define X86_TAILOUT 0x10000

extern const struct machine machine_x86;

/* lend.c: does text s name r15, and is that the program's? */
int lend_names(const struct twin *t, const char *s);
void lend_load(struct buf *o, int r);           /* loads the program's r15 into register r */
void lend_text(struct buf *o, const char *s, int r);    /* writes s with register r for r15 */
/* Writes instruction i, which is s and names r15. */
void lend_insn(struct twin *t, uint32_t i, const char *s);
char *lend_rename(const char *s, unsigned a, unsigned b);       /* struct emitter */
/* The register that has the program's r15 for a moment; afterwards lend_done */
int lend_carrier(struct twin *t);
void lend_done(struct twin *t);

/* emit.c: the events of the group are valid from here on */
void x86_settle(struct twin *t);
void x86_leave(struct twin *t);                 /* control leaves traced code */
/*
 * Short values, at at(%r15). No flag is live. The usual case is in line. A large value is recorded out of the way, at
 * the label of this kind and numbers, from where control comes back to the label of the kind after it (v w, y z). That moves
 * the event pointer by the bytes that it takes more, so the places of the rest of the group stay; of the group, so
 * much is written by then. No register changes, not even for a moment, because a handler may look at all of them.
 */
void x86_small(struct buf *o, unsigned var, unsigned at, int kind, uint32_t no, uint32_t n);
void x86_large(struct buf *o, unsigned var, unsigned at, int kind, uint32_t no, uint32_t n);

/* switch.c: instruction i, the last of block blk, is an indirect jump. */
void switch_jump(struct twin *t, uint32_t i, uint32_t blk);
void switch_own_table(struct twin *t, uint32_t i);      /* it puts the address of a table into a register */
void switch_tables(struct twin *t);
void switch_maps(struct twin *t);

void x86_thunk(struct buf *o, struct file *f, uint32_t no);     /* entry.c */
void x86_fits(struct file *f, struct afunc *fn);
void x86_plain_copy(struct buf *o, struct file *f, uint32_t no);

#endif
