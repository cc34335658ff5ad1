/*
 * The instructions of a captured program, one by one as they are executed,
 * each with its references, the values it defines and the instruction instance
 * that last wrote each register and each piece of memory that it uses.
 *
 * Instances are numbered from 1 in order of execution.  A repeated string
 * instruction is one instance with all its iterations.  A signal that arrives
 * is an instance of its own (FACT_SIGNAL), which wrote the handler's registers
 * and frame.  What a system call wrote was written by the instance of its
 * instruction; so was what a mapping that it made holds.
 *
 * Segments are what lies between keyframes: 0 begins with the program, k with
 * keyframe k - 1.  A visit may go to the start of any, or to any instance, and
 * numbers instances as one of the whole program does; what was written before
 * the place it went to has the writer VISIT_INITIAL.  If a segment begins amid
 * a string instruction, the last part of it has the number of its first, and
 * what that one wrote is VISIT_INITIAL's like all before.
 *
 * As there is one replay in a process, there is one visit; the shadow of
 * memory lies at the low 45 bits of the guest's addresses, in host memory
 * below RP_BASE, and takes as much as the program touches, up to 9 times where
 * bytes of a word have different writers.
 */
#ifndef TM_REPLAY_ITRACE_ITRACE_H
#define TM_REPLAY_ITRACE_ITRACE_H

#include <stddef.h>
#include <stdint.h>

#include "format/ref/ref.h"
#include "isa/x86/fact.h"
#include "replay/guest/replay.h"

#define VISIT_INITIAL 0u                /* as a writer: nobody since the visit began */
#define VISIT_MANY (UINT64_C(1) << 63)  /* as a writer: several; the rest is the index of the first piece */

enum visit_what {
	VISIT_WRITERS = 1,              /* who wrote what is used */
	VISIT_FLAGS = 2,                /* flags' values also of instructions that define a register */
	VISIT_MEMORY = 4,               /* what each reference loads and stores: visit_mem */
	VISIT_CONTROL = 8               /* runs only, none of the others: there are no words and no writers */
};

/* Instructions executed one after the other */
struct visit_run {
	const struct fact_at *at;      /* ninsn of them */
	uint64_t n;                     /* instance of the first; the others follow */
	uint16_t ninsn;
	uint16_t nmem;                  /* VISIT_MEMORY, if the last is FACT_COUNTED: words between its references and its values */
	uint32_t word, use;             /* its first word and writer */
	uint32_t nlast;                 /* if the last is FACT_COUNTED or FACT_STRING: its references */
};

struct visit_insn {
	const struct fact *fact;        /* its registers; valid until visit_close */
	uint64_t n;                     /* instance */
	uint32_t ref, nref;             /* its references: index into ref, number */
	uint32_t val;                   /* its values: word def->val of them is val[insn.val + def->val] */
	uint32_t use;                   /* VISIT_WRITERS: writers of fact->use[0..nuse), then of each reference that reads */
};

/* A piece of a use with several writers, ascending; registers: bytes of the container, flags: lanes */
struct visit_piece {
	uint64_t writer;
	uint16_t off, len;
	uint32_t more;                  /* another piece of this use follows */
};

/*
 * An instance that does not fit into a batch, or is interrupted, comes as
 * several of the same n: only strings do, and their values are those
 * of the last.
 */
struct visit_batch {
	const struct visit_run *run;
	size_t nrun, ninsn;
	const uint64_t *word;           /* references (words of ref.h, no fetches) and values: what ref and val are indices of */
	const uint64_t *writer;         /* what use is an index of */
	const struct visit_piece *piece;
};

struct visit;

struct visit *visit_open(const char *path, unsigned what, struct replay_fault *f);     /* as replay_open */
void visit_close(struct visit *v);
struct replay *visit_replay(struct visit *v);   /* for its header, counts, fault, output, until: not for running it */

/*
 * Each record that takes place while instructions are handed over, from within
 * visit_batch: it comes behind `run` runs of the batch that is being made, the
 * last instance so far is n.
 */
typedef void visit_record_fn(void *arg, const struct ws_rec *rec, size_t run, uint64_t n);
void visit_onrecord(struct visit *v, visit_record_fn *fn, void *arg);

/*
 * Where segments begin, and how many there are: a capture whose keyframes do
 * not say their instances is run through once, and the visit is at its
 * beginning then.  0: see visit_replay's fault.
 */
