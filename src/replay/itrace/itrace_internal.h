/* State of a visit, shared by its files. */
#ifndef TM_REPLAY_ITRACE_ITRACE_INTERNAL_H
#define TM_REPLAY_ITRACE_ITRACE_INTERNAL_H

#include "base/buf.h"
#include "replay/guest/drive.h"
#include "replay/guest/snapshot.h"
#include "replay/itrace/last_writer.h"
#include "replay/itrace/plan.h"

struct visit_kept {
	struct snap **at;               /* snapshots, by instance; owned */
	size_t n, cap;
	uint64_t bytes, most;           /* memory they take; limit of it */
	uint64_t step;                  /* instances between two snapshots */
	int pagemap;
};

struct visit {
	struct replay *r;
	int writers, memory, control, picks;
	int writerslater;               /* writers are wanted after visit_begin_second */
	int fresh;                      /* nothing ran since it was opened */
	int muted;                      /* running to the place where it continues: no words are visited */
	uint64_t n;                     /* the last instance */
	size_t done;                    /* words of this batch that are visited */
	const struct fact *half;        /* the last instance is a string instruction that is not complete */
	/* last writer by lane; only the first lane counts if the register is not split */
	uint64_t last[FACT_NREG][FACT_NLANE];
	uint64_t split;
	struct visit_run *run;          /* owned */
	size_t nrun, caprun, ninsn;
	uint64_t *writer;               /* owned */
	size_t nwriter, capwriter;
	struct wshadow mem;
	int pending;                    /* result of the next call; REPLAY_OK: not known yet */
	struct visit_batch batch;       /* of visit_next */
	size_t next;                    /* its run, and the instruction in the run */
	uint32_t nextin;
	struct fact_at signal[2];       /* without and with vector registers */
	struct fact sigfact[2];
	struct fact_def sigdef[FACT_NREG];
	uint64_t *seg;                  /* instances before each segment; owned; NULL: not known yet */
	size_t nseg;
	visit_record_fn *onrecord;      /* or NULL */
	void *onrecordarg;
	struct visit_kept *kept;        /* owned; NULL: no snapshots are wanted */
	uint64_t due;                   /* the next snapshot is taken after this instance */
};

/* Ensures room for a run and nwriter writers. 0, or -1: no memory. */
int visit_room(struct visit *v, size_t nwriter);

/* states.c: snapshots */

/* the last snapshot at or before instance n; NULL: none */
const struct snap *visit_kept(const struct visit *v, uint64_t n);
/* the last one that has all of the program's memory */
const struct snap *visit_kept_whole(const struct visit *v, uint64_t n);
/* the instance after n where the next snapshot is due; UINT64_MAX: none */
uint64_t visit_snapshot_due(const struct visit *v, uint64_t n);
void visit_snapshot_take(struct visit *v);      /* takes a snapshot */

/* walk.c: visits word[v->done] to word[n]. 0, or -1: no memory. */
int visit_blocks(struct visit *v, const uint64_t *word, size_t n);

#endif
