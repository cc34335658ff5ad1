/* The words and numbers of a line of the readable schema; for its parser only. */
#ifndef TM_FORMAT_SCHEMA_LEXER_INTERNAL_H
#define TM_FORMAT_SCHEMA_LEXER_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "format/schema/text.h"

/* A line; everything reads as nothing after the first error, which is in t->err. */
struct lex {
	struct sch_text *t;
	const char *p, *end;    /* what is left of the line, without its comment */
	int bad;
};

/* The next line that has something: 1, 0 at the end of the text (or after an error) */
int lex_line(struct lex *l);

void lex_fail(struct lex *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Blanks before a token are skipped, except by lex_suffix. */
int lex_end(struct lex *l);                             /* is nothing left? */
int lex_is(struct lex *l, const char *s);               /* take s if it comes next: a word whole, punctuation as it is */
void lex_want(struct lex *l, const char *s);            /* it must */
int lex_suffix(struct lex *l, char c, unsigned *n);     /* take c and a number up to 65535 right behind the last token */
size_t lex_word(struct lex *l, const char **s);         /* letters, digits and _; 0: none */
uint64_t lex_num(struct lex *l, uint64_t max);          /* decimal, or hexadecimal behind 0x */
int64_t lex_snum(struct lex *l);                        /* with an optional - */
int lex_isnum(struct lex *l);                           /* does a number come next? */

int lex_next(struct lex *l, char c);                    /* take c if it comes next without a blank */

/* A name, plain or in quotes, in malloc'd memory with a 0 behind it; NULL after an error */
char *lex_name(struct lex *l, size_t *n);

/* Names and what they stand for */
struct lex_name {
	char *s;                /* owned */
	unsigned long line;     /* where it was first seen */
	int32_t value;          /* -1: none yet */
	int twice;              /* it stands for two things */
};
struct lex_names {
	struct lex_name *name;
	size_t n, cap;
	struct hash by_name;
};

int32_t lex_intern(struct lex *l, struct lex_names *t, char *s);        /* number of the name s, which it takes; -1 after an error */
void lex_names_free(struct lex_names *t);

#endif
