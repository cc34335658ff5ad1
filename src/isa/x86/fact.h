/*
 * Facts of an instruction that hold whenever it runs: which registers it uses
 * and defines, byte for byte as far as instructions tell bytes apart, and in
 * which words of an RP_VALUES stream its references and values are.
 */
#ifndef TM_ISA_X86_FACT_H
#define TM_ISA_X86_FACT_H

#include <stddef.h>
#include <stdint.h>

#include "isa/x86/register.h"

/* Registers by container: general ones 0 to 15 (rax rcx rdx rbx rsp rbp rsi rdi r8 ..), then */
enum {
	FACT_FLAGS = 16,                /* status flags and DF */
	FACT_FSBASE, FACT_GSBASE,
	FACT_X87,                       /* the x87 stack with all its registers, MMX: one container without lanes */
	FACT_MXCSR,                     /* ldmxcsr, stmxcsr and states only, not each use of the rounding mode */
	FACT_MASK,                      /* k0 to k7 */
	FACT_VECTOR = FACT_MASK + 8,    /* 32 of them */
	FACT_NREG = FACT_VECTOR + 32
};

/*
 * Lanes, one bit each, that are used and defined as a whole:
 * general registers: bytes 0, 1, 2 to 7; vectors: bytes 0 to 3, 4 to 7, 8 to 15,
 * 16 to 31, 32 to 63; flags: CF, OF, ZF, those of PF AF SF, DF; the others: one.
 */
#define FACT_NLANE 5u
enum { FACT_CF = 1, FACT_OF = 2, FACT_ZF = 4, FACT_PAS = 8, FACT_DF = 16 };
extern const uint8_t fact_lane_from[FACT_NLANE + 1];    /* first byte of each lane of a vector, and the end */
unsigned fact_lanes(unsigned reg);                      /* all there are of register reg */

#define FACT_NOVALUE 255u

struct fact_use { uint8_t reg, lanes; };
struct fact_def {
	uint8_t reg, lanes, whole;      /* whole: all lanes that there are */
	uint8_t val, nval;              /* the value's first word and how many: general registers whole, flags as fact_rflags takes them,
	                                   masks, the vector's first 8, 16, 32 or 64 bytes; val FACT_NOVALUE: none */
};

enum fact_kind {
	FACT_PLAIN,                     /* nref references, then nval words of values, nmem of memory */
	FACT_COUNTED,                   /* the numbers of references (32 bits) and of words of memory behind them, these, then nval */
	FACT_STRING,                    /* a FACT_RECORD, then references; if memory is wanted, a word of it for each */
	FACT_LATE,                      /* syscall, rdtsc, rdtscp, cpuid, rdrand, rdseed, rdpid: FACT_NLATE words of values that are only known when it has taken place */
	FACT_SIGNAL                     /* no instruction: a signal arrives, its handler's registers are set; FACT_NSIGNAL words of values */
};

/* VISIT_MEMORY: where what a reference loads and stores is, in bytes from the first word of values; FACT_NOMEM: it does not */
struct fact_mem { uint16_t load, store; };
#define FACT_NOMEM 0xffffu

#define FACT_MAXUSE 64u
#define FACT_MAXREF 16u                 /* of FACT_PLAIN */
#define FACT_NLATE  7u                  /* rax rcx rdx rbx r11; of rdrand and its kin, the register and flags */
#define FACT_NSIGNAL 2u                 /* the signal, 0 behind its handler; rsp there */
#define FACT_RECORD 6u                  /* words: state, then values: rcx rsi rdi rax flags */
#define FACT_NREFS(state) ((uint32_t)(state))
#define FACT_ITERS(state) ((uint32_t)((state) >> 32) & 0x7fffffffu)     /* fetches of ref(5) */
#define FACT_DONE (UINT64_C(1) << 63)   /* of state: the repetition is over */

