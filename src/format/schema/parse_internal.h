/* Internal to the parser of readable schemas: the unit under construction. */
#ifndef TM_FORMAT_SCHEMA_PARSE_INTERNAL_H
#define TM_FORMAT_SCHEMA_PARSE_INTERNAL_H

#include "format/schema/lexer_internal.h"

struct parser {
	struct lex l;
	const struct sch_names *nm;
	struct sch_unit u;              /* its arrays live in mem, except func, cst and field */
	size_t capfunc, capcst, capfield;
	/* names of constants; of functions, which may be used before they are defined */
	struct lex_names syms, funcs;
	uint32_t maxno;                 /* largest function number used, plus 1 */
	unsigned long maxline;          /* its line */
	struct sch_func f;              /* the current function, its tables */
	size_t capfrag, capneed, caploop;
	uint32_t blockno;
	unsigned long *endline;         /* the last line of each block */
	/* successors of the block by number: the first one that leads there */
	uint32_t *seen, *pos, gen;
	struct op_step *step;           /* the block's steps */
	uint32_t nstep;
	size_t capstep;
	struct sch_succ *succ;
	uint32_t nsucc;
	size_t capsucc;
	struct parse_ev { uint32_t at; struct sch_loopev ev; } *ev;
	uint32_t nev;
	size_t capev;
};

/* Makes room for element n of an array, without zeroing it; NULL after an error. */
void *parse_grow(struct parser *p, void *array, size_t *cap, size_t n, size_t size);
#define GROW(p, array, cap, n) parse_grow(p, array, &(cap), n, sizeof *(array))

/* n elements that live as long as the unit: a copy of `from`, or zeroes if it is NULL. */
void *parse_alloc(struct parser *p, const void *from, size_t n, size_t size);

/* the next line; the text may not end before `what` */
int parse_line(struct parser *p, const char *what);
void parse_end_line(struct parser *p);  /* requires the end of the line */
/* does word begin with s? *n is the length of the rest */
int parse_has_prefix(const char *s, const char *word, size_t *n);

char *parse_name(struct parser *p);     /* parses a name, which lives as long as the unit */
void parse_expect_name(struct parser *p, const char *what, const char *name);   /* requires this name */

/* In parse_function.c: from start_function to the end of the function. */
void parse_func(struct parser *p);

/* In parse_operand.c. */
int parse_isname(const char *s, const char *word, size_t n);    /* is the word s? s may be NULL */
int parse_var(struct parser *p, uint32_t nvar);                 /* a variable below nvar */
int32_t parse_const(struct parser *p, uint32_t limit);          /* a constant below limit */
void parse_val(struct parser *p, struct op_value *v);
int parse_cc(struct parser *p);                                 /* `%if(cc)`; -1: not there */
void parse_addr(struct parser *p, struct sch_addr *m);

/* In parse_line.c. */
/* number of a function's name, -2-k for @k; -1 after an error */
int32_t parse_callee(struct parser *p);
void parse_fetch(struct parser *p, unsigned n);                 /* adds an instruction of n bytes */
/* 0: the word is unknown; own: no & before it */
int parse_step(struct parser *p, const char *word, size_t n, int own);

/* In parse_block.c. */
uint32_t parse_blockno(struct parser *p);
/*
 * Parses the block whose first line has begun with start_block and the n characters at rest; *off:
 * the end of the block before it.
 */
void parse_block(struct parser *p, struct sch_block *b, const char *rest, size_t n, uint64_t *off);

#endif
