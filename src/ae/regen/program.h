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
	uint32_t lib;                   /* 0: of the executable, else of lib[lib - 1] */
	uint64_t entry;                 /* address */
	uint8_t numbered;               /* it has a number in the events */
};

/* The numbers of a file's functions */
struct prog_numbers { uint32_t first, n; };

/* A shared library; its units and functions come after those of the executable and of libraries before it. */
struct prog_lib {
	struct prog_source src;
	struct prog_numbers no;
	uint64_t loaded;                /* its addresses are by this more than in its file */
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
	int32_t *byno;                  /* number of a function in the events -> index in func, -1: no schema for it */
	uint32_t nno;
	struct prog_lib *lib;
	uint32_t nlib;
	uint32_t ownunits, ownfuncs;    /* those of the executable, which are the first ones */
	const char *err;                /* message after a failure; static */
	size_t erroff;                  /* byte of the schemas */
};

int prog_load(struct prog *g, const struct prog_source *src);   /* 0 or -1; free it in either case */
/* The same for an open executable that has schemas; x must outlive g. */
struct exe;
int prog_load_exe(struct prog *g, struct exe *x);
void prog_free(struct prog *g);

/*
 * Adds a shared library of a run, which was loaded at `base`: n functions have numbers from `first` on. 0, or -1 with
 * g->err; then g can only be freed. A library is added once for each time it was loaded.
 */
int prog_add(struct prog *g, const struct prog_source *src, struct prog_numbers no, uint64_t base);
/* Was a library with this number added? */
int prog_added(const struct prog *g, uint32_t number);
int prog_add_exe(struct prog *g, struct exe *x, struct prog_numbers no, uint64_t base);  /* x must outlive g */

/*
 * Of a position independent program, for which prog_load gives the addresses of the file: makes them those of a run in
 * which it was loaded by `base` further up. Again, for another run.
 */
void prog_move(struct prog *g, uint64_t base);

/* Is constant number sym an address of the program? */
int prog_isaddr(const struct sch_unit *u, int32_t sym);

/* n bytes at addr of data of a file (lib of prog_func) that is never written: 1, or 0 if they are not there */
int prog_rodata(const struct prog *g, uint32_t lib, uint64_t addr, void *buf, size_t n);

/* Address of the instruction at byte `off` of a fragment. */
uint64_t prog_pc(const struct prog_func *f, uint32_t frag, uint32_t off);
/* Is pc in the function, after its entry? A jump to the entry is a tail call of the function. */
int prog_inside(const struct prog_func *f, uint64_t pc);

/*
 * Does the instruction at pc, of this function's file, still load where SO_GOTLOAD says? (On x86-64 the linker may have
 * replaced it.) 1, 0: no, or -1: no, it does nothing at all.
 */
int prog_gotload(const struct prog *g, const struct prog_func *f, uint64_t pc);

/*
 * The constant part of an address in *imm, to which the variables (and the fs base) are added;
 * returns 1 if there is no other part.
 */
int prog_const(const struct sch_unit *u, const struct sch_addr *m, uint64_t *imm);

static inline int
prog_iscall(const struct op_step *s)
{
	return s->op == SO_CALL || s->op == SO_CALLX || s->op == SO_CALLJ || s->op == SO_LINKED;
}

/* Register i of those that the function needs as a step that reads it from the events (SO_UNKNOWN). */
struct op_step prog_need(const struct sch_unit *u, const struct sch_func *f, uint32_t i);

/* The block's last step that is a call; nstep: there is none. */
uint32_t prog_lastcall(const struct sch_block *b);

/* Value of an operand that is not a variable. */
uint64_t prog_value(const struct sch_unit *u, const struct op_value *v);

#endif
