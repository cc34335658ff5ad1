/*
 * Internal to the processor.
 *
 * A block of guest instructions becomes host code.  Each instruction is
 * re-encoded with its own opcode, so that the processor itself computes
 * results and flags; around it stands code that touches no flag: it forms the
 * address, writes the reference, and folds the address into the guest's
 * window, which is the GS segment (base RP_BASE).
 *
 * While translated code runs
 *   rsp     struct rp_frame; the stack of helpers is below it
 *   rcx r15 scratch (T0, T1)
 *   r11     where the next word goes; RP_NONE: instructions left, negative
 *   r9 r10  the guest's rcx and rsp
 *   others  the guest's own; its r9 r10 r11 r15 are in the frame
 */
#ifndef TM_REPLAY_CPU_EMIT_INTERNAL_H
#define TM_REPLAY_CPU_EMIT_INTERNAL_H

#include <stddef.h>
#include <stdint.h>
#include <Zydis/Zydis.h>

#include "format/ref/ref.h"
#include "isa/x86/fact.h"
#include "isa/x86/operand.h"
#include "replay/cpu/cpu.h"

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13, R14, R15 };
enum { T0 = RCX, T1 = R15, OUT = R11, G_RCX = R9, G_RSP = R10 };

#define RP_SLOTS   4u           /* guest registers that live in the frame */
#define RP_NSAVE   3u
#define RP_MAXINST 64u          /* instructions of a block */
#define RP_MAXWORD 1024u        /* words of a block at most (a repeated string instruction looks by itself) */
#define RP_KSIZES  7u           /* 1 2 4 8 16 32 64 */
#define RP_INDEX   65536u
#define RP_NSIDE   65536u

/* Why translated code came back */
enum rp_why {
	RW_CHECK,               /* room or limit; rip is where to go on */
	RW_LINK,                /* site: a direct jump without its target */
	RW_MISS,                /* rip: an indirect jump whose target is not translated */
	RW_NEXT,                /* a single step is done */
	RW_SYSCALL, RW_RDTSC, RW_RDTSCP, RW_CPUID,
	RW_RAND,                /* rand */
	RW_BAD,                 /* msg */
	RW_TRAP,                /* sig: an instruction that always faults */
	RW_FAULT,               /* sig, addr */
	RW_BEHIND,              /* sig: as RW_TRAP, but the instruction is over */
	RW_SMC                  /* addr: a write to a page with translated code */
};

struct rp_frame {
	uint64_t low[RP_SLOTS];         /* guest r9 r10 r11 r15 */
	uint64_t mask, sign, fsbase, gsbase;
	uint64_t ic, negend;            /* not RP_NONE: instructions done, less base; minus the end of the room */
	uint64_t kload[4];              /* words of loads and stores of 1 2 4 8 bytes at 0 */
	uint64_t kstore[2];             /* 4, 8 */
	/* disp8 ends here */
	uint64_t canon;                 /* mask of 48 bits */
	uint64_t block;                 /* RP_VALUES: the header in the stream of the block at hand */
	uint64_t record, ic0;           /* of a string instruction, 0: none; ic before it */
	uint64_t kmore[3][RP_KSIZES];   /* load store modify */
	uint64_t high[16];              /* the other guest registers while C runs */
	uint64_t rip, rflags, tmp, save[RP_NSAVE];
	uint64_t out0;                  /* out before the instruction whose references a helper wrote */
	uint64_t hostsp, go, xsave, rfbm, site;
	uint64_t why, sig, addr, msg;
	uint64_t rand;                  /* enum rp_insn, the register << 8, its bytes << 16 */
	uint64_t late;                  /* RP_VALUES: the end of room for the values of a FACT_LATE, 0: there is none */
	uint64_t side, nside;           /* RP_MEMORY: what the references of a string instruction loaded and stored, RP_NSIDE words */
	uint64_t out, end, limit;       /* for helpers; out also as r11 outside; end of the room they may use */
	uint64_t base;                  /* instructions done are base + ic; RP_NONE: base + r11 */
	uint64_t less, half;            /* complete instances are ic (RP_NONE: r11) + less; half as of rp_run */
	uint64_t inhelper, maxelem, mode, xcr0;
	uint64_t vec[3][8] __attribute__((aligned(64)));        /* of a gather or scatter: indices, mask, data; of a bit string: place, bit */
	uint64_t kmask;
	uint64_t code, codeend;         /* host addresses of translated code */
	uint64_t fip, fdp;              /* the last x87 instruction that was translated, and the last address that one referred to: the guest's */
	uint8_t fx[512] __attribute__((aligned(64)));           /* an image of x87 state: where the processor says that it was */
	uint64_t index[RP_INDEX];       /* host code by the low 16 bits of the guest's target */
};

