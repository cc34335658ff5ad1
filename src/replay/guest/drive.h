/*
 * Driving a replay for a purpose of one's own, as itrace and trim do: looking
 * on while records take place, going to instances, and the words that the
 * processor leaves on the way.  What everybody may ask of a replay is in replay.h.
 */
#ifndef TM_REPLAY_GUEST_DRIVE_H
#define TM_REPLAY_GUEST_DRIVE_H

#include "replay/cpu/cpu.h"
#include "replay/guest/memory.h"
#include "replay/guest/replay.h"

/*
 * Who looks on.  Every function may be NULL; not 0 ends the replay with the
 * fault that they set (drive_bad).
 */
struct drive_watch {
	int (*record)(void *arg, const struct ws_rec *rec);     /* each record, before it takes effect, but no KEY */
	int (*read)(void *arg, uint64_t addr, size_t n);        /* memory that a system call reads */
	int cut;        /* what follows END does not matter: a file that was cut off there will do */
	void *arg;
};

/* As replay_open, watched, in two steps */
struct replay *drive_open(const char *path, const struct drive_watch *watch, struct replay_fault *f);
int drive_start(struct replay *r);                      /* the first record and its effects: 0, or REPLAY_BAD */
struct rp_core *drive_core(struct replay *r);           /* for what it reports: rp_wants, rp_pick, rp_facts */

/* Running: as replay_skip, without keyframes; and not beyond n instances (WS_UNKNOWN: any number) */
int drive_run(struct replay *r, uint64_t icount);
int drive_run_to(struct replay *r, uint64_t icount, uint64_t n);
int drive_rewind(struct replay *r);                     /* back to the start: 0, or REPLAY_BAD */
void drive_until(struct replay *r, uint64_t n);         /* as replay_until: the end is n instances (WS_UNKNOWN: none) */

/* As replay_refs, in any mode: n words, about `most`.  They are where drive_sofar says. */
int drive_words(struct replay *r, enum rp_mode mode, size_t most, size_t *n);

/* From within the watch's functions: the words up to now; drive_add puts a few behind them: 1; 0: there are none */
const uint64_t *drive_sofar(const struct replay *r, size_t *n);
int drive_add(struct replay *r, const uint64_t *w, size_t n);

/*
 * Instances that are complete.  Where the replay was begun at a keyframe that
 * does not say how many were before it, drive_count says it: n; elsewhere it
 * does nothing.
 */
uint64_t drive_instances(const struct replay *r);
void drive_count(struct replay *r, uint64_t n);

int drive_ended(const struct replay *r);                /* REPLAY_END, REPLAY_BAD; REPLAY_OK: it goes on */
int drive_resume(struct replay *r);                     /* the same; words and results that are waiting are dropped */
int drive_is_cut(const struct replay *r);               /* no record follows: the file is cut off, or bad */
const struct mem *drive_mem(const struct replay *r);    /* the program's memory, to look at */

/* REPLAY_BAD, with a fault at the present instruction */
int drive_bad(struct replay *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
