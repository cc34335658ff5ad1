/* References to memory: the kinds that instructions make, and their sizes, with the numbers of ref(5). */
#ifndef TM_ISA_REFERENCE_H
#define TM_ISA_REFERENCE_H

enum ref_access { REF_INST, REF_LOAD, REF_STORE, REF_MODIFY, REF_NACCESS };

#define REF_SIZEMAX 255u        /* bytes of one reference */
#define REF_PIECE   128u        /* larger accesses: ascending pieces of this size, then the rest (<= REF_SIZEMAX) */

#endif