#define FO(field) ((int)offsetof(struct rp_frame, field))

/* Guest register g in the frame */
static inline int
rp_regoff(int g)
{
	return g == 15 ? 24 : g >= 9 && g <= 11 ? (g - 9) * 8 : FO(high) + 8 * g;
}

static inline uint64_t *
rp_reg(struct rp_frame *f, int g)
{
	return (uint64_t *)((char *)f + rp_regoff(g));
}

/* The host register of guest register g; -1: in the frame */
static inline int
rp_home(int g)
{
	return g == RCX ? G_RCX : g == RSP ? G_RSP : (g >= 9 && g <= 11) || g == 15 ? -1 : g;
}

/*
 * Where the last x87 instruction was, and the data that it referred to, as
 * an image of fxsave64 says: of translated code that is a host address, which
 * the guest does not get to see.  1: it was, and they are the guest's now.
 */
static inline int
rp_x87(const struct rp_frame *f, uint64_t *ip, uint64_t *data)
{
	if (*ip < f->code || *ip >= f->codeend)
		return 0;
	*ip = f->fip;
	*data = (*data & RP_MASK) == (f->fdp & RP_MASK) ? f->fdp : *data & RP_MASK;
	return 1;
}

struct rp_block;

struct rp_site {                        /* a direct jump out of a block */
	struct rp_block *to;            /* NULL: not linked */
	struct rp_site *next;           /* of the same target */
	struct rp_block *from;
	uint64_t pc;                    /* guest target */
	uint8_t *rel, *stub;            /* its 32-bit field; where it goes when not linked */
};

struct rp_mark {                        /* one instruction in a block */
	uint64_t pc;
	uint32_t off;                   /* host code, from the block's start */
	uint16_t words;                 /* words since r11 was advanced */
	uint16_t idx;                   /* instructions of the block before it */
	uint8_t borrowed[RP_NSAVE];     /* host registers whose values are in save[], 0 (rax): none */
	uint8_t out0;                   /* r11's value before it is in out0 */
};

struct rp_page;
struct rp_pageref { struct rp_page *page; struct rp_block *block; struct rp_pageref *next; };

#define RP_NSITE  24u
#define RP_BPAGES 6u

struct rp_block {
	uint64_t pc;
	struct rp_block *hnext;         /* hash chain */
	uint8_t *start, *end, *entry;   /* host code; entry checks room and limit */
	uint8_t *ientry, *ichain;       /* entries of indirect jumps: from the index, from the one before in its bucket */
	uint8_t *inext;                 /* 32-bit field of the jump to the next in its bucket */
	struct rp_block *bnext;         /* next in that bucket */
	struct rp_mark *mark;
	struct rp_site *in;             /* sites that lead here */
	struct rp_site *site;           /* its own */
	struct rp_pageref ref[RP_BPAGES];
	uint16_t nmark, ninst, nsite, nref;
	uint8_t mode, step, dead, temp, silent;
};

struct rp_page {                        /* a guest page with translated code */
	uint64_t addr;
	struct rp_page *next;
	struct rp_pageref *blocks;
	int guarded, dirty;
};

struct rp_thunks {
	uint8_t *enter;         /* void (*)(struct rp_frame *) */
	uint8_t *exit;          /* why is in the frame */
	uint8_t *leave;         /* the same, general registers and flags are in the frame already */
	uint8_t *miss, *link, *check;
	uint8_t *call;          /* rcx: struct rp_hinfo */
};

