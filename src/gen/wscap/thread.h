/*
 * Threads of a process.  They run one at a time: the one that has the turn.  Its state is in struct cap, as
 * if the process had no other thread; that of the others is kept here.
 */
#ifndef TM_GEN_WSCAP_THREAD_H
#define TM_GEN_WSCAP_THREAD_H

#include "gen/wscap/wscap.h"

/* The fields of struct cap that each thread has for itself. */
#define THREAD_OWN(X) X(t) X(listen) X(dispatched) X(inside) X(restart) X(behind) X(denied) X(pretended) X(in) X(out) \
	X(overdue) X(newact) X(oldadvice) X(sent) X(mask) X(cleartid) X(again) X(againsp) X(amid)

/* Memory of the program that it does not know of: there, the kernel writes results of calls that wait. */
struct room {
	uint64_t addr, size;            /* size 0: none */
	int fixed;                      /* it cannot become larger */
};

/* The call of a thread whose results go to its room. */
struct aside {
	int on;
	int moved;                      /* the registers have addresses in the room */
	unsigned n;
	struct piece {
		uint64_t from, to;      /* address in the program, and in the room */
		uint64_t n;             /* bytes */
		/* STREAM: bytes count toward the result; others: what changed is copied; LEFT: if that can be written */
		enum { PIECE_FIXED, PIECE_STREAM, PIECE_LEFT, PIECE_MSG } kind;
	} *piece;                       /* owned */
	size_t cap;
};

struct thread {
	struct thread *chain;           /* in its bucket of struct tree */
	struct thread *next;            /* in struct threads.all */
	struct thread *behind;          /* in struct threads.ready */
	struct cap *c;
	pid_t tid;
	uint32_t number;                /* in a capture, from 1 */
	enum { THREAD_WAITS, THREAD_READY, THREAD_TURN, THREAD_DYING, THREAD_RELEASED } state;
	uint64_t after;                 /* the instruction at `place` was executed natively, and it goes on here: spin.c; or 0 */
	int stopped;                    /* it has a stop that was not handled: */
	int status;
	struct ws_regs place;           /* where it continues in the capture */
	struct room room;
	struct aside aside;
#define X(f) __typeof__(((struct cap *)0)->f) f;
	struct { THREAD_OWN(X) } own;   /* valid unless it has the turn */
#undef X
};

struct threads {
	struct thread *all;             /* owned */
	struct thread *turn;            /* NULL: all wait */
	struct thread *ran;             /* the last that had the turn; NULL: it has ended */
	struct ws_regs at;              /* where that stopped */
	struct thread *ready, **last;   /* queue of those that could run */
	unsigned nready, nalive;
	uint32_t began;                 /* threads so far */
	int due;                        /* more than 0: the turn is over as soon as a place for that is found */
	int placed;                     /* that place is recorded in `sig` */
	int called;                     /* it is stopped at the end of a system call */
	int over;                       /* the thread with the turn has ended */
	struct ws_rec_sig sig;
	struct room *spare;             /* rooms of ended threads; owned */
	size_t nspare, capspare;
	int unsaid;                     /* the warning about threads without room was printed */
	struct thread *from;            /* the one that came to the place of --from; NULL: there is none */
	uint64_t pi;                    /* a futex that the kernel changed before its call waited; 0: none */
};

/* thread.c: beginning and end */

/* c has several threads from now on; the first one is loaded, and has the turn */
void thread_first(struct cap *c);
/* another one, which neither waits nor runs; its state is none */
struct thread *thread_add(struct cap *c, pid_t tid);
int thread_is_zombie(pid_t tid);        /* it has ended, and others of its process may not have */
/* a new thread of c, which is in the call that makes it, has stopped for the first time */
void thread_new(struct cap *c, pid_t tid);
struct thread *thread_find(const struct tree *a, pid_t tid);
void thread_free(struct cap *c, struct thread *t);
void thread_place(struct cap *c, struct ws_regs *w);      /* where the loaded thread continues */
void thread_save(struct cap *c, struct thread *t);
void thread_load(struct cap *c, struct thread *t);
/* the thread with the turn is about to end, by `exit`, and others continue: lets it end */
void thread_exit(struct cap *c);

