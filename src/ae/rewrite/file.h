/* What the rewriter knows about an assembly file: its functions, their instructions and labels. */
#ifndef TM_AE_REWRITE_FILE_H
#define TM_AE_REWRITE_FILE_H

#include <stddef.h>
#include <stdint.h>
#include "ae/machine/machine.h"
#include "ae/rewrite/symtab.h"
#include "ae/rewrite/text.h"
#include "cfg/graph.h"
#include "format/schema/schema.h"
#include "isa/insn.h"

#define NONE UINT32_MAX
#define BIT(v) (UINT64_C(1) << (v))     /* a set of registers: bit n register n */

struct ainsn {
	struct insn in;
	uint32_t stmt;          /* its statement */
	char *text;             /* its statement in the twin, if that is another one (rename.h): owned; else NULL */
	const char *calls;      /* a relocation's hint: an indirect call or jump to this symbol; else NULL */
	uint32_t off;           /* bytes from the start of its fragment */
	uint8_t frag;
	uint8_t leader;         /* a branch or a table has this target */
	uint8_t taken;          /* the address of a label here is used as a value */
	uint8_t twice;          /* calls a function that returns twice */
	uint8_t twiceaddr;      /* no call: it has the address of one as an operand */
	/* a no-operation that the assembler inserted for alignment; its statement is the one before */
	uint8_t pad;
	/*
	 * of the instructions that the assembler made of the statement (a macro): its number; others follow
	 */
	uint8_t nth, more;
	/* its transfer of control happens after its delay slot, the next instruction, which has it now */
	uint8_t delayed;
	uint8_t isslot;         /* a delay slot: 1 always executed, 2 only if the branch is taken */
	uint8_t lands;          /* no instruction, but where exceptions land: a landing pad's begin */
	uint32_t pads;          /* a call: number of the landing pad of its exceptions; else NONE */
	/* direct jump inside the function: the target's instruction number; else NONE */
	uint32_t target;
	/*
	 * number of the callee: a direct call or jump to a function of this file, or a call through a
	 * register that has its address; else NONE
	 */
	uint32_t callee;
	uint32_t table;         /* IC_SWITCH through a jump table of this file: its number; else NONE */
	uint8_t part;           /* it loads or adds an entry of the table of a switch (struct relswitch) */
};

/* A block of the control-flow graph: instructions first .. last-1 of the function */
struct ablock {
	uint32_t first, last;   /* equal: an empty block (entry, conditional tail jump) */
	uint8_t term, cc;       /* enum sch_term */
	uint8_t range;          /* ST_SWITCH that may also leave the function */
	/* paper's scheme: bytes of its number, recorded whenever control reaches it; 0: none */
	uint8_t mark;
	uint32_t pad;           /* ST_LANDING: the block where exceptions of its last instruction, a call, land; else NONE */
	uint32_t callee;        /* ST_TAIL */
	uint32_t nsucc;
	uint32_t *succ;
	uint64_t freq;          /* estimated executions in 64 calls */
};

/* A switch through a register and a table of differences: its instructions (jumps.c) */
struct relswitch {
	uint32_t jump, add, load;
	uint32_t widen;         /* of the entry, or NONE */
	uint32_t lea[2];        /* of the table's address, for the load and for the sum */
};

struct afrag { uint32_t first, size; };         /* first instruction; bytes */

struct afunc {
	const struct machine *m;
	const char *name;
	const char *why;        /* why it is not traced, or NULL */
	uint32_t whyline;       /* the line of the assembly that says so; 0: none */
	struct ainsn *ins;
	size_t nins, capins;
	struct afrag frag[2];
	uint32_t nfrag;
	uint8_t weak, closed, hasswitch, codetaken, paper;
	uint8_t labelread;      /* an instruction has the address of one of its labels */
	uint8_t twiceaddr;      /* one of its instructions has the address of a function that returns twice */
	uint8_t pushes;         /* the stack pointer at a landing pad may differ from that at the call */
	struct lsda *lsda[2];   /* tables of exceptions of the fragments, or NULL (landing.h); owned */
	uint32_t unit;          /* the unit that it is in: see struct file */
	uint8_t renamed;        /* the register for which the machine's buffer register is exchanged in the twin; 0: none */
	uint8_t noscratch;      /* it uses the register that instrumentation needs: fits() */
	uint32_t fill;          /* bytes to add after fragment 0, because its entry will be patched */
	uint32_t nhot;          /* statements of fragment 0 */
	/* control flow */
	struct ablock *blk;
	uint32_t nblk;
	struct graph *g;
	uint32_t *blkof;        /* block of each instruction */
	struct relswitch *rel;
	size_t nrel, caprel;
	int16_t *slot;          /* frame.h */
	uint32_t nslot;
	uint8_t *noflags;       /* by instruction: no flag is live after it (live.h) */
	/* results of the slice */
	uint64_t need;          /* registers that callers provide, by bit */
	uint8_t tailout;
	uint8_t library;        /* it can be traced in a shared library only: struct insn.tls */
	struct slice *slice;
};

