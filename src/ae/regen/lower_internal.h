/* Internal to lowering: the program being lowered, and the code so far. */
#ifndef TM_AE_REGEN_LOWER_INTERNAL_H
#define TM_AE_REGEN_LOWER_INTERNAL_H

#include <stddef.h>

#include "ae/regen/code.h"

struct low {
	struct code *c;
	const struct prog_func *pf;
	const struct sch_func *f;
	uint32_t nvar;
	uint64_t pc;
	uint64_t ipc;                   /* of the instruction last fetched */
	int nop;                        /* the linker has left nothing of that: it does nothing */
	/* the open template */
	uint32_t refs;                  /* its REFS instruction, or NONE */
	uint32_t nref;
	/* the instruction that the model is to follow */
	uint32_t first;                 /* its first reference in the template */
	uint8_t cc;                     /* its condition, if it is a branch */
	int followed;                   /* the model executes the last instruction */
	struct iop none;                /* what low_event returns without statistics or a model */
	int begun;                      /* it was fetched, and the model does not know it yet */
	/* blocks */
	uint32_t *at;                   /* block -> first instruction */
	uint32_t cap, tabcap, swcap, slotcap, sitecap, wherecap;
};

#define LOW_NONE UINT32_MAX

void low_fail(struct low *l, const char *what);

/* Makes room for n more elements after `have` in the array p: the array, or NULL after low_fail. */
void *low_room(struct low *l, void *p, uint32_t have, uint32_t n, uint32_t *cap, size_t size);

struct iop *low_emit(struct low *l, unsigned op);       /* a new instruction; a dummy without memory */
void low_ref(struct low *l, uint64_t word);             /* adds a word to the template */
void low_close(struct low *l);                          /* ends the template */
void low_step(struct low *l, const struct op_step *s);

/* With statistics: the number of a new place of events, otherwise 0. */
uint32_t low_where(struct low *l, unsigned kind, uint64_t pc);
/*
 * n bytes of events of a kind are read next: with statistics or a model, an instruction that says so; otherwise a
 * dummy.
 */
struct iop *low_event(struct low *l, unsigned kind, unsigned n);
/* With a model: its register is what the variable of that number is; step j of a block is done. */
void low_sync(struct low *l, int var);
void low_follow(struct low *l, const struct sch_block *b, uint32_t j);

/* The slot of an operand; an operand that is not a variable is loaded into slot t. */
uint16_t low_operand(struct low *l, const struct op_value *v, unsigned t);

#endif
