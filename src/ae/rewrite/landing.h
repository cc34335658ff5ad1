/*
 * Exceptions: the call frame directives of functions, and their tables of exceptions (LSDA, as gcc writes it), which
 * say where control goes on in a function when a call in it throws: at a landing pad.
 */
#ifndef TM_AE_REWRITE_LANDING_H
#define TM_AE_REWRITE_LANDING_H

#include "ae/rewrite/file.h"
#include "base/buf.h"

struct callsite {
	uint32_t from, to, pad;         /* labels, by their statements; pad NONE: exceptions leave the function */
	const char *action;             /* the directive's operand */
};

/* The table of a fragment */
struct lsda {
	uint32_t section;               /* statement: where its section begins */
	uint32_t rest, end;             /* statements after the call sites: actions and types */
	const char *encoding;           /* of types: the directive's operand */
	char *types;                    /* the label after them; NULL: there are none; owned */
	struct callsite *site;
	size_t n, cap;
};

/*
 * Reads the tables of all functions; after lifting, before the targets. A landing pad becomes an instruction without
 * bytes (ainsn.lands) before the one at its label; calls have its number (ainsn.pads).
 */
void landing_find(struct file *f);
void landing_free(struct lsda *t);      /* and t */

/* The labels of a copy of a function. */
struct landing_names {
	char bound, begin, table, pad;  /* of LBL2: with a statement; a fragment; a fragment; an instruction */
	char twin;                      /* registers may be renamed */
};

/*
 * For a copy of function no: what is before the first instruction of a fragment; the directives and labels of the
 * statements [from, to); what is after its last instruction.
 */
void landing_begin(struct buf *o, const struct file *f, uint32_t no, unsigned frag, const struct landing_names *names);
void landing_between(struct buf *o, const struct file *f, uint32_t no, uint32_t from, uint32_t to,
    const struct landing_names *names);
void landing_end(struct buf *o, const struct file *f, uint32_t no, unsigned frag, const struct landing_names *names);
/* The copy's tables, of its first n fragments. */
void landing_tables(struct buf *o, const struct file *f, uint32_t no, unsigned n, const struct landing_names *names);

#endif
