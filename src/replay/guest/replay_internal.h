/* State of the replay's driver, shared by its files. */
#ifndef TM_REPLAY_GUEST_REPLAY_INTERNAL_H
#define TM_REPLAY_GUEST_REPLAY_INTERNAL_H

#include "replay/guest/drive.h"

#define DRIVE_WORDS (32u << 10)         /* references returned at once */

/* Tests that let translated code skip visits of a signal's place that are not the signal's. */
struct drive_narrow {
	struct rp_test test[RP_NTEST];  /* tests that hold at the place */
	unsigned n, next;               /* number of tests; the one to be replaced next */
	/* visits since the tests last changed; visits before another change */
	uint64_t visits, patience;
};

struct replay {
	int fd;
	struct ws_reader *in;
	const struct ws_header *head;
	struct rp_core *core;
	struct rp_run x;                /* owns x.cpu.xsave */
	struct mem mem;
	uint64_t *words;                /* DRIVE_WORDS + RP_SLACK */
	/* the next record: a trigger, KEY or END; its pointers belong to the reader */
	struct ws_rec next;
	/* there is no next record: the file is cut off or bad, see ws_fault */
	int cut;
	int after_sig;                  /* the trigger before `next` is SIG */
	uint32_t thread;                /* the one that runs; the first is 1 */
	int exits;                      /* the last trigger is its exit */
	struct drive_parked parked;     /* the others, if they are kept */
	int tasks;                      /* references come with task events, of these numbers: */
	uint64_t base, step;
	int first;                      /* the first references begin with one */
	int telling;                    /* such an event is due when the thread changes */
	int keyed;                      /* began at a keyframe: memory has only what keyframes say */
	int ended;                      /* enum replay_got; sticky; REPLAY_OK before the end */
	int pending;                    /* result of the call after the next references */
	struct ws_rec_end end;
	/* early: from the records up to `next`; told: from the end, once it is known */
	struct ws_early early, told;
	uint64_t until, triggers;
	uint64_t from;                  /* instances before the previous trigger */
	/* the next trigger comes before this instance; WS_UNKNOWN: not known */
	uint64_t latest;
	uint64_t most;                  /* the end, in instances; WS_UNKNOWN: no limit */
	int uncounted;                  /* began at a keyframe that does not record its instances */
	uint64_t sigbreak;              /* the driver's own breakpoint for a signal, or WS_UNKNOWN */
	struct drive_narrow narrow;     /* tests of sigbreak */
	uint64_t broke;                 /* icount at which a breakpoint was reported */
	uint64_t *brk;                  /* the user's breakpoints; owned */
	size_t nbrk;
	size_t *key, nkey;              /* groups that begin with KEY; owned */
	const struct ws_group *group;
	int have_keys;                  /* key is valid */
	uint64_t length;                /* valid if asked: see drive_length */
	int asked;
	struct ws_regs regs;            /* result of replay_regs */
	replay_output_fn *output;
	void *outputarg;
	replay_map_fn *onmap;
	void *maparg;
	struct drive_watch watch;
	struct fault fault;
};

/* As drive_bad, and sets the position in the file to the last record. */
int drive_drift(struct replay *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int drive_bad_file(struct replay *r);                   /* sets the reader's fault */
int drive_bad_mem(struct replay *r);                    /* sets the fault of mem */

/* as replay_length, for showing progress: changes nothing that the run depends on */
uint64_t drive_length(struct replay *r);

int drive_finish(struct replay *r);                     /* the END `next` is here: the end of the program, and of the file */

/* stop.c: the processor stopped.  REPLAY_OK: go on; other results are those of replay_refs */
int drive_stopped(struct replay *r, enum rp_stop stop);

/* threads.c */
void drive_tell_thread(struct replay *r);               /* adds a task event, as there is room */
int drive_park(struct replay *r, uint32_t next);        /* before that one runs: 0, or REPLAY_BAD */

/* records.c: functions return 0, or REPLAY_BAD */

/* applies effects until `next` is a trigger, KEY or END, or r->cut */
int drive_next(struct replay *r);
/* sets the breakpoint for the next signal: there is at most one */
int drive_set_signal_break(struct replay *r);
/* does the SIG record `next` come here? 1: yes; 0: not yet; -1: it should have come before */
int drive_signal_here(struct replay *r);
/* this visit of the signal's place was not the signal's */
void drive_narrow(struct replay *r);
void drive_set_latest(struct replay *r);                /* after a trigger: computes r->latest */
/* applies the trigger `next`, then drive_next */
int drive_trigger_apply(struct replay *r);
/* checks and passes the KEY `next`, then drive_next */
int drive_pass_key(struct replay *r);
/* applies the records from KEY to KEYEND; maps: mappings as well as contents */
int drive_key_body(struct replay *r, int maps);
/* sets registers and counts: 0, or REPLAY_BAD */
int drive_state(struct replay *r, const struct ws_rec_state *s);
/* sets vector registers from an image of n bytes (0: the initial state): 0, or REPLAY_BAD */
int drive_xsave(struct replay *r, const uint8_t *p, size_t n);
void drive_regs(const struct replay *r, struct ws_regs *g);     /* the processor's current registers */
void drive_set_regs(struct replay *r, const struct ws_regs *g);

/* Instances that a processor can begin in a nanosecond: several times the rate of any processor. */
#define DRIVE_PACE  64u
#define DRIVE_SLACK (DRIVE_PACE * 1000000u)     /* tolerance for an inaccurate clock: a millisecond */

/* syscalls.c: effects of system calls that records do not contain. 0, or REPLAY_BAD. */

/* as mem_read, reported to the watch */
size_t drive_read(struct replay *r, uint64_t addr, void *p, size_t n);
/* call it after registers were compared, before effects */
int drive_sys(struct replay *r, const struct ws_rec_sys *s);

#endif
