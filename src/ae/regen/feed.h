/*
 * Input and output of a regeneration, both for the interpreter and for compiled regenerators:
 * events come in as a window of bytes, references go out in batches.
 *
 * The end of a trace. With an end record of exit or exec: the first run item that is missing. After
 * a fatal signal, or if recording stopped or was limited: the first event that is missing, of any kind; since a
 * loop may need no events, at most FEED_GRACE references after the one for which the last event was
 * read. The same bound holds for a file without an end record.
 *
 * If the signal was one of an access to memory, the end is before the instruction with the first access to that
 * address, which is searched after the last group of events that is known to be whole. Of the bytes after it,
 * the events are those that the instructions before the access need.
 *
 * A program that computes for long without events gives long runs of references; FEED_QUIET catches
 * a schema that was made never to end.
 */
#ifndef TM_AE_REGEN_FEED_H
#define TM_AE_REGEN_FEED_H

#include <setjmp.h>
#include <stdint.h>

#include "base/fault.h"
#include "base/in.h"
#include "format/ae/events.h"

#define AE_GENERATED
#include "ae/regen/ae.h"

#define FEED_GRACE  (UINT64_C(1) << 20)
#define FEED_FAR    (UINT64_C(1) << 32)         /* the same bound if the place of an access is searched */
#define FEED_QUIET  (UINT64_C(1) << 40)
#define FEED_CHAIN  16          /* files: a process, its parent, the parent of that ... */

/* Like the function of ae_recreate_batch: a value other than 0 ends the regeneration. */
typedef int feed_sink(void *arg, const uint64_t *refs, size_t n);

/* Reads packed event files, aepack(5): what the bytes of `in` stand for, for the program prog */
struct feed_unpack {
	void *(*open)(struct in *in, void *prog);               /* NULL: no memory */
	size_t (*read)(void *u, void *buf, size_t n);
	const struct fault *(*fault)(const void *u);            /* after a short read; NULL: none */
	void (*close)(void *u);
};

struct feed_seg {
	struct in *in;                  /* owned */
	const struct feed_unpack *how;  /* it is packed; NULL: it is not */
	void *packed;                   /* owned, what `how` opened */
	struct ev_reader r;
	uint64_t left;                  /* events still to be read from it */
};

struct feed {
	struct ae_state *s;             /* borrowed */
	feed_sink *sink;
	void *sinkarg;
	int mute;                       /* references are not delivered, up to feed_unmute */
	size_t drop;                    /* so many of the next ones are from before feed_unmute */
	uint64_t nref;                  /* references delivered, or passed over because of mute */
	const char *err;                /* NULL, or the message; static or in `what` */
	const char *errname;            /* the file at fault, owned by a segment; NULL: none */
	uint64_t erroff;                /* DIAG_NOOFF: it could not be opened */
	/* the signal that ended the program in traced code, or 0; exact: the trace ends at that place */
	uint32_t fatal;
	int exact;
	int limited;                    /* recording ended by AE_LIMIT */
	int running;                    /* another thread ended the process while this one ran traced code */
	int begun;                      /* a thread was read, so that there may be references */
	int later;                      /* set before feed_open: other threads were read before, counts go on */
	int status;                     /* the sink's value, -1, or AE_STOPPED */
	/* approximate limit of references without an event; FEED_QUIET unless it is set after feed_open */
	uint64_t quietmax;
	jmp_buf out;                    /* target of feed_done's longjmp */
	/* private */
	char what[96];
	uint64_t bytes;                 /* what feed_bytes returns, or 0 */
	struct feed_seg *seg;           /* oldest ancestor first */
	unsigned nseg, cur;
	const uint8_t *win;             /* events of the current payload that are not in view */
	size_t nwin;
	uint64_t winoff;                /* file offset of win */
	const uint8_t *view;            /* start of the events before s->eend */
	uint64_t viewoff;
	uint8_t carry[16];
	size_t skip;                    /* references in the buffer that belong to the parent */
	uint64_t stop;                  /* limit of nref */
	const uint8_t *at;              /* the next event at the last flush; NULL: it was a different one */
	uint64_t quiet;                 /* references from there to the last flush */
	size_t tail;                    /* bytes after nwin that may be no events */
	int unsure;                     /* the last event may be none */
	struct feed_crash *crash;       /* owned; NULL: the place of no access is searched */
};

/*
 * What is to be read: the event file of the program with this build id, for this machine (ELF's number). parent: the
 * parent's file, instead of the one that the child names; or NULL. task: the number of a thread, or 0 for all.
 */
