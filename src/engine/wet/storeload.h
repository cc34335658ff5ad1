/*
 * Statements of .wet files of kind loads, executed again one by one: of each,
 * what it loads is stored (or, if it cannot be executed alone, what it
 * defines), and the processor computes the rest.
 *
 * Writer and reader run the same registers through the same statements.  What
 * comes out need not be what the program had, and is not where it had a signal
 * handled or a register loaded in a way that is not followed here: the writer
 * sees it and says what the registers are (storeloadput.c).
 *
 * What is run is made of instruction bytes that a file may have made up:
 * instructions that compute, of the kinds that storeloadstub.c takes, with
 * load_state.mem in place of the memory they name.  None branches, none sees
 * the stack, and before a division its quotient is looked at.
 */
#ifndef TM_ENGINE_WET_STORELOAD_H
#define TM_ENGINE_WET_STORELOAD_H

#include <stdalign.h>

#include "base/buf.h"
#include "engine/wet/col.h"
#include "engine/wet/port.h"

#define LOAD_WORDS 16u                  /* the most that are stored of a statement */
#define LOAD_MXCSR 0x1f80u              /* as a program finds it */

struct load_state {
	alignas(64) uint8_t mem[64];    /* what the statement loads, and stores */
	uint8_t vec[32][64];
	uint64_t r[16], mask[8];
	uint64_t flags;                 /* as visits have them: lahf; seto al */
	uint64_t mxcsr;                 /* rounding and denormals; else as a program finds it */
};

enum load_kind {
	LOAD_NONE,                      /* nothing that is followed here changes */
	LOAD_NATIVE,                    /* by its code */
	LOAD_DIV,                       /* too, if it does not trap */
	LOAD_CONST,                     /* register dst is arg */
	LOAD_STACK,                     /* rsp moves by arg */
	LOAD_POP, LOAD_LEAVE, LOAD_POPF,
	LOAD_LDMXCSR,
	LOAD_UPPER, LOAD_ALL,           /* vzeroupper, vzeroall */
	LOAD_SAVE, LOAD_RESTORE,        /* of vectors: xsave, xrstor and the like */
	LOAD_GIVEN                      /* what it defines is stored */
};

/* Words in load_state that a statement defines: nval of them from byte `at`; word val of the visit's values of it */
struct load_def { uint16_t at; uint8_t n, val, clear; };        /* clear: the rest of the vector is zero then */

struct load_stmt {
	const uint8_t *code;
	uint64_t arg;
	uint32_t def;                   /* its first in load.def */
	uint16_t val;                   /* its value: byte of load_state */
	uint8_t nval;                   /* and words; WPORT_FLAGS */
	uint8_t kind, dst;
	uint8_t nload;                  /* bytes that it loads and that are stored */
	uint8_t nstored;                /* words that are stored */
	uint8_t ndef, ndefword;         /* definitions, and words of them */
	uint8_t fp;                     /* mxcsr matters */
};

struct rp_inst;
struct fact;
struct facts;

struct load {
	struct load_state st;
	struct load_stmt *stmt;         /* owned */
	struct load_def *def;           /* owned */
	size_t nstmt, capstmt, ndef, capdef;
	uint8_t *code, *codeend;        /* where code goes; pieces of mapped memory, the first word of each the one before */
	uint8_t *piece;
	size_t ncode;                   /* pieces */
	struct facts *facts;            /* owned */
	uint8_t saved[32][64];          /* LOAD_SAVE */
};

void load_init(struct load *l);         /* registers zero */
void load_free(struct load *l);

/* The next statement.  0, -1: no memory; 1: that is no instruction */
int load_add(struct load *l, uint64_t pc, const uint8_t *b, size_t n);

/* Executes statement s; w: its words that are stored */
void load_do(struct load *l, uint32_t s, const uint64_t *w);
void load_set(struct load *l, uint32_t s, const uint64_t *w);  /* it has defined these words */

/* Words of its value */
static inline unsigned load_nval(const struct load_stmt *s) { return s->nval == WPORT_FLAGS ? 1 : s->nval; }
void load_value(const struct load *l, uint32_t s, uint64_t *to);

/* A container of fact.h: its words in the state; 0: it has none there */
unsigned load_place(unsigned reg, uint16_t *at);

/* The state in a KEY section.  get: 0, or -1 and r->err */
void load_put_state(const struct load_state *st, struct buf *b);
int load_get_state(struct load_state *st, struct col_reader *r);

/* What of mxcsr is followed: denormals and rounding */
static inline uint64_t load_mxcsr(uint64_t v) { return (v & 0xe040) | LOAD_MXCSR; }

/* A sum over values */
static inline uint64_t load_sum(uint64_t sum, uint64_t v) { sum = (sum ^ v) * UINT64_C(0x9e3779b97f4a7c15); return sum ^ sum >> 29; }

/* storeloadstub.c: code for in, which comes to s.  0, -1 without memory, 1: it is not of the kinds that may be run */
int load_stub(struct load *l, struct load_stmt *s, const struct rp_inst *in, const struct fact *f);
void load_free_code(struct load *l);

#endif
