/* Which operations an instruction is. */
#ifndef TM_INSNS_MICRO_INTERNAL_H
#define TM_INSNS_MICRO_INTERNAL_H

#include "insns/micro.h"
#include "isa/x86/decode.h"

struct micro_plan {
	const struct fact *f;
	struct x86_inst in;
	enum branch_kind branch;
	struct fact_addr ref[FACT_MAXREF];
	unsigned nref, nload, nstore;           /* a modify is both */
	uint64_t address[2];                    /* set of registers that are used in addresses */
	int stack;                              /* it moves the stack pointer, by a constant, among other things */
	struct micro_op op[2 * FACT_MAXREF + 3];        /* n of them */
	unsigned n;
};

/*
 * Of a string instruction, the operations of an iteration and then the last one, what the registers are in
 * the end. Of one of FACT_COUNTED, three: a load, what it computes, a store, for each of the references.
 */
void micro_plan(struct micro_plan *p, const struct fact *f, enum branch_kind branch);

#endif
