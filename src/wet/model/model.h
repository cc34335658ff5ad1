/*
 * Predicts dependences from the order of statements alone: which instance
 * wrote each register last, and which branch or call is the control parent.
 * The writer and the readers of wet(5) run the same model.  Where the run
 * differed, the file stores the correction, and both apply it (model_reg_is,
 * model_control_is).
 *
 * An instance is named by `who`: id << 32 | instance, 0 for none.
 */
#ifndef TM_WET_MODEL_MODEL_H
#define TM_WET_MODEL_MODEL_H

#include "isa/x86/fact.h"
#include "wet/file/full/code.h"

#define MODEL_LIST FACT_NLANE           /* maximum number of writers of a register */

/*
 * t: the time (struct model) of the write.  n: only for the writer of a file, the number of the
 * instance in the visit, UINT64_MAX: unknown.
 */
struct model_lane { uint64_t t, who, n; };
struct model_region { uint64_t who, n; uint32_t end; };
struct model_frame { uint64_t who, n; size_t base; };   /* base: its first region */

struct model {
	const struct store_code *code;
	uint64_t t;                     /* number of statements so far */
	struct model_lane lane[FACT_NREG][FACT_NLANE];
	struct model_region *region;    /* owned */
	struct model_frame *frame;      /* owned; [0] is that of the program's entry */
	size_t nregion, capregion, nframe, capframe;
	/* not 0: the last statement, tailwho, was a tail call if the next one is at target */
	uint64_t target, tailwho, tailn;
};

/* Functions that return int give 0, or -1 without memory. */
int model_init(struct model *m, const struct store_code *code);
void model_free(struct model *m);

/*
 * For each executed statement s: call model_enter; ask for its control parent
 * and the writers of its registers, and correct them; then call model_leave,
 * where who and n are the instance itself.
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
int model_names(const struct model *m, uint64_t who);   /* may later statements depend on it? */
int model_control_is(struct model *m, uint64_t who, uint64_t n);
/* sets who to the writers of a used register, the latest first; returns their number */
unsigned model_reg(const struct model *m, unsigned reg, uint64_t who[MODEL_LIST]);
void model_reg_is(struct model *m, unsigned reg, uint64_t who, uint64_t n);
int model_leave(struct model *m, uint32_t s, uint64_t who, uint64_t n);
/* the same for control alone: the registers are those from before */
int model_leave_control(struct model *m, uint32_t s, uint64_t who, uint64_t n);

/* Writes and reads the state, which is at the beginning of a KEY section. */
void model_save(const struct model *m, struct buf *b);
int model_load(struct model *m, struct col_reader *r);  /* 0, or -1 and r->err */

#endif
