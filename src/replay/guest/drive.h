/*
 * Finer control of a replay, for itrace and trim: they watch records take effect, run to given
 * instances and read the words that the processor writes.  The public interface of a replay is
 * replay.h.
 */
#ifndef TM_REPLAY_GUEST_DRIVE_H
#define TM_REPLAY_GUEST_DRIVE_H

#include "replay/cpu/cpu.h"
#include "replay/guest/memory.h"
#include "replay/guest/replay.h"

/*
 * Callbacks of a watched replay.  Every function may be NULL.  A nonzero result ends the replay
 * with the fault that the function has set (drive_bad).
 */
struct drive_watch {
	/* each record except KEY, before it takes effect */
	int (*record)(void *arg, const struct ws_rec *rec);
	/* memory that a system call is about to read */
	int (*read)(void *arg, uint64_t addr, size_t n);
	int cut;        /* END need not be followed by anything: a file that was cut off there is accepted */
	void *arg;
};

/* replay_open in two steps, with callbacks.  The caller closes the replay with replay_close. */
struct replay *drive_open(const char *path, const struct drive_watch *watch, struct fault *f);
/* confines the process (base/confine.h), as running the program does: REPLAY_OK, REPLAY_BAD */
int drive_confine(struct replay *r);
/* applies the first record and its effects: 0, or REPLAY_BAD */
int drive_start(struct replay *r);
struct rp_core *drive_core(struct replay *r);           /* for rp_values_enable, rp_values_filter, rp_facts */

/*
 * As replay_skip, but without jumping to keyframes.  drive_run_to stops after n instances
 * (WS_UNKNOWN: no limit).
 */
int drive_run(struct replay *r, uint64_t icount);
int drive_run_to(struct replay *r, uint64_t icount, uint64_t n);
/*
 * Passes over the rest of the capture without running the program: the watch has all records.  0, or REPLAY_BAD, also
 * if it is cut off (drive_is_cut).  The replay cannot go on after it.
 */
int drive_rest(struct replay *r);
int drive_rewind(struct replay *r);                     /* returns to the start: 0, or REPLAY_BAD */
/* as replay_until, in instances: ends after n (WS_UNKNOWN: no limit) */
void drive_until(struct replay *r, uint64_t n);

/*
 * As replay_refs, in any mode: produces n words, about `most`, at the address that
 * drive_words_so_far returns.
 */
int drive_words(struct replay *r, enum rp_mode mode, size_t most, size_t *n);
void drive_fetches_again(struct replay *r);     /* as rp_fetches_again */

/*
 * For use within the callbacks: the words so far.  drive_add appends a few words: 1; 0: no
 * words are being produced.
 */
const uint64_t *drive_words_so_far(const struct replay *r, size_t *n);
int drive_add(struct replay *r, const uint64_t *w, size_t n);

/*
 * Number of complete instances.  Where the replay began at a keyframe that does not record its
 * instances, drive_set_instances sets their number to n; otherwise it does nothing.
 */
uint64_t drive_instances(const struct replay *r);
void drive_set_instances(struct replay *r, uint64_t n);

/*
 * The registers of threads that do not run are kept, from the next switch of threads on, of the first DRIVE_THREADS
 * threads.  A thread is there from when it first runs until it ends.
 */
#define DRIVE_THREADS 4096u
void drive_keep_threads(struct replay *r);
/* the first thread with a number greater than `after`; 0: none */
uint32_t drive_next_thread(const struct replay *r, uint32_t after);
/* the registers of a thread, and RP_XSAVE bytes of its processor state, unless xsave is NULL: 1; 0: there is no such thread */
int drive_thread(const struct replay *r, uint32_t number, struct ws_regs *regs, uint8_t *xsave);

/* What is kept of them, for snapshots. */
struct drive_parked {
	int on;
	struct { uint32_t number; struct thread_state *state; } *at;    /* by number; owned */
	size_t n, cap;
};
void drive_parked_drop(struct drive_parked *p);
uint64_t drive_parked_bytes(const struct drive_parked *p);      /* memory of it, as if nothing were shared */
/* to: it is dropped first.  0, or -1: no memory */
int drive_parked_copy(struct drive_parked *to, const struct drive_parked *from);

/* did it begin at a keyframe, so that memory has only what the rest of the run needs? */
int drive_is_partial(const struct replay *r);
/* has a repeated string instruction begun that is not complete? */
int drive_is_amid(const struct replay *r);

/* the number of the signal that arrives before the next instruction, 0 for the return from a handler; -1: none */
int drive_signal_due(struct replay *r);

/* REPLAY_END or REPLAY_BAD; REPLAY_OK: it has not ended */
int drive_ended(const struct replay *r);
/* as drive_ended, after dropping pending words and results */
int drive_resume(struct replay *r);
int drive_is_cut(const struct replay *r);               /* no record follows: the file is cut off, or bad */
const struct mem *drive_mem(const struct replay *r);    /* the program's memory, read-only */
/* for use within the callback of a MEM: as ws_rec_stored, format/ws/store.h */
struct ws_stored;
int drive_mem_stored(const struct replay *r, struct ws_stored *s);

/* Sets a fault at the current instruction; returns REPLAY_BAD. */
int drive_bad(struct replay *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
