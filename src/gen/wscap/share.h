/* Writable memory that is compared, as others than the process write to it: calls, children, other processes. */
#ifndef TM_GEN_WSCAP_SHARE_H
#define TM_GEN_WSCAP_SHARE_H

#include <stddef.h>
#include <stdint.h>

struct cap;
struct region;

/* Memory that processes share, as it was: ascending pieces of CHUNK bytes at most. */
struct common {
	struct kept {
		uint64_t addr;
		size_t n;
		uint8_t *p;             /* owned; NULL: all zero */
		uint8_t *mixed;         /* owned; not 0: the byte changed, and that others did it is not excluded; NULL: none did */
	} *piece;
	size_t n, cap;
};

/* exists.c */
#define EXISTS_PAGES 8192u
struct exists {                         /* what is known of some pages; all zero at first, for one pass over memory */
	uint64_t lo, hi;
	uint8_t page[EXISTS_PAGES];     /* bit 0: it exists */
	int asked, unknown;
};
/* the first page from lo on that may exist, in shared memory without a file; elsewhere, lo.  hi: there is none. */
uint64_t exists_next(struct cap *c, struct exists *e, uint64_t lo, uint64_t hi);
/* Is [lo, hi), of a file in memory that is shared, a part of it that nobody has written to? */
int exists_hole(struct cap *c, uint64_t lo, uint64_t hi);
/* The same of pages that c has used itself, which need not be stopped, after hold_begin. */
uint64_t exists_own(struct cap *c, uint64_t lo, uint64_t hi);

/* compare.c: finds what changed in all writable memory */
void compare_before(struct cap *c);
/* memory at addr has changed to p, and this is recorded already */
void compare_known(struct cap *c, uint64_t addr, const uint8_t *p, size_t n);
/* records the changes; tell: also warns.  Returns the number of bytes that changed. */
/* Adds what [lo, hi) has now to what is compared. */
void compare_keep_old(struct cap *c, uint64_t lo, uint64_t hi);
size_t compare_after(struct cap *c, int tell);

/* records what other processes wrote since the last time, and expects that they write more */
void compare_shared(struct cap *c);
void common_free(struct common *m);

/* records nothing: what c itself has written is known from now on.  mixed: others may have written, too */
void compare_keep(struct cap *c, int mixed);

/* turn.c: processes that share memory run one at a time: the one that has the turn */

/* waits for the turn, at a stop that was not handled; that was; or with some thread that has stopped */
enum turn_ready { TURN_NOT, TURN_STOPPED, TURN_HANDLED, TURN_THREADS };
struct turn {
	enum turn_ready ready;
	struct cap *behind;             /* in the queue of those that wait */
	int status;                     /* of the stop */
	int sig;                        /* it will continue with this signal */
	int called, placed;             /* it is stopped after a call; or at a place that is recorded */
	int joins;                      /* this is its first stop since it takes part */
	int late;                       /* what others have written is not recorded yet */
};
struct turns {
	struct cap *has;                /* NULL: all wait in calls, or there are none */
	struct cap *ran;                /* the last that had it; NULL: it is gone */
	struct cap *first, *last;       /* the queue */
	int due;                        /* more than 0: the turn is over as soon as a place for that is found */
	int joined;                     /* others may still run that have not stopped since they take part */
};
struct tree;

void turn_join(struct cap *c);                  /* c takes part from its next stop on, which is soon */

int turn_stopped(struct cap *c, int status);    /* a stop: 1: it will be handled when c has the turn */
/* a stop was handled, and c is to continue with sig: where it stands is recorded, if it joins; the new sig */
int turn_settle(struct cap *c, int sig);
void turn_resume(struct cap *c, int sig);       /* continues c after a stop, as soon as it has the turn */
void turn_next(struct tree *a);                 /* gives the turn to those that wait for it, while nobody has it */
/* a thread of c is about to get the turn of its process: 1; 0: when the process has its own */
int turn_threads(struct cap *c);
void turn_leave(struct cap *c);                 /* c is gone, or does not take part any more */
void turn_lend(struct cap *c);                  /* c waits in its call for a child that uses its memory */
int turn_watching(const struct tree *a);        /* may the one with the turn wait in a call, while others could run? */
int turn_watch(struct tree *a);                 /* looks whether it does; 1: the turn is free */
int turn_tick(struct tree *a);                  /* some time has passed; 1: tell it again */
int turn_others(const struct cap *c);           /* has c the turn, which others wait for? */
int turn_ends(const struct cap *c);             /* has c had it for long enough then? */
int turn_due(struct cap *c);                    /* is this stop because of turn_tick?  Then: */
int turn_interrupted(struct cap *c);            /* the signal to continue with */
/* Is a call the next instruction?  The recorder may have been on the way there, and rcx and r11 are no longer the program's. */
int turn_calls(struct cap *c);

/* outside.c: may others than captured processes write to the region, which is mapped under that name? */
int outside_writes(struct cap *c, const struct region *r, const char *name);

/* share.c: memory that processes share */

/* c has mapped [lo, hi), or may write there now: do other processes have the same memory? */
void share_mapped(struct cap *c, uint64_t lo, uint64_t hi);
/* the same of one region: does the kernel, a device or a process that is not captured write there?  name: of its file */
void share_outside(struct cap *c, const struct region *r, const char *name);
int share_writes(const struct region *r);       /* may the process write to the region, or has it done so? */
/* Do all processes wait that may write to memory of c?  They go on only after a stop, when they have the turn. */
int share_quiet(const struct cap *c);
/* has c memory that another captured process has as well, and which one of them writes? */
int share_any(const struct cap *c);
/* after a call of c: compare_shared, unless nobody can have written; finds out whether it is the last that has the memory */
void share_compare(struct cap *c);
/*
 * c is at a call that makes another process: saves what both will have.  1: the call will be made again, as memory that
 * nobody has used can only be told at another place.
 */
int share_before(struct cap *c, uint64_t flags);
/*
 * c gives the turn away: what it wrote itself is not to be found as a change later, but that others write what was there
 * before is
 */
void share_keep(struct cap *c);
/* the same when c makes a call, if others may write in the meantime */
void share_call(struct cap *c);
/* c has the turn again, after something that was no call: records what the others wrote in the meantime */
void share_catch_up(struct cap *c);
/* is c a child in the memory of its parent, which waits for it, and shares none with others? */
int share_borrows(const struct cap *c);

#endif
