/*
 * A file of 64-bit little-endian words with check sums, as partial results are: sections of words that end
 * with a sum of all words before it.  For the tools: what is wrong with a file ends the program.
 */
#ifndef TM_BASE_WORDS_H
#define TM_BASE_WORDS_H

#include <stdint.h>

#include "base/in.h"
#include "base/out.h"

struct words {
	struct out *out;        /* borrowed; for writing */
	struct in *in;          /* borrowed; for reading */
	const char *what;       /* for messages: "partial result of cachesim" */
	uint64_t sum, begin;    /* of all words so far; where the section begins */
};

void words_put(struct words *w, uint64_t word);
void words_put_sum(struct words *w);

uint64_t words_get(struct words *w);
/* Text without NUL: the number of its bytes, and these, 8 in a word; at most WORDS_TEXT */
#define WORDS_TEXT 65535u
void words_put_text(struct words *w, const char *s);
/* Into s, which has room for WORDS_TEXT + 1 */
void words_get_text(struct words *w, char *s);
void words_check(struct words *w);      /* the sum that ends a section */
void words_end(struct words *w);        /* nothing may follow */
/* Ends the program: what is wrong with the bytes before this. */
_Noreturn void words_bad(const struct words *w, uint64_t back, const char *why);

#endif
