/*
 * Queries of a whole run: its statements, control flow, the values and
 * addresses of a statement, slices.  The run is a capture or a .wet file,
 * wet(5).  Only the part of it that a query needs is replayed or decoded.
 *
 * Statements have ids from 1 in order of their first execution, and instances
 * of a statement are numbered from 0, as in wettext(5).  A text that another
 * tool made may number its statements differently: here they have ids from 1
 * in the order of those numbers, which query_stmt_name returns.  A position is
 * the number of an instance in the whole run, from 1.  Captures and .wet files
 * of kind replay have positions of itrace.h, which count signals as well; other
 * .wet files have no signals.
 *
 * Functions that return int return -1 on failure; see query_fault.
 */
#ifndef TM_WET_QUERY_QUERY_H
#define TM_WET_QUERY_QUERY_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "base/fault.h"
#include "cfg/source.h"
#include "format/debug/debug.h"
#include "format/ws/ws.h"
#include "wet/model/port.h"

struct query;

struct query_stmt {
	uint64_t pc, count;             /* count: executions, valid after query_survey */
	struct wport port;
	uint8_t len, b[15];
};

struct query *query_open(const char *path, struct fault *f);    /* NULL: see *f */
void query_close(struct query *q);
const struct fault *query_fault(const struct query *q);
/* where its capture ended early, as replay_early; NULL: it did not.  Valid as long as q */
const struct ws_early *query_early(struct query *q);

/*
 * Sets how many instances backward queries of a capture have in memory at a
 * time (8 million by default), about 27 bytes each.  Call it before
 * query_survey.
 */
void query_set_window(struct query *q, uint64_t n);

/* Finds all statements and their counts; slices: also what slices need.  Repeated calls cost nothing. */
int query_survey(struct query *q, int slices);
uint32_t query_nstmt(const struct query *q);                    /* known so far; all after query_survey */
const struct query_stmt *query_stmt(const struct query *q, uint32_t id);
uint64_t query_length(const struct query *q);                   /* the last position, after query_survey */

/*
 * The number of a statement in the file, which is its id unless a text has other numbers; and the
 * reverse.  query_find_stmt returns 0 if there is no such statement; ask query_has_stmt about others.
 */
uint64_t query_stmt_name(const struct query *q, uint32_t id);
uint32_t query_find_stmt(const struct query *q, uint64_t name);
/* Does the statement exist?  Replays only up to its first execution. */
int query_has_stmt(struct query *q, uint32_t id);

/* Where a statement is in source files, after query_survey; NULL and 0: unknown */
void query_source(struct query *q, uint32_t id, const char **file, const char **func, int *line);

/* 0: the statement is of no source file with this name (without folders); quicker than query_source */
int query_may_have_source(struct query *q, uint32_t id, const char *name);
/* After query_source: why a mapped file has no source lines, one file a call; NULL: no more */
const char *query_source_warning(struct query *q);
/* modification time of the mapped file that contains the statement; 0: unknown */
struct timespec query_source_mtime(struct query *q, uint32_t id);

/* Sets *n to the position of an instance, after query_survey.  1, or 0: no such instance */
int query_position(struct query *q, uint32_t id, uint64_t instance, uint64_t *n);

/* Statements that were executed one after the other */
struct query_path {
	const uint32_t *id;             /* n statements; valid as long as q */
	uint32_t n, path;               /* path: the number of this sequence of statements */
	uint32_t from, to;              /* of these, [from, to) were executed */
};

/*
 * Calls fn with the control flow from position `from` on, at most count
 * statements.  Backward, paths come in reverse order, and each is to be read
 * from its end.  Forward from position 1, no survey is needed.  fn returns not
 * 0 to stop.
 */
typedef int query_path_fn(void *arg, const struct query_path *p);
int query_flow(struct query *q, uint64_t from, uint64_t count, int backward, query_path_fn *fn, void *arg);

/* An instance of a statement */
struct query_insn {
	uint32_t id, nval;
	uint64_t instance, n;           /* n: position */
	const uint64_t *val;            /* words of its value, the lowest first */
	const uint64_t *ref;            /* its references, words of ref.h */
	size_t nref;
};

/* The fields of instances that are wanted; others may be missing, as they cost time. */
enum query_fields { QUERY_VALUES = 1, QUERY_REFS = 2 };

/* Calls fn with the existing instances in [from, to] of a known statement (query_has_stmt), in order. */
typedef int query_insn_fn(void *arg, const struct query_insn *e);
int query_insns(struct query *q, uint32_t id, uint64_t from, uint64_t to, unsigned fields,
    query_insn_fn *fn, void *arg);

/* Calls fn with one instance.  The first call surveys a capture.  1, or 0: no such instance */
int query_insn_at(struct query *q, uint32_t id, uint64_t instance, unsigned fields,
    query_insn_fn *fn, void *arg);

