/* State of a history, shared by its files. */
#ifndef TM_REPLAY_HISTORY_INTERNAL_H
#define TM_REPLAY_HISTORY_INTERNAL_H

#include "replay/guest/drive.h"
#include "replay/guest/snapshot.h"
#include "replay/history/history.h"

#define HISTORY_INTERRUPTED 100 /* beside enum replay_got: the interrupt function asked for it */
#define HISTORY_NHIT 4096u      /* hits that are remembered */
#define HISTORY_NWATCH 64u      /* pieces of watched memory at most */
#define HISTORY_WATCH_MAX 65536u        /* bytes of watched memory */

struct history_watched { uint64_t addr, n; unsigned access; };

/* What may be a reason to stop. */
struct history_hit {
	enum history_why why;           /* HISTORY_BREAK, HISTORY_WATCH, HISTORY_SIGNAL; HISTORY_STEP: a switch of threads */
	/* before it; n WS_UNKNOWN: before the instruction, after all signals there */
	struct history_at at;
	size_t watch;                   /* HISTORY_WATCH: its index */
	int sig;
};

/* A search through a part of the run. */
struct history_scan {
	int on, back;
	int refs;                       /* references are being looked at */
	int stop;                       /* forward: no further hit is needed, or there is no room for one */
	struct history_at from;         /* forward: breakpoints and signals at this place do not count */
	/* words of the batch that were looked at; that are counted in icount */
	size_t done, counted;
	uint64_t icount;                /* instructions before the word that is counted next */
	/* not 0: a switch to this thread (back: from it) is a hit */
	uint32_t thread;
	int insig;                      /* the last trigger was a signal, */
	struct history_at sigat;        /* which arrived here */
	/* backward, the last hits, as a ring: hit[first] is the oldest one */
	struct history_hit hit[HISTORY_NHIT];
	size_t first, nhit;
	int lost;                       /* older hits were dropped */
};

struct history {
	struct replay *r;
	char *path;                     /* owned */
	struct fault fault;             /* if dead */
	int dead;
	/* keep.c: snapshots by place; owned */
	struct snap **snap;
	size_t nsnap, capsnap;
	uint64_t bytes, most;           /* memory that they take; limit of it */
	uint64_t due;                   /* the next one is taken after so many instructions */
	int pagemap;
	/* the replay could not go on from here; why is in endfault */
	int broken;
	struct history_at end;
	struct fault endfault;
	int told;                       /* the signal at this place, or at the end, was reported */
	/* the signal that arrived last, and the instructions before it */
	unsigned lastsig;
	uint64_t lastsigat;
	uint64_t pass;
	uint64_t *brk, *armed;          /* breakpoints: wanted, and set in the replay; owned */
	size_t nbrk, capbrk, narmed, caparmed;
	struct history_watched watch[HISTORY_NWATCH];
	size_t nwatch;
	history_interrupt_fn *interrupt;
	void *interruptarg;
	struct history_scan scan;
};

static inline int
history_before(struct history_at a, struct history_at b)
{
	return a.icount < b.icount || (a.icount == b.icount && a.n < b.n);
}

/* Is pc among the n addresses? */
static inline int
history_is_among(const uint64_t *at, size_t n, uint64_t pc)
{
	for (size_t i = 0; i < n; i++)
		if (at[i] == pc)
			return 1;
	return 0;
}

/* history.c */

/* a replay of the capture, at its beginning.  NULL: see *f */
struct replay *history_replay_at_start(struct history *h, struct fault *f);
/* Sets the breakpoints in the replay (on: 1), or removes them. 0, or REPLAY_BAD: h->dead */
int history_arm(struct history *h, int on);
int history_is_interrupted(const struct history *h);
int history_dead(struct history *h, const struct fault *f);     /* REPLAY_BAD */

/*
 * move.c: functions return REPLAY_OK; REPLAY_END: the run ends before that; REPLAY_BAD: h->dead
 */

/* forward or back; may: it may be interrupted */
int history_move_may(struct history *h, struct history_at to, int may);
int history_move(struct history *h, struct history_at to);
/* to before the instruction number icount, after the signals there */
int history_move_before(struct history *h, uint64_t icount);
int history_micro(struct history *h);           /* one step, also to a place that is hidden */
/* after REPLAY_BAD of a replay: the run ends here.  REPLAY_END, or REPLAY_BAD */
int history_mend(struct history *h);
/* the signal that arrives here: its number, 0 for the return from a handler; -1: none */
int history_signal_due(struct history *h);
/*
 * Is it a place that no processor stops at?  The return from a signal handler is part of its system
 * call; where another thread continues, that one's place is meant; a repeated string instruction ends
 * with its last element, where ref(5) counts one more fetch.
 */
int history_is_hidden(struct history *h);
int history_settle(struct history *h);          /* to the next place that is not hidden */

/* keep.c: snapshots */

/* the last one at or before a place; NULL: none */
const struct snap *history_kept(const struct history *h, struct history_at at);
void history_keep(struct history *h);                   /* takes one here, unless there is one */
void history_keep_due(struct history *h);               /* computes when the next is due */
/* instructions that run in the time of going to one */
uint64_t history_keep_worth(const struct history *h);
/* how far before a place somebody goes back to one is left, so that the next step back is fast */
uint64_t history_keep_near(const struct history *h);
void history_keep_free(struct history *h);

/* scan.c */

/* callback of the replay */
int history_record(void *arg, const struct ws_rec *rec);
/*
 * Runs to a place and remembers hits on the way; forward it stops early when there is no need for
 * more of them.  REPLAY_OK, REPLAY_END, REPLAY_BAD, HISTORY_INTERRUPTED
 */
int history_scan(struct history *h, struct history_at to, int back);
/* Does the write of this hit change a watched byte? It ends up after it. 1, 0; REPLAY_BAD */
int history_changes(struct history *h, const struct history_hit *hit);
/*
 * The first hit that counts (back: the last one).  1: *hit; 0: none; REPLAY_BAD.  back: *older is
 * where to search again for what did not fit; {0, 0}: nowhere
 */
int history_pick(struct history *h, struct history_hit *hit, struct history_at *older);

#endif
