/*
 * Statements of .wet files of kind loads, executed again one by one: of each,
 * what it loads is stored (or, if it cannot be executed alone, what it
 * defines), and the processor computes the rest.  What it loads is known, and
 * not stored, if it was loaded or stored before in the segment.
 *
 * Writer and reader run the same registers through the same statements.  What
 * comes out need not be what the program had, and is not where it had a signal
 * handled or a register loaded in a way that is not followed here: the writer
 * sees it and says what the registers are (loads_encoder.c).
 *
 * What is run is made of instruction bytes that a file may have made up:
 * instructions that compute, of the kinds that reexecute_stub.c takes, with
 * load_state.mem in place of the memory they name.  None branches, none sees
 * the stack, and before a division its quotient is looked at.
 */
#ifndef TM_WET_FILE_FULL_REEXECUTE_H
#define TM_WET_FILE_FULL_REEXECUTE_H

#include <stdalign.h>

#include "base/buf.h"
#include "wet/file/full/loads_memory.h"
#include "wet/model/column.h"
#include "wet/model/port.h"

#define LOAD_WORDS 16u                  /* the most that are stored of a statement */
#define LOAD_MXCSR 0x1f80u              /* as a program finds it */

struct load_state {
	alignas(64) uint8_t mem[64];    /* what the statement loads, and stores */
	uint8_t vec[32][64];
	uint64_t r[16], mask[8];
	uint64_t flags;                 /* as visits have them: lahf; seto al */
	uint64_t mxcsr;                 /* rounding and denormals; else as a program finds it */
	uint64_t seg[3];                /* fsbase, gsbase, and 0 */
};

enum load_kind {
	LOAD_NONE,                      /* nothing that is followed here changes */
	LOAD_NATIVE,                    /* by its code */
	LOAD_DIV,                       /* too, if it does not trap */
	LOAD_CONST,                     /* register dst is arg */
	LOAD_STACK,                     /* rsp moves by arg */
	LOAD_PUSH,                      /* register dst; LOAD_CALL: arg is stored */
	LOAD_CALL,
	LOAD_POP, LOAD_LEAVE, LOAD_POPF,
	LOAD_LDMXCSR,
	LOAD_UPPER, LOAD_ALL,           /* vzeroupper, vzeroall */
	LOAD_SAVE, LOAD_RESTORE,        /* of vectors: xsave, xrstor and the like */
	LOAD_STOS, LOAD_MOVS,           /* as LOAD_GIVEN, and memory: arg is the bytes of an element */
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
	uint8_t nstore;                 /* bytes that it leaves in load_state.mem */
	uint16_t forget;                /* bytes that it may store otherwise; LOAD_ANYWHERE */
	uint8_t base, index, scale, seg;        /* where: registers, 16: none; of load_state.seg */
	uint8_t narrow;                 /* addresses of 32 bits */
	uint64_t disp;
};
#define LOAD_ANYWHERE UINT16_MAX

struct x86_inst;
struct fact;
struct facts;

struct load {
	struct load_state st;
	struct load_stmt *stmt;         /* owned */
	struct load_def *def;           /* owned */
	size_t nstmt, capstmt, ndef, capdef;
	uint8_t *code, *codeend;        /* where code goes; pieces of mapped memory, the first word of each the one before */
	uint8_t *piece;
	uint8_t *fresh;                 /* code from here on can be written and not yet executed; NULL: there is none */
	size_t ncode;                   /* pieces */
	struct facts *facts;            /* owned */
	uint8_t saved[32][64];          /* LOAD_SAVE */
	struct loadmem mem;             /* what is known of memory */
	uint64_t ea;                    /* where the statement loads and stores */
	int known;                      /* and is what it loads known? */
	uint64_t strings;               /* bytes that string instructions may still store */
};

void load_init(struct load *l);         /* registers zero */
void load_free(struct load *l);
void load_begin(struct load *l);        /* a segment begins: nothing is known of memory */

/* The next statement.  0, -1: no memory; 1: that is no instruction */
int load_add(struct load *l, uint64_t pc, const uint8_t *b, size_t n);

/*
 * Statement s comes: load_known says if its words need not be told, and if so
 * what they are, LOAD_WORDS at most.  load_do executes it with these words, or
 * with others if they are not right.
 */
int load_known(struct load *l, uint32_t s, uint64_t *w);
void load_do(struct load *l, uint32_t s, const uint64_t *w, int right);
void load_set(struct load *l, uint32_t s, const uint64_t *w);  /* it has defined these words */

/* Words of its value */
static inline unsigned load_nval(const struct load_stmt *s) { return s->nval == WPORT_FLAGS ? 1 : s->nval; }
void load_value(const struct load *l, uint32_t s, uint64_t *to);

/* What an exception is about, but for registers, plus 1: what the statement defined; words that it loaded; memory, address and length */
enum { LOAD_DEFINED = 0, LOAD_LOADED = FACT_NREG + 1, LOAD_FORGET };

/* A container of fact.h: its words in the state; 0: it has none there */
unsigned load_place(unsigned reg, uint16_t *at);

/* The state in a KEY section.  get: 0, or -1 and r->err */
void load_put_state(const struct load_state *st, struct buf *b);
int load_get_state(struct load_state *st, struct col_reader *r);

/* What of mxcsr is followed: denormals and rounding */
static inline uint64_t load_mxcsr(uint64_t v) { return (v & 0xe040) | LOAD_MXCSR; }

/* A sum over values */
static inline uint64_t load_sum(uint64_t sum, uint64_t v) { sum = (sum ^ v) * UINT64_C(0x9e3779b97f4a7c15); return sum ^ sum >> 29; }

/* reexecute_stub.c: code for in, which comes to s.  0, -1 without memory, 1: it is not of the kinds that may be run */
int load_stub(struct load *l, struct load_stmt *s, const struct x86_inst *in, const struct fact *f);
int load_ready(struct load *l);         /* what was added can be executed: 0, -1 */
void load_free_code(struct load *l);

#endif
