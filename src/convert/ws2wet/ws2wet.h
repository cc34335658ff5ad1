/* Parts of ws2wet. */
#ifndef TM_CONVERT_WS2WET_H
#define TM_CONVERT_WS2WET_H

#include "base/out.h"
#include "cfg/control.h"
#include "cfg/source.h"
#include "replay/itrace/itrace.h"
#include "wet/model/statements.h"

#define NONE STMT_NONE
#define VISIT_WHAT 0u                   /* of all passes alike, so that their blocks are the same */

/* A list of the text: port `port` of a statement, or its values */
struct unit {
	uint32_t stmt, port;            /* port NONE: values */
	uint64_t *slot;                 /* one, or nval, for each instance: statement << 32 | instance; 0: none */
	struct more *more;              /* second and later writers of an instance, in order; owned */
	size_t nmore, capmore;
};
struct more { uint64_t x, who; };

/* Who instance n was */
struct table {
	uint64_t *ent;                  /* atom << 32 | its instance, or GAP, SAME */
	uint64_t *idx;                  /* for each 32nd n: entry << 8 | how far into it */
	uint64_t base, n, end;          /* first instance; entries; the next instance */
	uint64_t most;                  /* instances that there is room for */
};

struct job {
	const char *path, *name, *symbol;       /* name: of the capture, for diagnostics */
	struct out *out;
	uint64_t from, to;              /* the region: instances from + 1 to `to` */
	uint64_t budget;
	int main_only, strict;
	int bad;                        /* the run ends with a fault */
	struct replay_fault fault;
	struct ws_early early;          /* it does before the program */
	struct wcode code;
	struct wsource *source;
	struct stmts stmts;             /* of the region; ids: those that are in the text */
	uint64_t *count;                /* of each statement: executions in the region; owned */
	uint32_t *byid;                 /* statement of each id - 1; owned */
	struct table table;
};

/* pass.c: the code, the region, the statements in it */
void job_code(struct job *j);
void job_count(struct job *j);
_Noreturn void job_bad(struct job *j, const struct replay_fault *f);
_Noreturn void job_nomem(void);
struct visit *job_visit(struct job *j, unsigned what);

/* table.c */
void table_new(struct table *t, uint64_t base, uint64_t n);
void table_free(struct table *t);
void table_atom(struct table *t, uint32_t atom, uint32_t instance, uint32_t len);
void table_gap(struct table *t, uint64_t n);
void table_same(struct table *t);       /* as the one before */
uint64_t table_who(const struct job *j, uint64_t n);            /* id << 32 | instance; 0: not in the text */

/* fill.c, text.c: the lists of some statements, as many as the budget allows, and again; the trailer */
void job_names(struct job *j);         /* says of which files nothing is known */
void job_text(struct job *j);
void fill_lists(struct job *j, struct unit *unit, size_t nunit);
void job_order(struct job *j);

#endif
