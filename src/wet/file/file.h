/*
 * Whole execution traces in .wet files, wet(5): made from a capture or from
 * text, and back to text.
 */
#ifndef TM_WET_FILE_FILE_H
#define TM_WET_FILE_FILE_H

#include "base/in.h"
#include "format/wetfile/wetfile.h"
#include "replay/guest/replay.h"
#include "sim/predictor.h"

enum store_part { STORE_P_CODE, STORE_P_PATH, STORE_P_DEP, STORE_P_VAL, STORE_P_KEY, STORE_P_RANK, STORE_P_CAP, STORE_P_TEXT, STORE_P_ADDR, STORE_P_ARCH,
	STORE_NPARTS };

struct store_stats {
	uint64_t nstmt;                 /* statements executed; of text, values and dependences */
	uint64_t part[STORE_NPARTS];    /* bytes in the file */
	uint64_t nsegment;
	uint64_t ndep, nval;            /* dependences, words of values */
	uint64_t nexc;                  /* dependences that the model did not know */
	uint64_t nwrong;                /* kind loads: statements and registers that were told, as executing them gave something else */
	struct arch_stats arch;
	struct ws_early early;          /* does the capture end before its program? */
};

struct store_code;

struct store_opts {
	int level;                      /* of block.h */
	uint64_t segment;               /* statements in a segment, at least */
	size_t entries;                 /* of text: entries of a section, about; 0: a million */
	int quick;                      /* values in small blocks, so that those of one statement are found quickly */
	struct store_stats *stats;      /* or NULL */
	void (*progress)(void *arg, const struct store_stats *so_far);  /* behind each segment of a run that is kept in full; or NULL */
	void *progressarg;
	void (*note)(void *arg, const char *what);      /* of which files nothing is known; or NULL */
	void *notearg;
	const struct arch_params *arch; /* of one-bit labels of a file of kind full; NULL: none */
	const struct store_code *given; /* files, functions and lines of statements; NULL: out of the files that the program mapped */
};

/* What went wrong: with the input, or (input 0) with the file written */
struct store_fault {
	int input;
	int line;                       /* off is a line's number */
	uint64_t off, rec;              /* UINT64_MAX: unknown */
	char err[256];
};

/* The file to be written, and what comes into it.  0, or -1: see *f. */
int store_text(const char *text, struct wetfile_writer *w, const struct store_opts *o, struct store_fault *f);
int store_replay(const char *capture, struct wetfile_writer *w, const struct store_opts *o, struct store_fault *f);
int store_full(const char *capture, struct wetfile_writer *w, const struct store_opts *o, struct store_fault *f);
int store_loads(const char *capture, struct wetfile_writer *w, const struct store_opts *o, struct store_fault *f);

/*
 * Of a file of kind replay: its code (which store_code_free frees), and its
 * capture, handed over piece by piece (not 0 ends it).  0, or -1: see *f.
 */
int store_replay_code(const struct wetfile *w, struct store_code *c, struct fault *f);
int store_replay_capture(const struct wetfile *w, int (*put)(void *arg, const void *p, size_t n), void *arg, struct fault *f);

/* The state before segment k of such a file, from 0: its bytes of control_save (the caller frees b), executions of statements in it */
struct store_state {
	uint64_t instances, statements; /* before it, as itrace.h and as wettext(5) count */
	struct buf control;
	uint64_t *count;                /* of each statement in the segment; owned by whoever asked */
};
size_t store_replay_segments(const struct wetfile *w);
int store_replay_state(const struct wetfile *w, const struct store_code *c, size_t k, struct store_state *s, struct fault *f);
void store_state_free(struct store_state *s);

#endif