enum query_flags {
	QUERY_FORWARD = 1,              /* instances that depend on the criterion, not those it depends on */
	QUERY_DATA = 2,                 /* without control dependence */
	QUERY_RSP = 4,                  /* with dependences by rsp: a push depends on all before it */
	/*
	 * without registers that only form addresses (wport.addrs): a value and those that it was made
	 * of, not what led to their places, as in the thin slices of Sridharan, Fink and Bodik (2007)
	 */
	QUERY_THIN = 8,
	QUERY_CONTROL = 16,             /* control dependence only */
	/*
	 * for query_slice.edge: dependences of the criterion alone; with QUERY_DATA, control parents,
	 * which are not followed, and of which a capture tells onn alone.  Forward, with edge and fn:
	 * dependences on the criterion alone, then the instance, of which .wet files tell id and number
	 */
	QUERY_STEP = 32,
	QUERY_PARENTS = 64,
	QUERY_ADDRESS = 128,            /* backward, with QUERY_THIN: of the criterion, addresses are followed, too */
	/* .wet files of kinds full and loads tell nval of members, but neither val nor references: decoding takes long */
	QUERY_BARE = 256
};

/*
 * An instance of statement id depends on one of statement `on`, by a use port.  Files of kinds full, loads,
 * paper and text count ports above 15 as 15.
 */
struct query_edge { uint32_t id, port, on; uint64_t instance, oninstance, onn; };
typedef void query_edge_fn(void *arg, const struct query_edge *d);

struct query_slice {
	uint64_t n;                     /* position of the criterion, which belongs to the slice */
	unsigned flags;
	/* called with each instance, the last first (QUERY_FORWARD: the first first); NULL: only counts */
	query_insn_fn *fn;
	/*
	 * backward, with fn: called with each dependence of a member, once that is reported; NULL: not
	 * wanted.  onn, a position, is known for captures only, else 0.
	 */
	query_edge_fn *edge;
	void *arg;
	uint64_t *count;                /* instances of each statement are added, by id - 1; the caller's */
	uint64_t total;                 /* set to the number of instances of all statements */
};

/* Call it after query_survey with slices. */
int query_slice(struct query *q, struct query_slice *s);

/*
 * Who was the last to write one of these bytes before position n, after query_survey with slices: 1 with
 * *e, of which on, oninstance and onn are set; 0: nobody since the program began.  len 0: who defined register
 * addr (fact.h).  Captures only.
 */
int query_writer(struct query *q, uint64_t n, uint64_t addr, uint64_t len, struct query_edge *e);

/*
 * The position of the system call that wrote this byte, counted from 0, of what the program wrote to a
 * descriptor, and where in memory it was: 1, or 0: there is none.  Captures only.
 */
int query_output(struct query *q, int fd, uint64_t byte, uint64_t *n, uint64_t *addr);

/*
 * A variable, and an address in a mapped file, as wsource_variable and wsource_address find them, after
 * query_survey; -1: the file does not tell.  Captures only.
 */
int query_variable(struct query *q, const char *name, struct wsource_at *at, uint64_t *addr, uint64_t *size);
int query_address(struct query *q, const char *module, uint64_t addr, size_t *at, uint64_t *pc);

/*
 * The program at a position, before the instance there: its registers and memory, and the files of its code.  All
 * of it is valid until fn returns.
 */
struct query_state {
	uint64_t n;                     /* the position */
	uint64_t icount;                /* instructions before it, elements of strings counted as in ref(5) */
	const struct ws_regs *regs;
	const uint8_t *xsave;           /* vector and x87 registers, XSAVE's standard format */
	const struct debug_machine *machine;
};
typedef int query_state_fn(void *arg, const struct query_state *s);
/* Calls fn; returns 0, or what fn returned.  After query_survey; captures only */
int query_state(struct query *q, uint64_t n, query_state_fn *fn, void *arg);
/* The same at several positions, ascending, in one replay, until fn returns not 0 */
int query_states(struct query *q, const uint64_t *n, size_t count, query_state_fn *fn, void *arg);
int query_has_state(const struct query *q);     /* does the file tell it? */

/*
 * What debugging information says of a statement's place, as of a program that has stopped there with these
 * registers and without memory: 0, or -1: nothing.  Captures only
 */
int query_place(struct query *q, uint64_t pc, struct debug_frame *f);

/*
 * From which executed instructions a way leads to one of these addresses that were not executed, after query_survey
 * with slices: sets b to at most `most` of them, the nearest first, and returns their number.  A function that was
 * not executed is at its calls.  0: none, or no such code is known.  Captures only.
 */
struct query_branch { uint64_t pc; uint32_t steps; };
int query_whynot(struct query *q, const uint64_t *pc, size_t n, struct query_branch *b, size_t most);

/*
 * The addresses in the program of a line of a file whose path, or the end of whose path after a slash, is `name`;
 * and of the functions that they are in.  fn is called with each; begins: the line begins there, else code of it
 * was moved there.  0, or -1.  Captures only.
 */
typedef void query_line_fn(void *arg, uint64_t pc, uint64_t function, int begins);
int query_line(struct query *q, const char *name, int line, query_line_fn *fn, void *arg);

/* The signal that killed the program, after query_survey; 0: none; -1: the file does not tell. */
int query_killed(struct query *q);

/*
 * Calls fn with the dependences between instances of the last slice, in order
 * of the dependent instance: id at n depends on `on` at onn.  If an instance
 * depends on another by several ports, there is one call a port; the same for
 * several parts of a string instruction.
 */
struct query_dep {
	uint32_t id, on, port;
	int numbered;                   /* n and onn are no positions, but the instances are known: .wet files */
	uint64_t n, onn, instance, oninstance;
};
typedef int query_dep_fn(void *arg, const struct query_dep *d);
int query_deps(struct query *q, const struct query_slice *s, query_dep_fn *fn, void *arg);

#endif
