/*
 * Facts of an instruction that hold whenever it runs: which registers it uses and defines, in lanes
 * of bytes as far as instructions distinguish them, and which words of an RP_VALUES stream hold its
 * references and values.
 */
#ifndef TM_ISA_X86_FACT_H
#define TM_ISA_X86_FACT_H

#include <stddef.h>
#include <stdint.h>

#include "isa/x86/register.h"

/* Containers of registers: general registers 0 to 15 (rax rcx rdx rbx rsp rbp rsi rdi r8 ..), then these. */
enum {
	FACT_FLAGS = 16,                /* status flags and DF */
	FACT_FSBASE, FACT_GSBASE,
	/* the x87 stack with all its registers, MMX: one container without lanes */
	FACT_X87,
	/* ldmxcsr, stmxcsr and whole states only, not each use of the rounding mode */
	FACT_MXCSR,
	FACT_MASK,                      /* k0 to k7 */
	FACT_VECTOR = FACT_MASK + 8,    /* 32 of them */
	FACT_NREG = FACT_VECTOR + 32
};

/*
 * Lanes, one bit each, are used and defined as a whole. General registers: bytes 0, 1, 2 to 7;
 * vectors: bytes 0 to 3, 4 to 7, 8 to 15, 16 to 31, 32 to 63; flags: CF, OF, ZF, the group PF AF
 * SF, DF; the others have one lane.
 */
#define FACT_NLANE 5u
enum { FACT_CF = 1, FACT_OF = 2, FACT_ZF = 4, FACT_PAS = 8, FACT_DF = 16 };
extern const uint8_t fact_lane_from[FACT_NLANE + 1];    /* first byte of each lane of a vector, and the end */
unsigned fact_lanes(unsigned reg);                      /* all lanes of register reg */

#define FACT_NOVALUE 255u

struct fact_use { uint8_t reg, lanes; };
struct fact_def {
	uint8_t reg, lanes, whole;      /* whole: all lanes are defined */
	/*
	 * the value's first word and number of words: general registers whole, flags as in fact_rflags,
	 * masks, the first 8, 16, 32 or 64 bytes of a vector; val FACT_NOVALUE: none
	 */
	uint8_t val, nval;
};

enum fact_kind {
	/* nref references, then nval words of values, then nmem words of memory */
	FACT_PLAIN,
	/*
	 * first a word with the number of references (32 bits) and of words of memory after them; then
	 * references, memory, nval words of values
	 */
	FACT_COUNTED,
	/* a record of FACT_RECORD words, then references, each with a word if memory is wanted */
	FACT_STRING,
	/*
	 * syscall, rdtsc, rdtscp, cpuid, rdrand, rdseed, rdpid: FACT_NLATE words of values, known only
	 * after execution
	 */
	FACT_LATE,
	/*
	 * no instruction but the arrival of a signal, which sets its handler's registers; FACT_NSIGNAL
	 * words of values
	 */
	FACT_SIGNAL
};

/*
 * VISIT_MEMORY: offset in bytes, from the first word of values, of what a reference loads and
 * stores; FACT_NOMEM: none.
 */
struct fact_mem { uint16_t load, store; };
#define FACT_NOMEM 0xffffu

#define FACT_MAXUSE 64u
#define FACT_MAXREF 16u                 /* for FACT_PLAIN */
/* rax rcx rdx rbx r11; for rdrand and its kin, the register and flags */
#define FACT_NLATE  7u
#define FACT_NSIGNAL 2u                 /* the signal's number, or 0 on return from its handler; rsp there */
#define FACT_RECORD 6u                  /* in words: state, then the values of rcx rsi rdi rax flags */
#define FACT_NREFS(state) ((uint32_t)(state))
#define FACT_ITERS(state) ((uint32_t)((state) >> 32) & 0x7fffffffu)     /* fetches, as in ref(5) */
#define FACT_DONE (UINT64_C(1) << 63)   /* in state: the repetition is complete */