#define RP_CODE   (256u << 20) /* bytes of translated code */
#define RP_ARENA  (256u << 20)  /* bytes of what belongs to it */
#define RP_GUARD  (64u << 10)   /* bytes behind the window: more than the largest access, a saved processor state, has */
#define RP_STACK  (512u << 10)  /* bytes of the helpers' and signal handlers' stack */
#define RP_BUCKETS 65536u

struct rp_core {
	uint8_t *code, *cp, *cend;      /* rp_code_new's; next free; end */
	int lost;                       /* a fork left no memory for them */
	uint8_t *first;                 /* behind the thunks */
	uint8_t *arena, *ap, *aend;
	uint8_t *region[RP_NMODES];             /* stack and frame of each mode */
	void *guard;                    /* RP_GUARD bytes that nobody may touch */
	uint64_t *side;                 /* frames' side; owned; NULL: none yet */
	struct rp_frame *f[RP_NMODES];
	struct rp_thunks th;
	struct rp_block *hash[RP_BUCKETS];
	struct rp_block *bucket[RP_NMODES][RP_INDEX];   /* those with entries for indirect jumps */
	struct rp_block **list;         /* by host address */
	size_t nlist, caplist;
	struct rp_page *pages[4096];
	uint64_t *brk;
	size_t nbrk, capbrk;
	uint64_t testpc;                /* rp_break_if */
	struct rp_test test[RP_NTEST];
	unsigned ntest;                 /* 0: none */
	rp_twin_fn *twin;               /* rp_twins, or NULL */
	void *twinarg;
	int dirty, bmi2, fsgsbase, avx, avx512bw, signals;
	int amd;                        /* guest code is AMD's */
	int running;                    /* mode + 1 while translated code runs */
	uint64_t rfbm;
	struct facts *facts;            /* owned; NULL: none yet */
	uint64_t flushes, nblocks, ninsts;      /* statistics */
	char why[200];
};

/* Where components of a saved processor state are */
struct rp_xcomp { uint32_t size, off, align; };
extern struct rp_xcomp rp_xcomp[64];

/* codememory.c */
const char *rp_code_new(struct rp_core *c);     /* c->code, RP_CODE bytes; NULL: done, else why not */
void rp_code_free(struct rp_core *c);
extern ptrdiff_t rp_rw;
static inline uint8_t *rp_w(uint8_t *code) { return code + rp_rw; }    /* where what is executed at code is written */

/* translate.c */
struct rp_block *rp_translate(struct rp_core *c, uint64_t pc, int mode, int step, int temp);    /* NULL: no memory */

/* blocks.c: blocks */
struct rp_block *rp_find(struct rp_core *c, uint64_t pc, int mode, int step);
struct rp_block *rp_block(struct rp_core *c, uint64_t pc, int mode, int step, int temp);        /* found or translated; NULL: no memory */
struct rp_block *rp_at(struct rp_core *c, const uint8_t *host);
void rp_link(struct rp_core *c, struct rp_site *s, struct rp_block *to);
void rp_enter_index(struct rp_core *c, struct rp_block *b);     /* b can be reached by indirect jumps */
void rp_unlink(struct rp_core *c, struct rp_block *b);          /* b is gone */
void rp_drop(struct rp_core *c, struct rp_block *b);            /* the same for a temporary one, its code is free again */
void rp_reset(struct rp_core *c);
void *rp_alloc(struct rp_core *c, size_t n);

/* codepages.c: guest pages with translated code */
struct rp_page *rp_page(struct rp_core *c, uint64_t addr, int create);
void rp_page_add(struct rp_core *c, struct rp_block *b, uint64_t addr);
void rp_page_drop(struct rp_core *c, struct rp_page *p);        /* its translations, and its guard */
void rp_guard(struct rp_core *c, struct rp_block *b);
size_t rp_peek(uint64_t addr, uint8_t *p, size_t n);            /* guest memory, as far as it can be read */
int rp_isbreak(const struct rp_core *c, uint64_t pc);
int rp_istested(const struct rp_core *c, uint64_t pc);          /* a breakpoint with tests */

/* faults.c */
int rp_signals_on(struct rp_core *c);
void rp_signals_off(void);

