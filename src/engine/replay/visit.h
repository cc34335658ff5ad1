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
 * As there is one replay in a process, there is one visit; the shadow of
 * memory lies at the low 45 bits of the guest's addresses, in host memory
 * below RP_BASE, and takes as much as the program touches, up to 9 times where
 * bytes of a word have different writers.
 */
#ifndef TM_ENGINE_REPLAY_VISIT_H
#define TM_ENGINE_REPLAY_VISIT_H

#include <stddef.h>
#include <stdint.h>

#include "engine/replay/fact.h"
#include "engine/replay/replay.h"
#include "format/ref.h"

#define VISIT_INITIAL 0u                /* as a writer: nobody since the visit began */
#define VISIT_MANY (UINT64_C(1) << 63)  /* as a writer: several; the rest is the index of the first piece */

enum visit_what {
	VISIT_WRITERS = 1,              /* who wrote what is used */
	VISIT_FLAGS = 2                 /* flags' values also of instructions that define a register */
};

/* One instruction of a run: its places count from those of the run */
struct visit_at {
	const struct fact *fact;
	uint16_t ref, val, use;
	uint16_t nref;                  /* FACT_COUNTED, FACT_STRING: 0, see the run */
};

/* Instructions executed one after the other */
struct visit_run {
	const struct visit_at *at;      /* ninsn of them */
	uint64_t n;                     /* instance of the first; the others follow */
	uint32_t ninsn;
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

/* The next instructions, valid until the next call: enum replay_got */
int visit_batch(struct visit *v, struct visit_batch *b);

/* One by one, which is slower: *b is valid until the next call */
int visit_next(struct visit *v, struct visit_insn *e, const struct visit_batch **b);

/* Instruction i of a run */
static inline struct visit_insn
visit_insn(const struct visit_run *r, uint32_t i)
{
	const struct visit_at *a = &r->at[i];
	struct visit_insn e = { a->fact, r->n + i, r->word + a->ref, a->nref, r->word + a->val, r->use + a->use };

	if (a->fact->kind == FACT_COUNTED)
		e.val += r->nlast;
	if (a->fact->kind == FACT_COUNTED || a->fact->kind == FACT_STRING)
		e.nref = r->nlast;
	return e;
}

/* Does a reference read, does it write? */
static inline int visit_reads(uint64_t ref) { return ref_kind(ref) == REF_LOAD || ref_kind(ref) == REF_MODIFY; }
static inline int visit_writes(uint64_t ref) { return ref_kind(ref) >= REF_STORE; }

#endif
