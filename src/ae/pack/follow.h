/*
 * Follows a traced program while its references are regenerated: executes the instructions that the executable has, on
 * registers and memory as far as they are known. So it foresees most of what the program recorded. What it foresees may be
 * wrong: it does not see what untraced code does, and does not know every instruction. Events and whatever the regeneration
 * computes correct it.
 */
#ifndef TM_AE_PACK_FOLLOW_H
#define TM_AE_PACK_FOLLOW_H

#include "ae/machine/machine.h"
#include "ae/pack/recall.h"
#include "ae/regen/model.h"

#define FOLLOW_VARS 64                  /* registers, flags, memory of an instruction */

struct follow_op;

struct follow {
	uint64_t var[FOLLOW_VARS];
	unsigned mem;                   /* the variable that is the memory operand of the last instruction */
	uint64_t fa, fb;                /* flags: those of fa - fb, both with the sign in bit 63 */
	int flags;                      /* they are known */
	/* the last instruction moves memory at this address into a register, of so many bytes; 0: it does not */
	uint64_t addr;
	unsigned moved;
	uint64_t target;                /* where the last indirect call or jump goes; 0: there was none */
	const struct machine *machine;
	struct recall *recall;          /* borrowed: of all threads */
	const struct prog *g;           /* the program, when it is known */
	struct follow_op *op;           /* owned */
	uint32_t nop, cap;
	int failed;                     /* out of memory */
};

int follow_init(struct follow *f, const struct machine *m, struct recall *s);   /* 0 or -1 */
/* Of struct recall: what the program's file has there; its arg is the program */
void follow_fill(void *prog, uint64_t addr, uint8_t page[RECALL_PAGE]);
void follow_free(struct follow *f);

/* Functions of struct regen_model, with f as arg */
uint32_t follow_insn(void *f, const struct prog *g, const struct prog_func *pf, uint64_t pc, unsigned nref, uint8_t *cc);
void follow_run(void *f, uint32_t no, const uint64_t *refs);
void follow_string(void *f, unsigned how, unsigned w, uint64_t n, uint64_t rsi, uint64_t rdi);

int follow_branch(const struct follow *f, unsigned cc);         /* is it taken? */
/* The value of this event is v. */
void follow_correct(struct follow *f, const struct regen_ask *a, uint64_t v);

#endif
