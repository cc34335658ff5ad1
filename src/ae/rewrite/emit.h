/* Writing the rewritten assembly. */
#ifndef TM_AE_REWRITE_EMIT_H
#define TM_AE_REWRITE_EMIT_H

#include "ae/rewrite/file.h"
#include "base/buf.h"

/*
 * The original text with marks, then for each traced function its twin, its
 * thunk, a plain copy of its first instructions and its entry in the table,
 * and the schema of the file.
 */
void emit_file(struct buf *o, struct file *f);

/* Labels: 'o' fragment 0, 'c' fragment 1 of function no; 'f' twin, 'h' thunk, 'x' fast entry, 'p' plain copy, 'n' table entry */
#define LBL ".Lae_%c%u"
/* Others have two numbers, function and instruction: 'u' original, 't' twin, 'q' plain copy; 's' block that is no instruction */
#define LBL2 ".Lae_%c%u_%u"

/*
 * The instrumented copy of a function.  Everything added leaves every register
 * (and the flags) as they were, except what the machine reserves: its buffer
 * register points behind the last event of the buffer, whose end is a guard
 * page, so there is no bound check.  `pend` bytes of a group are stored beyond
 * that register before it moves once to make them count; a group goes on into
 * blocks that have no other predecessor.
 */
struct twin {
	struct buf *o;
	struct file *f;
	struct afunc *fn;
	uint32_t no;
	unsigned pend;
	uint32_t site;          /* setjmp sites so far */
	uint64_t *live;         /* behind each block */
	unsigned *pendin;       /* pend at the start of each block */
};

/* What a machine writes.  Sections, labels of instructions and the order of things are the rewriter's. */
struct emitter {
	const char *begin;              /* before the first generated instruction of the file; "" for none */
	const char *(*end)(const struct file *f);       /* behind the last, a static string; no hook: nothing */
	const char *trap;               /* an instruction that control never reaches */
	/* Fails the function if its entry cannot be patched or its text not be copied */
	void (*fits)(struct file *f, struct afunc *fn);
	/* Why instrumented code would change what is still in use behind each block (live.h), and *at which instruction; NULL: it does not, or no hook */
	const char *(*check)(const struct afunc *fn, const uint64_t *live, uint32_t *at);
	void (*thunk)(struct buf *o, struct file *f, uint32_t no);
	void (*plain)(struct buf *o, struct file *f, uint32_t no);
	/* The twin: store the low w bytes of a register behind the group; let the group count; store the number of block b */
	void (*record)(struct twin *t, unsigned var, unsigned w);
	void (*settle)(struct twin *t);
	void (*mark)(struct twin *t, uint32_t b);
	void (*rep)(struct twin *t, uint32_t i);        /* what instruction i, a repeated string instruction, has to record */
	/* Instruction i with what is recorded at it, and its delay slot: the number of instructions written */
	uint32_t (*insn)(struct twin *t, uint32_t i);
	void (*outlying)(struct twin *t, uint32_t b);   /* block that stands for a conditional tail jump */
	void (*tables)(struct twin *t);                 /* what indirect jumps of the twin need */
};

void emit_twin(struct buf *o, struct file *f, uint32_t no);

/* For emitters: record what the slice wants of instruction i (results of a call: only what it leaves), of a set of registers */
void twin_results(struct twin *t, uint32_t i, int call);
int twin_records(const struct twin *t, uint32_t i);     /* are there results of instruction i itself? */
void twin_mask(struct twin *t, uint64_t regs);
/* Hand the open group to block `to`, if control comes there from here (instruction i) alone and it is not written yet */
int twin_carry(struct twin *t, uint32_t i, uint32_t to);

static inline const char *
twin_text(const struct twin *t, const struct ainsn *a)
{
	return t->f->text.st[a->stmt].s;
}

#endif
