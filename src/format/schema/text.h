/*
 * The readable schema: a unit in the notation of Larus 1990, figure 3, extended; the grammar is in
 * ae-schema(5), section Text. Nothing is lost: parsing what was printed gives a unit with the same
 * encoding and the same constants.
 */
#ifndef TM_FORMAT_SCHEMA_TEXT_H
#define TM_FORMAT_SCHEMA_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "format/schema/schema.h"

/* Names from the executable. A function may be NULL, and may return NULL. */
struct sch_names {
	/* name of a register, by the unit's machine and byte order; otherwise it is v and the number */
	const char *(*reg)(void *arg, const struct sch_unit *u, int var);
	/* for comments */
	/* the symbol at or before an address */
	const char *(*sym)(void *arg, uint64_t addr, uint64_t *off);
	/* source file and line of an instruction */
	const char *(*line)(void *arg, uint64_t pc, int *no);
	void *arg;
	int resolved;                   /* the unit's fields have values (sch_resolve) */
};

/* Appends the text of a decoded unit; nm may be NULL. out->nomem is set without memory. */
void sch_print(struct buf *out, const struct sch_unit *u, const struct sch_names *nm);

/* A text of units, which are parsed one after the other. */
struct sch_text {
	const char *p;                  /* borrowed */
	size_t n;
	size_t off;                     /* of the next line */
	unsigned long line;             /* number of the last line read, from 1 */
	/* by start_schema and end_schema */
	enum { SCH_TEXT_NEW, SCH_TEXT_OPEN, SCH_TEXT_CLOSED, SCH_TEXT_BARE } state;
	/* from start_schema: the build id of the executable, in hexadecimal */
	char program[72];
	char err[200];                  /* after a failure: the message for that line */
};

/*
 * The next unit, like one from sch_decode (sch_free frees it): 1; 0 at the end of the text; -1
 * after a failure. The text may be anything; memory is proportional to its size. Start with off and
 * line 0 and state 0.
 */
int sch_parse(struct sch_text *t, const struct sch_names *nm, struct sch_unit *u);

#endif
