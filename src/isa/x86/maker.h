/* x86-64: who made a processor. */
#ifndef TM_ISA_X86_MAKER_H
#define TM_ISA_X86_MAKER_H

#include <stdint.h>

/* Do these registers of cpuid leaf 0 name a processor of AMD's kind? */
int x86_amd(uint32_t ebx, uint32_t edx, uint32_t ecx);
int x86_amd_here(void);                         /* is this one? */
#endif
