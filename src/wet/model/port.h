/*
 * Use ports and values of statements.  Port 0 is control; ports 1 to nuse are
 * registers, in the order of fact->use; the next nmem ports are memory: one for
 * each reference that reads or, if `any`, one for all of them.
 */
#ifndef TM_WET_MODEL_PORT_H
#define TM_WET_MODEL_PORT_H

#include "isa/x86/fact.h"

#define WPORT_FLAGS 255u        /* in nval: the value is the flags, one word, the result of fact_rflags */

struct wport {
	uint16_t nuse, nmem;            /* ports of registers, of memory */
	uint16_t val;                   /* index of the value among the words of the instruction's values */
	uint8_t nval;                   /* words of the value; 0: there is none */
	uint8_t any;                    /* one memory port stands for all references */
	uint8_t reg;                    /* the register whose value it is, or FACT_FLAGS */
};

void wport_of(const struct fact *f, struct wport *p);

#endif
