/*
 * Visits the instructions of a captured program one by one, in the order of execution: each
 * with its references, the values that it defines, and the instance that last wrote each
 * register and each piece of memory that it uses.
 *
 * Instances are numbered from 1.  A repeated string instruction is one instance with all its
 * iterations.  A signal that arrives is an instance of its own (FACT_SIGNAL), which writes the
 * handler's registers and frame.  What a system call writes counts as written by the instance
 * of its instruction; so do the contents of a mapping that it makes.
 *
 * Segments lie between keyframes: segment 0 begins with the program, segment k with keyframe k
 * - 1.  A visit may go to the start of any segment, or to any instance; instances keep their
 * numbers in the whole program.  What was written before the place it went to has the writer
 * VISIT_INITIAL.  If a segment begins amid a string instruction, the rest of the instruction
 * has the same number as its first part, and what the first part wrote has the writer
 * VISIT_INITIAL.
 *
 * As there is one replay in a process, there is one visit.  The shadow of memory takes as much memory as the
 * program touches, and up to 9 times as much where bytes of a word have different writers.
 */
#ifndef TM_REPLAY_ITRACE_ITRACE_H
#define TM_REPLAY_ITRACE_ITRACE_H

#include <stddef.h>
#include <stdint.h>

#include "format/ref/ref.h"
#include "isa/x86/fact.h"
#include "replay/guest/replay.h"

#define VISIT_INITIAL 0u                /* as a writer: no instance since the visit began */
/* as a writer: several; the other bits are the index of the first piece */
#define VISIT_MANY (UINT64_C(1) << 63)

enum visit_what {
	VISIT_WRITERS = 1,              /* the writers of what is used */
	VISIT_FLAGS = 2,                /* values of flags also for instructions that define a register */
	VISIT_MEMORY = 4,               /* what each reference loads and stores: visit_mem */
	/*
	 * runs only, without writers, and of words only those that control_step needs (cfg/control.h);
	 * excludes the other options
	 */
	VISIT_CONTROL = 8
};

/* Instructions that were executed one after the other. */
struct visit_run {
	const struct fact_at *at;       /* its ninsn instructions */
	uint64_t n;                     /* instance of the first; the numbers are consecutive */
	uint16_t ninsn;
	/*
	 * VISIT_MEMORY, if the last instruction is FACT_COUNTED: words between its references
	 * and its values.
	 */
	uint16_t nmem;
	uint32_t word, use;             /* indices of its first word and first writer */
	/* references of the last instruction, if that is FACT_COUNTED or FACT_STRING */
	uint32_t nlast;
};

struct visit_insn {
	const struct fact *fact;        /* its registers; valid until visit_close */
	uint64_t n;                     /* instance */
	uint32_t ref, nref;             /* index in ref and number of its references */
	uint32_t val;                   /* its values: word def->val is val[insn.val + def->val] */
	/* VISIT_WRITERS: writers of fact->use[0..nuse), then of each reference that reads */
	uint32_t use;
};

/* A piece of a use with several writers, ascending.  Registers: bytes of the container; flags: lanes. */
struct visit_piece {
	uint64_t writer;
	uint16_t off, len;
	uint32_t more;                  /* another piece of this use follows */
};

/*
 * The instructions of one call.  An instance that does not fit into a batch, or is interrupted,
 * comes as several entries with the same n: only string instructions do, and their values are
 * in the last entry.
 */
struct visit_batch {
	const struct visit_run *run;
	size_t nrun, ninsn;
	/* References (words of ref.h, without fetches) and values; ref and val are indices into it. */
	const uint64_t *word;
	const uint64_t *writer;         /* use is an index into it */
	const struct visit_piece *piece;
};

struct visit;

/* what: a set of enum visit_what.  As replay_open. */
struct visit *visit_open(const char *path, unsigned what, struct fault *f);
/* the same; fn is also called with what was mapped when the capture began (replay_set_map_fn) */
struct visit *visit_open_mapped(const char *path, unsigned what, replay_map_fn *fn, void *arg, struct fault *f);
void visit_close(struct visit *v);
/*
 * Turns VISIT_CONTROL on or off, in a visit that has no other option.  Call visit_seek or visit_goto before
 * the next batch.  What was translated stays for when it is turned back; `at` of a run is another one.
 */
void visit_set_control(struct visit *v, int on);
/* For its header, counts, fault, output and end; the caller must not run it. */
struct replay *visit_replay(struct visit *v);

