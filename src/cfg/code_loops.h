/*
 * The natural loops of the static code of a run (code.h), function by function.  A function is what is
 * reached from its entry without calls; code that two functions share belongs to one of them.
 */
#ifndef TM_CFG_CODE_LOOPS_H
#define TM_CFG_CODE_LOOPS_H

#include "cfg/code.h"

#define CODE_NO_LOOP UINT32_MAX

struct code_loop {
	uint64_t pc;                    /* first instruction of the header */
	uint32_t parent;                /* the loop around it in the function, or CODE_NO_LOOP */
	uint32_t depth;                 /* 1: there is none */
};

struct code_loops {
	struct code_loop *loop;         /* owned */
	size_t nloop, caploop;
	/* by node of the code: its innermost loop, or CODE_NO_LOOP; its function, from 0 on; owned */
	uint32_t *inner, *function;
};

/* Call it after wcode_analyse; no code may be added afterwards. 0, or -1: no memory. */
int code_loops_find(struct code_loops *l, const struct wcode *c);
void code_loops_free(struct code_loops *l);

#endif
