/*
 * A run, segment by segment, whatever kind of .wet file it is stored in: its
 * statements and how often they were executed, the paths of a segment, and
 * what its instances depend on, computed and referred to.  A provider a kind
 * (full.c, paper.c, text.c) decodes; answers and slices are made of this alone.
 *
 * Statements have ids from 1.  An instance is known by `who`: id << 32 |
 * instance; or by its number, counting all instances statement by statement.
 */
#ifndef TM_WET_RUN_RUN_H
#define TM_WET_RUN_RUN_H

#include "format/wetfile/wetfile.h"
#include "wet/file/full/code.h"
#include "wet/file/full/reader.h"
#include "wet/query/query.h"

/* Words of wettext(5) as they were; NULL: unknown */
struct run_names { char **s; size_t n; };

struct run_count { uint32_t id, n; };   /* executions of a statement */

struct run_segment {
	uint64_t n;                     /* statements executed before it */
	struct run_count *count;        /* of the statements that are executed in it, by id; owned */
	size_t ncount;
};

/* What is going to be asked for of a segment, besides its paths */
enum run_fields { RUN_VALUES = QUERY_VALUES, RUN_REFS = QUERY_REFS, RUN_DEPS = 4 };

/* Instances [from, to] of a statement in a segment, counted from 0, as far as there are any of its n */
struct run_insns {
	struct query_insn e;            /* its id */
	uint64_t before, from, to, n;   /* before: instances in the segments before */
	unsigned fields;                  /* RUN_VALUES, RUN_REFS */
	query_insn_fn *fn;
	void *arg;
};

struct run;

/* What a provider does.  Functions that return int give 0, or -1 and r->fault, unless they say more. */
struct run_ops {
	int (*open)(struct run *r);             /* of the file r->w: code, segments, and what there is not */
	/* Segment k is what the functions below are about, r->npath its paths */
	int (*enter)(struct run *r, size_t k, unsigned fields);
	void (*path)(const struct run *r, size_t i, struct query_path *p);
	/*
	 * What instances depend on, port by port, of the first `upto` statements executed at least.  only: of
	 * statements (ids less 1) for which it is not 0, if r->deps_by_stmt; else of all, once after enter.  fn: not
	 * 0 without memory.
	 */
	int (*deps)(struct run *r, const uint8_t *only, uint64_t upto, store_use_fn *fn, void *arg);
	/* Values of these statements are there for insn; NULL: they are already */
	int (*values)(struct run *r, const uint8_t *only);
	/* Value and references of e, instance x of the segment */
	void (*insn)(struct run *r, struct query_insn *e, uint32_t x);
	/* Instances of a statement in segment k, without enter; 1: a->fn had enough */
	int (*insns)(struct run *r, size_t k, struct run_insns *a);
	/* what the provider owns, also if it was opened only in part */
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
	uint64_t *first;                /* number of each one's instance 0, and of all instances; owned */
	/* nseg of them, and one behind that has the length of the run; owned */
	struct run_segment *seg;
	size_t nseg;
	size_t npath;                   /* of the segment that was entered */
	/*
	 * Dependences lead back in time and come so: of each instance in order, port 0 first,
	 * whether it has any
	 */
	int deps_in_time;
	int deps_by_stmt;                    /* dependences of some statements cost less than those of all */
	/* all is in one segment, and may depend on what is executed later */
	int deps_unordered;
	/*
	 * Why there is no control flow, no references, no slices without the stack pointer;
	 * NULL: there are
	 */
	const char *no_order, *no_refs, *no_rsp;
};

/* A run out of a .wet file, which it takes over (fd, too) unless it fails.  NULL: *fault */
struct run *run_open(const struct wetfile *w, struct fault *fault);
void run_close(struct run *r);          /* and the file */

static inline uint64_t run_length(const struct run *r) { return r->seg[r->nseg].n; }
uint32_t run_count(const struct run *r, size_t k, uint32_t id);         /* executions in segment k */
/* the segment of position n */
size_t run_find_segment(const struct run *r, uint64_t n);

int run_names_make(struct run_names *t, const struct store_code *c);    /* 0, or -1 without memory */
void run_names_free(struct run_names *t);
void run_names_find(const struct run_names *t, const struct store_stmt *s, const char **file, const char **func,
    int *line);

/* For providers; functions that return int give 0 or -1 */
int run_nomem(struct run *r);                   /* -1 */
int run_fail(struct run *r, const char *err);    /* -1: not at a place of the file */
/* each statement is executed so often in segment k */
int run_set_segment(struct run *r, size_t k, const uint32_t *n);
struct run *run_full_new(void);                 /* with its operations, to be opened; NULL: no memory */
struct run *run_paper_new(void);
struct run *run_text_new(void);

#endif
