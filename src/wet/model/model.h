/*
 * What can be told of dependences from the order of statements alone: who
 * wrote each register last, and which branch or call decided.  The writer and
 * the readers of wet(5) run the same model; where a run did otherwise, the
 * file says so, and both are put right (model_reg_is, model_control_is).
 *
 * Instances are said by `who`: id << 32 | instance, 0 for none.
 */
#ifndef TM_WET_MODEL_MODEL_H
#define TM_WET_MODEL_MODEL_H

#include "isa/x86/fact.h"
#include "wet/file/full/code.h"

#define MODEL_LIST FACT_NLANE           /* the most writers of a register */

/* n is the writer's: the visit's number of the instance, UINT64_MAX: not known; a reader has 0 there */
struct model_lane { uint64_t t, who, n; };
struct model_region { uint64_t who, n; uint32_t end; };
struct model_frame { uint64_t who, n; size_t base; };   /* base: its first region */

struct model {
	const struct store_code *code;
	uint64_t t;                     /* statements so far */
	struct model_lane lane[FACT_NREG][FACT_NLANE];
	struct model_region *region;    /* owned */
	struct model_frame *frame;      /* owned; [0]: that of the program's entry */
	size_t nregion, capregion, nframe, capframe;
	/* the last statement may have gone to `target`, another function; 0 */
	uint64_t target, tailwho, tailn;
};

/* Functions that return int give 0, or -1 without memory. */
int model_init(struct model *m, const struct store_code *code);
void model_free(struct model *m);

/*
 * A statement s comes: before it, model_enter, then its control parent and the
 * writers of its registers are what these say, and may be put right; then
 * model_leave, who being the instance itself, and n.
 */
void model_enter(struct model *m, uint32_t s);
struct model_who { uint64_t who, n; };
static inline struct model_who
model_parent(const struct model *m)
{
	const struct model_frame *f = &m->frame[m->nframe - 1];

	if (m->nregion > f->base)
		return (struct model_who){ m->region[m->nregion - 1].who, m->region[m->nregion - 1].n };
	return (struct model_who){ f->who, f->n };
}
int model_control_is(struct model *m, uint64_t who, uint64_t n);
/* of a use: how many, the latest first */
unsigned model_reg(const struct model *m, unsigned reg, uint64_t who[MODEL_LIST]);
void model_reg_is(struct model *m, unsigned reg, uint64_t who, uint64_t n);
int model_leave(struct model *m, uint32_t s, uint64_t who, uint64_t n);

/* Its state, as a KEY section begins */
void model_save(const struct model *m, struct buf *b);
int model_load(struct model *m, struct col_reader *r);  /* 0, or -1 and r->err */

#endif
