/*
 * Internal to queries: what all backends have in common.  A capture is
 * replayed (capture.c); a .wet file is read as a run (run.c), but one of kind
 * replay has its capture replayed (replay.c).
 */
#ifndef TM_WET_QUERY_QUERY_INTERNAL_H
#define TM_WET_QUERY_QUERY_INTERNAL_H

#include "base/progress.h"
#include "format/wetfile/wetfile.h"
#include "wet/query/query.h"

#define QRSP    4u                      /* the register rsp in facts */

/* A backend: the functions of query.h with these names */
struct query_ops {
	int (*survey)(struct query *q, int slices);
	int (*has_stmt)(struct query *q, uint32_t id);
	void (*source)(struct query *q, uint32_t id, const char **file, const char **func, int *line);
	int (*position)(struct query *q, uint32_t id, uint64_t instance, uint64_t *n);
	int (*flow)(struct query *q, uint64_t from, uint64_t count, int backward,
	    query_path_fn *fn, void *arg);
	int (*insns)(struct query *q, uint32_t id, uint64_t from, uint64_t to, unsigned fields,
	    query_insn_fn *fn, void *arg);
	int (*insn_at)(struct query *q, uint32_t id, uint64_t instance, unsigned fields,
	    query_insn_fn *fn, void *arg);
	int (*slice)(struct query *q, struct query_slice *s);
	int (*deps)(struct query *q, const struct query_slice *s, query_dep_fn *fn, void *arg);
	/* of captures and files of kind replay; else NULL */
	int (*writer)(struct query *q, uint64_t n, uint64_t addr, uint64_t len, struct query_edge *e);
	int (*output)(struct query *q, int fd, uint64_t byte, uint64_t *n, uint64_t *addr);
	int (*variable)(struct query *q, const char *name, struct wsource_at *at, uint64_t *addr,
	    uint64_t *size);
	int (*address)(struct query *q, const char *module, uint64_t addr, size_t *at, uint64_t *pc);
	int (*killed)(struct query *q);
	int (*states)(struct query *q, const uint64_t *n, size_t count, query_state_fn *fn, void *arg);
	int (*whynot)(struct query *q, const uint64_t *pc, size_t n, struct query_branch *b, size_t most);
	int (*line)(struct query *q, const char *name, int line, query_line_fn *fn, void *arg);
	int (*place)(struct query *q, uint64_t pc, struct debug_frame *f);
	void (*close)(struct query *q);         /* is also called if opening failed */
	/* optional, may be NULL */
	const struct ws_early *(*early)(struct query *q);
	void (*set_window)(struct query *q, uint64_t n);
	int (*may_have_source)(struct query *q, uint32_t id, const char *name);
	const char *(*source_warning)(struct query *q);
	struct timespec (*source_mtime)(struct query *q, uint32_t id);
};

struct query {
	const struct query_ops *ops;
	struct fault fault;
	char *file;                     /* owned */
	struct ws_early early;          /* where the capture ended early, if query_early has found that */
	struct query_stmt *stmt;        /* by id - 1; owned */
	size_t nstmt;
	uint64_t *names;                /* by id - 1, ascending (query_stmt_name); owned; NULL: the ids */
	uint64_t length;                /* instances of the run */
	uint64_t *in_slice;             /* a bit for each instance: query_clear_slice; owned */
	size_t slice_bytes;             /* size of in_slice; 0: not allocated yet */
	/* The state of the backend, which ops->close frees */
	struct qcap *cap;               /* a capture, also that of a .wet file of kind replay */
	struct qreplay *replay;         /* a .wet file of kind replay */
	struct run *run;                /* any other .wet file */
	struct slicer *slicer;          /* the slicer of run */
};

/* Functions that return int return -1 on failure: no memory unless q->fault has a message. */
int query_open_capture(struct query *q);
int query_open_wet(struct query *q, int fd);                    /* takes ownership of fd, on failure too */
int query_open_run(struct query *q, struct wetfile *w);         /* takes ownership of *w, not on failure */
int query_open_replay(struct query *q, struct wetfile *w);      /* takes ownership of *w, not on failure */
/* set the fault; return -1 */
int query_fail_at(struct query *q, const struct fault *f);
int query_fail(struct query *q, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* makes in_slice empty; it has n bits, the same number in each call for q */
int query_clear_slice(struct query *q, uint64_t n);

static inline int
query_in_slice(const struct query *q, uint64_t n)
{
	return q->in_slice[n / 64] >> n % 64 & 1;
}

static inline void
query_set_in_slice(struct query *q, uint64_t n)
{
	q->in_slice[n / 64] |= UINT64_C(1) << n % 64;
}

static inline void
query_drop_from_slice(struct query *q, uint64_t n)
{
	q->in_slice[n / 64] &= ~(UINT64_C(1) << n % 64);
}

/* A mask of the instances n to n + 63 that are in the slice; and a function that adds those of a mask */
static inline uint64_t
query_in_slice_mask(const struct query *q, uint64_t n)
{
	const uint64_t *m = q->in_slice + n / 64;

	return m[0] >> n % 64 | m[1] << 1 << (63 - n % 64);
}

static inline void
query_set_in_slice_mask(struct query *q, uint64_t n, uint64_t mask)
{
	uint64_t *m = q->in_slice + n / 64;

	m[0] |= mask << n % 64;
	m[1] |= mask >> 1 >> (63 - n % 64);
}

/* Tells a user who waits how far a pass over a file's segments is, in instructions. */
static inline void
query_progress(uint64_t done, uint64_t all)
{
	if (progress_due(done))
		progress_show(PROGRESS_INSTRUCTIONS, done, all);
}

/* A query for control flow */
struct qflow {
	struct query *q;
	query_path_fn *fn;
	void *arg;
	uint64_t left;                  /* statements that are still wanted */
};

/* Hands over [g.from, g.to) of a path, but at most f->left statements.  1: no more are wanted */
static inline int
query_emit_path(struct qflow *f, struct query_path g, int backward)
{
	uint32_t n = g.to - g.from;

	if (n > f->left) {
		n = (uint32_t)f->left;
		if (backward)
			g.from = g.to - n;
		else
			g.to = g.from + n;
	}
	f->left -= n;
	return (n && f->fn(f->arg, &g) != 0) || f->left == 0;
}

#endif
