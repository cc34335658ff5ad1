/* Internal to the printer of readable schemas. */
#ifndef TM_FORMAT_SCHEMA_PRINT_INTERNAL_H
#define TM_FORMAT_SCHEMA_PRINT_INTERNAL_H

#include "format/schema/text.h"

struct printer {
	struct buf *out;
	const struct sch_unit *u;
	const struct sch_func *f;
	const struct sch_names *nm;
	uint8_t *twice;         /* functions that share their name with another one */
	int32_t *cname;         /* linked constant -> the function whose address it is, or -1 */
	/* if several successors lead to one block: the one that has the loop events, which is the first */
	uint32_t *seen, *pos, gen;
	int32_t hint;           /* constant of the line, for its comment, or SCH_NOSYM */
	uint64_t add;           /* the number added to it */
};

void print_put(struct printer *p, const char *s);
void print_num(struct printer *p, uint64_t v);          /* a blank and a number */
void print_name(struct printer *p, const char *s);      /* in quotes where necessary */
void print_var(struct printer *p, int v);
void print_constant(struct printer *p, int32_t k, int64_t add);         /* add: only for the comment */
void print_value(struct printer *p, const struct op_value *v);
/* c and n, unless n is `usual` */
void print_suffix(struct printer *p, char c, unsigned n, unsigned usual);
void print_callee(struct printer *p, uint32_t k);       /* its name, or its number if the name is ambiguous */
void print_comment(struct printer *p, uint64_t addr);   /* ` ; 0x401020 name+4` */
void print_endline(struct printer *p);                  /* with a comment on the constant of the line */

/* Prints a step as a line; len: length of its instruction, 0 if it has none of its own. */
void print_step(struct printer *p, const struct op_step *s, unsigned len);

#endif
