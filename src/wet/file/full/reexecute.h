/*
 * Executes statements of .wet files of kind loads again, one by one.  For each, the file stores
 * what it loads (or what it defines, if it cannot be executed alone), and the processor
 * computes the rest.  What it loads is not stored if it was loaded or stored before in the
 * segment.
 *
 * Writer and reader execute the same statements on the same registers.  The result need not be
 * the program's: it differs after a signal handler, or a register loaded in a way that is not
 * followed here.  The writer detects that and stores the registers (loads_encoder.c).
 *
 * The instruction bytes come from a file and may be malicious.  Only instructions that compute
 * are executed, of the kinds that reexecute_stub.c accepts, with load_state.mem in place of
 * their memory operand.  None branches, none accesses the stack, and divisions are checked
 * first.
 */
#ifndef TM_WET_FILE_FULL_REEXECUTE_H
#define TM_WET_FILE_FULL_REEXECUTE_H

#include <stdalign.h>

#include "base/buf.h"
#include "wet/file/full/loads_memory.h"
#include "wet/model/column.h"
#include "wet/model/port.h"

#define LOAD_WORDS 16u                  /* maximum words stored of a statement */
#define LOAD_MXCSR 0x1f80u              /* value of mxcsr at the start of a program */

struct load_state {
	alignas(64) uint8_t mem[64];    /* what the statement loads and stores */
	uint8_t vec[32][64];
	uint64_t r[16], mask[8];
	uint64_t flags;                 /* in the format of visits: lahf; seto al */
	uint64_t mxcsr;                 /* rounding and denormal bits; others as LOAD_MXCSR */
	uint64_t seg[3];                /* fsbase, gsbase, and 0 */
};

enum load_kind {
	LOAD_NONE,                      /* it changes nothing that is followed here */
	LOAD_NATIVE,                    /* executed natively */
	LOAD_DIV,                       /* executed natively if it does not trap */
	LOAD_CONST,                     /* sets register dst to arg */
	LOAD_STACK,                     /* adds arg to rsp */
	LOAD_PUSH,                      /* pushes register dst; LOAD_CALL: pushes arg */
	LOAD_CALL,
	LOAD_POP, LOAD_LEAVE, LOAD_POPF,
	LOAD_LDMXCSR,
	LOAD_UPPER, LOAD_ALL,           /* vzeroupper, vzeroall */
	LOAD_SAVE, LOAD_RESTORE,        /* xsave, xrstor and the like, for vector registers */
	LOAD_STOS, LOAD_MOVS,           /* as LOAD_GIVEN, and they store elements of arg bytes */
	LOAD_GIVEN                      /* the file stores what it defines */
};

/*
 * A definition: n words of load_state from byte `at`, word val of the statement's values in a
 * visit.  clear: the rest of the vector becomes zero.
 */
struct load_def { uint16_t at; uint8_t n, val, clear; };

struct load_stmt {
	const uint8_t *code;
	uint64_t arg;
	uint32_t def;                   /* its first definition in load.def */
	uint16_t val;                   /* its value: offset in load_state */
	uint8_t nval;                   /* words of its value, or WPORT_FLAGS */
	uint8_t kind, dst;
	uint8_t nload;                  /* bytes that it loads and the file stores */
	uint8_t nstored;                /* words that the file stores */
	uint8_t ndef, ndefword;         /* its definitions, and their words */
	uint8_t fp;                     /* it depends on mxcsr */
	uint8_t nstore;                 /* bytes that it stores, in load_state.mem */
	uint16_t forget;                /* bytes that it may store with unknown contents; or LOAD_ANYWHERE */
	/* its address: registers (16: none), index in load_state.seg */
	uint8_t base, index, scale, seg;
	uint8_t narrow;                 /* addresses have 32 bits */
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
	/* next code byte, end; code is in mapped pieces, whose first word links to the previous piece */
	uint8_t *code, *codeend;
	uint8_t *piece;
	uint8_t *fresh;                 /* code from here on is writable and not executable yet; NULL: none */
	size_t ncode;                   /* number of pieces */
	struct facts *facts;            /* owned */
	uint8_t saved[32][64];          /* vectors saved by LOAD_SAVE */
	struct loadmem mem;             /* known memory */
	uint64_t ea;                    /* address of the statement's memory operand */
	int known;                      /* is what it loads known? */
	uint64_t strings;               /* bytes that string instructions may still store */
};

void load_init(struct load *l);         /* clears all registers */
void load_free(struct load *l);
void load_begin(struct load *l);        /* call it at the start of a segment: no memory is known */

/* Appends a statement.  0; -1: no memory; 1: no valid instruction. */
int load_add(struct load *l, uint64_t pc, const uint8_t *b, size_t n);

/*
 * Before statement s: load_known returns 1 if its words are known, and stores them at w
 * (LOAD_WORDS at most).  load_execute executes it with the words w; right: they are the predicted
 * ones.
 */
int load_known(struct load *l, uint32_t s, uint64_t *w);
void load_execute(struct load *l, uint32_t s, const uint64_t *w, int right);
void load_set(struct load *l, uint32_t s, const uint64_t *w);   /* sets the words that it defines */

/* Words of the statement's value. */
static inline unsigned load_nval(const struct load_stmt *s) { return s->nval == WPORT_FLAGS ? 1 : s->nval; }
/* copies the words of the statement's value to `to` */
void load_value(const struct load *l, uint32_t s, uint64_t *to);

/*
 * Kinds of exceptions: what the statement defined; words that it loaded; memory to forget
 * (address, length).  Other kinds are a register plus 1.
 */
enum { LOAD_DEFINED = 0, LOAD_LOADED = FACT_NREG + 1, LOAD_FORGET };

/* Finds a container of fact.h in load_state: returns its words, 0: it is not there. */
unsigned load_state_offset(unsigned reg, uint16_t *at);

/* Write and read the state in a KEY section.  load_state_decode: 0, or -1 and r->err. */
void load_state_encode(const struct load_state *st, struct buf *b);
int load_state_decode(struct load_state *st, struct col_reader *r);

/* The bits of mxcsr that are followed: denormals and rounding. */
static inline uint64_t load_mxcsr(uint64_t v) { return (v & 0xe040) | LOAD_MXCSR; }

/* A checksum over values. */
static inline uint64_t
load_sum(uint64_t sum, uint64_t v)
{
	sum = (sum ^ v) * UINT64_C(0x9e3779b97f4a7c15);
	return sum ^ sum >> 29;
}

/*
 * reexecute_stub.c: generates code of in for s.  0; -1: no memory; 1: the instruction may not
 * be executed.
 */
int load_stub(struct load *l, struct load_stmt *s, const struct x86_inst *in, const struct fact *f);
int load_ready(struct load *l);         /* makes added code executable: 0, -1 */
void load_free_code(struct load *l);    /* frees all code */

#endif
