/*
 * Replay of a capture, ws(5): runs the captured program's instructions again and reports every
 * reference, ref(5).
 *
 * There is one replay at a time in a process, used by the thread that opened it: the guest's
 * memory has a fixed address, and its vector registers are the processor's.  A forked child
 * inherits the replay and may continue it.
 */
#ifndef TM_REPLAY_GUEST_REPLAY_H
#define TM_REPLAY_GUEST_REPLAY_H

#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "format/ws/ws.h"
#include "isa/reference.h"

enum replay_got {
	REPLAY_BAD = -1,                /* see replay_fault */
	REPLAY_END,                     /* the end of the program, or of replay_until */
	REPLAY_OK,
	REPLAY_BREAK                    /* stopped before the instruction at a breakpoint */
};

struct replay;
struct ws_pages_writer;

/*
 * path NULL or "-": standard input.  Fails if this processor lacks a feature that the program
 * could use.  NULL: see *f.  The caller closes the replay with replay_close.
 */
struct replay *replay_open(const char *path, struct fault *f);
void replay_close(struct replay *r);

/* the capture's header, valid until replay_close */
const struct ws_header *replay_header(const struct replay *r);
/*
 * A fault in the capture, or in its execution: then err names the instruction.  off and rec are
 * WS_UNKNOWN if the fault is not in the file.
 */
const struct fault *replay_fault(const struct replay *r);       /* after REPLAY_BAD */
/* how the program ended; NULL before REPLAY_END */
const struct ws_rec_end *replay_end_record(const struct replay *r);

/*
 * Returns the next references, valid until the next call.  All references up to REPLAY_END,
 * REPLAY_BAD or REPLAY_BREAK are returned before it.
 */
int replay_refs(struct replay *r, const uint64_t **w, size_t *n);

/*
 * Runs as far as calling replay_refs until it returns something else than REPLAY_OK does, returns that, and adds to n how
 * many references of each kind there were.  It takes much less time, as no reference is written.
 */
int replay_count(struct replay *r, uint64_t n[REF_NACCESS]);

/*
 * If the capture has several threads, replay_refs gives task events, ref(5), before the references of each:
 * number `base` for the first thread, and `step` more for each later one.  Such an event comes at the beginning
 * too, unless the capture comes from a pipe.
 */
void replay_tasks(struct replay *r, uint64_t base, uint64_t step);
uint32_t replay_thread(const struct replay *r); /* the number of the thread that runs, from 1 */

/*
 * Runs without references until icount instructions are done.  It may jump to a keyframe,
 * unless a breakpoint or a callback needs what comes before.
 */
int replay_skip(struct replay *r, uint64_t icount);
/* ends after exactly icount instructions (WS_UNKNOWN: no limit) */
void replay_until(struct replay *r, uint64_t icount);

/*
 * Did the capture end before the program? NULL: no, or not known, as the capture comes from a
 * pipe and the replay has not reached its end.  Valid until the next call.
 */
const struct ws_early *replay_early(struct replay *r);

/* instructions of the whole run; WS_UNKNOWN: not recorded */
uint64_t replay_length(struct replay *r);

/*
 * The same, but of a capture that is cut off the instructions up to which it is known, without running the program:
 * f->err says where it is cut off, and is empty if it is not.  WS_UNKNOWN: nothing is known.
 */
uint64_t replay_known(struct replay *r, struct fault *f);

/* Keyframes: their number, their positions, and continuing at one (forward or back). */
size_t replay_nkeys(struct replay *r);
uint64_t replay_key_icount(struct replay *r, size_t k); /* instructions before it */
/* instances before it, numbered as in itrace.h; WS_UNKNOWN: not recorded */
uint64_t replay_key_instances(struct replay *r, size_t k);
int replay_seek(struct replay *r, size_t k);            /* REPLAY_OK, REPLAY_BAD */

/* Stops before the instruction at pc whenever it is reached; on: 1 or 0. 0, or -1: no memory. */
int replay_break(struct replay *r, uint64_t pc, int on);

/* The current position.  Pointers are valid until the next call that runs the replay. */
uint64_t replay_icount(const struct replay *r);
/* complete instances; WS_UNKNOWN: it began at a keyframe that does not record them */
uint64_t replay_instances(const struct replay *r);
const struct ws_regs *replay_regs(struct replay *r);    /* valid until the next call */
/* reads guest memory; returns how many of the n bytes are mapped */
size_t replay_read(struct replay *r, uint64_t addr, void *p, size_t n);

/* Receives what the program writes to its descriptors by successful system calls, while it runs. */
typedef void replay_output_fn(void *arg, int fd, const void *p, size_t n);
void replay_set_output_fn(struct replay *r, replay_output_fn *fn, void *arg);

/*
 * Receives each file that is mapped executable, now and during the run; after a jump to a
 * keyframe, those mapped there.
 */
typedef void replay_map_fn(void *arg, const struct ws_rec_map *m);
void replay_set_map_fn(struct replay *r, replay_map_fn *fn, void *arg);

/*
 * Opens a replay with a callback for each record before it takes effect: START and its effects
 * during the opening; keyframes and their contents are left out.  A nonzero result ends the
 * replay.
 */
typedef int replay_record_fn(void *arg, const struct ws_rec *rec);
struct replay *replay_open_watched(const char *path, replay_record_fn *fn, void *arg, struct fault *f);
/* current vector and x87 registers, XSAVE's standard format, 16 KiB */
const uint8_t *replay_xsave(const struct replay *r);
/* mappings by ascending address; NULL: no more */
const struct ws_rec_map *replay_map(const struct replay *r, size_t i);
/* the host address of guest memory, valid up to the mapping's end; NULL: not mapped */
uint8_t *replay_memory(struct replay *r, uint64_t addr);
int replay_amd(const struct ws_header *h);              /* was it an AMD-like processor? For x86_decode. */

/*
 * Trimming: replays the capture `in` twice and writes only what a replay needs of it, with
 * keyframes.  A capture that was cut off is trimmed as far as it goes, and marked as stopped.
 */
#define TRIM_KEYS 64u
struct trim_opts {
	enum ws_level level;
	uint64_t every;                 /* minimum distance of keyframes in instructions; 0: 50 million */
	unsigned share;                 /* percent of the file that keyframes may take; */
	/* or bytes for each million instructions that one in the middle may take; both 0: no keyframes */
	unsigned middle;
	unsigned keys;                  /* at most TRIM_KEYS: so many at even distances, whatever they take; 0: as these say */
	uint64_t size;                  /* bytes of the input, more than which keyframes may not make of it; 0: no matter */
	ws_write_fn *write;             /* receives the new file */
	void *arg;                      /* of write */
	/* of that file (format/ws/store.h): it refers to the same stored blocks.  NULL: it has what it needs of them */
	struct ws_pages_writer *pages;
};
struct trim_stats {
	uint64_t ninst, raw, needed;    /* bytes of memory in MEM records before and after */
	uint64_t keys, written;         /* keyframes, bytes of the new file */
	int cut;                        /* the capture was cut off; *f says where */
	struct ws_early early;          /* of the new file */
};
/* 0, or -1: see *f */
int replay_trim(const char *in, const struct trim_opts *o, struct trim_stats *s, struct fault *f);

#endif