size_t visit_segments(struct visit *v);
uint64_t visit_segment(const struct visit *v, size_t k);        /* instances before segment k; visit_segments was called */
int visit_seek(struct visit *v, size_t k);      /* the next instruction is the first of segment k: REPLAY_OK, REPLAY_BAD */
int visit_goto(struct visit *v, uint64_t n);    /* it is instance n: also REPLAY_END if the program has fewer */

/*
 * States are kept in memory from now on, of what is run through, and visit_goto
 * goes on from them, as if they were keyframes at close distances; not with
 * VISIT_WRITERS.  At most so many bytes, more or less, and 64 of them: `step`
 * instances apart, or, the longer the run, more.  -1: the system does not say
 * which pages there are.
 */
int visit_keep(struct visit *v, uint64_t most, uint64_t step);

/*
 * The whole run is to be visited twice, the first time without writers:
 * visit_twice before anything runs, visit_again behind it all.  The code that
 * was made for the first time, its facts and its runs' `at` stay.  REPLAY_BAD:
 * it cannot go back, as behind a fault.
 */
void visit_twice(struct visit *v);
int visit_again(struct visit *v);

/* What a visit has kept, for another one of the same capture, which goes on from there */
struct visit_kept;
struct visit_kept *visit_kept_of(struct visit *v);      /* v keeps nothing any more; NULL: it did not */
void visit_keep_from(struct visit *v, struct visit_kept *k);    /* k is v's */
void visit_kept_free(struct visit_kept *k);

void visit_stop(struct visit *v, size_t k);     /* REPLAY_END comes where segment k begins, until the next call; as many as there are: at the program's end */
void visit_until(struct visit *v, uint64_t n);  /* REPLAY_END comes behind instance n, until the next call; WS_UNKNOWN: the program's */

/*
 * From now on, only instructions at a pc that `pick` takes, one to a run;
 * blocks that have none cost little more than running them.  Signals are
 * left out.  NULL: all again.  pick is asked when code is translated, and
 * must not change its mind.  Not with VISIT_WRITERS or VISIT_CONTROL: -1, as
 * without memory.
 */
typedef int visit_pick_fn(void *arg, uint64_t pc);
int visit_only(struct visit *v, visit_pick_fn *pick, void *arg);

/* The next instructions, valid until the next call: enum replay_got */
int visit_batch(struct visit *v, struct visit_batch *b);

/* One by one, which is slower: *b is valid until the next call */
int visit_next(struct visit *v, struct visit_insn *e, const struct visit_batch **b);

/*
 * VISIT_WRITERS, between two batches: all instances that may be told as
 * writers from now on, of those that were so far; in no order, some of them
 * often, VISIT_INITIAL as well.
 */
typedef void visit_writer_fn(void *arg, uint64_t n);
void visit_writers(struct visit *v, visit_writer_fn *fn, void *arg);

/* Instruction i of a run */
static inline struct visit_insn
visit_insn(const struct visit_run *r, uint32_t i)
{
	const struct fact_at *a = &r->at[i];
	struct visit_insn e = { a->fact, r->n + i, r->word + a->ref, a->nref, r->word + a->val,
		r->use + a->use };

	if (a->fact->kind == FACT_COUNTED)
		e.val += r->nlast + r->nmem;
	if (a->fact->kind == FACT_COUNTED || a->fact->kind == FACT_STRING)
		e.nref = r->nlast;
	return e;
}

/*
 * VISIT_MEMORY: the bytes, ref_size of them, that reference i of e loaded
 * (stored: 0) or stored (1); NULL: it does not.  What a string instruction
 * loads or stores for an element is as it was then.  Of a processor state that
 * xsave stores and xrstor loads, what they leave out is as it was before, and
 * unknown behind a keyframe.
 */
const uint8_t *visit_mem_late(const struct visit_batch *b, const struct visit_insn *e, uint32_t i, int stored);
static inline const uint8_t *
visit_mem(const struct visit_batch *b, const struct visit_insn *e, uint32_t i, int stored)
{
	const struct fact_mem *m = e->fact->mem;
	unsigned at;

	if (m == NULL)
		return visit_mem_late(b, e, i, stored);
	at = stored ? m[i].store : m[i].load;
	return at == FACT_NOMEM ? NULL : (const uint8_t *)(b->word + e->val) + at;
}

/* Does a reference read, does it write? */
static inline int visit_reads(uint64_t ref) { return ref_kind(ref) == REF_LOAD || ref_kind(ref) == REF_MODIFY; }
static inline int visit_writes(uint64_t ref) { return ref_kind(ref) >= REF_STORE; }

#endif
