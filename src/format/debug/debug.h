/*
 * What debugging information says of a program that has stopped: the functions that are being executed
 * and their callers, their parameters and local variables, and the values of these.
 *
 * The program is a debug_machine: whoever has one reads its memory and knows which file an address was
 * mapped from.  Numbers of registers are those of DWARF for x86-64.  Nothing that a file says is trusted:
 * expressions have a limit of steps, types one of depth, stacks one of frames.
 */
#ifndef TM_FORMAT_DEBUG_DEBUG_H
#define TM_FORMAT_DEBUG_DEBUG_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "format/ae/exe.h"

enum { DEBUG_RBX = 3, DEBUG_RBP = 6, DEBUG_RSP = 7, DEBUG_R12 = 12, DEBUG_RIP = 16, DEBUG_NREG = 17, DEBUG_XMM0 = 17 };
#define DEBUG_FRAMES 256u       /* of a stack that are looked at */

struct debug_machine {
	/* n bytes of memory: 0, or -1 if not all of them are there */
	int (*read)(void *arg, uint64_t addr, void *p, size_t n);
	/* the file that pc was mapped from, and its address there: 0, or -1: none, or it cannot be used */
	int (*file)(void *arg, uint64_t pc, struct exe **x, uint64_t *addr);
	void *arg;
	/* the next file of the program, from *at on, and what to add to its addresses: 1, or 0: no more; NULL: not told */
	int (*next)(void *arg, size_t *at, struct exe **x, uint64_t *bias);
};

/* A function that has not returned.  Of the innermost one all registers are known. */
struct debug_frame {
	const struct debug_machine *m;
	uint64_t reg[DEBUG_NREG];
	uint32_t known;                 /* bit i: reg[i] */
	const uint8_t *xmm;             /* xmm0 to xmm15; NULL: not known */
	struct exe *x;                  /* NULL: no file is known */
	uint64_t bias;                  /* address in the program less that in the file */
	uint64_t pc;                    /* by which it is looked up, in the file: of a caller one byte into the call */
	uint64_t cfa;
	int has_cfa;
	const struct debug_frame *up;   /* its caller; NULL: not known */
	uint64_t thread;                /* the thread's own memory, fs's base; 0: not known */
};

/*
 * Finds the frames, the innermost first: frame[0] has m, reg, known, xmm and thread.  Returns how many there are.
 * Pointers between them refer to `frame`.
 */
size_t debug_unwind(struct debug_frame *frame, size_t most);

/* Finds file, address and caller's CFA of a frame whose registers are known; inner: it did not make a call. */
void debug_locate(struct debug_frame *f, int inner);

enum debug_where {
	DEBUG_GONE,                     /* optimized out */
	DEBUG_UNKNOWN,                  /* in a register that was not saved, or said in a way that is not understood */
	DEBUG_MEMORY,                   /* at addr */
	DEBUG_REGISTER,                 /* addr: its number */
	DEBUG_NUMBER,                   /* addr: the value itself */
	DEBUG_BYTES,                    /* p: the value itself */
	DEBUG_SYNTHETIC                 /* a pointer to something that has no address */
};

struct debug_piece { enum debug_where where; uint64_t addr, off, size; const uint8_t *p; };     /* size 0: all of it */
#define DEBUG_PIECES 16u
struct debug_place { struct debug_piece piece[DEBUG_PIECES]; unsigned n; };

/* A function at a place: one that was called, or one inlined there. */
struct debug_function {
	const char *name;               /* NULL: unknown */
	const char *file;               /* where it is: its own line, or that of the call that was inlined; NULL: unknown */
	int line;
	int inlined;
	unsigned depth;                 /* of scopes, for debug_variables */
};

/*
 * The functions at a frame's place, the innermost inlined one first; the last is the one that was called.
 * Returns their number, at most `most`; 0: nothing is known.
 */
size_t debug_functions(const struct debug_frame *f, struct debug_function *fn, size_t most);

struct debug_variable {
	const char *name;
	int parameter;
	struct debug_place place;
	uint64_t size;                  /* 0: unknown */
	void *type;                     /* a Dwarf_Die; NULL: unknown */
	/* of a member that has some of the bits of its bytes: how many, from bit `bit` of them on; 0: all */
	uint8_t bits, bit;
};

/*
 * Calls fn with parameters and variables of a function that debug_functions found, in scope there; the
 * innermost scope first, and in each those of the source in its order.  0, or what fn returned if not 0.
 */
