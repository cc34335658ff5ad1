/* Between the two files of the printer of readable schemas. */
#ifndef TM_FORMAT_SCHEMA_PRINT_INTERNAL_H
#define TM_FORMAT_SCHEMA_PRINT_INTERNAL_H

#include "format/schema/text.h"

struct printer {
	struct buf *out;
	const struct sch_unit *u;
	const struct sch_func *f;
	const struct sch_names *nm;
	uint8_t *twice;         /* functions whose name is another's too */
	int32_t *cname;         /* linked constant -> function that it is the address of, or -1 */
	/* the block that a successor's loop events belong to, if several successors lead there: the first has them */
	uint32_t *seen, *pos, gen;
	int32_t hint;           /* constant that the line uses, for its comment, or SCH_NOSYM */
	uint64_t add;           /* what is added to it */
};

void print_put(struct printer *p, const char *s);
void print_num(struct printer *p, uint64_t v);          /* a blank and a number */
void print_name(struct printer *p, const char *s);      /* in quotes where it must be */
void print_var(struct printer *p, int v);
void print_constant(struct printer *p, int32_t k, int64_t add);         /* add: for the comment only */
void print_value(struct printer *p, const struct sch_val *v);
void print_suffix(struct printer *p, char c, unsigned n, unsigned usual);       /* c and n, unless n is as usual */
void print_callee(struct printer *p, uint32_t k);       /* by its name, or its number if the name does not tell */
void print_comment(struct printer *p, uint64_t addr);   /* ` ; 0x401020 name+4` */
void print_endline(struct printer *p);                  /* with a comment on the constant in the line */

/* A line for a step; len: length of its instruction, 0 if it has none of its own */
void print_step(struct printer *p, const struct sch_step *s, unsigned len);

#endif
