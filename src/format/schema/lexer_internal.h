/* Internal to the parser of readable schemas: the words and numbers of a line, tables of names. */
#ifndef TM_FORMAT_SCHEMA_LEXER_INTERNAL_H
#define TM_FORMAT_SCHEMA_LEXER_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "format/schema/text.h"

/* A line. After the first error, which is in t->err, everything reads as empty. */
struct lex {
	struct sch_text *t;
	const char *p, *end;    /* the rest of the line, without its comment */
	int bad;
};

/* The next line that is not empty: 1; 0 at the end of the text or after an error. */
int lex_next_line(struct lex *l);

void lex_fail(struct lex *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Blanks before a token are skipped, except by lex_suffix. */
int lex_end(struct lex *l);                             /* is nothing left? */
/* accepts s if it comes next: a whole word, or punctuation */
int lex_accept(struct lex *l, const char *s);
void lex_expect(struct lex *l, const char *s);          /* requires it */
/* accepts c and a number up to 65535, directly after the last token */
int lex_suffix(struct lex *l, char c, unsigned *n);
size_t lex_word(struct lex *l, const char **s);         /* letters, digits and _; 0: none */
uint64_t lex_num(struct lex *l, uint64_t max);          /* decimal, or hexadecimal after 0x */
int64_t lex_snum(struct lex *l);                        /* with an optional - */
int lex_at_number(struct lex *l);                       /* does a number come next? */

/* accepts c if it comes next without a blank */
int lex_accept_char(struct lex *l, char c);

/* A name, plain or in quotes, in malloc'd memory, terminated by 0; NULL after an error. */
char *lex_name(struct lex *l, size_t *n);

/* Names and their meanings. */
struct lex_name {
	char *s;                /* owned */
	unsigned long line;     /* where it was first seen */
	int32_t value;          /* -1: none yet */
	int twice;              /* it has two meanings */
};
struct lex_names {
	struct lex_name *name;
	size_t n, cap;
	struct hash by_name;
};

/* number of the name s, of which it takes ownership; -1 after an error */
int32_t lex_intern(struct lex *l, struct lex_names *t, char *s);
void lex_names_free(struct lex_names *t);

#endif