/* Translator */
struct rp_tr {
	struct rp_core *c;
	struct rp_block *b;
	uint8_t *p;                     /* where code goes */
	const struct x86_inst *in;
	unsigned words, maxwords;       /* since r11 was advanced; of the block at most */
	int stream, values;             /* not RP_NONE; RP_VALUES */
	int refs;                       /* references of the instruction at hand are reported */
	int silent;                     /* RP_VALUES: nothing of the block is reported */
	int picked;                     /* rp_pick: the block has an instruction to report */
	int step, bmi2, done;      /* done: the block has ended */
	int ninst;
	const struct rp_thunks *th;
	struct rp_site *site;           /* next free */
	int jumped;                     /* the block goes on behind a jump that it contains, or a call: at */
	uint64_t follow;
	struct { uint8_t *rel; uint64_t pc; int left, words; } side[RP_NSITE];
	int nside;
	uint64_t readable;              /* in the page that was read from last */
	const char *bad;
	const struct fact *fact[RP_MAXINST + 1];        /* RP_VALUES: of the instructions so far that are reported */
	uint8_t idx[RP_MAXINST + 1];    /* of each: instructions of the block before it */
	unsigned nfact;
	const struct fact *now;         /* of this instruction, or NULL: nothing of it is reported */
	unsigned word0;                 /* t->words before it */
	int valued;                     /* its values are in the stream already */
	const struct rp_hinfo *stored;  /* RP_MEMORY: what a helper has still to do behind it */
	struct { uint8_t *imm; unsigned n; } head[RP_NSITE];    /* headers in its code, and their counts; 0: all */
	unsigned nhead;
};

/* Helpers: decoded facts for C code that writes references at run time */
enum rp_hkind { RH_STRING, RH_BITS, RH_MASKED, RH_VSIB, RH_XSAVE, RH_X87 };
struct rp_hinfo {
	uint64_t pc;
	uint8_t len, kind, op, size, rep, ref;  /* op, rep: strings; size: of an element in bytes; ref: REF_ kind */
	int8_t base, index;             /* guest registers, -1 none */
	uint8_t scale, seg, addr32, isize;
	int16_t reg;                    /* RH_BITS: guest register of the offset */
	uint8_t refs, record, memory;   /* references are reported; strings: a record is; and RP_MEMORY */
	uint8_t n, kfrom, packed;       /* elements; mask: 0 kmask, top bits of vec[1]'s 1 elements 2 bytes; packed: expand and compress */
	int64_t disp;
	struct rp_block *block;
	uint16_t idx;                   /* instructions of the block before it */
	uint64_t (*fn)(struct rp_frame *, const struct rp_hinfo *);
};
enum { RS_MOVS, RS_CMPS, RS_STOS, RS_LODS, RS_SCAS };

/* emit_values.c: RP_VALUES */
void rp_head(struct rp_tr *t);          /* at the block's start: its header */
void rp_rehead(struct rp_tr *t, unsigned n);    /* n instructions of it were run; uses rcx, r15 */
int rp_heads(struct rp_tr *t);          /* at the end: 0, -1 without memory */
void rp_values(struct rp_tr *t);        /* what the instruction at hand has defined; uses rcx */

/* emit_loads.c: RP_MEMORY */
void rp_loaded(struct rp_tr *t, unsigned first, unsigned i, int reg);   /* reg: the folded address of reference `first`, of which i is a piece; uses the other one of rcx, r15 */
void rp_memory(struct rp_tr *t);        /* behind the instruction: what is not in the stream yet; uses rcx, r15 */

/* helpers.c, helpers_refs.c: called by translated code; compiled without vector registers */
uint64_t rp_hand_string(struct rp_frame *f, const struct rp_hinfo *h);  /* 0: done, 1: leave, frame is complete */
uint64_t rp_hand_refs(struct rp_frame *f, const struct rp_hinfo *h);
uint64_t rp_hand_x87(struct rp_frame *f, const struct rp_hinfo *h);     /* the image just saved has no host addresses; size: of a pointer, op and n: where they are */
uint64_t rp_hand_stored(struct rp_frame *f, const struct rp_hinfo *h);  /* RP_MEMORY: what the references that rp_hand_refs reported have stored */
void rp_record(struct rp_frame *f, uint64_t done);      /* the record of a string instruction is complete: FACT_DONE or 0 */
uint64_t rp_hand_xgetbv(struct rp_frame *f, const struct rp_hinfo *h);

