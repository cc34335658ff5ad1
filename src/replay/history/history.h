/*
 * A captured run that can be gone through in both directions: to any place, by single
 * instructions, and to the next or the last breakpoint, access of watched memory, or signal.
 *
 * The run is replayed from its beginning, never from a keyframe: at a keyframe memory has only
 * what the rest of the run needs, and here somebody looks at all of it.  Snapshots make going back
 * fast.
 *
 * As there is one replay in a process, there is one history.
 */
#ifndef TM_REPLAY_HISTORY_HISTORY_H
#define TM_REPLAY_HISTORY_HISTORY_H

#include <stddef.h>
#include <stdint.h>

#include "replay/guest/replay.h"

/*
 * A place between two steps.  A step is an instruction (of a repeated string instruction: one
 * element) or the arrival of a signal, which enters its handler.
 */
struct history_at {
	uint64_t icount;                /* instructions before it, elements of strings counted as in ref(5) */
	uint64_t n;                     /* instances before it (itrace.h), which count signals */
};

enum history_access { HISTORY_WRITE = 1, HISTORY_READ = 2 };    /* a set of them */

/* Why it stopped. */
enum history_why {
	HISTORY_BAD = -1,               /* see history_fault; nothing more can be done */
	HISTORY_STEP,                   /* the step was made */
	HISTORY_BREAK,                  /* before the instruction at a breakpoint */
	HISTORY_WATCH,                  /* after (backward: before) an access of watched memory */
	HISTORY_SIGNAL,                 /* before a signal arrives, or where one ended the program */
	HISTORY_BEGIN,                  /* at the beginning of the run, going backward */
	HISTORY_END,                    /* at its end, going forward */
	HISTORY_INTERRUPT               /* the interrupt function asked for it; the place is any */
};

struct history_stop {
	enum history_why why;
	uint64_t addr;                  /* HISTORY_WATCH: start of the watched memory */
	unsigned access;                /* HISTORY_WATCH: the access that is watched */
	int sig;                        /* HISTORY_SIGNAL */
	uint32_t thread;                /* the thread that made a step; 0: the one that runs */
};

/* What happened at the end. */
struct history_end {
	const struct ws_rec_end *end;   /* how the program ended; NULL: the replay could go no further */
	const struct fault *fault;      /* then: why; NULL: the program ended */
};

struct history;

/*
 * Opens a capture, which must be a regular file, at its beginning.  most: bytes of memory for
 * snapshots.  NULL: see *f.
 */
struct history *history_open(const char *path, uint64_t most, struct fault *f);
void history_close(struct history *h);
/* Confines the process now, not only when the program runs (base/confine.h): 0, or -1: HISTORY_BAD */
int history_confine(struct history *h);

/* For its header, registers and memory; the caller must not run it.  Changes with each call that moves. */
struct replay *history_replay(struct history *h);
const struct fault *history_fault(const struct history *h);     /* after HISTORY_BAD */
struct history_at history_now(const struct history *h);
/* valid where a call returned HISTORY_END, or HISTORY_SIGNAL at the end; else both are NULL */
struct history_end history_ended(const struct history *h);

/*
 * Threads, by numbers from 1.  A thread is there from when it first runs until it ends; one that waits is before its
 * call.  history_next_thread: the first with a number greater than `after`; 0: none.  history_thread: the registers of
 * one, and RP_XSAVE bytes of its processor state, unless xsave is NULL: 1; 0: there is no such thread.
 */
uint32_t history_next_thread(const struct history *h, uint32_t after);
int history_thread(const struct history *h, uint32_t number, struct ws_regs *regs, uint8_t *xsave);

/* Breakpoints, and watched memory. 0, or -1: no memory. */
int history_break(struct history *h, uint64_t pc, int on);
/*
 * Stops at accesses of the n bytes at addr.  Of those that write only (access HISTORY_WRITE) at
 * those that change a byte.
 */
int history_watch(struct history *h, uint64_t addr, uint64_t n, unsigned access, int on);
void history_clear(struct history *h);          /* no breakpoints, no watched memory */

/* Signals (bit: number) whose arrival is no reason to stop. */
void history_pass(struct history *h, uint64_t signals);

/* fn is called now and then; nonzero: HISTORY_INTERRUPT. */
typedef int history_interrupt_fn(void *arg);
void history_set_interrupt_fn(struct history *h, history_interrupt_fn *fn, void *arg);

/*
 * One step of a thread, forward or back; others run as long as it does not.  0 is the thread that runs.  A step into a
 * call that waits ends when the thread goes on.
 */
struct history_stop history_step(struct history *h, uint32_t thread, int back);
/* Steps forward while the thread's next instruction is in [from, to). */
struct history_stop history_step_range(struct history *h, uint32_t thread, uint64_t from, uint64_t to);
struct history_stop history_run(struct history *h, int back);
/*
 * To before instruction number `icount`, from 0: HISTORY_STEP.  The run is shorter: to its end,
 * HISTORY_END; or to before the signal that ended it, HISTORY_SIGNAL
 */
struct history_stop history_goto(struct history *h, uint64_t icount);

/*
 * Finds the last change of one of the n bytes at addr, before this place: 1 with *at, the place
 * before it; 0: there is none; -1: HISTORY_BAD; -2: interrupted.  It stays where it is.
 */
int history_last_change(struct history *h, uint64_t addr, uint64_t n, struct history_at *at, uint64_t *pc);

#endif
