/*
 * What instructions do: steps over numbered 64-bit variables, independent of the machine:
 * references to memory, computations, conditions, calls. Lifters translate instructions into steps
 * (insn.h); schemas consist of steps (format/schema/schema.h), hence the prefix.
 */
#ifndef TM_ISA_OPERATION_H
#define TM_ISA_OPERATION_H

#include <stdint.h>

#define SCH_NOVAR   (-1)
#define SCH_NOSYM   (-1)

/* A memory address: var[base] + var[index]*scale + cst[sym] + disp (+ fs base), modulo 2^64. */
struct sch_addr {
	int16_t base, index;    /* variable numbers or SCH_NOVAR */
	uint8_t scale;          /* 1, 2, 4 or 8 */
	uint8_t fs;             /* 1: the thread pointer (fs base) is added */
	uint8_t narrow;         /* 1: the sum is truncated to 32 bits (before fs) */
	/* 1: the sum is rounded down to a multiple of 4 (MIPS lwl and the like; no index, fs, narrow) */
	uint8_t align;
	int32_t sym;            /* index of the unit's constants, or SCH_NOSYM */
	int64_t disp;
};

/* An operand of a computation. */
enum sch_vkind { SV_NONE, SV_VAR, SV_IMM, SV_SYM };
struct op_value {
	uint8_t kind;
	int32_t var;            /* SV_VAR: variable number; SV_SYM: constant number */
	int64_t imm;            /* SV_IMM: value; SV_SYM: added to the constant */
};

/*
 * Steps of a block. `w` is the width in bytes (1, 2, 4, 8) of a computation: operands are truncated
 * to it, and the result is written to dst as on x86-64: 8 all of it, 4 zero-extended to 64 bits, 1
 * and 2 into the low bytes (the rest of dst is unchanged). Shift counts are masked to 5 bits (6 if
 * w is 8).
 */
enum sch_op {
	/* what the reference stream shows */
	SO_INST,        /* n: fetch an instruction of n bytes at pc; pc += n */
	SO_LOAD,        /* m, n: n bytes are read */
	SO_STORE,       /* m, n */
	SO_MODIFY,      /* m, n: read-modify-write, one reference */
	/*
	 * m, n: like SO_LOAD, but absent if the linker turned the instruction last fetched into one that
	 * does not load (lea, an immediate operand, a direct call or jump). If that does nothing at all, its
	 * SO_STORE is absent, too.
	 */
	SO_GOTLOAD,
	/* values */
	/*
	 * dst <- w bytes from the events; cc: 0 zero-extended, 1 sign-extended to 64 bits, 2 merged like a
	 * result of width w, 3 sign-extended to 32 bits, then zero-extended, 4 (w is 8) a short value: 4, 8 or 12
	 * bytes of events, ev_short of events.h
	 */
	SO_UNKNOWN,
	SO_MOV,         /* dst <- a */
	SO_LEA,         /* dst <- address m, as a result of width w (4 or 8) */
	SO_ADD, SO_SUB, SO_AND, SO_OR, SO_XOR,          /* dst <- a op b */
	SO_SHL, SO_SHR, SO_SAR, SO_ROL, SO_ROR,         /* dst <- a op b */
	SO_MUL,         /* dst <- low w bytes of a*b */
	SO_NOT, SO_NEG, SO_BSWAP,                       /* dst <- op a */
	SO_ZEXT, SO_SEXT,       /* dst <- low n bytes of a, extended to w bytes */
	/* dst <- n bytes at m in the executable's read-only image, extended to w bytes; cc: 0 zero, 1 sign */
	SO_LOADRO,
	SO_FLAGS_SUB,   /* flags of a - b (cmp, sub, dec) in width w */
	/* flags of the result a (test, and, or, xor; overflow and carry 0; a is truncated to w) */
	SO_FLAGS_RES,
	SO_FLAGS_AND,   /* flags of a & b (test) */
	/* dst <- cc of the flags (0 or 1), as a result of width w: 1 (merged) or 4 or 8 (all of dst) */
	SO_SETCC,
	SO_CMOV,        /* dst <- cc ? a : dst, as a result of width w (w 4 zero-extends either way) */
	/* control inside a block */
	/*
	 * known callee: function number sym of this unit; fetch and push are separate steps. The callee's
	 * `need` variables are copied from the caller's variables of the same numbers, its sp is var[sp] -
	 * push (struct sch_unit). A run sequence follows if the callee has SF_TAILOUT.
	 */
	SO_CALL,
	SO_CALLX,       /* unknown callee: a run sequence */
	/* n: call of a function that returns twice: a run sequence that ends with setjmp site n */
	SO_CALLJ,
	/*
	 * Repeated string instruction of n bytes at pc (pc += n). cc: enum sch_rep; w: width of an element.
	 * Uses and sets rcx, rsi, rdi (direction forward). For SR_CMPS and SR_SCAS the 8-byte value of rcx
	 * afterwards is read from the events at this point: count = rcx before - rcx after. The number of
	 * fetches is that of ref(5).
	 */
	SO_REP,
	/*
	 * Call of the function whose address is the constant a, in this unit or another one. n: the registers, by bit, whose
	 * values are those of the callee, too. If it is a function of the program that has a number and not SF_TAILOUT,
	 * this is a call like SO_CALL; if it needs other registers than those of n, the events have the values of all that it
	 * needs before the call. Otherwise it is like SO_CALLX. When a program is loaded (program.h), sym becomes the number of the
	 * callee in the program, and cc 1 if there are values; or sym becomes SCH_NOSYM.
	 */
	SO_LINKED,
	/*
	 * References of up to n elements of w bytes at m. cc: MA_COND. Variable a.var and those after it have the mask: its bit
	 * i says whether element i is accessed, or in _TOP, the highest bit of the w bytes of element i. Of MA_INDEX, b.var and
	 * those after it have the indexes, each of which is multiplied by the scale and added to m, which has no index.
	 */
	SO_MASKED,
	SO_NOPS
};

