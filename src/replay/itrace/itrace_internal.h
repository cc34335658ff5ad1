/* Internal to visits. */
#ifndef TM_REPLAY_ITRACE_ITRACE_INTERNAL_H
#define TM_REPLAY_ITRACE_ITRACE_INTERNAL_H

#include "base/buf.h"
#include "replay/guest/drive.h"
#include "replay/guest/snapshot.h"
#include "replay/itrace/last_writer.h"
#include "replay/itrace/plan.h"

struct visit_kept {
	struct snap **at;               /* n of them, by instance; owned */
	size_t n, cap;
	uint64_t bytes, most;           /* that they take, and may */
	uint64_t step;                  /* instances from one to the next */
	int pagemap;
};

struct visit {
	struct replay *r;
	int writers, memory, control, picks;
	int writerslater;               /* visit_again sets it */
	int muted;                      /* runs to where it is to go on: nothing of that is looked at */
	uint64_t n;                     /* the last instance */
	size_t done;                    /* words of this batch that are visited */
	const struct fact *half;        /* the last instance is a string instruction that is not over */
	uint64_t last[FACT_NREG][FACT_NLANE];   /* by lane; if the register is not split the first only */
	uint64_t split;
	struct visit_run *run;          /* owned */
	size_t nrun, caprun, ninsn;
	uint64_t *writer;               /* owned */
	size_t nwriter, capwriter;
	struct wshadow mem;
	int pending;                    /* what the next call returns, REPLAY_OK: what it finds */
	struct visit_batch batch;       /* of visit_next */
	size_t next;                    /* its run, and the instruction in it */
	uint32_t nextin;
	struct fact_at signal[2];      /* without and with vectors */
	struct fact sigfact[2];
	struct fact_def sigdef[FACT_NREG];
	uint64_t *seg;                  /* instances before each segment; owned; NULL: not known yet */
	size_t nseg;
	visit_record_fn *onrecord;      /* or NULL */
	void *onrecordarg;
	struct visit_kept *kept;        /* owned; NULL: none are wanted */
	uint64_t due;                   /* the next is taken behind this instance */
};

/* Room for a run and so many writers; 0, or -1 without memory */
int visit_room(struct visit *v, size_t nwriter);

/* states.c: states kept in memory */
const struct snap *visit_kept(const struct visit *v, uint64_t n);       /* the last that is not behind instance n; NULL: none */
uint64_t visit_keep_at(const struct visit *v, uint64_t n);      /* where the next is wanted, for who is behind instance n; UINT64_MAX: nowhere */
void visit_keep_now(struct visit *v);

/* walk.c: word[v->done] to word[n] are visited.  0, or -1 without memory */
int visit_blocks(struct visit *v, const uint64_t *word, size_t n);

#endif