/* A jump table: a data label followed by code labels of one function */
struct jtable {
	const char *label;
	uint32_t func;
	uint32_t *target;       /* instruction numbers */
	size_t n, cap;
	uint8_t absolute;       /* .quad label (else label differences) */
	uint8_t relative;       /* .long label-table, to be jumped to as jumps.c has it */
	uint8_t mixed;          /* it contains something else, too */
	uint32_t stmt;          /* its first directive */
};

struct file {
	const struct machine *m;
	int paper;              /* the paper's scheme: see slice.h */
	struct text text;
	struct symtab sym;
	/*
	 * Units: of each comdat group the linker keeps one copy, perhaps another file's. So a group's twins, table entries
	 * and schema are in the group, too, and calls between units are calls of unknown functions. Unit 0 has what is in
	 * no group, unit i+1 is group i.
	 */
	struct symtab group;
	struct afunc *fn;
	size_t nfn, capfn;
	struct jtable *tab;
	size_t ntab, captab;
	/* for each statement: 1 + the function that it is an instruction of, else 0 */
	uint32_t *owner;
	/* for each label statement in a function: its offset in the fragment, NONE if unknown */
	uint32_t *labelat;
	uint8_t *bound;         /* for each statement: bit 0 label at a bound of call sites, bit 1 at a landing pad */
	const char *source;     /* the .file name, "" if none */
	int varies;             /* symbols are set more than once */
	int context;            /* makecontext or the like is used */
	int waits;              /* ae_start() is used */
	int weakly;             /* it refers to what another file may have or not */
};

/* finds functions and labels of f->text; f->m must be set */
void file_recover(struct file *f);
/*
 * Replaces the instructions of function fn by the n of `ins`, of which it takes ownership; moved[i]
 * is the new number of the old instruction i. Labels are adjusted by labelat.
 */
void file_replace(struct file *f, uint32_t fn, struct ainsn *ins, size_t n, const uint32_t *moved);
/* The instruction at offset off of fragment frag, or NONE. */
uint32_t fn_at(const struct afunc *fn, unsigned frag, uint32_t off);
uint32_t fn_frag_end(const struct afunc *fn);   /* number of instructions in fragment 0, which is first */
void file_tables(struct file *f);
void file_targets(struct file *f);                      /* after lifting: branch targets, callees, tables */
void file_free(struct file *f);
/* finds jumps through the register of the return address that are no returns (returns.c) */
void returns_find(struct afunc *fn);
void fn_fail(struct afunc *fn, uint32_t line, const char *why);

static inline uint32_t file_nunit(const struct file *f) { return (uint32_t)f->group.n + 1; }

/* The function that starts at symbol y if a jump or call from fn there is sure to reach this copy of it; else NONE. */
uint32_t callee_known(const struct file *f, const struct afunc *fn, const struct sym *y);
/* The function of this file that a calls, if it is known and traced; else NONE. */
uint32_t callee_if_traced(const struct file *f, const struct ainsn *a);
/* calls through registers; between the graphs and the slices */
void callee_find(struct file *f);
/*
 * Jumps through tables of differences; with the function's graph, which then must be built again if the result is
 * nonzero. A switch whose table is known leads only to its targets.
 */
int jumps_find(struct file *f, uint32_t fn);
/*
 * By instruction: 1 if it is the jump of a switch whose instructions do nothing else, so that the twin's may have a
 * table of its own, or puts the table's address into a register for such switches only. NULL: there is none.
 */
uint8_t *jumps_own(const struct afunc *fn);
/* after the targets: moves transfers of control to their delay slots */
void delay_slots(struct file *f);

/* The symbol of a direct jump or call, without @PLT; NULL if it is not a plain symbol. */
const char *insn_target(const struct file *f, const struct ainsn *a, size_t *n);

#endif