typedef int debug_variable_fn(void *arg, const struct debug_variable *v);
int debug_variables(const struct debug_frame *f, const struct debug_function *func, debug_variable_fn *fn, void *arg);

/*
 * How much work one variable or register may be: its expression can need the frame base, and values in callers.
 * depth: of expressions in each other so far; steps: operations and entries so far.
 */
struct debug_limit { unsigned depth, steps; };

/* expression.c: evaluates a location; attr and ops are those of libdw */
void debug_evaluate(const struct debug_frame *f, struct debug_limit *l, void *attr, const void *ops, size_t nops,
    struct debug_place *p);
/* takes n of the steps: 0, or -1: there are not so many */
int debug_take(struct debug_limit *l, unsigned n);
/* the value of an expression, which is computed with `first` on the stack: 0, or -1 */
int debug_compute(const struct debug_frame *f, const void *ops, size_t nops, const uint64_t *first, uint64_t *v);
/* the location or value of an attribute at the frame's place */
void debug_attribute(const struct debug_frame *f, struct debug_limit *l, void *attr, struct debug_place *p);

/* tls.c: the address of byte `off` of the thread-local variables of the frame's file: 0, or -1: not known */
int debug_thread_local(const struct debug_frame *f, uint64_t off, uint64_t *addr);

/* value.c: the bytes of a type; 0: unknown.  libdw by itself would follow types that go round in circles for ever. */
uint64_t debug_size(void *type);

/* appends the value of a variable, as gdb prints it */
#define DEBUG_ELEMENTS 32u      /* of an array, and bytes of a string, that are printed */
void debug_print(const struct debug_frame *f, const struct debug_variable *v, struct buf *b);
/* the value as a number: 1, or 0: it is none, or not known */
int debug_number(const struct debug_frame *f, const struct debug_variable *v, uint64_t *n);

/*
 * value.c, for name.c: a Dwarf_Die without its names and qualifiers: its tag, or 0; the sizes of an array, as for C;
 * the bits of a member of this type that has only some of its bytes, counted from the first one of its structure: 1, or
 * 0: it has whole bytes, or is not said in a way that is understood
 */
int debug_bare(void *type, void *to);
int debug_dimensions(void *type, uint64_t dim[4], unsigned *ndim);      /* 0, or -1: not known */
int debug_bits(void *member, void *type, uint64_t *bit, unsigned *bits);

/*
 * part.c: makes v a part of it, by what comes after its name: .member, ->member, [index], in a row; then what a pointer
 * points to, `stars` times.  type: a Dwarf_Die of the caller's, to which v->type then points.  0, or -1 and why, as what
 * is said of it: "is no pointer"
 */
int debug_part(const struct debug_frame *f, struct debug_variable *v, void *type, const char *path, unsigned stars,
    char *why, size_t len);

/*
 * The name of what an instruction has in memory or in a register, as C has it at the place of frame[0]: total,
 * p->next, a[3], main::sum for a variable of a caller.  What a pointer points to has a name only if the line of the
 * source has that pointer; line NULL: not known.  Returns 1, or 0: it has none, or several; 1: the caller frees both.
 */
struct debug_name {
	struct buf name, value;         /* value: as debug_print has it; empty if part */
	int part;                       /* it is only a part of this, or several of its parts */
	int local;                      /* it is of the innermost function: debug_functions has that at the place */
};
int debug_name_memory(const struct debug_frame *frame, size_t n, const char *line, size_t len, uint64_t addr,
    uint64_t size, struct debug_name *to);
int debug_name_register(const struct debug_frame *f, const char *line, size_t len, unsigned reg, struct debug_name *to);

/*
 * scope.c: variables of the file that a frame's place is in which are not of a function, as debug_variables; also
 * those defined in other files of the program, if the program has one of this name
 */
int debug_globals(const struct debug_frame *f, debug_variable_fn *fn, void *arg);
/* those of all units of the frame's file, but for those that are only declared */
int debug_file_globals(const struct debug_frame *f, debug_variable_fn *fn, void *arg);

/* scope.c: the entry of the function called, for its frame base; 0, or -1: unknown.  die: a Dwarf_Die */
int debug_subprogram(const struct debug_frame *f, void *die);
/* the parameter of the call in the frame's caller that register reg had: 0 with its value, or -1 */
int debug_entry_value(const struct debug_frame *f, struct debug_limit *l, unsigned reg, uint64_t *v);
/* the entry after this one, as dwarf_siblingof, which also goes back and so may never end: 0, or not */
int debug_next(void *die);

#endif