struct fact {
	uint64_t pc;
	uint8_t len, b[15];
	uint8_t kind, nuse, ndef, nval;
	/* number of references, and of those that read; 0 unless FACT_PLAIN */
	uint8_t nref, nread;
	uint8_t nmem;                   /* RP_MEMORY, FACT_PLAIN: words of memory after the values */
	uint8_t amd;                    /* decoded as AMD's processors do (x86_decode) */
	uint16_t mnemonic;              /* ZydisMnemonic */
	uint32_t id;                    /* from 0, in order of first translation */
	struct fact *hnext;
	/* distinct containers: explicit operands in order, then implicit ones */
	const struct fact_use *use;
	const struct fact_def *def;
	const struct fact_mem *mem;     /* RP_MEMORY, FACT_PLAIN: one for each reference */
};

/*
 * A block of an RP_VALUES or RP_CONTROL stream: only its last instruction may be other than FACT_PLAIN. Its
 * header in the stream is this pointer; the upper 16 bits are the number of instructions that ran,
 * fewer than n if one faulted.
 */
struct fact_block {
	struct fact_block *hnext;
	void *plan;                     /* belongs to the reader of the stream; freed with the block */
	uint32_t n;
	int bare;                       /* of an RP_CONTROL stream */
	/*
	 * rp_values_filter: for each instruction, the number of instructions before it in the
	 * block; the word after the header is the number of instances before the block.
	 * NULL: no instruction is left out
	 */
	const uint8_t *idx;
	const struct fact *f[];
};
#define FACT_HEAD(b, n) ((uint64_t)(uintptr_t)(b) | (uint64_t)(n) << 48)

static inline struct fact_block *
fact_block(uint64_t head)
{
	return (struct fact_block *)(uintptr_t)(head & 0xffffffffffffu);
}

/* An instruction in a sequence: offsets of its words from the first word of the sequence. */
struct fact_at {
	const struct fact *fact;
	uint16_t ref, val, use;         /* references; values; uses, which the caller counts */
	uint16_t nref;                  /* FACT_COUNTED, FACT_STRING: 0, as the stream has the number */
};

/* Converts a value of flags to the layout of rflags: CF PF AF ZF SF OF. */
static inline uint64_t
fact_rflags(uint64_t v)
{
	return (v >> 8 & 0xd5) | (v & 1) << 11;
}

/* Table of all facts, each instruction once. */
struct fact_piece;
struct facts {
	struct fact **insn;             /* owned: nbucket of them */
	struct fact_block **block;      /* owned: nblockbucket of them */
	size_t nbucket, nblockbucket;
	struct fact_piece *piece;       /* owned: the last piece of the memory that facts are allocated in */
	size_t left;                    /* bytes left in it */
	uint32_t n, nblock;
	unsigned allflags;              /* flags have values even if another register has one */
	unsigned memory;                /* RP_MEMORY */
	int (*pick)(void *arg, uint64_t pc);    /* rp_values_filter, or NULL */
	void *arg;
};
struct x86_inst;
/* NULL without memory; owned by t */
const struct fact *fact_get(struct facts *t, const struct x86_inst *in);
struct fact_block *fact_block_get(struct facts *t, const struct fact *const *f, const uint8_t *idx,
    unsigned n, int bare);
/* factmem.c: fills m, returns nmem */
unsigned fact_memory(const struct x86_inst *in, const struct fact *f, struct fact_mem *m);
void facts_free(struct facts *t);
/*
 * In facttable.c, for fact_get: the bucket of an instruction at pc; memory that lasts as long as t,
 * NULL if there is none.
 */
struct fact **facts_bucket(struct facts *t, uint64_t pc);
void *facts_alloc(struct facts *t, size_t n);

/*
 * How the address of a reference is formed: seg + base + index * scale + disp, with the registers
 * before the instruction, as far as decoding shows. And how the instruction moves rsp: to the
 * register `from` plus `by`.
 */
#define FACT_NOREG 255u
struct fact_addr {
	uint64_t disp;
	/* base, index: general registers; seg: FACT_FSBASE, FACT_GSBASE; FACT_NOREG: none */
	uint8_t base, index, scale, seg;
	uint8_t kind, size;                     /* numbers of reference.h */
};
struct fact_stack { uint8_t from; int by; };    /* from FACT_NOREG: not known */
/* in factaddr.c; returns the number of references, which are in order */
unsigned fact_addrs(const struct fact *f, struct fact_addr a[FACT_MAXREF], struct fact_stack *s);

#endif
