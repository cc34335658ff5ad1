/* References to memory: their kinds and sizes, with the numbers of ref(5). */
#ifndef TM_ISA_REFERENCE_H
#define TM_ISA_REFERENCE_H

enum ref_access { REF_INST, REF_LOAD, REF_STORE, REF_MODIFY, REF_NACCESS };

#define REF_SIZEMAX 255u        /* most bytes of one reference */
/* a larger access becomes pieces of this size, ascending, then the rest (<= REF_SIZEMAX) */
#define REF_PIECE   128u

#endif
