/* Writing the rewritten assembly: what the rewriter and a machine's emitter provide to each other. */
#ifndef TM_AE_REWRITE_EMIT_H
#define TM_AE_REWRITE_EMIT_H

#include "ae/rewrite/file.h"
#include "base/buf.h"

/*
 * Writes the original text with marks; then for each traced function its twin, its thunk, a plain
 * copy of its first instructions and its entry in the table; then the schema of the file.
 */
void emit_file(struct buf *o, struct file *f);

/* The version of what generated code and the runtime expect of each other: AE_OBJECTS of aert.h */
#define EMIT_OBJECTS 3
#define EMIT_LENT 512          /* ... where the compiler has not reserved the register of the event pointer: AE_LENT */
#define EMIT_LIBRARY 256       /* added for a function that is traced in a shared library only: AE_INLIB */

/*
 * Labels: 'o' fragment 0, 'c' fragment 1 of function no; 'f' twin, 'h' thunk, 'x' fast entry, 'k', 'l' entries from other
 * files (x86-64), 'p' plain copy, 'n' table entry.
 */
#define LBL ".Lae_%c%u"
/*
 * Labels with two numbers, function and instruction: 'u' original, 't' twin, 'q' plain copy; 's' a
 * block without instructions; 'v', 'w' and 'y', 'z' large values, and 'a', 'e' returns, 'i', 'x' calls
 * of other files' functions, of the x86-64 emitter.
 */
#define LBL2 ".Lae_%c%u_%u"

/*
 * The instrumented copy of a function. The added code leaves every register (and the flags)
 * unchanged, except those that the machine reserves and those of a switch (jumps_own): its buffer register points to the end of the
 * last event in the buffer, whose end is a guard page, so there is no bound check. `pend` bytes of
 * a group are stored after that position before the register moves once, which makes them valid; a
 * group continues into blocks that have no other predecessor.
 */
struct twin {
	struct buf *o;
	struct file *f;
	struct afunc *fn;
	uint32_t no;
	unsigned pend;
	uint32_t site;          /* setjmp sites so far */
	uint64_t *live;         /* at the end of each block */
	unsigned *pendin;       /* pend at the start of each block */
	uint8_t *own;           /* jumps_own() */
	uint64_t spare;         /* registers that nobody will read before they are written, here; they are known with `after` only */
	uint64_t *after;        /* what is live after each instruction, if the machine's buffer register is lent; else NULL */
	struct { unsigned var, pend; } *large;  /* short values that are continued elsewhere if they are large */
	size_t nlarge, caplarge;
	uint32_t nback;         /* calls so far after which it may have to be asked where events go on */
	uint32_t nsite;         /* ... and jumps, of what may be a traced function of another file */
};

/* The text that a machine writes. The rewriter itself writes sections and labels, and orders instructions. */
struct emitter {
	const char *begin;              /* before the first generated instruction of the file; "" for none */
	/* after the last one; a static string; NULL: nothing */
	const char *(*end)(const struct file *f);
	const char *trap;               /* an instruction that control never reaches */
	const char *back;               /* a return */
	int relative;                   /* it writes twins of tables of differences (jumps.c) */
	int length;                     /* generated code refers to the runtime's __ae_length */
	int links;                      /* direct calls of other files' functions become known ones when the program starts */
	int vars;                       /* generated code refers to variables of the runtime */
	/* functions of libraries that libaert.a has a wrapper for, which passes on arguments in registers only; NULL: none */
	const char *const *wrapped;
	/* Fails the function if its entry cannot be patched, or its text cannot be copied. */
	void (*fits)(struct file *f, struct afunc *fn);
	/*
	 * Why instrumented code would change a register that is live after a block (live.h), and *at which
	 * instruction; NULL: it does not, or the hook is NULL.
	 */
	const char *(*check)(const struct afunc *fn, const uint64_t *live, uint32_t *at);
	/* Text with registers a and b exchanged, which the caller frees; NULL: the hook is for machines with `lent` */
	char *(*rename)(const char *s, unsigned a, unsigned b);
	void (*thunk)(struct buf *o, struct file *f, uint32_t no);
	void (*plain)(struct buf *o, struct file *f, uint32_t no);
	/*
	 * The twin: stores the low w bytes of a register after the group; makes the group valid; stores the
	 * number of block b.
	 */
	void (*record)(struct twin *t, unsigned var, unsigned w);
	/* ... all 8 bytes as a short value (events.h), where no flag is live; NULL: none is recorded so */
	void (*record_short)(struct twin *t, unsigned var);
	void (*settle)(struct twin *t);
	void (*mark)(struct twin *t, uint32_t b);
	/* records what instruction i, a repeated string instruction, needs */
	void (*rep)(struct twin *t, uint32_t i);
	/* The begin of a landing pad; NULL: functions that land exceptions are not traced, and twins have no frame directives */
	void (*land)(struct twin *t);
	/* Instruction i with its records, and its delay slot: returns the number of instructions written. */
	uint32_t (*insn)(struct twin *t, uint32_t i);
	void (*outlying)(struct twin *t, uint32_t b);   /* a block that stands for a conditional tail jump */
	void (*tables)(struct twin *t);                 /* what indirect jumps of the twin need */
};

/* Begins a section of a unit: in its group, if it has one. */
void emit_section(struct buf *o, const struct file *f, uint32_t unit, const char *name, const char *flags);
#define EMIT_CALLLEN 5          /* bytes of such a call */
/* Is instruction i of fn a direct call of what may be a traced function of another file? */
int emit_linked(const struct file *f, const struct afunc *fn, uint32_t i);

void emit_twin(struct buf *o, struct file *f, uint32_t no);

/*
 * For emitters: records what the slice wants of instruction i (results of a call: only those that
 * it returns), of a set of registers.
 */
void twin_results(struct twin *t, uint32_t i, int call);
/* does instruction i itself have results to record? */
int twin_records(const struct twin *t, uint32_t i);
void twin_mask(struct twin *t, uint64_t regs);
/* Passes the open group on to block `to`, if only instruction i leads there and it is not written yet. */
int twin_carry(struct twin *t, uint32_t i, uint32_t to);

static inline const char *
twin_text(const struct twin *t, const struct ainsn *a)
{
	return a->text ? a->text : t->f->text.st[a->stmt].s;
}

#endif
