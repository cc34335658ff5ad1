/* Assembling the input, to learn what each instruction is. */
#ifndef TM_AE_REWRITE_OBJECT_H
#define TM_AE_REWRITE_OBJECT_H

#include "ae/rewrite/file.h"

/*
 * The machine of an object with these fields of the ELF header: machine_byelf, which knows all
 * machines.
 */
typedef const struct machine *object_machine_fn(unsigned elf, unsigned elfclass, unsigned elfdata);

/* The machine that assembler `as` is for, NULL if unknown; args: its further arguments, NULL-terminated. */
const struct machine *object_machine(const char *as, char *const *args, object_machine_fn *byelf);

/*
 * Assembles the text with a mark before and after each instruction of a function, reads the object,
 * and lifts every instruction. Functions shorter than the machine's patch get `fill` bytes after
 * them. Functions with an instruction that cannot be lifted are failed. NULL, or a static message:
 * then nothing of the file can be traced.
 */
const char *object_lift(struct file *f, const char *as, char *const *args);

#endif
