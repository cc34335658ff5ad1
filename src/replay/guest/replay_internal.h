/* Internal to the replay's driver. */
#ifndef TM_REPLAY_GUEST_REPLAY_INTERNAL_H
#define TM_REPLAY_GUEST_REPLAY_INTERNAL_H

#include "replay/guest/drive.h"

#define DRIVE_WORDS (32u << 10)         /* references handed over at once */

/* Visits of the place of a signal that are not the one: translated code sorts most of them out */
struct drive_narrow {
	struct rp_test test[RP_NTEST];  /* which hold at the place */
	unsigned n, next;               /* so many; the one to be replaced */
	uint64_t visits, patience;      /* since the tests are these; when to choose another */
};

struct replay {
	int fd;
	struct ws_reader *in;
	const struct ws_header *head;
	struct rp_core *core;
	struct rp_run x;                /* x.cpu.xsave is owned */
	struct mem mem;
	uint64_t *words;                /* DRIVE_WORDS + RP_SLACK */
	struct ws_rec next;             /* the record that comes: a trigger, KEY or END; its pointers are the reader's */
	int cut;                        /* there is no next: the file is cut off or bad, as ws_fault says */
	int after_sig;                  /* the trigger before `next` is SIG */
	int keyed;                      /* begun at a keyframe: memory is what keyframes say only */
	int ended;                      /* enum replay_got, sticky; REPLAY_OK before */
	int pending;                    /* what the call after the next references returns */
	struct ws_rec_end end;
	struct ws_early early, told;    /* of the records up to `next`; of the end, once it is known */
	uint64_t until, triggers;
	uint64_t from;                  /* instances before the trigger before */
	uint64_t latest;                /* the next trigger comes before so many, or never (WS_UNKNOWN: it is not known) */
	uint64_t most;                  /* the end as well: so many instances (WS_UNKNOWN: none) */
	int uncounted;                  /* begun at a keyframe that does not say its instances */
	uint64_t sigbreak;              /* a breakpoint of our own, or WS_UNKNOWN */
	struct drive_narrow narrow;     /* of it */
	uint64_t broke;                 /* icount at which a breakpoint was told */
	uint64_t *brk;                  /* user's breakpoints; owned */
	size_t nbrk;
	size_t *key, nkey;              /* groups that begin with KEY; owned */
	const struct ws_group *group;
	int have_keys;                  /* key is filled in */
	struct ws_regs regs;            /* what replay_regs gives */
	replay_output_fn *output;
	void *outputarg;
	replay_map_fn *onmap;
	void *maparg;
	struct drive_watch watch;
	struct replay_fault fault;
};

/* REPLAY_BAD with r->fault, as drive_bad, but in the file at the last record as well */
int drive_drift(struct replay *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int drive_bad_file(struct replay *r);                   /* what the reader says */
int drive_bad_mem(struct replay *r);                    /* what mem says */

/* records.c: records.  0, or REPLAY_BAD */
int drive_next(struct replay *r);                       /* applies effects until `next` is a trigger, KEY or END, or r->cut */
int drive_await(struct replay *r);                      /* our breakpoint for a signal that comes: there is one at most */
int drive_signal_here(struct replay *r);                /* the SIG `next` comes here: 1; not yet: 0; -1: it should have */
void drive_narrow(struct replay *r);                    /* it does not come at this visit of its place */
void drive_set_latest(struct replay *r);                /* a trigger took place: how long until the next? */
int drive_take(struct replay *r);                       /* the trigger `next` takes place; then drive_next */
int drive_pass_key(struct replay *r);                   /* the KEY `next` is here; then drive_next */
int drive_key_body(struct replay *r, int maps);         /* behind a KEY, up to its KEYEND; maps: mappings as well as contents */
int drive_state(struct replay *r, const struct ws_rec_state *s);
int drive_xsave(struct replay *r, const uint8_t *p, size_t n);
void drive_regs(struct replay *r, struct ws_regs *g);   /* of the processor, now */
void drive_set_regs(struct replay *r, const struct ws_regs *g);

/* Instances that a processor can begin in a nanosecond: several times what any does */
#define DRIVE_PACE  64u
#define DRIVE_SLACK (DRIVE_PACE * 1000000u)     /* for what a clock may be wrong by */

/* syscalls.c: what system calls do that records do not say.  0, or REPLAY_BAD */
size_t drive_read(struct replay *r, uint64_t addr, void *p, size_t n);  /* as mem_read, seen by the watch */
int drive_sys(struct replay *r, const struct ws_rec_sys *s);            /* after registers were compared, before effects */

#endif
