/*
 * One interface to a stored run, whatever kind of .wet file it is in: its
 * statements and their counts and, segment by segment, its paths, values,
 * references and dependences.  Each kind has a provider (full.c, paper.c,
 * text.c), which decodes the file; queries and slices use only this interface.
 *
 * Statements have ids from 1.  An instance is named by `who`, id << 32 |
 * instance; or by its number: instances are numbered from 0, those of
 * statement 1 first, then those of statement 2, and so on.
 */
#ifndef TM_WET_RUN_RUN_H
#define TM_WET_RUN_RUN_H

#include "format/wetfile/wetfile.h"
#include "wet/file/full/code.h"
#include "wet/file/full/links.h"
#include "wet/query/query.h"

/* The strings of a struct store_code without their escapes; NULL: unknown */
struct run_names { char **s; size_t n; };

struct run_segment {
	uint64_t n;                     /* statements executed before it */
	struct store_count *count;      /* of the statements that are executed in it, sorted by id; owned, or the provider's */
	size_t ncount;
};

/* Fields of a segment that are needed besides its paths */
enum run_fields { RUN_VALUES = QUERY_VALUES, RUN_REFS = QUERY_REFS, RUN_DEPS = 4 };

/* A request for instances [from, to] of the n that a statement has in a segment, counted from 0 */
struct run_insns {
	struct query_insn e;            /* e.id is the statement */
	uint64_t before, from, to, n;   /* before: its instances in the segments before */
	unsigned fields;                /* RUN_VALUES, RUN_REFS */
	query_insn_fn *fn;
	void *arg;
};

struct run;

/*
 * Functions of a provider.  Those that return int give 0, or -1 and r->fault, without a message if
 * memory ran out, unless they say more.
 */
struct run_ops {
	int (*open)(struct run *r);             /* opens the file r->w: sets code, seg, no_order and so on */
	/* makes segment k the current one, which the functions below are about; sets r->npath */
	int (*enter)(struct run *r, size_t k, unsigned fields);
	void (*path)(const struct run *r, size_t i, struct query_path *p);
	/*
	 * Calls fn with the dependences of instances, port by port, at least of the first `upto`
	 * statements executed in the segment.  If r->deps_by_stmt, only for statements (id less 1)
	 * whose `only` is not 0; else for all of them, and it may be called once after enter.  fn
	 * returns not 0 without memory.
	 */
	int (*deps)(struct run *r, const uint8_t *only, uint64_t upto, store_use_fn *fn, void *arg);
	/*
	 * The dependences of segment k as arrays, and the numbers of its paths, until the next call.  A
	 * caller that asks for segment after segment is given the next ones soon.  about: 0, or an instance
	 * from before the segment, if only dependences on it are asked: if there are none, *l may be NULL.
	 * links NULL: it cannot be asked
	 */
	int (*links)(struct run *r, size_t k, uint64_t about, const struct links **l, const struct col **path);
	/* decodes the values of these statements for insn; NULL: enter has decoded all */
	int (*values)(struct run *r, const uint8_t *only);
	/* sets the value and references of e, instance x of the segment */
	void (*insn)(struct run *r, struct query_insn *e, uint32_t x);
	/* calls a->fn with instances of a statement in segment k, without enter; 1: a->fn wants no more */
	int (*insns)(struct run *r, size_t k, struct run_insns *a);
	/* frees what the provider owns, also after open failed */
	void (*close)(struct run *r);
};

struct run {
	const struct run_ops *ops;
	struct wetfile w;
	struct fault fault;
	const struct store_code *code;  /* statements, by id - 1; borrowed */
	struct run_names names;         /* of its files and functions */
	/* names of statements, by id - 1, ascending; owned; NULL: their ids */
	uint64_t *stmt_name;
	uint64_t *total;                /* executions of each statement; owned */
	uint64_t *first;                /* number of instance 0 of each statement, then of instances; owned */
	/* nseg segments, then one whose n is the length of the run; owned */
	struct run_segment *seg;
	size_t nseg;
	size_t npath;                   /* paths of the current segment */
	/*
	 * Instances depend on earlier ones only, and ops->deps calls fn in order of time, for each
	 * instance with port 0 first, even if that has no dependence.
	 */
	int deps_in_time;
	int deps_by_stmt;               /* dependences of some statements cost less than those of all */
	/* there is only one segment, and instances may depend on later ones */
	int deps_unordered;
	/*
	 * Reasons why there is no control flow, no references, no slices without dependences by
	 * the stack pointer; NULL: there are
	 */
	const char *no_order, *no_refs, *no_rsp;
};

/*
 * Opens a run.  It takes ownership of *w and its fd, but not on failure.  NULL: *fault, without a
 * message if memory ran out
 */
struct run *run_open(const struct wetfile *w, struct fault *fault);
void run_close(struct run *r);          /* closes the file, too */

static inline uint64_t run_length(const struct run *r) { return r->seg[r->nseg].n; }
uint32_t run_count(const struct run *r, size_t k, uint32_t id);         /* executions in segment k */
/* sets count[s] to the executions of statement s + 1 before segment k */
void run_counts_before(const struct run *r, size_t k, uint32_t *count);
/* the segment of position n */
size_t run_find_segment(const struct run *r, uint64_t n);

int run_names_make(struct run_names *t, const struct store_code *c);    /* 0, or -1 without memory */
void run_names_free(struct run_names *t);
void run_names_find(const struct run_names *t, const struct store_stmt *s, const char **file,
    const char **func, int *line);

/* For providers; functions that return int give 0 or -1 */
int run_fail(struct run *r, const char *err);   /* sets the fault, without a place in the file; -1 */
/* sets the counts of segment k: statement s + 1 is executed n[s] times */
int run_set_segment(struct run *r, size_t k, const uint32_t *n);
struct run *run_full_new(void);                 /* has ops, must be opened; NULL: no memory */
struct run *run_paper_new(void);
struct run *run_text_new(void);

#endif
