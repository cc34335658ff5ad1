/*
 * Both ends of a regeneration, the same for the interpreter and for compiled
 * regenerators: events come in as a window of bytes, references go out in
 * batches.
 *
 * Where a trace ends.  With an end record of exit or exec: at the first run
 * item that is not there.  After a fatal signal or when recording stopped:
 * where the first event is missing, whichever that is; since a loop may need
 * no events, at most FEED_GRACE references after the one for which the last
 * event was read.  The same bound holds for a file without an end record.
 *
 * Where a program computes for long without events, a schema gives as many
 * references; one that was made to never end is caught by FEED_QUIET.
 */
#ifndef TM_AE_REGEN_FEED_H
#define TM_AE_REGEN_FEED_H

#include <setjmp.h>
#include <stdint.h>

#include "base/in.h"
#include "format/ae/events.h"

#define AE_GENERATED
#include "ae/regen/ae.h"

#define FEED_GRACE  (UINT64_C(1) << 20)
#define FEED_QUIET  (UINT64_C(1) << 40)
#define FEED_CHAIN  16          /* a process, its parent, the parent of that ... */

/* As ae_recreate_batch: other than 0 ends the regeneration */
typedef int feed_sink(void *arg, const uint64_t *refs, size_t n);

struct feed_seg {
	struct in *in;                  /* owned */
	struct ev_reader r;
	uint64_t left;                  /* events still to be taken from it */
};

struct feed {
	struct ae_state *s;             /* borrowed */
	feed_sink *sink;
	void *sinkarg;
	uint64_t nref;                  /* references delivered */
	const char *err;                /* NULL or what is wrong; static or in `what` */
	const char *errname;            /* in which file, owned by a segment; NULL: no file */
	uint64_t erroff;                /* DIAG_NOOFF: it could not be opened */
	uint32_t fatal;                 /* the signal that ended the program in traced code: the trace may go on past that place; 0 */
	int status;                     /* the sink's, -1, or AE_STOPPED */
	uint64_t quietmax;              /* the most references without an event, about; FEED_QUIET until it is set after feed_open */
	jmp_buf out;                    /* where feed_done goes */
	/* private */
	char what[96];
	struct feed_seg *seg;           /* oldest ancestor first */
	unsigned nseg, cur;
	const uint8_t *win;             /* events of the payload at hand that are not in view */
	size_t nwin;
	uint64_t winoff;                /* file offset of win */
	const uint8_t *view;            /* what lies before s->eend */
	uint64_t viewoff;
	uint8_t carry[16];
	size_t skip;                    /* references in the buffer that belong to the parent */
	uint64_t stop;                  /* nref may not exceed it */
	const uint8_t *at;              /* the next event at the last flush; NULL: another one now */
	uint64_t quiet;                 /* references from there to the last flush */
};

/*
 * Open the event file and those of the parents, all written by the program
 * with this build id for this machine (ELF's number).  parent: where to find the parent's file instead of
 * where the child says; NULL.  0, or -1 with err, errname and erroff; then
 * feed_close is still due.
 */
int feed_open(struct feed *f, struct ae_state *s, const char *file, const char *parent, unsigned machine,
    const uint8_t *id, unsigned idlen);
void feed_close(struct feed *f);

/*
 * To be called between setjmp(f->out) and its return.  `want` events (at most
 * 15) at e, which has fewer: their new place.  item: a run item is read here,
 * so the trace may end.
 */
const uint8_t *feed_more(struct feed *f, uint64_t *p, const uint8_t *e, unsigned want, int item);
uint64_t *feed_flush(struct feed *f, uint64_t *p, const uint8_t *e);    /* deliver what lies before p; where the next goes */

/*
 * A repeated string instruction (enum sch_rep `how`, elements of w bytes, the
 * fetch `inst`) begun with n in rcx: its references, and events where the
 * count depends on data.  Returns how many elements were done; *q moves on.
 */
uint64_t feed_rep(struct feed *f, struct ae_pos *q, uint64_t inst, unsigned how, unsigned w, uint64_t n,
    uint64_t rsi, uint64_t rdi);
_Noreturn void feed_fault(struct feed *f, uint64_t *p, const uint8_t *e, const char *what);
/* Control cannot go on here: the end of the trace if a signal ended the run and there are no more events, else a fault */
_Noreturn void feed_trap(struct feed *f, uint64_t *p, const uint8_t *e, const char *what);

#endif
