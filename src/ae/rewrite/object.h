/* Assembling the input to learn what each instruction is. */
#ifndef TM_AE_REWRITE_OBJECT_H
#define TM_AE_REWRITE_OBJECT_H

#include "ae/rewrite/file.h"

/* Which machine an object with these fields of the ELF header is for: machine_byelf, which knows all machines */
typedef const struct machine *object_machine_fn(unsigned elf, unsigned elfclass, unsigned elfdata);

/* The machine that assembler `as` is for, NULL if it cannot be told; args: its further arguments, NULL-terminated */
const struct machine *object_machine(const char *as, char *const *args, object_machine_fn *byelf);

/*
 * Assemble the text with a mark before and behind each instruction of a
 * function, read the object, and lift every instruction.  Functions shorter
 * than the machine's patch get `fill` bytes behind them.  Functions with an
 * instruction that cannot be lifted are failed.  Returns NULL, or what went
 * wrong (a static string): then nothing of the file can be traced.
 */
const char *object_lift(struct file *f, const char *as, char *const *args);

#endif
