/* Assembling the input to learn what each instruction is. */
#ifndef TM_AERW_OBJECT_H
#define TM_AERW_OBJECT_H

#include "file.h"

/*
 * Assemble the text with a mark before and behind each instruction of a
 * function, read the object, and lift every instruction.  `args`: further
 * arguments of the assembler, NULL-terminated.  Functions shorter than minsize
 * bytes get `fill` bytes behind them.  Functions with an instruction that
 * cannot be lifted are failed.  Returns NULL, or what went wrong (a static
 * string): then nothing of the file can be traced.
 */
const char *object_lift(struct file *f, const char *as, char *const *args, unsigned minsize);

#endif