/* spin.c: threads and processes that wait for others by reading memory again and again; c->th may be NULL */

void spin_learn(struct cap *c, uint64_t rip);   /* the turn of the loaded thread is over, here: may it have waited? */
void spin_learn_here(struct cap *c);            /* the same where it is */
void spin_jump(struct cap *c, uint64_t addr, unsigned len);     /* the jump at addr, len bytes, closes a loop that waits */
/* Its instructions are executed one by one in between, without breakpoints.  What was lifted? */
int spin_lift(struct cap *c);
void spin_return(struct cap *c, int lifted);
void spin_known(struct cap *c);                 /* the place where it is is recorded */
void spin_ready(struct cap *c);                 /* another thread is ready */
void spin_turn(struct cap *c);                  /* the loaded thread gets the turn from another one, of c or of another process */
void spin_resumed(struct cap *c, struct thread *t);     /* t goes on where its last turn has ended */
/* The process is at s, a `pause` or a jump, with registers g: continues after it. */
void spin_hit(struct cap *c, const struct site *s, struct user_regs_struct *g);

/* amid_thread.c: threads of a process that is captured from the middle of its run */

/* The other threads, which were stopped by attach.c: leave the vDSO.  NULL, or why it cannot be captured. */
const char *amid_threads_leave(struct cap *c);
/* the same: prepares them, as amid_begin does the first one */
const char *amid_threads_prepare(struct cap *c);
void amid_threads_settle(struct cap *c);        /* they may be resumed, each when it has the turn */

/* wait.c: a child has begun; 1: it is a thread of c's process, and stands; else it runs, untraced, or is gone */
int wait_begun(struct cap *c, pid_t pid);

/* wait_thread.c: several threads while --from waits */

void wait_threads(struct cap *c);       /* lets all but the loaded one run, if they were stopped by attach.c */
void wait_thread(struct cap *c, pid_t tid);     /* a new one, which stands, runs */
void wait_thread_ended(struct cap *c, struct thread *t);
void wait_load(struct cap *c, struct thread *t);        /* its state is in c from now on */
/* Stops all threads but the loaded one, where they are; -1: that has been killed, by an exec or exit of another. */
int wait_freeze(struct cap *c);
/* A process or thread stops that is not known yet, or whose creator was killed before it could tell of it. */
void wait_stranger(struct cap *c, pid_t pid, int status);
/* one whose stop, in its status, is to be handled, as it would run again; NULL: there is none */
struct thread *wait_standing(struct cap *c);
/*
 * The loaded thread stands at the place: stops the others, as attach.c does, and removes the points.  The first
 * thread has the turn, then.  NULL, or why that cannot be captured.
 */
const char *wait_gather(struct cap *c);

/* aside.c: results of calls that wait */

/*
 * At a call's entry: makes room for threads that begin later, if the call installs a filter, which may then forbid that.
 * 1: the process has gone back to before the call.  c->th may be NULL.
 */
int aside_before(struct cap *c, const struct call *k);
void aside_room(struct cap *c, struct thread *t);       /* gets room for t, which is loaded */
/*
 * At a call's entry: redirects its results.  again: the kernel restarts it.  1: the thread has got more room for them, and
 * has gone back to before the call.
 */
int aside_enter(struct cap *c, const struct call *k, int again);
/* at its end, or its interruption: registers are the program's again; results are copied if `done` */
void aside_leave(struct cap *c, int done);
/* a signal's handler runs instead of the rest of the call, whose result this is: records what is copied */
void aside_interrupted(struct cap *c, uint64_t ret);

#endif
