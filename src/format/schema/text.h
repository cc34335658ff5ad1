/*
 * The readable schema: a unit in the notation of Larus 1990, figure 3, with
 * what the paper did not need; the grammar is in ae-schema(5), section Text.
 * Nothing is lost: parsing what was printed gives a unit of the same encoding
 * and the same constants.
 */
#ifndef TM_FORMAT_SCHEMA_TEXT_H
#define TM_FORMAT_SCHEMA_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "format/schema/schema.h"

/* What the executable knows; a function may be NULL, and may return NULL */
struct sch_names {
	/* name of a register by the unit's machine and byte order; else it is v and the number */
	const char *(*reg)(void *arg, const struct sch_unit *u, int var);
	/* for comments */
	const char *(*sym)(void *arg, uint64_t addr, uint64_t *off);    /* the symbol at or before an address */
	const char *(*line)(void *arg, uint64_t pc, int *no);           /* source file and line of an instruction */
	void *arg;
	int resolved;                   /* the unit's fields have their values (sch_resolve) */
};

/* Append the text of a decoded unit; nm may be NULL.  Out of memory shows in out->nomem. */
void sch_print(struct buf *out, const struct sch_unit *u, const struct sch_names *nm);

/* A text of units, parsed one after the other */
struct sch_text {
	const char *p;                  /* borrowed */
	size_t n;
	size_t off;                     /* of the next line */
	unsigned long line;             /* number of the last line read, from 1 */
	enum { SCH_TEXT_NEW, SCH_TEXT_OPEN, SCH_TEXT_CLOSED, SCH_TEXT_BARE } state;     /* of start_schema and end_schema */
	char program[72];               /* what start_schema says: the build id of the executable, in hexadecimal */
	char err[200];                  /* after a failure: what is wrong in that line */
};

/*
 * The next unit, as sch_decode gives it (sch_free frees it): 1, 0 at the end
 * of the text, -1 after a failure.  The text may be anything; memory is
 * proportional to its size.  Start with off and line 0 and state 0.
 */
int sch_parse(struct sch_text *t, const struct sch_names *nm, struct sch_unit *u);

#endif
