/*
 * aec: from schemas to a C program.  What the files of the tool share.
 *
 *   main.c    options, reading the executable
 *   files.c   the files of the output: one for each source file, header, table, main, makefile
 *   func.c    a function: blocks, control, calls
 *   expr.c    values, addresses, conditions
 *   build.c   -b: make in a temporary folder
 */
#ifndef TM_AEC_H
#define TM_AEC_H

#include <stdint.h>

#include "ae/regen/program.h"
#include "base/buf.h"
#include "format/ae/exe.h"

struct aec {
	struct prog g;
	struct exe x;
	const char *path;               /* of the executable, as given */
	const char *dir;                /* where the files go */
	char *home;                     /* where include/ae.h and lib/tracemill/libaeregen.a are; owned */
	char **file;                    /* owned: name of the C file of each unit */
	char **name;                    /* owned: C name of each function of the program */
	uint8_t *numbered;              /* owned: has the function a number? */
	int rodata;                     /* are values of read-only data needed? */
};

/* One function on its way to C */
struct gen {
	struct aec *a;
	const struct prog_func *pf;
	const struct sch_unit *u;
	const struct sch_func *f;
	struct buf *out;
	uint8_t *used;                  /* variables that the text names */
	int numbered;                   /* blocks have marks: the form of figure 4 throughout */
	int use_ev, use_temp, use_flags, use_sp0, use_pc;
	int calls;
	int save_flags;                 /* flags are kept in variables, for uses the block does not see */
	const struct sch_step *flags;   /* the last flags step of the block, while its operands are what they were */
	uint64_t pc, ipc;               /* of the next instruction, of the last one */
};

/* func.c: append the C text of function number i of the program */
void gen_func(struct aec *a, uint32_t i, struct buf *out);

/* expr.c */
const char *reg_name(unsigned machine, unsigned big, int r);    /* the machine's name of register r; NULL if it has none */
const char *gen_var(struct gen *g, int v, char tmp[16]);        /* its name; notes the use */
void gen_val(struct gen *g, const struct sch_val *v);
void gen_addr(struct gen *g, const struct sch_addr *m);
void gen_cond(struct gen *g, unsigned cc);
void gen_compute(struct gen *g, const struct sch_step *s);      /* the statement of a computation */
void gen_forget(struct gen *g, int v);                          /* v changes */

/*
 * Names come from the executable, which may be anybody's: in the generated
 * files they stand in comments, as this writes them, and in identifiers and
 * names of files that files.c makes of their letters and digits.
 */
void gen_name(struct buf *b, const char *s);

/* files.c, build.c */
void write_files(struct aec *a);
void build_regenerator(struct aec *a, const char *out);

#endif
