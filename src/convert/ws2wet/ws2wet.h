/* State and functions shared by the files of ws2wet. */
#ifndef TM_CONVERT_WS2WET_H
#define TM_CONVERT_WS2WET_H

#include "base/out.h"
#include "cfg/control.h"
#include "cfg/source.h"
#include "replay/itrace/itrace.h"
#include "wet/model/statements.h"

#define NONE STMT_NONE
#define VISIT_WHAT 0u                   /* the same for all passes, so that they have the same blocks */

/* A list of the text: writers of port `port` of a statement, or its values. */
struct unit {
	uint32_t stmt, port;            /* port NONE: values */
	/* One word, or nval, for each instance: statement << 32 | instance; 0: none. */
	uint64_t *slot;
	struct more *more;              /* further writers of an instance, in order; owned */
	size_t nmore, capmore;
};
struct more { uint64_t x, who; };

/* The statement and instance number of each instance of the run. */
struct table {
	uint64_t *ent;                  /* atom << 32 | its instance; or GAP, SAME */
	uint64_t *idx;                  /* for each 32nd instance: entry << 8 | offset in it */
	uint64_t base, n, end;          /* the first instance; number of entries; the next instance */
	uint64_t most;                  /* maximum number of instances */
};

struct job {
	const char *path, *name, *symbol;       /* of the capture; name is for diagnostics */
	struct out *out;
	uint64_t from, to;              /* the region: instances from + 1 to `to` */
	uint64_t budget;
	int main_only, strict;
	int bad;                        /* the run ends with a fault */
	struct fault fault;
	struct ws_early early;          /* does the capture end before the program? */
	struct wcode code;
	struct wsource *source;
	struct stmts stmts;             /* of the region; only those in the text have ids */
	uint64_t *count;                /* executions of each statement in the region; owned */
	uint32_t *byid;                 /* index of each statement, by id - 1; owned */
	struct table table;
};

/* pass.c: finds the code, the region, the statements in it; errors exit */
void job_code(struct job *j);
void job_count(struct job *j);
_Noreturn void job_bad(struct job *j, const struct fault *f);
_Noreturn void job_nomem(void);
/* Opens a visit of the capture; errors exit. */
struct visit *job_visit(struct job *j, unsigned what);

/* table.c: table_new, then one call for each atom, gap or signal in order */
void table_new(struct table *t, uint64_t base, uint64_t n);
void table_free(struct table *t);
void table_atom(struct table *t, uint32_t atom, uint32_t instance, uint32_t len);
void table_gap(struct table *t, uint64_t n);
void table_repeat(struct table *t);     /* one instance, as the previous one */
/* looks up instance n: id << 32 | instance; 0: not in the text */
uint64_t table_lookup(const struct job *j, uint64_t n);

/*
 * fill.c, text.c: fill and write the lists of as many statements as the budget allows, until
 * all are done; then the trailer.
 */
void job_names(struct job *j);  /* warns about mapped files without debug information */
void job_text(struct job *j);   /* writes all lists */
/* fills the lists of nunit units in one visit */
void fill_lists(struct job *j, struct unit *unit, size_t nunit);
void job_order(struct job *j);  /* writes the trailer: the order of execution */

#endif
