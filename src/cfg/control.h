/*
 * Dynamic control dependence: which branch, or call, decided that an
 * instruction was executed.  Xin and Zhang, Efficient Online Detection of
 * Dynamic Control Dependence (ISSTA 2007): a stack of regions, from a branch
 * to its immediate post-dominator, one base for each call.
 *
 * The parent of an instance is the last branch of its call whose region it is
 * in; outside of all regions, the call.  In a signal handler it is the signal.
 * A jump to another function hands its own parent on.  Frames are known by
 * where their return address lies, so that jumps out of several of them, and
 * unwinding, end what they leave.
 *
 * Two passes: a first one finds the code (wcode_insn, wcode_went) and analyses
 * it, then a second one is followed.
 */
#ifndef TM_CFG_CONTROL_H
#define TM_CFG_CONTROL_H

#include "base/buf.h"
#include "cfg/code.h"
#include "isa/x86/fact.h"

struct control;

/* c, analysed, is borrowed.  NULL: no memory */
struct control *control_new(const struct wcode *c);
void control_free(struct control *t);

/*
 * Runs of n instructions, the first of which is instance `first`, each in
 * order; `at` is the same whenever these instructions come, word: its words.
 * parent[i], for instruction i of the run: the instance that it is control
 * dependent on, 0 for none.  parent may be NULL.
 */
int control_run(struct control *t, const struct fact_at *at, uint32_t n, uint64_t first, const uint64_t *word,
    uint64_t *parent);

/*
 * The same in two steps.  What control has to do with n instructions of a run
 * is always the same, and so are the pieces that they fall into, in each of
 * which all have one parent: piece i ends before instruction end[i].
 */
struct control_path {
	uint64_t pc;                    /* of the first */
	uint32_t n, npiece;
	const uint16_t *end;
	uint32_t nact;
	const struct control_act *act;
};
/* until control_free; NULL: no memory */
const struct control_path *control_path(struct control *t, const struct fact_at *at, uint32_t n);

/* A run of it, from instance n on, its words; parent[i]: of piece i; it may be NULL */
int control_step(struct control *t, const struct control_path *p, uint64_t n, const uint64_t *word, uint64_t *parent);
/* a run that is a signal */
int control_signal(struct control *t, uint64_t n, const uint64_t *word);

/* Instances that may be parents of what comes: all that were so far */
typedef void control_parent_fn(void *arg, uint64_t n);
void control_parents(const struct control *t, control_parent_fn *fn, void *arg);

size_t control_depth(const struct control *t);  /* calls and signals that are not over */

/*
 * Its state between two runs: appended to b (which may end up without memory); and restored: 0,
 * or -1 for bytes that are none
 */
void control_save(const struct control *t, struct buf *b);
int control_load(struct control *t, const uint8_t *p, size_t n);

#endif
