/* Internal to queries of captures: a window of the run, recorded so that it can be read from its end. */
#ifndef TM_WET_QUERY_CAPTURE_WINDOW_INTERNAL_H
#define TM_WET_QUERY_CAPTURE_WINDOW_INTERNAL_H

#include "wet/query/capture_internal.h"

struct qrun {
	struct qpath *path;
	size_t word;                    /* index of its first word in qrec.word */
	uint32_t n;                     /* position of its first instruction, less qrec.from */
	uint32_t piece;                 /* index of the parent of its first piece in qrec.parent */
	uint32_t nlast, nmem;           /* as in struct visit_run */
};

enum qeffect_kind { QEFFECT_WRITE, QEFFECT_GONE, QEFFECT_MOVE, QEFFECT_FSBASE, QEFFECT_GSBASE };

/* What a record of the capture did to memory or a register */
struct qeffect {
	enum qeffect_kind kind;
	size_t run;                     /* number of runs before it */
	uint64_t n;                     /* the instance that counts as its writer; 0: none */
	uint64_t addr, len, to;         /* QEFFECT_MOVE moves from addr to `to` */
};

struct qrec {
	struct qcap *cap;
	/* only references are recorded as words: those of qpath.ref, then those of a dynamic instruction */
	int brief;
	uint64_t from;                  /* the first position of the window */
	struct qrun *run;               /* all owned */
	size_t nrun, caprun;
	uint64_t *word;
	size_t nword, capword;
	uint64_t *parent;               /* control parents of the pieces of runs */
	size_t nparent, capparent;
	struct qeffect *effect;
	size_t neffect, capeffect, batch;       /* batch: runs before the current batch */
	int nomem;
};

/* Records positions win[k].n to end, with parents if `control`.  0, or -1 after a failure */
int qrec_window(struct qrec *c, size_t k, uint64_t end, int control);
void qrec_free(struct qrec *c);

/* Sets e to the effects of a record, at most 4; returns their number. */
unsigned qrec_effects(const struct ws_rec *rec, uint64_t n, struct qeffect *e);

/* The words of instruction i of a run: indices count from the run's first word */
static inline struct visit_insn
qrec_insn(const struct qrun *r, uint32_t i)
{
	struct visit_run v = { .at = r->path->at, .nlast = r->nlast, .nmem = (uint16_t)r->nmem };

	return visit_insn(&v, i);
}

#endif
