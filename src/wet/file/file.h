/*
 * Public interface for writing .wet files, wet(5): whole execution traces made from a capture
 * or from text.
 */
#ifndef TM_WET_FILE_FILE_H
#define TM_WET_FILE_FILE_H

#include "base/fault.h"
#include "base/in.h"
#include "format/wetfile/wetfile.h"
#include "replay/guest/replay.h"
#include "sim/predictor.h"

enum store_part { STORE_P_CODE, STORE_P_PATH, STORE_P_DEP, STORE_P_VAL, STORE_P_KEY, STORE_P_RANK,
	STORE_P_CAP, STORE_P_TEXT, STORE_P_ADDR, STORE_P_ARCH, STORE_NPARTS };

struct store_stats {
	uint64_t nstmt;                 /* statements executed; of text: values and dependences */
	uint64_t part[STORE_NPARTS];    /* bytes in the file */
	uint64_t nsegment;
	uint64_t ndep, nval;            /* dependences, words of values */
	uint64_t nexc;                  /* dependences that the model did not predict */
	/* Kind loads: corrections stored because executing a statement again gave another result. */
	uint64_t nwrong;
	struct arch_stats arch;
	struct ws_early early;          /* did the capture end before its program? */
};

struct store_code;

#define STORE_THREADS 64u

struct store_opts {
	int level;                      /* compression level, as in block.h */
	/* threads that code columns, at most STORE_THREADS; 0: as 1; kinds replay and paper have one */
	unsigned threads;
	uint64_t segment;               /* minimum number of statements in a segment */
	size_t entries;                 /* kind text: approximate entries of a section; 0: a million */
	/* values in small blocks, for fast access to those of one statement; dependences that are decoded fast */
	int quick;
	struct store_stats *stats;      /* filled in; or NULL */
	/* Called after each segment of kinds full and loads; or NULL. */
	void (*progress)(void *arg, const struct store_stats *so_far);
	void *progressarg;
	void (*note)(void *arg, const char *what);      /* reports files without debug information; or NULL */
	void *notearg;
	const struct arch_params *arch; /* Parameters of one-bit labels of kind full; NULL: no labels. */
	/* Files, functions and lines of statements; NULL: from the files that the program mapped. */
	const struct store_code *given;
};

/* Write a file from its input: of kind text, replay, full or loads.  0, or -1: see *f. */
int store_text(const char *text, struct wetfile_writer *w, const struct store_opts *o, struct fault *f);
int store_replay(const char *capture, struct wetfile_writer *w, const struct store_opts *o,
    struct fault *f);
int store_full(const char *capture, struct wetfile_writer *w, const struct store_opts *o,
    struct fault *f);
int store_loads(const char *capture, struct wetfile_writer *w, const struct store_opts *o,
    struct fault *f);

/*
 * A file of kind replay: its code, which the caller frees with store_code_free, and its
 * capture, passed to `put` piece by piece (a nonzero result ends it).  0, or -1: see *f.
 */
int store_replay_code(const struct wetfile *w, struct store_code *c, struct fault *f);
int store_replay_capture(const struct wetfile *w, int (*put)(void *arg, const void *p, size_t n), void *arg,
    struct fault *f);

/*
 * The state before segment k of a file of kind replay, and the executions of each statement in
 * the segment.  store_state_free frees it.
 */
struct store_state {
	uint64_t instances, statements; /* before the segment, as itrace.h and as wettext(5) count them */
	struct buf control;
	uint64_t *count;                /* executions of each statement in the segment; owned by the caller */
};
/* The number of segments; the state before one of them: 0, or -1: see *f. */
size_t store_replay_segments(const struct wetfile *w);
int store_replay_state(const struct wetfile *w, const struct store_code *c, size_t k, struct store_state *s,
    struct fault *f);
void store_state_free(struct store_state *s);

#endif
