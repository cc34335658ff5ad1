/* Internal to the x86-64 lifter: the state of one lifting, shared by lift.c and meaning.c. */
#ifndef TM_ISA_X86_LIFT_INTERNAL_H
#define TM_ISA_X86_LIFT_INTERNAL_H

#include <Zydis/Zydis.h>
#include "isa/x86/lift.h"

struct lift {
	ZydisDecodedInstruction z;
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	const uint8_t *bytes, *rel;
	struct insn *in;
	int anyflags;           /* some arithmetic flag is written */
};

int x86_maywrite(const struct lift *l, const ZydisDecodedOperand *o);
uint8_t x86_cond(unsigned nibble);
const char *x86_mem(struct lift *l, const ZydisDecodedOperand *o, struct sch_addr *m);
struct op_step *x86_ref(struct lift *l, int op, const struct sch_addr *m, unsigned size);
struct sch_addr x86_stack(int64_t disp);
/* adds references of explicit memory operands */
const char *x86_memory_operands(struct lift *l);
/* The reference of an operand of which a mask chooses the elements; of a gather or scatter: lift_masked.c */
int x86_byte_mask(ZydisMnemonic m);     /* does a vector register choose bytes at rdi? */
const char *x86_masked(struct lift *l, const ZydisDecodedOperand *o);
const char *x86_indexed(struct lift *l, const ZydisDecodedOperand *o);
/* field index of immediate i if the linker fills it in */
int x86_immfield(struct lift *l, int i);
const char *x86_meaning(struct lift *l);                /* adds control, references and effects */

#endif
