/* x86-64: what the operands of an instruction are, and how it refers to memory. */
#ifndef TM_ISA_X86_OPERAND_H
#define TM_ISA_X86_OPERAND_H

#include <Zydis/Zydis.h>
#include "isa/x86/decode.h"

int x86_gpr(ZydisRegister r);                   /* number of a general register of any width, or -1 */
int x86_highbyte(ZydisRegister r);              /* is it ah, ch, dh or bh? */
int x86_refkind(const ZydisDecodedOperand *o);  /* REF_ kind (isa/reference.h) of a memory operand, or -1 */
/* does it name memory without referring to it? */
int x86_no_reference(const ZydisDecodedInstruction *z);

/*
 * What, besides its address, decides which memory an instruction refers to: nothing, a mask, the
 * number of a bit, or which parts of the processor's state are saved.
 */
enum x86_refs { X86_BY_ADDRESS, X86_BY_MASK, X86_BY_BIT, X86_BY_STATE };
enum x86_refs x86_refs_depend_on(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *op);

/* A broadcast: of how many elements the mask says whether they are written; 0: it is none */
unsigned x86_broadcast_elements(const ZydisDecodedInstruction *z);
int x86_packs(ZydisMnemonic m);                 /* are the elements in memory adjacent, whatever the mask? */
/* of a gather or scatter: do its indexes, its elements have 8 bytes, not 4? */
int x86_quad_index(ZydisMnemonic m);
int x86_wide_element(ZydisMnemonic m);

#endif
