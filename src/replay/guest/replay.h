/*
 * Replay of a capture, ws(5): runs the captured program's instructions again
 * and gives every reference they make, ref(5).
 *
 * One replay at a time in a process, in the thread that opened it: the guest's
 * memory has a fixed place, and its vector registers are the processor's own.
 * A forked child has the replay of its parent and may go on with it.
 */
#ifndef TM_REPLAY_GUEST_REPLAY_H
#define TM_REPLAY_GUEST_REPLAY_H

#include <stddef.h>
#include <stdint.h>

#include "format/ws/ws.h"

/* What went wrong: in the file, in the execution, or in neither */
struct replay_fault {
	uint64_t off, rec;              /* byte and record of the file; WS_UNKNOWN */
	uint64_t icount, pc;            /* instruction; icount WS_UNKNOWN: none */
	char err[240];                  /* the whole of it in words; icount and pc are in it */
};

enum replay_got {
	REPLAY_BAD = -1,                /* see replay_fault */
	REPLAY_END,                     /* the program's end, or that of replay_until */
	REPLAY_OK,
	REPLAY_BREAK                    /* stopped before the instruction at a breakpoint of replay_break */
};

struct replay;

/* path NULL or "-": standard input.  Checks that this processor has what the program could use.  NULL: see *f. */
struct replay *replay_open(const char *path, struct replay_fault *f);
void replay_close(struct replay *r);

const struct ws_header *replay_header(const struct replay *r);
const struct replay_fault *replay_fault(const struct replay *r);        /* after REPLAY_BAD */
const struct ws_rec_end *replay_how(const struct replay *r);            /* how the program ended; NULL before REPLAY_END */

/*
 * The next references, valid until the next call.  Before REPLAY_END,
 * REPLAY_BAD and REPLAY_BREAK all references so far were handed over.
 */
int replay_refs(struct replay *r, const uint64_t **w, size_t *n);

/* Runs without references until icount instructions are done.  It may go to a later keyframe, if nobody waits for what comes before. */
int replay_skip(struct replay *r, uint64_t icount);
void replay_until(struct replay *r, uint64_t icount);   /* the end: exactly so many instructions (WS_UNKNOWN: none) */

/*
 * Did the capture end before the program?  NULL: no, or nobody knows: it is a pipe, and the replay has not come to the end.
 * Valid until the next call.
 */
const struct ws_early *replay_early(struct replay *r);

uint64_t replay_length(struct replay *r);               /* instructions of the whole run; WS_UNKNOWN: the capture does not say */

/* Keyframes: their number, where they are, and going on from one (forward or back) */
size_t replay_nkeys(struct replay *r);
uint64_t replay_key(struct replay *r, size_t k);        /* instructions before it */
uint64_t replay_key_instances(struct replay *r, size_t k);      /* instances before it (as itrace.h numbers them); WS_UNKNOWN: the capture does not say */
int replay_seek(struct replay *r, size_t k);            /* REPLAY_OK, REPLAY_BAD */

/* Stop before the instruction at pc whenever it is reached; on: 1 or 0.  0, or -1: no memory */
int replay_break(struct replay *r, uint64_t pc, int on);

/* Where it is: valid until the next call that runs */
uint64_t replay_icount(const struct replay *r);
uint64_t replay_instances(const struct replay *r);      /* that are complete; WS_UNKNOWN: begun at a keyframe that does not say */
const struct ws_regs *replay_regs(struct replay *r);
size_t replay_read(struct replay *r, uint64_t addr, void *p, size_t n);  /* guest memory; how many of the n bytes are mapped */

/* What the program writes to its descriptors, by the system calls that succeed, is handed over while it runs. */
typedef void replay_output_fn(void *arg, int fd, const void *p, size_t n);
void replay_output(struct replay *r, replay_output_fn *fn, void *arg);

/* Called for each file that is mapped executable, now and while it runs; where keyframes skip ahead, for theirs. */
typedef void replay_map_fn(void *arg, const struct ws_rec_map *m);
void replay_onmap(struct replay *r, replay_map_fn *fn, void *arg);

/*
 * Looking on: each record is handed over before it takes place, START and its
 * effects while the replay is opened; keyframes and what is in them are left
 * out.  Not 0 ends the replay.
 */
typedef int replay_record_fn(void *arg, const struct ws_rec *rec);
struct replay *replay_open_watched(const char *path, replay_record_fn *fn, void *arg, struct replay_fault *f);
const uint8_t *replay_xsave(const struct replay *r);    /* vector and x87 registers where it is, XSAVE's standard format, 16 KiB */
const struct ws_rec_map *replay_map(const struct replay *r, size_t i);  /* mappings by ascending address; NULL: no more */
uint8_t *replay_memory(struct replay *r, uint64_t addr);        /* where the guest's memory lies, up to the mapping's end; NULL: not mapped */
struct ws_cpuid replay_cpuid(const struct ws_header *h, uint32_t leaf, uint32_t sub);   /* what the header's table answers */
int replay_amd(const struct ws_header *h);              /* was it a processor of AMD's kind?  As x86_decode asks */

/*
 * Trimming: replays the capture `in` twice and writes to the descriptor `out`
 * what a replay needs of it, with keyframes.  A capture that was cut off is
 * trimmed as far as it goes, and ends as stopped.
 */
struct trim_opts {
	enum ws_level level;
	uint64_t every;                 /* instructions between keyframes at least; 0: 50 million */
	unsigned share;                 /* keyframes may take so many percent of the file, */
	unsigned middle;                /* or one in the middle so many bytes for each million instructions; both 0: none */
	void (*progress)(void *arg, uint64_t ninst, int pass);  /* or NULL; now and then */
	void *arg;
};
struct trim_stats {
	uint64_t ninst, raw, needed;    /* bytes of memory in MEM before and after */
	uint64_t keys, written;         /* keyframes, bytes of the new file */
	int cut;                        /* the capture was cut off; *f says where */
};
int replay_trim(const char *in, int out, const struct trim_opts *o, struct trim_stats *s, struct replay_fault *f);      /* 0; -1: see *f */

#endif
