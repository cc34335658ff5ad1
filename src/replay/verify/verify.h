/*
 * Checks a replay against the processor itself.  The captured program also runs natively in a
 * process of its own (native.h), step by step, and two replays run beside it.  One goes
 * instruction by instruction, and its registers are compared after each.  The other runs in
 * whole blocks, as all other users run it, in a forked process; its references are compared
 * with those of the first and with what the instruction's bytes and the native registers before
 * it say.
 */
#ifndef TM_REPLAY_VERIFY_VERIFY_H
#define TM_REPLAY_VERIFY_VERIFY_H

#include <stddef.h>
#include <stdint.h>

#include "replay/guest/replay.h"

enum verify_got { VERIFY_BAD = -1, VERIFY_OK, VERIFY_DIFFERS };

/* References of the replay in blocks, and registers after them. */
struct verify_batch {
	uint64_t icount;                /* instructions up to the end of the batch */
	struct ws_regs regs;
	size_t n;
	uint64_t *w;                    /* n words, owned by the verifier */
};

struct verify_opts {
	/* compare vector registers after each instruction; else from time to time */
	int vectors;
	/* sees each batch before it is checked; or NULL */
	void (*batch)(void *arg, struct verify_batch *b, struct replay *r);
	void *arg;
};

struct verify_counts {
	uint64_t ninst;                 /* checked, counted as ref(5) fetches them */
	uint64_t nref;                  /* references checked, fetches included */
	uint64_t nloose;                /* those of which only kind and size were compared */
	uint64_t nvector, npages;       /* comparisons of vector registers; pages of memory compared */
};

struct verify_diff {
	uint64_t icount, pc;
	char what[240];
};

struct verify;

/* path is a file, or NULL or "-" for standard input, which must be a file too.  NULL: see *f. */
struct verify *verify_open(const char *path, const struct verify_opts *o, struct fault *f);
void verify_close(struct verify *v);
/* the replay that is stepped; the caller must not run it */
struct replay *verify_replay(struct verify *v);

/* instructions of the run, as far as it can be replayed; or WS_UNKNOWN */
uint64_t verify_length(struct verify *v);

/*
 * Checks the instructions from `from`, which is not before the current one, up to but not
 * including `to`, or to the program's end.  *at: the instruction that it reached.
 */
enum verify_got verify_window(struct verify *v, uint64_t from, uint64_t to, uint64_t *at);
int verify_ended(const struct verify *v);               /* was the program's end reached? */
const struct verify_counts *verify_counts(const struct verify *v);
const struct verify_diff *verify_diff(const struct verify *v);          /* after VERIFY_DIFFERS */
const char *verify_err(const struct verify *v);                         /* after VERIFY_BAD */
const struct fault *verify_place(const struct verify *v);               /* where: its off and rec */

#endif