/* emit_host.c: host instructions, none of which changes flags */
void host_e1(struct rp_tr *t, unsigned b);
void host_e4(struct rp_tr *t, uint32_t v);
void host_e8(struct rp_tr *t, uint64_t v);
void e_mem(struct rp_tr *t, int w, unsigned op, int reg, int base, int index, unsigned scale, int64_t disp);
void e_load(struct rp_tr *t, int reg, int off);         /* from the frame */
void e_store(struct rp_tr *t, int off, int reg);        /* to the frame */
void e_mov(struct rp_tr *t, int dst, int src);
void e_imm(struct rp_tr *t, int reg, uint64_t v);
void e_lea(struct rp_tr *t, int dst, int base, int64_t disp);
void e_fold(struct rp_tr *t, int dst, int src);
void e_canon(struct rp_tr *t, int dst, int src);        /* the lower 48 bits */
void e_sign(struct rp_tr *t, int dst, int src);         /* dst = src < 0 */
void e_jmp(struct rp_tr *t, const uint8_t *to);
uint8_t *e_jmp32(struct rp_tr *t);                      /* its field */
uint8_t *e_jcc32(struct rp_tr *t, unsigned cc);
void e_patch(uint8_t *rel, const uint8_t *to);
void e_gsload(struct rp_tr *t, int size, int reg, int base);    /* 2 or 8 bytes */
void e_gsstore(struct rp_tr *t, int size, int reg, int base);

/* emit_address.c: addresses and references */
void rp_fetch(struct rp_tr *t);
int rp_isconst(const struct rp_tr *t, const ZydisDecodedOperand *o, uint64_t *addr);
int rp_addr(struct rp_tr *t, const ZydisDecodedOperand *o, int64_t add);       /* register with the guest address: T0 or a home */
void rp_ref(struct rp_tr *t, int kind, unsigned size, int reg);        /* uses T1, and T0 but for the lower 48 bits if reg is T0 */
void rp_refconst(struct rp_tr *t, int kind, unsigned size, uint64_t addr);     /* uses T0 */
void rp_operand(struct rp_tr *t, const ZydisDecodedOperand *o, int kind, int dst);     /* address, reference, host address into dst */
void rp_put(struct rp_tr *t, int reg);  /* the next word */
void rp_sync(struct rp_tr *t);          /* r11 up to date */
void rp_room(struct rp_tr *t, unsigned n);

/* emit_refs.c: references that a helper finds out */
void rp_byhelper(struct rp_tr *t, enum x86_refs by, const ZydisDecodedOperand *o);
void rp_place(const struct rp_tr *t, struct rp_hinfo *h, const ZydisDecodedOperand *o);        /* h: where o is */
void rp_maskmov(struct rp_tr *t);
void rp_indexed(struct rp_tr *t);

/* emit.c: any other instruction, re-encoded */
void rp_plain(struct rp_tr *t);

/* emit_control.c: what is not re-encoded */
int rp_special(struct rp_tr *t);        /* 1: done */
void rp_goto(struct rp_tr *t, uint64_t pc);     /* end of the block: on to pc */
void rp_leavewith(struct rp_tr *t, unsigned why, uint64_t pc);
void rp_helper(struct rp_tr *t, uint64_t (*fn)(struct rp_frame *, const struct rp_hinfo *), const struct rp_hinfo *h);
struct rp_hinfo *rp_hinfo(struct rp_tr *t);     /* a new one, living as long as the code */

/* emit_stack.c */
void rp_push_room(struct rp_tr *t, int size);   /* reports the store; its host address is in rcx, rsp is as it was */
void rp_push(struct rp_tr *t);
void rp_pop(struct rp_tr *t);
void rp_leave(struct rp_tr *t);
void rp_enter(struct rp_tr *t);
void rp_pushf(struct rp_tr *t);
void rp_popf(struct rp_tr *t);

/* enter.c: thunks */
int rp_thunks(struct rp_tr *t, struct rp_thunks *th);

#endif
