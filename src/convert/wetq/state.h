/* The program at a point: its frames, the functions in them, where variables are. */
#ifndef TM_CONVERT_WETQ_STATE_H
#define TM_CONVERT_WETQ_STATE_H

#include "convert/wetq/wetq.h"
#include "format/debug/debug.h"

#define NINLINED 32u            /* functions that are inlined in one at a place */

const char *state_register(uint64_t dwarf);     /* the name of a register by DWARF's number */
unsigned state_to_dwarf(unsigned reg);          /* DWARF's number of a general register of fact.h */
uint64_t state_from_dwarf(uint64_t dwarf);      /* and the reverse */
/* the frames of a state, at most DEBUG_FRAMES; xmm: 256 bytes, as long as frame */
size_t state_frames(const struct query_state *s, struct debug_frame *frame, uint8_t *xmm);
/* the functions of a frame, the innermost first, each with its line; at least one */
size_t state_functions(const struct debug_frame *f, struct debug_function *fn, size_t most);
void state_where(const struct debug_variable *v, struct buf *b);        /* a register, *0xADDRESS, nothing */

/*
 * variable.c: where a variable, or a part of one, is before position n: 1 with its address and size, or, size 0, the
 * number of a register (fact.h); of a member of bits the bytes that have them; 0: there is none; -1: j->fault says more.
 * here: of a function that has not returned, the innermost first, or of their source files; global: of all files of the
 * program, and of the thread that runs there.
 */
struct state_found { uint64_t addr, size; };
int variable_here(struct job *j, const char *name, uint64_t n, struct state_found *found);
int variable_global(struct job *j, const char *name, uint64_t n, struct state_found *found);
/* Does a text, up to an @, look like a variable or a part of one, and not like a point of another kind? */
int variable_is(const char *s);

#endif
