/* The plan of a block: the writers of its uses that are known before it runs. */
#ifndef TM_REPLAY_ITRACE_PLAN_H
#define TM_REPLAY_ITRACE_PLAN_H

#include "replay/itrace/itrace.h"

/* A use that is not written by one instruction of the block; port: index of its writer in the run. */
struct plan_live { uint16_t port; struct fact_use use; };
/*
 * A use when the block has written some of its lanes.  k: instruction of the block, by lane; -1:
 * the last writer before the block.
 */
struct plan_mixed { uint16_t port; struct fact_use use; int8_t k[FACT_NLANE]; };
struct plan_refs { uint16_t word, port; uint8_t n, k; };
/* instruction k is the last writer of these lanes in the block */
struct plan_end { uint8_t reg, lanes, whole, k; };

struct plan {
	/* nword: words of the block, without the variable part of a last FACT_STRING or FACT_COUNTED */
	uint16_t n, nport, nword;
	uint16_t nlive, nmixed, nrefs, nend;
	/* the last instruction, if it is FACT_COUNTED or FACT_STRING; else NULL */
	const struct fact *last;
	const struct plan_live *live;
	const struct plan_mixed *mixed;
	const struct plan_refs *refs;
	const struct plan_end *end;
	const uint8_t *by;              /* by port: the instruction of the block that is its writer */
	const struct fact_at *at;
};

/* the plan belongs to b and is made on first use; NULL: no memory */
const struct plan *plan_of(struct fact_block *b);

#endif
