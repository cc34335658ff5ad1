/*
 * Where counts come from: each instruction has a few counters; tables sum them up by function and by source
 * line, and are printed.  For the tools: without memory the program ends.
 *
 * Memory: at most about 200 bytes for each instruction, of which PLACES_MOST are told from each other.
 */
#ifndef TM_REFS_PLACES_H
#define TM_REFS_PLACES_H

#include "base/buf.h"
#include "base/json.h"
#include "base/words.h"
#include "refs/refs.h"

#define PLACES_COUNTS 7
#define PLACES_MOST   (1u << 22)

/* What is counted */
struct places_counts {
	const char *what;               /* "misses" */
	const char *title[PLACES_COUNTS];       /* of each counter; NULL: it is not used */
	uint64_t weight[PLACES_COUNTS]; /* of each in the cost of a place */
};

struct places;
struct places *places_new(void);
void places_free(struct places *m);

/* The counters of an instruction, valid until the next call; size 0: of what has no instruction */
uint64_t *places_at(struct places *m, uint64_t pc, unsigned size);

/* After the run, before the first table: why there are no names, or none of a file. NULL: no more. */
const char *places_complaint(struct places *m, struct refs *s);

/* A function, or a line of a function. Strings are borrowed from the refs; NULL, 0: not known. */
struct places_row {
	const char *file;               /* of the source; NULL in a table of functions */
	const char *func;
	const char *object;             /* the name of the file that the code was mapped from, without its folder */
	int line;
	uint64_t n[PLACES_COUNTS];
	uint64_t cost;
};
struct places_table {
	const struct places_counts *counts;     /* borrowed */
	int lines;                      /* of lines, not of functions */
	struct places_row *row;         /* owned; the costliest first */
	size_t n, more;
	struct places_row others, total;        /* `more` that are not in row[0..n); all */
};

/* The `top` costliest functions or lines. */
void places_table(struct places *m, struct refs *s, const struct places_counts *c, int lines, size_t top,
    struct places_table *t);
void places_table_free(struct places_table *t);

/*
 * Partial results: what was counted, with the names, as words with a sum (base/words.h); what was put is added
 * when it is got. Then tables are made without the source, s NULL. The names of an instruction are those of the
 * part that was got last of those that know them. The instructions are fewer than PLACES_MOST: places_put
 * returns -1 if there are more; a file with more, and a wrong one, end the program.
 *
 *   the number of texts, and these; how many instructions; each: its address, its size (0: none), its counters,
 *   the numbers of the texts of its function, object and file, from 1 on (0: not known), and its line; a sum
 */
#define PLACES_TOO_MANY "partial results have at most %u instructions"
int places_put(struct places *m, struct refs *s, struct words *w);
void places_get(struct places *m, struct words *w);

void places_text(struct buf *b, const struct places_table *t);
void places_json(struct json *j, const struct places_table *t);

#endif