struct fact {
	uint64_t pc;
	uint8_t len, b[15];
	uint8_t kind, nuse, ndef, nval;
	uint8_t nref, nread;            /* references, and how many of them read; kinds other than FACT_PLAIN: 0 */
	uint8_t nmem;                   /* RP_MEMORY, FACT_PLAIN: words of memory behind the values */
	uint8_t amd;                    /* decoded as AMD's processors do (x86_decode) */
	uint16_t mnemonic;              /* ZydisMnemonic */
	uint32_t id;                    /* from 0, in order of first translation */
	struct fact *hnext;
	const struct fact_use *use;     /* distinct containers: explicit operands in order, then implicit ones */
	const struct fact_def *def;
	const struct fact_mem *mem;     /* RP_MEMORY, FACT_PLAIN: of each reference */
};

/*
 * What a block of an RP_VALUES stream is: only its last instruction may be of
 * another kind than FACT_PLAIN.  Its header in the stream: the pointer, and in the upper 16 bits how many
 * instructions were run, fewer than n if one faulted.
 */
struct fact_block {
	struct fact_block *hnext;
	void *plan;                     /* for whoever reads the stream; freed with the block */
	uint32_t n;
	const uint8_t *idx;             /* rp_pick: instructions of the block before each, and the word behind the header is the
	                                   number of instances before the block; NULL: there are no others */
	const struct fact *f[];
};
#define FACT_HEAD(b, n) ((uint64_t)(uintptr_t)(b) | (uint64_t)(n) << 48)

static inline struct fact_block *
fact_block(uint64_t head)
{
	return (struct fact_block *)(uintptr_t)(head & 0xffffffffffffu);
}

/* An instruction in a sequence of such: where its words are, counted from the sequence's first */
struct fact_at {
	const struct fact *fact;
	uint16_t ref, val, use;         /* references; values; uses, of which others keep account */
	uint16_t nref;                  /* FACT_COUNTED, FACT_STRING: 0, the sequence says it */
};

/* A value of flags as rflags has it: CF PF AF ZF SF OF */
static inline uint64_t
fact_rflags(uint64_t v)
{
	return (v >> 8 & 0xd5) | (v & 1) << 11;
}

/* All facts, each once */
struct fact_piece;
struct facts {
	struct fact **insn;             /* nbucket of them; owned */
	struct fact_block **block;      /* nblockbucket of them; owned */
	size_t nbucket, nblockbucket;
	struct fact_piece *piece;       /* memory that they lie in: the last; owned */
	size_t left;                    /* bytes of it */
	uint32_t n, nblock;
	unsigned allflags;              /* flags have values even if another register has */
	unsigned memory, control;       /* RP_MEMORY, RP_CONTROL */
	int (*pick)(void *arg, uint64_t pc);    /* rp_pick, or NULL */
	void *arg;
};
struct x86_inst;
const struct fact *fact_get(struct facts *t, const struct x86_inst *in);         /* NULL: no memory */
struct fact_block *fact_block_get(struct facts *t, const struct fact *const *f, const uint8_t *idx, unsigned n);
unsigned fact_memory(const struct x86_inst *in, const struct fact *f, struct fact_mem *m);       /* factmem.c: nmem */
void facts_free(struct facts *t);
/* facttable.c, for fact_get: where an instruction at pc is, memory that lasts as long as t; NULL without memory */
struct fact **facts_bucket(struct facts *t, uint64_t pc);
void *facts_take(struct facts *t, size_t n);

/*
 * How the address of a reference is made: seg + base + index * scale + disp of
 * registers as they are before the instruction, as far as is known when it is
 * decoded.  And what becomes of rsp, if it is moved: it is from + by then.
 */
#define FACT_NOREG 255u
struct fact_addr {
	uint64_t disp;
	uint8_t base, index, scale, seg;        /* base, index: general registers; seg: FACT_FSBASE, FACT_GSBASE; FACT_NOREG: none */
	uint8_t kind, size;                     /* as reference.h has them */
};
struct fact_stack { uint8_t from; int by; };    /* from: FACT_NOREG: not known */
unsigned fact_addrs(const struct fact *f, struct fact_addr a[FACT_MAXREF], struct fact_stack *s);       /* factaddr.c: how many, in their order */

#endif
