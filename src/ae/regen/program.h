/* A traced program: the schemas of all its source files, and its functions by the numbers used in events. */
#ifndef TM_AE_REGEN_PROGRAM_H
#define TM_AE_REGEN_PROGRAM_H

#include <stddef.h>
#include <stdint.h>

#include "format/schema/schema.h"

/* Registers of the string instructions, numbered as on x86-64. */
#define PROG_RCX 1
#define PROG_RSI 6
#define PROG_RDI 7
#define PROG_MAXNEED 32         /* registers recorded at entry */
#define PROG_MAXEV   256        /* loop events of an edge */

/* Source of a program; everything is borrowed for as long as the program lives. */
struct prog_source {
	const uint8_t *schema;          /* units, in a row */
	size_t nschema;
	const uint8_t *fn;              /* entries of aefn: three words, the first one is the address */
	size_t nfn;                     /* bytes */
	/* bytes of the file: 1, or 0 if they are not there */
	int (*image)(void *arg, uint64_t addr, void *buf, size_t n);
	/* the same, but only data that is never written */
	int (*rodata)(void *arg, uint64_t addr, void *buf, size_t n);
	void (*relocate)(void *arg, uint64_t base);     /* makes it what it is when it is loaded there; or NULL */
	void *arg;
};

struct prog_func {
	const struct sch_unit *u;
	const struct sch_func *f;
	uint32_t unit, index;           /* f is unit[unit].func[index] */
	uint64_t entry;                 /* address */
};

struct prog {
	struct prog_source src;
	struct sch_unit *unit;
	uint32_t *base;                 /* number of the first function of each unit in func */
	uint32_t nunit;
	uint16_t machine;               /* of all units, like that of struct sch_unit */
	uint8_t word, big, push;
	uint8_t moves;                  /* it is position independent */
	uint64_t loaded;                /* addresses are by this more than in the executable: see prog_move */
	struct prog_func *func;
	uint32_t nfunc;
	int32_t *byno;                  /* entry of aefn -> index in func, -1: no schema for it */
	uint32_t nno;
	const char *err;                /* message after a failure; static */
	size_t erroff;                  /* byte of the schemas */
};

int prog_load(struct prog *g, const struct prog_source *src);   /* 0 or -1; free it in either case */
/* The same for an open executable that has schemas; x must outlive g. */
struct exe;
int prog_load_exe(struct prog *g, struct exe *x);
void prog_free(struct prog *g);

/*
 * Of a position independent program, for which prog_load gives the addresses of the file: makes them those of a run in
 * which it was loaded by `base` further up. Again, for another run.
 */
void prog_move(struct prog *g, uint64_t base);

/* Is constant number sym an address of the program? */
int prog_isaddr(const struct sch_unit *u, int32_t sym);

/* n bytes at addr of data that is never written: 1, or 0 if they are not there */
int prog_rodata(const struct prog *g, uint64_t addr, void *buf, size_t n);

/* Address of the instruction at byte `off` of a fragment. */
uint64_t prog_pc(const struct prog_func *f, uint32_t frag, uint32_t off);

/*
 * Does the instruction at pc still load from the global offset table? (On x86-64 the linker may
 * have replaced it.)
 */
int prog_gotload(const struct prog *g, uint64_t pc);

/*
 * The constant part of an address in *imm, to which the variables (and the fs base) are added;
 * returns 1 if there is no other part.
 */
int prog_const(const struct sch_unit *u, const struct sch_addr *m, uint64_t *imm);

/* The block's last step that is a call; nstep: there is none. */
uint32_t prog_lastcall(const struct sch_block *b);

/* Value of an operand that is not a variable. */
uint64_t prog_value(const struct sch_unit *u, const struct op_value *v);

#endif
