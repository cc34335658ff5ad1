/* Internal to the MIPS lifter and its test: meanings of opcode.def, and the state of one lifting. */
#ifndef TM_ISA_MIPS_LIFT_INTERNAL_H
#define TM_ISA_MIPS_LIFT_INTERNAL_H

#include "isa/mips/lift.h"

/* Meaning of an instruction. a and b are the last columns of opcode.def. */
enum mips_meaning {
	M_OTHER,        /* everything written is unknown; no reference */
	M_ALU,          /* d <- s a t */
	M_ALUI,         /* t <- s a immediate, sign-extended if b */
	M_NOR,
	M_SHIFT,        /* d <- t a constant */
	M_SHIFTV,       /* d <- t a s */
	M_SLT,          /* d <- condition a of s and t */
	M_SLTI,         /* t <- condition a of s and immediate */
	M_LUI,
	M_MOVC,         /* d <- s if condition a of t and 0 */
	M_COUNT,        /* clz, clo: t must be d */
	M_EXT, M_INS, M_WSBH,
	M_SEXT,         /* d <- t, sign-extended from a bytes */
	M_RDHWR,
	M_MOVE,         /* between HI or LO and a general register */
	M_MULT,         /* LO <- the product if a is SO_MOV, else LO a the product */
	M_MUL,
	M_JR, M_JALR, M_JUMP, M_CALL,
	M_BRANCH,       /* if condition a of s and t; b: likely, as below */
	M_BRANCHZ,      /* if condition a of s and 0 */
	M_BRANCHF,
	M_CALLC,        /* conditional call; a: unconditional if s is $0 */
	M_SYSCALL, M_BREAK,
	M_TRAP,         /* on s and t; traps if they are equal when a is set, unequal otherwise */
	M_TRAPI,        /* on s and immediate */
	M_LOAD,         /* t <- a bytes of memory by operation b */
	M_LOADPART,     /* lwl, lwr */
	M_LOADF, M_LOADFX,      /* a bytes into the FPU; the second with an index */
	M_STORE,        /* a bytes <- t */
	M_STOREPART,    /* swl, swr */
	M_STOREX,       /* a bytes <- an unknown value */
	M_STOREFX,      /* ... with an index */
	M_ALIGN8        /* a reference whose address is rounded down to a multiple of 8 */
};

struct mips_op {
	const char *name;
	uint32_t match, mask;
	const char *operands;
	uint8_t meaning, a, b;
};

extern const struct mips_op mips_ops[];
extern const size_t mips_nops;

struct lift {
	const struct mips_op *op;
	uint32_t w;             /* the instruction */
	int reloc, big;         /* reloc: the linker fills in its low 16 bits, which are its last bytes */
	struct insn *in;
};

static inline int mips_s(uint32_t w) { return w >> 21 & 31; }
static inline int mips_t(uint32_t w) { return w >> 16 & 31; }
static inline int mips_d(uint32_t w) { return w >> 11 & 31; }
static inline int mips_sa(uint32_t w) { return w >> 6 & 31; }
static inline int64_t mips_imm(uint32_t w) { return (int16_t)(w & 0xffff); }

struct op_value mips_reg(int r);        /* 0 for $0 */
/* field index of the low 16 bits, which the linker fills in */
int mips_field(struct lift *l);
struct op_value mips_immediate(struct lift *l); /* the low 16 bits, signed */
/* nothing if dst is $0 */
void mips_compute(struct lift *l, int op, int dst, struct op_value a, struct op_value b);
void mips_flags(struct lift *l, int op, struct op_value a, struct op_value b);
void mips_unknown(struct lift *l);              /* for each register that is written */

const char *mips_computation(struct lift *l);   /* adds effects on registers */
const char *mips_meaning(struct lift *l);       /* adds control, references and effects */

#endif
