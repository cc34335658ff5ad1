/*
 * Statements' use ports and values.  Port 0: control; 1 to nuse: registers,
 * fact->use in order; then, if they read memory, one for each reference that
 * reads, or (any) one for all of them.
 */
#ifndef TM_WET_MODEL_PORT_H
#define TM_WET_MODEL_PORT_H

#include "isa/x86/fact.h"

#define WPORT_FLAGS 255u        /* as nval: flags, which take one word, as fact_rflags gives it */

struct wport {
	uint16_t nuse, nmem;            /* ports of registers, of memory */
	uint16_t val;                   /* the first word of the value among the instruction's values */
	uint8_t nval, any;              /* words of the value, 0: it has none */
	uint8_t reg;                    /* of which it is the value; FACT_FLAGS */
};

void wport_of(const struct fact *f, struct wport *p);

#endif
