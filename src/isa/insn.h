/*
 * A machine instruction as the analyses see it: which registers it reads and writes, which memory
 * it refers to, which of its results can be computed again from its inputs, and where control goes.
 * A machine's folder (x86/, mips/) fills it in; the analyses know no machine.
 *
 * Variables of effects: the machine's registers 0 .. nreg-1 (ae/machine/machine.h), then the
 * condition flags (nreg), then the contents of memory at ref[mref] (nreg+1). These contents are
 * known if that memory is a stack slot or constant; otherwise whatever is computed from them is
 * impossible.
 *
 * References and effects are steps of operation.h. An effect that cannot be computed from registers
 * is SO_UNKNOWN ("impossible", seed 001 section 4.1.1): its value has to be recorded.
 */
#ifndef TM_ISA_INSN_H
#define TM_ISA_INSN_H

#include <stdint.h>
#include <string.h>
#include "isa/operation.h"

#define INSN_MAXREG 40  /* the most registers of any machine */

enum insn_ctl {
	IC_NONE,
	IC_JUMP,        /* direct */
	IC_BRANCH,      /* conditional, direct */
	IC_SWITCH,      /* indirect jump */
	IC_CALL,        /* direct */
	IC_CALLIND,
	IC_RETURN,
	IC_STOP         /* traps: control does not continue */
};

/* The effect of a relocation on the instruction that holds it. */
enum insn_reloc {
	MR_NONE,
	MR_PLAIN,       /* the linker fills in an operand */
	MR_GOT,         /* ... and may turn the instruction into one that does not load (SO_GOTLOAD) */
	/*
	 * ... of an offset in a table of addresses made by the linker: the value loaded is not the symbol's
	 * contents
	 */
	MR_TABLE,
	MR_TLSMODEL,    /* the linker may change the instructions around it: not traceable */
	MR_TLSDESC,     /* a lea, of which the linker may make a load or a constant (SO_GOTLOAD) */
	MR_TLSDESCCALL, /* a call, of which the linker may make an instruction that does nothing (SO_GOTLOAD) */
	/* an operand is filled in; the linker makes other instructions of it and the call after it, except in a shared library */
	MR_TLSCALL,
	/* the value depends on the instruction's address, and it is no jump or call: cannot be copied */
	MR_PCREL,
	MR_HINT         /* changes nothing */
};

/* A constant that the linker may change: its place in the instruction. */
struct insn_field { uint8_t off, size, rip; };

#define INSN_NOCC 255   /* the branch's condition cannot be recomputed */
#define INSN_MAXEFF 6

struct insn_effect {
	/* dst: variable written; m.sym, and a.var and b.var with SV_SYM, index field[] */
	struct op_step s;
	uint16_t ccmask;        /* SO_FLAGS_*: bit SC_x is set if condition x is valid after it */
};

enum insn_form { IF_SSE, IF_AVX, IF_AVX512 };

/* What is recorded before an instruction with an SO_MASKED reference: its mask, and its vector of indexes. */
struct insn_mask {
	uint8_t bytes;          /* of the mask; 0: there is no such reference */
	uint8_t vector, reg;    /* 1: it is a vector register, 0: a mask register; its number */
	uint8_t nindex, index;  /* bytes of the indexes, or 0; their vector register */
	uint8_t form;           /* of the instruction, and so of those that record it: enum insn_form */
};

struct insn {
	uint8_t len;
	uint8_t ctl;
	uint8_t cc;             /* IC_BRANCH: SC_ condition or INSN_NOCC */
	uint8_t nfield, nref, neff;
	/* repeated string instruction (2: repne): an SO_REP step replaces fetch and references */
	uint8_t rep;
	struct insn_field field[2];
	/* in the order of ref(5); addresses are formed from the registers before the instruction */
	struct op_step ref[3];
	struct insn_effect eff[INSN_MAXEFF];
	/* bit n is register n; a write that leaves a part of the register counts as both */
	uint64_t reads, writes;
	uint8_t flreads, flwrites; /* condition flags, in the machine's own bits; flwrites: always written */
	int8_t mref;            /* the reference whose contents are the memory variable of effects, or -1 */
	/*
	 * registers read as values, not only to form addresses (the stack pointer of push and the like
	 * excluded)
	 */
	uint64_t vreads;
	/* IC_SWITCH, IC_CALLIND: 1 the target is register tgt, 2 it is the value loaded by ref[0] */
	uint8_t setsdst;
	int16_t tgt;            /* rep: the register that counts */
	/*
	 * delay slot: the next instruction runs before control is transferred: 1 always, 2 only if the
	 * branch is taken
	 */
	uint8_t slot;
	/* the memory operand is an entry of a linker's table, though the text names a symbol */
	uint8_t table;
	/* an operand depends on the instruction's address: the emitter must know how to copy it */
	uint8_t pcrel;
	uint8_t tls;            /* an operand is MR_TLSCALL: nothing may come between the instruction and the call after it */
	/* IC_CALLIND: the registers that what it calls may change, with the flags; 0: those that any callee may change */
	uint64_t changes;
	struct insn_mask mask;
	/* IC_BRANCH that reaches only near targets, and is decided by a count in a register: x86-64's enum x86_near; else 0 */
	uint8_t near;
	/* IC_BRANCH, IC_JUMP: bytes from its start to its target; 0: its bytes do not say */
	int32_t jump;
	uint32_t raw;           /* the word, on machines whose instructions are words */
};

/* For lifters: appends an effect, which computes nothing yet, to in; values of a step. */
static inline struct insn_effect *
insn_effect(struct insn *in, int op, int dst, int w)
{
	struct insn_effect *e = &in->eff[in->neff++];

	memset(e, 0, sizeof *e);
	e->s.op = (uint8_t)op;
	e->s.dst = (int16_t)dst;
	e->s.w = (uint8_t)w;
	e->s.m.base = e->s.m.index = SCH_NOVAR;
	e->s.m.sym = SCH_NOSYM;
	return e;
}

static inline struct op_value insn_var(int r) { return (struct op_value){ SV_VAR, r, 0 }; }
static inline struct op_value insn_imm(int64_t i) { return (struct op_value){ SV_IMM, 0, i }; }

#endif
