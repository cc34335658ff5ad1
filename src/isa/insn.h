/*
 * A machine instruction as the analyses see it: which registers it reads and
 * writes, which memory it refers to, which of its results can be computed
 * again from its inputs, and where control goes.  A machine's folder (x86/,
 * mips/) fills it in; nothing else in the engine knows the machine.
 *
 * Variables of effects: a machine's registers 0 .. nreg-1 (machine.h), then
 * the condition flags, nreg, then the contents of memory at ref[mref], nreg+1.
 * These are known when that memory is a stack slot or constant, otherwise
 * whatever is computed from them is impossible.
 *
 * References and effects are steps of operation.h.  An effect that
 * cannot be computed from registers is SO_UNKNOWN ("impossible", seed 001
 * section 4.1.1): its value has to be recorded.
 */
#ifndef TM_ISA_INSN_H
#define TM_ISA_INSN_H

#include <stdint.h>
#include <string.h>
#include "isa/operation.h"

#define INSN_MAXREG 40   /* no machine has more registers */

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

/* What a relocation means to the instruction that it is in */
enum insn_reloc {
	MR_NONE,
	MR_PLAIN,       /* the linker fills an operand in */
	MR_GOT,         /* ... and may make another instruction of it that does not load (SO_GOTLOAD) */
	MR_TABLE,       /* the same for an offset in a table of addresses that the linker makes: what is loaded is not the symbol's contents */
	MR_TLSMODEL,    /* ... and may make other instructions of the sequence: not traceable */
	MR_PCREL,       /* the value depends on where the instruction is and is no jump or call: cannot be copied */
	MR_HINT         /* changes nothing */
};

/* A constant that the linker may change: where it stands in the instruction */
struct insn_field { uint8_t off, size, rip; };

#define INSN_NOCC 255   /* the branch's condition cannot be recomputed */
#define INSN_MAXEFF 6

struct insn_effect {
	struct sch_step s;      /* dst: variable written; m.sym, a.var, b.var with SV_SYM: number in field[] */
	uint16_t ccmask;        /* SO_FLAGS_*: bit SC_x set: condition x is right */
};

struct insn {
	uint8_t len;
	uint8_t ctl;
	uint8_t cc;             /* IC_BRANCH: SC_ condition or INSN_NOCC */
	uint8_t nfield, nref, neff;
	uint8_t rep;            /* repeated string instruction (2: repne): an SO_REP step replaces fetch and references */
	struct insn_field field[2];
	struct sch_step ref[3]; /* in the order of ref(5); addresses are over the registers before the instruction */
	struct insn_effect eff[INSN_MAXEFF];
	uint64_t reads, writes; /* machine registers, bit n register n; a write that keeps a part counts as both */
	uint8_t flreads, flwrites; /* condition flags, machine's own bits; flwrites: surely written */
	int8_t mref;            /* the reference whose contents effects call memory, or -1 */
	uint64_t vreads;        /* registers read as values, not only to form addresses (the stack pointer of push and the like left out) */
	uint8_t setsdst;        /* IC_SWITCH, IC_CALLIND: 1 the target is register tgt, 2 the value loaded by ref[0] */
	int16_t tgt;            /* rep: the register that counts */
	uint8_t slot;           /* the next instruction runs before control goes (delay slot): 1 always, 2 only if the branch is taken */
	uint8_t table;          /* its memory operand is an entry of a table of the linker's, though the text names a symbol */
	uint8_t pcrel;          /* an operand depends on where the instruction is: the emitter must know how to copy it */
	int32_t jump;           /* IC_BRANCH, IC_JUMP: bytes from its start to its target, 0 if its bytes do not say */
	uint32_t raw;           /* a machine word, for machines whose instructions are words */
};

/* For lifters: one more effect of in, which computes nothing yet; values of a step */
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

static inline struct sch_val insn_var(int r) { return (struct sch_val){ SV_VAR, r, 0 }; }
static inline struct sch_val insn_imm(int64_t i) { return (struct sch_val){ SV_IMM, 0, i }; }

#endif
