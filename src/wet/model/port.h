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
	uint8_t role;                   /* a set of enum wport_role */
	/* bit i: register port i + 1 does nothing but form the address of a reference, or move the stack pointer */
	uint64_t addrs;
};

/* What an instruction does */
enum wport_role {
	WPORT_CONSTANT = 1,             /* defines a register from nothing but constants and the stack pointer */
	WPORT_RESULT = 2,               /* defines a register from others, or stores; but no push, pop or call */
	WPORT_COPY = 4,                 /* only brings a value somewhere else */
	WPORT_OFFLAGS = 8,              /* its value is that of the flags */
	WPORT_CALL = 16,
	WPORT_SYSTEM = 32               /* a system call */
};

void wport_of(const struct fact *f, struct wport *p);
void wport_role(const struct fact *f, struct wport *p);         /* role.c: sets role and addrs */

#endif
