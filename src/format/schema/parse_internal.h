/* Internal to the parser of readable schemas: the unit in the making. */
#ifndef TM_FORMAT_SCHEMA_PARSE_INTERNAL_H
#define TM_FORMAT_SCHEMA_PARSE_INTERNAL_H

#include "format/schema/lexer_internal.h"

struct parser {
	struct lex l;
	const struct sch_names *nm;
	struct sch_unit u;              /* arrays of it: mem, but func, cst and field */
	size_t capfunc, capcst, capfield;
	struct lex_names syms, funcs;   /* of constants; of functions, which may come after their use */
	uint32_t maxno;                 /* largest function number that is used, plus 1 */
	unsigned long maxline;          /* where */
	struct sch_func f;              /* the function, its tables */
	size_t capfrag, capneed, caploop;
	uint32_t blockno;
	unsigned long *endline;         /* of each block: its last line */
	uint32_t *seen, *pos, gen;      /* successors of the block by number: the first one that leads there */
	struct sch_step *step;          /* the block's */
	uint32_t nstep;
	size_t capstep;
	struct sch_succ *succ;
	uint32_t nsucc;
	size_t capsucc;
	struct parse_ev { uint32_t at; struct sch_loopev ev; } *ev;
	uint32_t nev;
	size_t capev;
};

/* Room for element n of an array; NULL after an error.  Sets nothing to 0. */
void *parse_grow(struct parser *p, void *array, size_t *cap, size_t n, size_t size);
#define GROW(p, array, cap, n) parse_grow(p, array, &(cap), n, sizeof *(array))

/* n elements that live as long as the unit: a copy of `from`, zeroes without it */
void *parse_keep(struct parser *p, const void *from, size_t n, size_t size);

int parse_line(struct parser *p, const char *what);     /* the next line; the text may not end before `what` */
void parse_done(struct parser *p);                      /* nothing more may be in the line */
int parse_starts(const char *s, const char *word, size_t *n);   /* is s at the beginning of word?  Then *n is what follows it */

char *parse_keepname(struct parser *p);                 /* a name that lives as long as the unit */
void parse_samename(struct parser *p, const char *what, const char *name);      /* the next name must be this one */

/* parse_function.c: what is behind start_function, up to the end of the function */
void parse_func(struct parser *p);

/* parse_operand.c */
int parse_isname(const char *s, const char *word, size_t n);    /* is the word s?  s may be NULL */
int parse_var(struct parser *p, uint32_t nvar);                 /* a variable below nvar */
int32_t parse_const(struct parser *p, uint32_t limit);          /* a constant below limit */
void parse_val(struct parser *p, struct sch_val *v);
int parse_cc(struct parser *p);                                 /* `%if(cc)`, -1: nothing such */
void parse_addr(struct parser *p, struct sch_addr *m);

/* parse_line.c */
int32_t parse_callee(struct parser *p);                         /* a name's number, -2-k for @k; -1 after an error */
void parse_fetch(struct parser *p, unsigned n);                 /* add an instruction of n bytes */
int parse_step(struct parser *p, const char *word, size_t n, int own);  /* 0: there is no such word; own: no & before it */

/* parse_block.c */
uint32_t parse_blockno(struct parser *p);
/* The block whose first line has begun with start_block and the n characters at rest; *off: where the one before it ended */
void parse_block(struct parser *p, struct sch_block *b, const char *rest, size_t n, uint64_t *off);

#endif
