/* What a visit knows of a block before it runs.  Internal to visits. */
#ifndef TM_REPLAY_ITRACE_PLAN_H
#define TM_REPLAY_ITRACE_PLAN_H

#include "replay/itrace/itrace.h"

/* A use whose writer is not one instruction of the block; port: index of its writer in the run */
struct plan_live { uint16_t port; struct fact_use use; };
/* By lane: instruction of the block, or -1: whoever was the last before it */
struct plan_mixed { uint16_t port; struct fact_use use; int8_t k[FACT_NLANE]; };
struct plan_refs { uint16_t word, port; uint8_t n, k; };
struct plan_end { uint8_t reg, lanes, whole, k; };      /* who is the last writer behind the block */

struct plan {
	uint16_t n, nport, nword;       /* nword: those of a last FACT_STRING's record, FACT_COUNTED's number, but not more of these */
	uint16_t nlive, nmixed, nrefs, nend;
	const struct fact *last;        /* if it is FACT_COUNTED or FACT_STRING, or NULL */
	const struct plan_live *live;
	const struct plan_mixed *mixed;
	const struct plan_refs *refs;
	const struct plan_end *end;
	const uint8_t *by;              /* by port: which instruction of the block is its writer */
	const struct fact_at *at;
};

const struct plan *plan_of(struct fact_block *b, int control);  /* b's, made if it has none; NULL: no memory */

#endif
