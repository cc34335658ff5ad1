/*
 * Dynamic control dependence: which branch, or call, decided that an
 * instruction was executed.  Xin and Zhang, Efficient Online Detection of
 * Dynamic Control Dependence (ISSTA 2007): a stack of regions, from a branch
 * to its immediate post-dominator, one base for each call.
 *
 * The parent of an instance is the last branch of its call whose region
 * contains it; outside of all regions, the call, or in a signal handler the
 * signal.  A function that is entered by a jump has the parent of the jump; one
 * that is entered by a conditional branch has the branch as its parent.
 * Frames are identified by the address of their return address, so that
 * longjmp and unwinding end all frames that they leave.
 *
 * It takes two passes over the run: the first one finds the code (wcode_insn,
 * wcode_went), which is then analysed; the second one calls control_run.
 */
#ifndef TM_CFG_CONTROL_H
#define TM_CFG_CONTROL_H

#include "base/buf.h"
#include "cfg/code.h"
#include "isa/x86/fact.h"

struct control;

/* c is borrowed, and wcode_analyse was called on it.  NULL: no memory */
struct control *control_new(const struct wcode *c);
void control_free(struct control *t);

/*
 * Follows the next run, which has n instructions; its first one is instance
 * `first`, and its words are at word.  The same instructions must have the same
 * `at` in each run.  Sets parent[i] to the instance that instruction i is control
 * dependent on, 0 for none; parent may be NULL.
 */
int control_run(struct control *t, const struct fact_at *at, uint32_t n, uint64_t first, const uint64_t *word,
    uint64_t *parent);

/*
 * The same in two steps.  The acts of n instructions of a run are prepared once,
 * and so are the pieces that they divide it into.  The instructions of a piece
 * have the same parent; piece i ends before instruction end[i].
 */
struct control_path {
	uint64_t pc;                    /* pc of the first instruction */
	uint32_t n, npiece;
	const uint16_t *end;
	uint32_t nact;
	const struct control_act *act;
};
/* valid until control_free; NULL: no memory */
const struct control_path *control_path(struct control *t, const struct fact_at *at, uint32_t n);

/* Follows a run of p from instance n on.  Sets parent[i] to the parent of piece i; parent may be NULL. */
int control_step(struct control *t, const struct control_path *p, uint64_t n, const uint64_t *word,
    uint64_t *parent);
/* follows a run that is a signal */
int control_signal(struct control *t, uint64_t n, const uint64_t *word);

/* Calls fn with all instances that may still be parents of later instances. */
typedef void control_parent_fn(void *arg, uint64_t n);
void control_parents(const struct control *t, control_parent_fn *fn, void *arg);

/*
 * May the instruction raise rsp past frames? 0: it lowers rsp, or belongs to the usual end of a
 * function (pop, ret, add of a constant).
 */
int control_moves_stack(const struct fact *f);
/* Does control_step read references or values of it?  Of all others, it needs no words. */
int control_has_words(const struct fact *f);

size_t control_depth(const struct control *t);  /* number of calls and signals that have not ended */

/*
 * The state between two runs.  control_save appends it to b and sets b->nomem without memory.
 * control_load: 0, or -1 if the bytes are not a state
 */
void control_save(const struct control *t, struct buf *b);
int control_load(struct control *t, const uint8_t *p, size_t n);

#endif
