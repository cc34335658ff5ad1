/*
 * What the tools that take references have in common on the command line: a range, an executable, an output,
 * partial results, and the operands. For the tools: wrong words end the program.
 */
#ifndef TM_REFS_OPTIONS_H
#define TM_REFS_OPTIONS_H

#include "base/opt.h"
#include "refs/refs.h"

/* Keys, above those that the tools number from 256 on */
enum { REFS_PARTIAL = 1024, REFS_MERGE };

/* In the table of a tool; OPT_RANGE and OPT_OUTPUT (base/opt.h) are understood, too. */
#define REFS_OPT_EXECUTABLE(what) { 'e', "executable", "PROG", "find " what " of a stream in PROG" }
#define REFS_OPT_PARTS \
	{ REFS_PARTIAL, "partial", NULL, "write a partial result for --merge" }, \
	{ REFS_MERGE, "merge", NULL, \
	    "the operands are partial results, in the order of the run: print that of the whole" }

struct refs_words {
	const char *outname;            /* NULL: standard output */
	int partial, merge;
};

/* Takes an option that opt_next returned: 1, or 0: it is not one of these. */
int refs_option(int c, struct refs_source *q, struct refs_words *w);
/*
 * After the last option: a source and the events of a program, or partial results, which stay the caller's.
 * NULL, or which options exclude each other.
 */
const char *refs_operands(struct refs_source *q, const struct refs_words *w, int argc, char **argv);
/* Before refs_open: shows progress, and has the names of functions read where that is allowed. */
void refs_begin(const struct refs_source *q);

#endif
