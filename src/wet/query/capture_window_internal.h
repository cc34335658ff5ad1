/* What a window of the run did, recorded to be read from its end.  Internal to queries. */
#ifndef TM_WET_QUERY_CAPTURE_WINDOW_INTERNAL_H
#define TM_WET_QUERY_CAPTURE_WINDOW_INTERNAL_H

#include "wet/query/capture_internal.h"

struct qrun {
	struct qpath *path;
	size_t word;                    /* its first */
	uint32_t n;                     /* position of its first instruction, from the window's */
	uint32_t piece;                 /* its first of struct qrec's parents */
	uint32_t nlast, nmem;           /* as those of struct visit_run */
};

enum qeffect_kind { QEFFECT_WRITE, QEFFECT_GONE, QEFFECT_MOVE, QEFFECT_FSBASE, QEFFECT_GSBASE };

/* What a record did to memory or a register */
struct qeffect {
	enum qeffect_kind kind;
	size_t run;                     /* behind so many runs */
	uint64_t n;                     /* the instance that is its writer; 0: none */
	uint64_t addr, len, to;         /* QEFFECT_MOVE: from addr to `to` */
};

struct qrec {
	struct qcap *cap;
	/*
	 * of the words only references are wanted: those of insn[].brief, then those of a
	 * `late` instruction
	 */
	int brief;
	uint64_t from;                  /* the first position */
	struct qrun *run;               /* all owned */
	size_t nrun, caprun;
	uint64_t *word;
	size_t nword, capword;
	uint64_t *parent;               /* of the pieces of runs */
	size_t nparent, capparent;
	struct qeffect *effect;
	size_t neffect, capeffect, batch;       /* batch: runs before the batch that is being made */
	int nomem;
};

/* Positions from win[k].n to end, with parents if control.  0, or -1 with the fault set */
int qrec_window(struct qrec *c, size_t k, uint64_t end, int control);
void qrec_free(struct qrec *c);

/* The effects of a record, at most 4; how many */
unsigned qrec_effects(const struct ws_rec *rec, uint64_t n, struct qeffect *e);

/* Where instruction i of a run has its words, from the run's first */
static inline struct visit_insn
qrec_insn(const struct qrun *r, uint32_t i)
{
	struct visit_run v = { .at = r->path->at, .nlast = r->nlast, .nmem = (uint16_t)r->nmem };

	return visit_insn(&v, i);
}

#endif
