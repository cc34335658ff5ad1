/* The code of the interpreter: a program lowered to the instructions of code.def. Internal to ae/regen. */
#ifndef TM_AE_REGEN_CODE_H
#define TM_AE_REGEN_CODE_H

#include <stdint.h>

#include "ae/regen/program.h"
#include "ae/regen/regen.h"

enum code_op {
#define C(name) CO_##name,
#include "ae/regen/code.def"
#undef C
	CO_NOPS
};

struct iop {
	uint8_t op, w, sh, pad;
	uint16_t d, a, b, n;
	uint32_t x;
	uint64_t imm, k;
};

/* Targets of a switch: a hash table with open addressing; key 0 in an empty slot, with to 0. */
struct iswitch {
	uint32_t first, mask;           /* slots first .. first+mask of swkey and swto */
	const struct prog_func *pf;     /* the function that has it */
};

struct ifunc {
	uint32_t ip;                    /* its first instruction */
	uint32_t nslot;                 /* variables, and the interpreter's slots after them */
	uint32_t nneed;
	const uint16_t *need;           /* borrowed from the program */
	int isshort;                    /* those are recorded as short values */
	uint16_t sp;
	uint32_t nsite, site;           /* its setjmp sites in code.site */
	uint32_t where;                 /* with counting: the place of its entry values in code.where */
};

/* Slots after the variables of a function with n of them. */
#define SLOT_ZERO(n)  (n)               /* always 0 */
#define SLOT_FA(n)    ((n) + 1)         /* flags: those of FA - FB, */
#define SLOT_FB(n)    ((n) + 2)         /* both with the sign in bit 63 */
#define SLOT_T0(n)    ((n) + 3)
#define SLOT_T1(n)    ((n) + 4)
#define SLOT_SITE(n)  ((n) + 5)         /* rsp at each setjmp site */

struct isite { uint32_t no, ip, slot; };        /* ip: after the site's SEQJ */

struct code {
	const struct prog *g;
	int count;                      /* events are counted */
	const struct regen_model *model;        /* NULL: none follows the program */
	struct iop *op;
	uint32_t nop;
	uint64_t *tab;                  /* templates */
	uint32_t ntab;
	struct ifunc *fn;               /* by the program's function index */
	struct iswitch *sw;
	uint32_t nsw;
	uint64_t *swkey;
	uint32_t *swto;
	uint32_t nswslot;
	struct isite *site;
	uint32_t nsite;
	struct regen_site *where;       /* places of events, if they are counted */
	uint32_t nwhere;
	const char *err;                /* after a failure; static */
};

/*
 * With watched functions: a call of one returns to CODE_END first, and a function that leaves by a jump to an
 * unknown one to CODE_SEQ, a copy of the caller's run sequence, after which comes another END.
 */
#define CODE_END  1
#define CODE_SEQ  2

#define CODE_ROOM 1024          /* most references of one template */
#define CODE_PAD  4             /* words after a template that copying it may touch */

/* watch: for each function, is it watched; or NULL. 0 or -1; free it in either case */
int code_lower(struct code *c, const struct prog *g, int count, const struct regen_model *model, const uint8_t *watch);
/* Adds the program's functions from `first` on, which it got after that. All arrays may move. */
int code_lower_more(struct code *c, uint32_t first, const uint8_t *watch);
void code_free(struct code *c);

/* Does the condition cc, one of enum sch_cc, hold for a and b, whose comparison the flags are of? */
static inline int
code_cond(unsigned cc, uint64_t a, uint64_t b)
{
	switch (cc) {
	case SC_EQ:
		return a == b;
	case SC_NE:
		return a != b;
	case SC_LT:
		return (int64_t)a < (int64_t)b;
	case SC_LE:
		return (int64_t)a <= (int64_t)b;
	case SC_GT:
		return (int64_t)a > (int64_t)b;
	case SC_GE:
		return (int64_t)a >= (int64_t)b;
	case SC_LTU:
		return a < b;
	case SC_LEU:
		return a <= b;
	case SC_GTU:
		return a > b;
	case SC_GEU:
		return a >= b;
	case SC_NEG:
		return (int64_t)(a - b) < 0;
	case SC_NNEG:
		return (int64_t)(a - b) >= 0;
	default:
		return 0;
	}
}

/* dst op, operands and result as in the schema. */
uint64_t code_alu(unsigned op, unsigned w, unsigned n, uint64_t a, uint64_t b);
uint64_t code_result(unsigned w, uint64_t old, uint64_t v);

static inline uint32_t
code_hash(uint64_t key)
{
	return (uint32_t)((key * 0x9E3779B97F4A7C15u) >> 32);
}

#endif