/*
 * Receives each record that takes effect during visit_batch: it comes after `run` runs of the
 * batch that is being made; n is the last instance so far.
 */
typedef void visit_record_fn(void *arg, const struct ws_rec *rec, size_t run, uint64_t n);
void visit_set_record_fn(struct visit *v, visit_record_fn *fn, void *arg);

/*
 * The number of segments; also finds where they begin.  If the keyframes do not record their
 * instances, this runs the whole capture once and leaves the visit at the beginning. 0: see the
 * fault of visit_replay.
 */
size_t visit_segments(struct visit *v);
/* instances before segment k; call visit_segments first */
uint64_t visit_segment(const struct visit *v, size_t k);
/* the next instruction will be the first of segment k: REPLAY_OK, REPLAY_BAD */
int visit_seek(struct visit *v, size_t k);
/* the next will be instance n; also REPLAY_END if the program has fewer */
int visit_goto(struct visit *v, uint64_t n);
/* the same, with all of the program's memory; after a keyframe, there is only what the rest needs */
int visit_goto_whole(struct visit *v, uint64_t n);

/*
 * Keeps snapshots of the run from now on, `step` instances apart, or more in a long run.
 * visit_goto continues from them, as from keyframes at close distances.  Not with
 * VISIT_WRITERS.  There are at most 64, of about `most` bytes. -1: the system does not say
 * which pages exist.
 */
int visit_snapshots_enable(struct visit *v, uint64_t most, uint64_t step);

/*
 * Prepares for two visits of the whole run, the first without writers: call visit_prepare_second before
 * anything runs, visit_begin_second at the end.  Translated code, its facts and the `at` of its runs
 * stay valid.  REPLAY_BAD: it cannot go back, for instance after a fault.
 */
void visit_prepare_second(struct visit *v);
int visit_begin_second(struct visit *v);

/* Passes the snapshots of a visit on to another visit of the same capture. */
struct visit_kept;
/* v keeps no more snapshots; NULL: it kept none */
struct visit_kept *visit_snapshots_detach(struct visit *v);
void visit_snapshots_attach(struct visit *v, struct visit_kept *k);     /* v takes ownership of k */
void visit_snapshots_free(struct visit_kept *k);

/*
 * REPLAY_END comes where segment k begins, until the next call; k = number of segments: at the
 * program's end.
 */
void visit_stop(struct visit *v, size_t k);
/* REPLAY_END comes after instance n, until the next call; WS_UNKNOWN: at the program's end */
void visit_until(struct visit *v, uint64_t n);

/*
 * From now on, visit only instructions at a pc that `pick` accepts, one to a run; blocks
 * without any cost little more than running them.  Signals are left out.  NULL: all
 * instructions again.  pick is called when code is translated, and must always give the same
 * answer. -1: no memory, or VISIT_WRITERS or VISIT_CONTROL is set.
 */
typedef int visit_pick_fn(void *arg, uint64_t pc);
int visit_filter(struct visit *v, visit_pick_fn *pick, void *arg);

/* The next instructions, valid until the next call; returns enum replay_got. */
int visit_batch(struct visit *v, struct visit_batch *b);

/* One instruction at a time, which is slower; *b is valid until the next call. */
int visit_next(struct visit *v, struct visit_insn *e, const struct visit_batch **b);

/*
 * VISIT_WRITERS, between two batches: calls fn with all past instances that may still be
 * reported as writers, in no order, some of them repeatedly, VISIT_INITIAL included.
 */
typedef void visit_writer_fn(void *arg, uint64_t n);
void visit_writers(struct visit *v, visit_writer_fn *fn, void *arg);

/* Instruction i of a run. */
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
 * VISIT_MEMORY: the ref_size bytes that reference i of e loaded (stored: 0) or stored (1);
 * NULL: it does not load or store.  Elements of a string instruction have their contents at
 * their own time.  In a processor state, bytes that xsave or xrstor omits have their former
 * contents, which are unknown after a keyframe.
 */
const uint8_t *visit_mem_late(const struct visit_batch *b, const struct visit_insn *e,
    uint32_t i, int stored);
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

/* Does a reference read? Does it write? */
static inline int
visit_reads(uint64_t ref)
{
	return ref_kind(ref) == REF_LOAD || ref_kind(ref) == REF_MODIFY;
}

static inline int visit_writes(uint64_t ref) { return ref_kind(ref) >= REF_STORE; }

#endif
