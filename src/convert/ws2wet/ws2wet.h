/* Parts of ws2wet. */
#ifndef TM_CONVERT_WS2WET_H
#define TM_CONVERT_WS2WET_H

#include "base/out.h"
#include "engine/wet/control.h"
#include "engine/wet/port.h"
#include "engine/wet/source.h"

#define NONE UINT32_MAX
#define VISIT_WHAT 0u                   /* of all passes alike, so that their blocks are the same */

/* A static instruction */
struct stmt {
	uint64_t pc, count;             /* executions in the region */
	uint32_t id;                    /* from 1, in order of first execution; 0: not in the text */
	uint32_t hnext;
	uint32_t prev, next;            /* those it is always executed with; NONE */
	uint32_t atom, off;             /* its sequence of such, and place in it */
	uint16_t nuse, nmem;            /* registers, references that read */
	uint16_t val;                   /* first word of the value among its values */
	uint8_t nval, any;              /* words, 0: no values; any: one port for all references */
	uint8_t len, b[15];
	uint8_t joined;                 /* 1: prev was set, 2: next was; another one later makes it NONE */
};

/* Instructions that are always executed one after the other */
struct atom { uint32_t first, len, count; };

/* A block of a visit */
struct blk {
	const struct visit_at *at;
	uint32_t n;
	uint32_t *stmt;                 /* owned, n of them; NONE */
	uint64_t count;
	struct want *want;              /* owned; of this batch */
	uint32_t nwant;
	int looked;                     /* want is made */
};

struct blks { struct blk *slot; size_t n, nslot; };

/* A list of the text: port `port` of a statement, or its values */
struct unit {
	uint32_t stmt, port;            /* port NONE: values */
	uint64_t *slot;                 /* one, or nval, for each instance: statement << 32 | instance; 0: none */
	struct more *more;              /* second and later writers of an instance, in order; owned */
	size_t nmore, capmore;
};
struct more { uint64_t x, who; };
struct want { uint32_t unit; uint16_t i, later; };   /* instruction i of the block; later: how often it comes again in it */

/* Who instance n was */
struct table {
	uint64_t *ent;                  /* atom << 32 | its instance, or GAP, SAME */
	uint64_t *idx;                  /* for each 32nd n: entry << 8 | how far into it */
	uint64_t base, n, end;          /* first instance; entries; the next instance */
	uint64_t most;                  /* instances that there is room for */
};

struct job {
	const char *path, *symbol;
	struct out *out;
	uint64_t from, to;              /* the region: instances from + 1 to `to` */
	uint64_t budget;
	int main_only, strict;
	int bad;                        /* the run ends with a fault */
	struct replay_fault fault;
	struct wcode code;
	struct wsource *source;
	struct stmt *stmt;
	uint32_t *hash;
	size_t nstmt, capstmt, nhash;
	uint32_t nid;
	uint32_t *byid;                 /* statement of each id - 1 */
	struct atom *atom;
	uint32_t *atomstmt;             /* statements of all atoms */
	size_t natom, capatom;
	struct table table;
};

/* pass.c: the code, the region, the statements in it */
void job_code(struct job *j);
void job_count(struct job *j);
_Noreturn void job_bad(struct job *j, const struct replay_fault *f);
_Noreturn void job_nomem(void);
struct visit *job_visit(struct job *j, unsigned what);

/* stmt.c */
uint32_t stmt_of(struct job *j, const struct fact *f);          /* made if there is none */
struct blk *blk_of(struct job *j, struct blks *b, const struct visit_run *r);
void blks_free(struct blks *b);
void stmt_link(struct job *j, const struct blk *b);             /* its instructions are executed one after the other */
void job_atoms(struct job *j);          /* all blocks are known */

/* table.c */
void table_new(struct table *t, uint64_t base, uint64_t n);
void table_free(struct table *t);
void table_atom(struct table *t, uint32_t atom, uint32_t instance, uint32_t len);
void table_gap(struct table *t, uint64_t n);
void table_same(struct table *t);       /* as the one before */
uint64_t table_who(const struct job *j, uint64_t n);            /* id << 32 | instance; 0: not in the text */

/* fill.c, text.c: the lists of some statements, as many as the budget allows, and again; the trailer */
void job_text(struct job *j);
void fill(struct job *j, struct unit *unit, size_t nunit);
void unit_put(struct job *j, const struct unit *u);
void job_order(struct job *j);

#endif
