/*
 * Schema of a traced source file: what the regenerator needs to turn the few recorded events back
 * into every reference (seed: Larus 1990, section 4.1.2).
 *
 * aerw builds a struct sch_unit and encodes it; the result is in the section .aeschema of the
 * object and the executable. aec and ae2addr decode all units of an executable. Nothing here
 * depends on the traced machine: registers are numbered variables of 64 bits. The steps of a block
 * are in isa/operation.h.
 */
#ifndef TM_FORMAT_SCHEMA_SCHEMA_H
#define TM_FORMAT_SCHEMA_SCHEMA_H

#include <stddef.h>
#include <stdint.h>

#include "isa/operation.h"

#define SCH_SECTION ".aeschema"
#define SCH_VERSION 3
#define SCH_VERSION_SHORT 4     /* of a unit that has short values */
#define SCH_VERSION_LINKED 5    /* of a unit that has SO_LINKED steps */
#define SCH_VERSION_MASKED 6    /* of a unit that has SO_MASKED steps */
#define SCH_HEADER  20          /* magic, version, word, byte order, length, number of constants, check sum */

/* The end of a block (after its last step). */
enum sch_term {
	ST_NONE,        /* never reached (after a call that does not return) */
	ST_JUMP,        /* succ[0]; also a fall-through */
	ST_BRANCH,      /* an event byte: 1 succ[0], 0 succ[1] */
	ST_COND,        /* cc of the flags: true succ[0], false succ[1] */
	/*
	 * goes to the successor whose block starts at the original address `target`; if there is none and
	 * cc is 1, it is a jump to an unknown function (like ST_TAILX)
	 */
	ST_SWITCH,
	ST_RETURN,
	ST_TAIL,        /* jump to a known function, callee: var[rsp] is its rsp, `need` is copied */
	ST_TAILX,       /* jump to an unknown function */
	/*
	 * the paper's scheme: the next block's `mark`, the number of the successor, decides. It is read
	 * when that block begins; here it is only peeked at. All successors have marks of the same size.
	 */
	ST_TARGET,
	/* succ[0], like ST_JUMP; but if an exception comes out of the block's last call, it may land at succ[1] */
	ST_LANDING
};

enum sch_loopkind { SL_ENTER, SL_BACK, SL_EXIT };
struct sch_loopev { uint8_t kind; uint32_t loop; };
struct sch_succ {
	uint32_t block;
	uint32_t nev;
	struct sch_loopev *ev;          /* in order; owned by the unit */
};

struct sch_block {
	uint32_t frag;          /* fragment of the function */
	uint32_t off;           /* byte offset of the first instruction in it */
	uint32_t nstep;
	struct op_step *step;
	uint8_t term, cc;
	/* 0, 1 or 2: whenever this block begins, the events have the block's number in that many bytes */
	uint8_t mark;
	struct op_value target; /* ST_SWITCH */
	uint32_t callee;        /* ST_TAIL: function of this unit */
	uint32_t nsucc;
	struct sch_succ *succ;
};

/*
 * A constant in the original code, as the linker left it: a displacement or immediate. Its value is
 * the signed integer of `size` bytes, in the machine's byte order, at cst[sym]+off, plus
 * cst[sym]+end if `rip` (the operand is relative to the end of its instruction).
 */
struct sch_field { int32_t sym; uint32_t off, end; uint8_t size, rip; };

struct sch_frag { int32_t sym; uint32_t off, size; };   /* code at cst[sym]+off */
struct sch_loop { uint32_t header; int32_t parent; };   /* header block; parent loop or -1 */

#define SF_TAILOUT 1u   /* may leave by a tail jump to an unknown callee */
#define SF_SETJMP  2u   /* has SO_CALLJ steps */
#define SF_NOENTRY 4u   /* has no public entry: no entry in aefn */
#define SF_LIBRARY 8u   /* traced in a shared library only */
#define SF_SHORT   16u  /* the registers recorded at its entry are short values */

struct sch_func {
	char *name;
	uint32_t flags;
	uint32_t nfrag, nvar, nneed, nblock, nloop;
	struct sch_frag *frag;          /* frag[0].off is the entry: block 0 starts there */
	uint16_t *need;                 /* variables recorded at entry besides rsp, in order */
	struct sch_block *block;
	struct sch_loop *loop;
};

struct sch_unit {
	char *source;                   /* name of the source file (.file), "" if unknown */
	uint16_t machine;               /* ELF's number: 62 x86-64, 8 MIPS */
	uint8_t word;                   /* bytes of a register or an address in the events: 4 or 8 */
	/* values in the image, and in the events except function numbers, are big-endian */
	uint8_t big;
	uint8_t push;                   /* bytes that a call pushes on the stack: 8 on x86-64, 0 on MIPS */
	uint32_t nregs;                 /* variables 0 .. nregs-1 are the machine's registers */
	/* the stack pointer's variable (x86-64: 4; rax rcx rdx rbx rsp rbp rsi rdi r8-r15; MIPS: 29) */
	uint16_t sp;
	uint32_t nfunc;
	struct sch_func *func;
	uint32_t ncst;
	/* ncst link-time constants filled in by the linker (.quad), then nfield filled in by sch_resolve */
	uint64_t *cst;
	uint32_t nfield;
	struct sch_field *field;        /* constant ncst+i is field[i] */
	void *mem;                      /* what sch_decode allocated; freed by sch_free */
};

/* A constant number (sym) may be 0 .. ncst+nfield-1; in frag and field, 0 .. ncst-1. */

/*
 * Fills in cst[ncst ..] of a decoded unit. rd copies n bytes of the executable's image at addr; 0
 * if they are not there. -1: a field is not there.
 */
int sch_resolve(struct sch_unit *u, int (*rd)(void *arg, uint64_t addr, void *buf, size_t n), void *arg);

/*
 * Encoded unit: "AESC", u16 version, u8 word, u8 big, u32 length of the whole unit, u32 ncst, u32
 * check sum (all little-endian), ncst constants of 8 bytes (the relocated words: in the machine's
 * byte order, those of 4 bytes followed by 4 zeros), the same constants again, then the functions.
 *
 * The check sum is made before the linker fills in the constants, so it covers only the rest;
 * instead, the constants are there twice.
 *
 * sch_encode returns the unit in malloc'd memory; NULL without memory, or if the unit is too large,
 * or has an address with `align` and an index, fs or narrow, which has no encoding. If the
 * assembler is to write the constants, u->cst may be NULL: they begin at SCH_HEADER, the functions
 * at sch_body().
 */
uint8_t *sch_encode(const struct sch_unit *u, size_t *len);
static inline size_t
sch_body(uint32_t ncst)
{
	return SCH_HEADER + (size_t)16 * ncst;
}

/*
 * Corrects check sum and second constants of a unit whose length and number of constants are right;
 * the rest may be anything.
 */
void sch_update_checksum(uint8_t *p);

/*
 * Decodes the unit at p, of at most n bytes. Returns the bytes consumed, 0 at the end (n == 0), -1
 * for a malformed unit (*err is the message, *erroff the offset). Every index in a decoded unit is
 * within its bound.
 */
long sch_decode(const uint8_t *p, size_t n, struct sch_unit *u, const char **err, size_t *erroff);
void sch_free(struct sch_unit *u);

#endif