struct feed_job {
	const char *file, *parent;
	unsigned machine;
	const uint8_t *id;
	unsigned idlen;
	int moves;                      /* the program is position independent */
	uint32_t task;
	const struct feed_unpack *unpack;               /* NULL: files must not be packed */
	void *prog;                                     /* ... for it */
	feed_sink *sink;
	void *sinkarg;
	uint64_t quietmax;
	int (*run)(void *arg, struct feed *f);          /* recreates the references of one thread; returns f->status */
	void *arg;
};

/*
 * A file as a source of bytes, which are unpacked if they must be: 0, or -1 with *err. feed_reader opens g->r on it, as
 * ev_open. feed_leave closes all.
 */
int feed_enter(struct feed_seg *g, const struct feed_job *j, struct in *in, const char **err);
int feed_reader(struct feed_seg *g);
void feed_leave(struct feed_seg *g);

/*
 * Opens the event file, and if the thread is the first one, those of the parents. 0, or -1 with err, errname and
 * erroff; feed_close must be called in either case.
 */
int feed_open(struct feed *f, struct ae_state *s, const struct feed_job *j, uint32_t task);
/*
 * Instead of feed_open: events come from a model (model.h). The n bytes at p are the header of the event file and what of
 * its records says something about libraries and thread `task`; feed_learn: now they are these. 0, or -1 with err
 */
int feed_blank(struct feed *f, struct ae_state *s, const uint8_t *p, size_t n, uint32_t task);
int feed_learn(struct feed *f, const uint8_t *p, size_t n, uint32_t task);
void feed_close(struct feed *f);

/*
 * Opens the file and calls j->run for each thread that is wanted, one after the other. If there are several, the
 * number of each comes before its references, as a task event. 0; the sink's value; -1 or AE_STOPPED with err,
 * errname and erroff. feed_close must be called in any case.
 */
int feed_tasks(struct feed *f, struct ae_state *s, const struct feed_job *j);

/* Bytes of the files that were read, as they are decompressed, without events of threads that were not wanted */
uint64_t feed_bytes(const struct feed *f);

/* The thread that is read, *task, is a stream of handlers that interrupted this one; 0: it is none. See ae.out(5) */
uint32_t feed_interrupts(const struct feed *f, uint32_t *task);

/* A remark about a trace that is complete, in buf or static; NULL: none */
#define FEED_NOTE 128
const char *feed_note(const struct feed *f, char buf[FEED_NOTE]);

/*
 * Call it only between setjmp(f->out) and its return. Provides `want` events (at most 15) from e
 * on, where fewer are available; returns their new place. item: a run item is read here, so the
 * trace may end.
 */
const uint8_t *feed_more(struct feed *f, uint64_t *p, const uint8_t *e, unsigned want, int item);
/* delivers the references before p; returns where the next one is written */
uint64_t *feed_flush(struct feed *f, uint64_t *p, const uint8_t *e);

/*
 * A repeated string instruction (enum sch_rep `how`, elements of w bytes, the fetch `inst`) with n
 * in rcx: its references, and events if the count depends on data. Returns how many elements were
 * done; advances *q.
 */
uint64_t feed_rep(struct feed *f, struct ae_pos *q, uint64_t inst, unsigned how, unsigned w, uint64_t n,
    uint64_t rsi, uint64_t rdi);
/*
 * The references of SO_MASKED: cc is its condition, n elements of w bytes at `at`; mask and index are its variables. Returns p
 * after them.
 */
uint64_t *feed_masked(struct feed *f, uint64_t *p, const uint8_t *e, unsigned cc, unsigned w, unsigned n, uint64_t at,
    const uint64_t *mask, const uint64_t *index);
/* The library that the function with this number belongs to, if the file has said so by now; else NULL */
const struct ev_module *feed_module(const struct feed *f, uint32_t number);
/* Are these events of a forked child's parent? */
int feed_before(const struct feed *f);
/* The references before the last flush were not wanted, those after it are. */
void feed_unmute(struct feed *f);
/* Enough: the references before p are the last ones. */
_Noreturn void feed_stop(struct feed *f, uint64_t *p);
_Noreturn void feed_fault(struct feed *f, uint64_t *p, const uint8_t *e, const char *what);
/*
 * Control cannot continue here: it is the end of the trace if a signal ended the run and no events
 * are left, else a fault.
 */
_Noreturn void feed_trap(struct feed *f, uint64_t *p, const uint8_t *e, const char *what);

#endif