enum sch_masked {
	MA_RUNS,        /* one reference for each run of adjacent elements that are accessed */
	MA_RUNS_TOP,
	MA_PACKED,      /* as many as there are ones are accessed from m on: one reference */
	/* broadcast: `scale` elements, of which element i is accessed if any bit i + k scale of the n bits is 1; runs of them */
	MA_FOLDED,
	MA_INDEX4,      /* one for each element; signed indexes of 4 bytes */
	MA_INDEX4_TOP,
	MA_INDEX8,
	MA_INDEX8_TOP,
	MA_HOWS
};
/* store: 1, load: 0; scale: 1, 2, 4 or 8; 0 if it is none of MA_FOLDED and MA_INDEX */
#define MA_COND(store, how, scale) \
	((unsigned)(store) | (unsigned)(how) << 1 | ((scale) == 8 ? 3u : (scale) == 4 ? 2u : (scale) == 2 ? 1u : 0u) << 4)
#define MA_STORE(cc)    ((cc) & 1u)
#define MA_HOW(cc)      ((cc) >> 1 & 7u)
#define MA_SHIFT(cc)    ((cc) >> 4)     /* log2 of the scale */
#define MA_MOST         64u             /* elements, at most; and bytes of them all, but for MA_FOLDED */
#define MA_MOST_INDEXED 16u             /* elements with indexes, at most */
/* is the mask the highest bits of elements? */
static inline int
sch_mask_top(unsigned how)
{
	return how == MA_RUNS_TOP || how == MA_INDEX4_TOP || how == MA_INDEX8_TOP;
}
/* How many variables of 8 bytes the mask and the indexes take */
static inline unsigned
sch_mask_vars(unsigned how, unsigned w, unsigned n)
{
	return sch_mask_top(how) ? (n * w + 7) / 8 : 1;
}
static inline unsigned
sch_index_vars(unsigned how, unsigned n)
{
	return how < MA_INDEX4 ? 0 : ((how < MA_INDEX8 ? 4 : 8) * n + 7) / 8;
}
enum sch_rep { SR_MOVS, SR_STOS, SR_LODS, SR_CMPS, SR_SCAS };

/* Conditions on the last SO_FLAGS_ step. */
enum sch_cc { SC_EQ, SC_NE, SC_LT, SC_LE, SC_GT, SC_GE, SC_LTU, SC_LEU, SC_GTU, SC_GEU, SC_NEG, SC_NNEG };

struct op_step {
	uint8_t op, w, cc;
	int16_t dst;
	uint32_t n;
	int32_t sym;
	struct op_value a, b;
	struct sch_addr m;
};

#endif
