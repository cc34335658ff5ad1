/*
 * State and functions shared by the files of aec, which generates a C program from schemas.
 *
 * main.c: options, reading the executable
 * files.c: the output files: one for each source file, header, table, main program, makefile
 * func.c: a function: blocks, control flow, calls
 * expr.c: values, addresses, conditions
 * build.c: option -b, which runs make in a temporary folder
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
	struct exe *lib;                /* owned: shared libraries, in the order of those of g */
	char *const *libpath;
	unsigned nlib;
	const char *path;               /* of the executable, as the user gave it */
	const char *dir;                /* folder where the output files are written */
	const char *place;              /* folder where they will be, for messages */
	char *home;                     /* folder of include/ae.h and lib/tracemill/libaeregen.a; owned */
	char **file;                    /* file name of each unit; owned, as each element */
	char **name;                    /* C name of each function of the program; owned, as each element */
	uint8_t *numbered;              /* does the function have a number? owned */
	uint8_t *called;                /* is it called from other files, as a known function with what it needs? owned */
	int rodata;                     /* values of read-only data are needed */
};

/* State of generating the C text of one function. */
struct gen {
	struct aec *a;
	const struct prog_func *pf;
	const struct sch_unit *u;
	const struct sch_func *f;
	struct buf *out;
	uint8_t *used;                  /* variables that the text uses */
	int numbered;                   /* blocks have numbers, as in figure 4 of the paper */
	int use_ev, use_temp, use_flags, use_sp0, use_pc, use_base;
	int calls;
	int save_flags;                 /* flags are kept in variables, as some block uses flags of another */
	/* The last flags step of the block, while its operands have not changed; else NULL. */
	const struct op_step *flags;
	uint64_t pc, ipc;               /* address of the next instruction; of the last one */
	int nop;                        /* the linker has left nothing of that: it does nothing */
};

/* folder.c: writes the files to the folder of this name, all or none */
void folder_write(struct aec *a, const char *name);

/* func.c: appends the C text of function number i of the program */
void gen_func(struct aec *a, uint32_t i, struct buf *out);

/* expr.c */

/* Do the addresses of the function's file change from run to run? */
int gen_moves(const struct gen *g);
/* Appends by how much they are more than those in the file, in C. */
void gen_base(const struct gen *g, struct buf *out);

/* the machine's name of register r, or NULL */
const char *reg_name(unsigned machine, unsigned big, int r);
const char *gen_var(struct gen *g, int v, char tmp[16]);        /* the variable's name; marks it as used */
/* Append a value, an address, a condition. */
void gen_val(struct gen *g, const struct op_value *v);
void gen_addr(struct gen *g, const struct sch_addr *m);
void gen_cond(struct gen *g, unsigned cc);
void gen_compute(struct gen *g, const struct op_step *s);       /* appends the statement of a computation */
/* v changes: flags computed from it are no longer known */
void gen_var_changed(struct gen *g, int v);

/*
 * Names come from the executable and must not be trusted.  The generated files contain them in
 * comments, as written by this function, and in identifiers and file names, for which files.c
 * keeps only letters and digits.
 */
void gen_name(struct buf *b, const char *s);

/* files.c, build.c */
void write_files(struct aec *a);
/* aec -b: builds the program in a temporary folder and moves it to `out` */
void build_regenerator(struct aec *a, const char *out);

#endif
