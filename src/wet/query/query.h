/*
 * Questions about a whole run: its statements, control flow, the values and
 * addresses of a statement, slices.  Answered from a capture, of which only
 * what a question needs is replayed; or from a .wet file, wet(5), of which
 * only what a question needs is decoded.
 *
 * Statements have ids from 1 in order of their first execution, instances of
 * a statement count from 0, as in the text of wettext(5).  A text from elsewhere
 * may call its statements otherwise: here they have ids from 1 in the order of
 * those, which query_stmt_name tells.  Positions are
 * instances of the whole run, from 1: on captures those of itrace.h, which count
 * signals as well; .wet files but those of kind replay know nothing of these.
 *
 * Functions that return int give -1 after a failure, see query_fault.
 */
#ifndef TM_WET_QUERY_QUERY_H
#define TM_WET_QUERY_QUERY_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "format/ws/ws.h"
#include "wet/model/port.h"

struct query;

struct query_fault {
	uint64_t off, rec;              /* byte and record (of a .wet file: section) of the file; UINT64_MAX: none */
	char err[280];
};

struct query_stmt {
	uint64_t pc, count;             /* count: executions, once query_survey has been through */
	struct wport port;
	uint32_t hnext;
	uint8_t len, b[15];
};

struct query *query_open(const char *path, struct query_fault *f);     /* NULL: see *f */
void query_close(struct query *q);
const struct query_fault *query_fault(const struct query *q);
const struct ws_early *query_early(struct query *q);    /* of its capture, as replay_early; as long as q */

/* What goes backward has windows of so many instances (8 million) in memory, about 27 bytes each.  Before query_survey */
void query_set_window(struct query *q, uint64_t n);

/* All statements and counts; slices: and what slices need.  Once for all questions that say so. */
int query_survey(struct query *q, int slices);
uint32_t query_nstmt(const struct query *q);                    /* known so far; all after query_survey */
const struct query_stmt *query_stmt(const struct query *q, uint32_t id);
uint64_t query_length(const struct query *q);                   /* the last position, after query_survey */
uint64_t query_stmt_name(const struct query *q, uint32_t id);         /* what a statement is called: mostly id */
uint32_t query_find_stmt(const struct query *q, uint64_t name);      /* the other way round; 0: none is.  query_has_stmt says whether there is one */
int query_has_stmt(struct query *q, uint32_t id);                   /* is there a statement id?  Looks only as far as it first comes */
void query_source(struct query *q, uint32_t id, const char **file, const char **func, int *line);      /* after query_survey; NULL, 0 */
const char *query_source_warning(struct query *q);   /* after it: of which file nothing is known, and why, each once; NULL: no more */
struct timespec query_source_mtime(struct query *q, uint32_t id);    /* when the file with that statement was changed last; 0: unknown */

/* Where an instance is, after query_survey: 1, or 0: there is none */
int query_position(struct query *q, uint32_t id, uint64_t instance, uint64_t *n);

/* Statements that were executed one after the other */
struct query_path {
	const uint32_t *id;             /* n of them, as long as q */
	uint32_t n, path;               /* path: the number of this sequence, always the same for it */
	uint32_t from, to;              /* what of it is meant: [from, to) */
};

/*
 * The control flow from position `from` on, at most count statements, forward
 * or backward; then paths come the last first, each to be read from its end.
 * Forward from 1 needs no survey.  fn: not 0 is enough.
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

/* What is wanted of instances: a .wet file of kind full has what is not in separate parts */
enum query_fields { QUERY_VALUES = 1, QUERY_REFS = 2 };

/* Instances from `from` to `to` of a statement, as far as there are any, in order; it is known (query_has_stmt) */
typedef int query_insn_fn(void *arg, const struct query_insn *e);
int query_insns(struct query *q, uint32_t id, uint64_t from, uint64_t to, unsigned fields, query_insn_fn *fn, void *arg);

/* One instance, soon if others were asked for before: 1, or 0: there is none */
int query_insn_at(struct query *q, uint32_t id, uint64_t instance, unsigned fields, query_insn_fn *fn, void *arg);

enum query_flags {
	QUERY_FORWARD = 1,              /* what depends on it, not what it depends on */
	QUERY_DATA = 2,                 /* without control dependence */
	QUERY_RSP = 4                   /* with dependences by rsp, which lead from every push to all before it */
};

struct query_slice {
	uint64_t n;                     /* of this instance, which belongs to it */
	unsigned flags;
	query_insn_fn *fn;              /* its instances, the last first (QUERY_FORWARD: the first first); NULL: they are only counted */
	void *arg;
	uint64_t *count;                /* instances of each statement, by id - 1; the caller's, query_nstmt of them; added to */
	uint64_t total;                 /* of all of them; set */
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
