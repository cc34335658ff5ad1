/*
 * What the rewriter needs from a machine. Each machine has a folder beside this one (x86/, mips/).
 * The makefile lists the folders that have a machine.c, so a new machine is a new folder. It
 * contains
 *
 *   machine.c      const struct machine *const machines_FOLDER[], NULL at the end
 *   the lifter     facts about an instruction, for analyses (isa/FOLDER)
 *   the emitter    instrumented code, for aerw
 *   machine.mk     how the runtime is built for it: see GNUmakefile
 *   the runtime    its part of it, see src/ae/runtime/aert.h
 *
 * This corresponds to ae-machine.h in seed 001, appendix B.
 */
#ifndef TM_AE_MACHINE_MACHINE_H
#define TM_AE_MACHINE_MACHINE_H

#include <stddef.h>
#include <stdint.h>
#include "isa/insn.h"

struct emitter;

/* Another syntax that the machine's assembler reads: its statements are translated into the one that the rewriter knows. */
struct dialect {
	/* the syntax after directive s: 0 is the rewriter's, the others are those of begin; -1: s does not change it */
	int (*after)(const char *s);
	/* by syntax: the directive with which it begins */
	const char *const *begin;
	/*
	 * Statement s of this syntax in the rewriter's: the n-th way to write it, from 0; to be freed. NULL: there is none, or
	 * no further one. Which of them is right, if any, the assembler tells.
	 */
	char *(*translate)(const char *s, int syntax, unsigned n);
	/* why a function is not traced that has a statement without a translation; why a file is not, although all have one */
	const char *untranslated, *different;
};

struct machine {
	const char *name;               /* as in aerw -m and aecc --target */
	/* objects of it: ELF's machine, class and data encoding */
	uint16_t elf;
	uint8_t elfclass, elfdata;
	/* numbers for the schema, see format/schema/schema.h */
	uint8_t word, big, push;
	/* variables */
	uint16_t nreg, sp, fp;          /* fp: the register that may replace sp in a function */
	int16_t link;                   /* where a call leaves the return address; -1: on the stack */
	uint16_t buffer;                /* the register reserved for the event pointer */
	/*
	 * The same machine where the compiler has not reserved that register, but uses it: in twins, the program's value of
	 * it is in memory. NULL: a compiler has to reserve it. `lent`: this is such a machine.
	 */
	const struct machine *unreserved;
	uint8_t lent;
	uint64_t alike;                 /* registers that it may be exchanged for, in a function: saved ones that nothing names but by name */
	uint64_t clobbered;             /* registers that an unknown callee may change */
	uint64_t results;               /* ... whose values are returned */
	/* ... that a callee may read: parameters, vector counts, static chain */
	uint64_t arguments;
	uint16_t argument;              /* the first parameter */
	uint64_t saved;                 /* ... that a callee restores */
	uint64_t norecord;              /* ... that cannot be stored; values computed from them can be */
	unsigned maxinsn;               /* bytes of the longest instruction */
	unsigned macros;                /* a statement may become several instructions */
	unsigned patch;                 /* bytes of a jump over a function's entry */
	/* its assembler */
	const char *as;                 /* its name where `as` is another machine's */
	const char *const *asargs;      /* arguments that are always passed */
	uint8_t filler;                 /* the byte that no-operations consist of */
	/* first character of a register's name: text_symbol skips it ('%'), or 0 */
	char regchar;
	const char *const *prefixes;    /* words that belong to the instruction after them; NULL-terminated */
	/* directives for data with addresses; the one for a whole address is first */
	const char *const *words;
	const char *const *emitting;    /* directives from which the assembler makes instructions */
	const struct dialect *dialect;  /* NULL: there is no other syntax */
	/* facts */
	const char *(*regname)(int r);  /* for people: "rax", "R4"; NULL if there is no such register */
	enum insn_reloc (*reloc)(unsigned type, const char *symbol); /* ELF's type */
	/* like x86_lift in isa/x86/lift.h */
	const char *(*lift)(const struct machine *m, const uint8_t *p, size_t n, const uint8_t *rel,
	    struct insn *in);
	const struct emitter *emit;     /* rewrite/emit.h */
};

/*
 * By name, by an ELF file's header, by the number in a schema (big as in the schema); NULL if there
 * is none.
 */
const struct machine *machine_byname(const char *name);
const struct machine *machine_byelf(unsigned elf, unsigned elfclass, unsigned elfdata);
const struct machine *machine_byschema(unsigned elf, unsigned big);

static inline int
machine_iself(const struct machine *m, unsigned elf, unsigned elfclass, unsigned elfdata)
{
	return m->elf == elf && m->elfclass == elfclass && m->elfdata == elfdata;
}

/* The registers that the callee of a call may change, as far as is known. */
static inline uint64_t
machine_clobbers(const struct machine *m, const struct insn *in)
{
	return in->changes ? in->changes : m->clobbered;
}

/* Variables after the registers. */
static inline unsigned machine_flags(const struct machine *m) { return m->nreg; }
static inline unsigned machine_mem(const struct machine *m) { return m->nreg + 1u; }
static inline unsigned machine_slot0(const struct machine *m) { return m->nreg + 2u; }

#endif
