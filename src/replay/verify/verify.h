/*
 * A replay checked against the processor itself.  The captured program also
 * runs natively in a process of its own (native.h), step by step, and two
 * replays run beside it: one instruction by instruction, whose registers are
 * compared after each, and one in blocks as everybody else runs it, in a
 * forked process, whose references are compared with those of the first and
 * with what the instruction's bytes and the native registers before it say.
 */
#ifndef TM_REPLAY_VERIFY_VERIFY_H
#define TM_REPLAY_VERIFY_VERIFY_H

#include <stddef.h>
#include <stdint.h>

#include "replay/guest/replay.h"

enum verify_got { VERIFY_BAD = -1, VERIFY_OK, VERIFY_DIFFERS };

/* References of the replay in blocks, and registers behind them */
struct verify_batch {
	uint64_t icount;                /* instructions up to here */
	struct ws_regs regs;
	size_t n;
	uint64_t *w;                    /* n words, owned by the verifier */
};

struct verify_opts {
	int vectors;                    /* compare vector registers after each instruction; else now and then */
	void (*batch)(void *arg, struct verify_batch *b, struct replay *r);     /* or NULL: sees each batch before it is checked */
	void *arg;
};

struct verify_counts {
	uint64_t ninst;                 /* checked, counted as ref(5) fetches them */
	uint64_t nref;                  /* references checked, fetches included */
	uint64_t nloose;                /* of these: kind and size only */
	uint64_t nvector, npages;       /* comparisons of vector registers; pages of memory compared */
};

struct verify_diff {
	uint64_t icount, pc;
	char what[240];
};

struct verify;

/* path is a file, or NULL or "-" for standard input, which must be one too */
struct verify *verify_open(const char *path, const struct verify_opts *o, struct replay_fault *f);      /* NULL: see *f */
void verify_close(struct verify *v);
struct replay *verify_replay(struct verify *v);         /* the replay that goes step by step: not to be run by others */

uint64_t verify_length(struct verify *v);               /* instructions of the run, as far as it can be replayed; WS_UNKNOWN */

/*
 * Check the instructions from `from`, which is not behind where it is, up to
 * but not including `to`, or to the program's end.  *at: up to where it came.
 */
enum verify_got verify_window(struct verify *v, uint64_t from, uint64_t to, uint64_t *at);
int verify_ended(const struct verify *v);               /* the program's end was reached */
const struct verify_counts *verify_counts(const struct verify *v);
const struct verify_diff *verify_diff(const struct verify *v);          /* after VERIFY_DIFFERS */
const char *verify_err(const struct verify *v);                         /* after VERIFY_BAD */

#endif
