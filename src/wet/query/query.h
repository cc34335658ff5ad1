/*
 * Questions about a whole run: its statements, control flow, the values and
 * addresses of a statement, slices.  Answered from a capture, of which only
 * what a question needs is replayed; or from a .wet file, wet(5), of which
 * only what a question needs is decoded.
 *
 * Statements have ids from 1 in order of their first execution, instances of
 * a statement count from 0, as in the text of wettext(5).  A text of another
 * tool may number its statements otherwise: here they have ids from 1 in the
 * order of those numbers, which query_stmt_name returns.  Positions are
 * instances of the whole run, from 1: on captures those of itrace.h, which
 * count signals as well; of .wet files only kind replay has signals.
 *
 * Functions that return int give -1 after a failure, see query_fault.
 */
#ifndef TM_WET_QUERY_QUERY_H
#define TM_WET_QUERY_QUERY_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "base/fault.h"
#include "format/ws/ws.h"
#include "wet/model/port.h"

struct query;

struct query_stmt {
	uint64_t pc, count;             /* count: executions, after query_survey */
	struct wport port;
	uint8_t len, b[15];
};

struct query *query_open(const char *path, struct fault *f);     /* NULL: see *f */
void query_close(struct query *q);
const struct fault *query_fault(const struct query *q);
const struct ws_early *query_early(struct query *q);    /* of its capture, as replay_early; as long as q */

/*
 * Backward questions of a capture have n instances in memory at a time (8
 * million by default), about 27 bytes each.  Before query_survey.
 */
void query_set_window(struct query *q, uint64_t n);

/* All statements and their counts; slices: also what slices need.  Again: nothing is done twice */
int query_survey(struct query *q, int slices);
uint32_t query_nstmt(const struct query *q);                    /* known so far; all after query_survey */
const struct query_stmt *query_stmt(const struct query *q, uint32_t id);
uint64_t query_length(const struct query *q);                   /* the last position, after query_survey */

/*
 * The number of a statement in the file, mostly id; and back: 0: no such statement, else
 * query_has_stmt says
 */
uint64_t query_stmt_name(const struct query *q, uint32_t id);
uint32_t query_find_stmt(const struct query *q, uint64_t name);
int query_has_stmt(struct query *q, uint32_t id);               /* reads on to its first execution only */

/* Where a statement is in source files, after query_survey; NULL and 0: unknown */
void query_source(struct query *q, uint32_t id, const char **file, const char **func, int *line);

/* After query_source: why a mapped file has no source lines, one file a call; NULL: no more */
const char *query_source_warning(struct query *q);
/* of the file that the statement is in; 0: unknown */
struct timespec query_source_mtime(struct query *q, uint32_t id);

/* The position of an instance, after query_survey: 1, or 0: no such instance */
int query_position(struct query *q, uint32_t id, uint64_t instance, uint64_t *n);

/* Statements that were executed one after the other */
struct query_path {
	const uint32_t *id;             /* n of them, as long as q */
	uint32_t n, path;               /* path: the number of this sequence, always the same for it */
	uint32_t from, to;              /* of these, [from, to) were executed */
};

/*
 * The control flow from position `from` on, at most count statements, forward
 * or backward: then paths come in reverse order, each to be read from its end.
 * Forward from 1 needs no survey.  fn returns not 0 to stop.
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

/* The fields of instances that are asked for: a .wet file of kind full does not decode the others */
enum query_fields { QUERY_VALUES = 1, QUERY_REFS = 2 };

/* Instances [from, to] of a statement that is known (query_has_stmt), as far as they exist, in order */
typedef int query_insn_fn(void *arg, const struct query_insn *e);
int query_insns(struct query *q, uint32_t id, uint64_t from, uint64_t to, unsigned fields,
    query_insn_fn *fn, void *arg);

/* One instance; fast if others were asked for before: 1, or 0: no such instance */
int query_insn_at(struct query *q, uint32_t id, uint64_t instance, unsigned fields,
    query_insn_fn *fn, void *arg);

enum query_flags {
	QUERY_FORWARD = 1,              /* what depends on it, not what it depends on */
	QUERY_DATA = 2,                 /* without control dependence */
	QUERY_RSP = 4                   /* with dependences by rsp: a push depends on all before it */
};

struct query_slice {
	uint64_t n;                     /* position of the instance that it is of, which belongs to it */
	unsigned flags;
	/* its instances, last first (QUERY_FORWARD: first first); NULL: only counts */
	query_insn_fn *fn;
	void *arg;
	uint64_t *count;                /* instances of each statement, by id - 1, are added; the caller's */
	uint64_t total;                 /* of all statements; set */
};

/* After query_survey with slices */
int query_slice(struct query *q, struct query_slice *s);

/*
 * The dependences between the instances of the slice that was asked for last,
 * in order of the later one: id depends on `on`.  Those of an instance on
 * another come once a port, and a part of a string instruction.
 */
struct query_dep { uint32_t id, on, port; uint64_t n, onn; };
typedef int query_dep_fn(void *arg, const struct query_dep *d);
int query_deps(struct query *q, const struct query_slice *s, query_dep_fn *fn, void *arg);

#endif
