/*
 * The translator: state and functions shared by the files of the processor.
 *
 * A block of guest instructions is translated to host code.  Each instruction is re-encoded with
 * its own opcode, so that the processor itself computes results and flags.  The code around it
 * changes no flag: it computes the address, writes the reference, and folds the address into the
 * guest's window, which is the GS segment (base rp_base).
 *
 * While translated code runs
 *   rsp     struct rp_frame; the stack of helpers is below it
 *   rcx r15 scratch (T0, T1)
 *   r11     where the next word goes; RP_NONE: instructions left, negative; RP_TALLY: rp_packed
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
/* words of a block at most (a repeated string instruction checks the room itself) */
#define RP_MAXWORD 1024u
#define RP_KSIZES  7u           /* sizes of references: 1 2 4 8 16 32 64 */
#define RP_INDEX   65536u
#define RP_NSIDE   65536u       /* words at `side` in the frame */

/* Why translated code returned to C. */
enum rp_why {
	RW_CHECK,               /* room or limit; rip is where to continue */
	RW_LINK,                /* site: a direct jump that is not linked yet */
	RW_MISS,                /* rip: an indirect jump whose target is not translated */
	RW_NEXT,                /* a single step is complete */
	RW_SYSCALL, RW_RDTSC, RW_RDTSCP, RW_CPUID,
	RW_RAND,                /* rand */
	RW_BAD,                 /* msg */
	RW_TRAP,                /* sig: an instruction that always faults */
	RW_FAULT,               /* sig, addr */
	RW_BEHIND,              /* sig: as RW_TRAP, but the instruction is complete */
	RW_SMC                  /* addr: a write to a page with translated code */
};

struct rp_frame {
	uint64_t low[RP_SLOTS];         /* guest r9 r10 r11 r15 */
	uint64_t mask, sign, fsbase, gsbase;
	/* rp_has_words: instructions so far, minus base; minus the end of the room */
	uint64_t ic, negend;
	uint64_t kload[4];              /* reference words of loads of 1 2 4 8 bytes at address 0 */
	uint64_t kstore[2];             /* reference words of stores of 4 and 8 bytes */
	/* fields up to here are reached with an 8-bit displacement */
	uint64_t canon;                 /* mask of 48 bits */
	uint64_t block;                 /* RP_VALUES: the current block's header in the stream */
	/* of the current string instruction: its record (0: none), ic before it */
	uint64_t record, ic0;
	uint64_t kmore[3][RP_KSIZES];   /* reference words: load, store, modify */
	uint64_t high[16];              /* the other guest registers, while C code runs */
	uint64_t rip, rflags, tmp, save[RP_NSAVE];
	uint64_t ac;                    /* the guest's flag AC, which is not set here */
	uint64_t out0;                  /* out before the instruction whose references a helper wrote */
	uint64_t hostsp, go, xsave, rfbm, site;
	uint64_t why, sig, addr, msg;
	uint64_t rand;                  /* enum rp_insn, the register << 8, its bytes << 16 */
	/* RP_VALUES: end of the room for the values of a FACT_LATE instruction; 0: there is none */
	uint64_t late;
	/* RP_MEMORY: what the references of a string instruction loaded and stored, RP_NSIDE words */
	uint64_t side, nside;
	/* for helpers: out is r11's value outside of translated code, end is the end of their room */
	uint64_t out, end, limit;
	uint64_t last;                  /* a string instruction goes on up to this count */
	uint64_t base;                  /* instructions so far are base + ic; without words: base + those of r11 */
	/* complete instances are those instructions - base + less; half is as in struct rp_run */
	uint64_t less, half;
	uint64_t inhelper, maxelem, mode, xcr0;
	/* RP_TALLY: references that r11 does not have; as they were when a helper began its references */
	uint64_t tally[REF_NACCESS], tally0[REF_NACCESS];
	uint64_t helped;                /* the set of kinds of which tally0 holds after a fault (1 << kind) */
	/* For a gather or scatter: indices, mask, data.  For a bit string: address, bit. */
	uint64_t vec[3][8] __attribute__((aligned(64)));
	uint64_t kmask;
	uint64_t code, codeend;         /* host addresses of translated code */
	/* guest addresses of the last x87 instruction that was translated and of its data */
	uint64_t fip, fdp;
	/* an x87 state image that shows what the processor recorded */
	uint8_t fx[512] __attribute__((aligned(64)));
	uint64_t index[RP_INDEX];       /* host code, by the low 16 bits of the guest's target */
};

#define FO(field) ((int)offsetof(struct rp_frame, field))

/*
 * RP_TALLY: three numbers in r11, so that an exit of a block adds to all of them at once: instructions
 * left, negative, and loads and stores since translated code was entered.  It is left after RP_BATCH
 * instructions, before a number takes the place of another: an instruction has one load and one store
 * here at most, others are in the frame.
 */
#define RP_BATCH (UINT64_C(1) << 20)
#define RP_INSTS 42
#define RP_LOADS 21
static inline uint64_t
rp_packed(uint64_t ninst, uint64_t nload, uint64_t nstore)
{
	return (ninst << RP_INSTS) + (nload << RP_LOADS) + nstore;
}
static inline uint64_t rp_insts(uint64_t packed) { return (uint64_t)((int64_t)packed >> RP_INSTS); }
static inline uint64_t rp_loads(uint64_t packed) { return (packed & ((UINT64_C(1) << RP_INSTS) - 1)) >> RP_LOADS; }
static inline uint64_t rp_stores(uint64_t packed) { return packed & ((UINT64_C(1) << RP_LOADS) - 1); }

/* The offset of guest register g in the frame. */
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

/* The host register of guest register g; -1: it is in the frame. */
static inline int
rp_home(int g)
{
	return g == RCX ? G_RCX : g == RSP ? G_RSP : (g >= 9 && g <= 11) || g == 15 ? -1 : g;
}

/*
 * fx is an fxsave64 image.  If it says that the last x87 instruction was in translated code,
 * replaces that host address and the data address by the guest's, and returns 1: the guest must
 * never see host addresses.  Otherwise returns 0.
 */
static inline int
rp_x87(const struct rp_frame *f, uint64_t *ip, uint64_t *data)
{
	if (*ip < f->code || *ip >= f->codeend)
		return 0;
	*ip = f->fip;
	*data = (*data & rp_mask) == (f->fdp & rp_mask) ? f->fdp : *data & rp_mask;
	return 1;
}

struct rp_block;

struct rp_site {                        /* a direct jump out of a block */
	struct rp_block *to;            /* NULL: not linked */
	struct rp_site *next;           /* next site with the same target */
	struct rp_block *from;
	uint64_t pc;                    /* guest target */
	uint8_t *rel, *stub;            /* its 32-bit displacement; where it jumps while it is not linked */
};

struct rp_mark {                        /* one instruction in a block */
	uint64_t pc;
	uint32_t off;                   /* offset of its host code from the block's start */
	uint16_t words;                 /* words written since r11 was advanced */
	uint16_t idx;                   /* instructions of the block before it */
	uint8_t borrowed[RP_NSAVE];     /* host registers whose values are in save[]; 0 (rax): none */
	uint8_t out0;                   /* out0 holds r11's value from before it */
	uint8_t len;                    /* its bytes; 0: it is not run */
	uint8_t nload, nstore;          /* RP_TALLY: as in struct rp_tr */
};

struct rp_page;
struct rp_pageref { struct rp_page *page; struct rp_block *block; struct rp_pageref *next; };

#define RP_NSITE  24u           /* exits of a block at most */
#define RP_BPAGES 6u            /* guest pages of a block at most */

struct rp_block {
	uint64_t pc;
	struct rp_block *hnext;         /* hash chain */
	uint8_t *start, *end, *entry;   /* host code; entry checks the room and the limit */
	/* entries of indirect jumps: from the index, from the previous block of its bucket */
	uint8_t *ientry, *ichain;
	uint8_t *inext;                 /* 32-bit displacement of its jump to the next block of the bucket */
	struct rp_block *bnext;         /* next in that bucket */
	struct rp_mark *mark;
	struct rp_site *in;             /* sites that jump here */
	struct rp_site *site;           /* its own sites */
	struct rp_pageref ref[RP_BPAGES];
	uint16_t nmark, ninst, nsite, nref;
	uint8_t mode, step, dead, temp, silent;
	struct rp_hinfo *part;          /* RP_DATA: the first of its parts */
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
	uint8_t *leave;         /* as exit, but general registers and flags are in the frame already */
	uint8_t *miss, *link, *check;
	uint8_t *call;          /* rcx: struct rp_hinfo */
};

#define RP_CODE   (256u << 20) /* bytes of translated code */
#define RP_ARENA  (256u << 20)  /* bytes of blocks, sites and marks */
/* Inaccessible bytes after the window: more than the largest access, a saved processor state. */
#define RP_GUARD  (64u << 10)
#define RP_STACK  (512u << 10)  /* bytes of the stack of helpers and signal handlers */
#define RP_BUCKETS 65536u

struct rp_core {
	uint8_t *code, *cp, *cend;      /* from rp_code_new; next free byte; end */
	int lost;                       /* a fork had no memory for the copy */
	uint8_t *first;                 /* first byte after the thunks */
	uint8_t *arena, *ap, *aend;
	uint8_t *cwarm, *awarm;         /* up to here, code and arena have pages */
	uint8_t used[RP_NMODES];        /* the mode's index is initialized */
	uint8_t *region[RP_NMODES];             /* stack and frame of each mode */
	void *guard;                    /* RP_GUARD inaccessible bytes */
	uint64_t *side;                 /* `side` of the frames; owned; NULL: not allocated yet */
	struct rp_frame *f[RP_NMODES];
	struct rp_thunks th;
	struct rp_block *hash[RP_BUCKETS];
	struct rp_block *bucket[RP_NMODES][RP_INDEX];   /* blocks that indirect jumps can reach */
	struct rp_block **list;         /* by host address */
	size_t nlist, caplist;
	struct rp_page *pages[4096];
	uint64_t *brk;
	size_t nbrk, capbrk;
	uint64_t testpc;                /* the breakpoint of rp_break_if */
	struct rp_test test[RP_NTEST];
	unsigned ntest;                 /* 0: none */
	rp_alias_fn *twin;              /* set by rp_core_set_alias, or NULL */
	void *twinarg;
	int dirty, bmi2, fsgsbase, avx, avx512bw, signals;
	int amd;                        /* the guest code is from an AMD processor */
	int running;                    /* mode + 1 while translated code runs; 0: it does not */
	uint64_t rfbm;
	struct facts *facts;            /* owned; NULL: not allocated yet */
	uint64_t flushes, nblocks, ninsts;      /* statistics */
	char why[200];
};

/* Layout of the components of a saved processor state. */
struct rp_xcomp { uint32_t size, off, align; };
extern struct rp_xcomp rp_xcomp[64];

/* codememory.c */

/* Allocates c->code, RP_CODE bytes.  NULL: success, else the reason of failure. */
const char *rp_code_new(struct rp_core *c);
void rp_code_free(struct rp_core *c);
extern ptrdiff_t rp_rw;
static inline uint8_t *rp_w(uint8_t *code) { return code + rp_rw; }     /* the writable address of code */

/* translate.c */

/* NULL: no memory */
struct rp_block *rp_translate(struct rp_core *c, uint64_t pc, int mode, int step, int temp);

/* blocks.c: blocks */
struct rp_block *rp_block_find(struct rp_core *c, uint64_t pc, int mode, int step);
/* finds or translates; NULL: no memory */
struct rp_block *rp_block(struct rp_core *c, uint64_t pc, int mode, int step, int temp);
/* the block whose host code contains `host`, or NULL */
struct rp_block *rp_block_at(struct rp_core *c, const uint8_t *host);
/* makes the jump at s go directly to block `to` */
void rp_link(struct rp_core *c, struct rp_site *s, struct rp_block *to);
void rp_index_add(struct rp_core *c, struct rp_block *b);       /* makes b reachable by indirect jumps */
void rp_unlink(struct rp_core *c, struct rp_block *b);          /* removes all jumps to b */
/* as rp_unlink for a temporary block, and frees its code */
void rp_block_drop(struct rp_core *c, struct rp_block *b);
void rp_reset(struct rp_core *c);       /* drops all translations */
/* zeroed memory that lives until rp_reset; NULL: the arena is full */
void *rp_alloc(struct rp_core *c, size_t n);

/* codepages.c: guest pages with translated code */
struct rp_page *rp_page(struct rp_core *c, uint64_t addr, int create);
void rp_page_add(struct rp_core *c, struct rp_block *b, uint64_t addr); /* b has code in the page of addr */
/* drops its translations and its write protection */
void rp_page_drop(struct rp_core *c, struct rp_page *p);
int rp_window(void);    /* chooses rp_base and rp_mask, unless they are: 0; -1: there is no room */
void rp_guard(struct rp_core *c, struct rp_block *b);   /* write-protects the pages of b */
/* reads guest memory; returns how many bytes could be read */
size_t rp_guest_read(uint64_t addr, uint8_t *p, size_t n);
int rp_break_is_set(const struct rp_core *c, uint64_t pc);      /* is there a breakpoint at pc? */
int rp_break_has_tests(const struct rp_core *c, uint64_t pc);   /* has the breakpoint at pc tests? */

/* faults.c */
int rp_signals_on(struct rp_core *c);
void rp_signals_off(void);      /* restores the former handlers */

/* State of the translator. */
struct rp_tr {
	struct rp_core *c;
	struct rp_block *b;
	uint8_t *p;                     /* where host code is written */
	const struct x86_inst *in;
	unsigned words, maxwords;       /* words since r11 was advanced; at most in the block */
	/* rp_has_words; mode is RP_VALUES or RP_CONTROL; is RP_CONTROL */
	int stream, values, bare;
	/*
	 * RP_TALLY: references that r11 counts, up to and with the current instruction; those of the
	 * current one; those of them that r11 does not count
	 */
	int tally;
	uint8_t nload, nstore, nnow[REF_NACCESS];
	unsigned more[REF_NACCESS];
	/* mode is RP_DATA; then a part begins here, as the instructions before are a branch or none; the last part */
	int data, branched;
	struct rp_hinfo *part;
	int refs;                       /* references of the current instruction are reported */
	int silent;                     /* RP_VALUES: nothing of the block is reported */
	int picked;                     /* rp_values_filter: an instruction of the block is reported */
	int step, bmi2, done;           /* done: the block has ended */
	int ninst;
	const struct rp_thunks *th;
	struct rp_site *site;           /* next free site */
	int jumped;                     /* the block continues at `follow`, after a call or an inlined jump */
	uint64_t follow;
	struct { uint8_t *rel; uint64_t pc; int left, words; uint8_t nload, nstore; } side[RP_NSITE];
	int nside;
	uint64_t readable;              /* readable bytes in the page that was read last */
	const char *bad;
	/* RP_VALUES: facts of the reported instructions so far */
	const struct fact *fact[RP_MAXINST + 1];
	uint8_t idx[RP_MAXINST + 1];    /* of each: the number of instructions of the block before it */
	unsigned nfact;
	const struct fact *now;         /* facts of the current instruction; NULL: it is not reported */
	unsigned word0;                 /* t->words before the current instruction */
	int valued;                     /* its values are in the stream already */
	const struct rp_hinfo *stored;  /* RP_MEMORY: what a helper has to do after the instruction */
	/* headers emitted so far, and their counts; 0: all instructions */
	struct { uint8_t *imm; unsigned n; } head[RP_NSITE];
	unsigned nhead;
};

/* Helpers: facts of an instruction for C code that writes references at run time. */
enum rp_hkind { RH_STRING, RH_BITS, RH_MASKED, RH_VSIB, RH_XSAVE, RH_X87 };
struct rp_hinfo {
	uint64_t pc;
	/* op, rep: of strings; size: of an element, in bytes; ref: a REF_ kind */
	uint8_t len, kind, op, size, rep, ref;
	int8_t base, index;             /* guest registers; -1: none */
	uint8_t scale, seg, addr32, isize;
	int16_t reg;                    /* RH_BITS: guest register of the bit offset */
	/* references are reported; strings: a record is written; RP_MEMORY is on */
	uint8_t refs, record, memory;
	/*
	 * n: elements.  kfrom: where their mask is: 0 kmask, else the top bits of vec[1]'s
	 * elements (2: bytes).  packed: 1 expand and compress; 2 a broadcast of isize elements to n.
	 */
	uint8_t n, kfrom, packed;
	int64_t disp;
	struct rp_block *block;
	uint16_t idx;                   /* instructions of the block before it */
	uint64_t (*fn)(struct rp_frame *, const struct rp_hinfo *);
	/*
	 * RP_DATA: of a part of a block, up to a branch: the next part; its marks; words since r11 was advanced; its
	 * fetches are not reported yet
	 */
	struct rp_hinfo *next;
	uint16_t mark, nmark, words;
	uint8_t fresh;
};
enum { RS_MOVS, RS_CMPS, RS_STOS, RS_LODS, RS_SCAS };

/* emit_values.c: RP_VALUES */
void rp_header_emit(struct rp_tr *t);   /* the block's header, at its start */
/* header for a block that ended after n instructions; uses rcx, r15 */
void rp_header_emit_partial(struct rp_tr *t, unsigned n);
/* completes the headers at the block's end: 0, or -1: no memory */
int rp_headers_finish(struct rp_tr *t);
void rp_values_emit(struct rp_tr *t);   /* values that the current instruction has defined; uses rcx */

/* emit_loads.c: RP_MEMORY */

/*
 * reg: the folded address of reference `first`, of which i is a piece.  Uses the other one of
 * rcx and r15.
 */
void rp_load_record(struct rp_tr *t, unsigned first, unsigned i, int reg);
/*
 * After the instruction: emits what it stored and loaded, unless it is in the stream already.
 * Uses rcx, r15.
 */
void rp_store_record(struct rp_tr *t);

/* helpers.c, helpers_refs.c: called by translated code; compiled without vector registers */

/* 0: done; 1: leave translated code, the frame is complete */
uint64_t rp_helper_string(struct rp_frame *f, const struct rp_hinfo *h);
/* writes references that depend on masks, indices or bit numbers */
uint64_t rp_helper_refs(struct rp_frame *f, const struct rp_hinfo *h);
/*
 * Removes host addresses from the image just saved.  h->size: bytes of a pointer; op and n:
 * where the pointers are.
 */
uint64_t rp_helper_x87(struct rp_frame *f, const struct rp_hinfo *h);
/* RP_MEMORY: records what the references of rp_helper_refs have stored */
uint64_t rp_helper_stored(struct rp_frame *f, const struct rp_hinfo *h);
/* completes the record of a string instruction; done: FACT_DONE or 0 */
void rp_record(struct rp_frame *f, uint64_t done);
uint64_t rp_helper_fetch(struct rp_frame *f, const struct rp_hinfo *h);         /* RP_DATA: reports the fetches of a part */
uint64_t rp_helper_xgetbv(struct rp_frame *f, const struct rp_hinfo *h);        /* emulates xgetbv */

/* emit_host.c: host instructions, none of which changes flags */
void host_e1(struct rp_tr *t, unsigned b);
void host_e4(struct rp_tr *t, uint32_t v);      /* appends 4 bytes, little-endian */
void host_e8(struct rp_tr *t, uint64_t v);      /* appends 8 bytes, little-endian */
/* op reg, [base + index * scale + disp]; w: 64 bits; base and index may be -1 */
void e_mem(struct rp_tr *t, int w, unsigned op, int reg, int base, int index, unsigned scale, int64_t disp);
void e_load(struct rp_tr *t, int reg, int off);         /* from the frame */
void e_store(struct rp_tr *t, int off, int reg);        /* to the frame */
void e_mov(struct rp_tr *t, int dst, int src);
void e_imm(struct rp_tr *t, int reg, uint64_t v);       /* loads a constant */
void e_lea(struct rp_tr *t, int dst, int base, int64_t disp);   /* dst = base + disp */
void e_fold(struct rp_tr *t, int dst, int src); /* dst = offset of guest address src in the window */
void e_canon(struct rp_tr *t, int dst, int src);        /* the low 48 bits */
void e_sign(struct rp_tr *t, int dst, int src);         /* dst = src < 0 */
void e_jmp(struct rp_tr *t, const uint8_t *to); /* jumps to host code */
uint8_t *e_jmp32(struct rp_tr *t);                      /* returns its displacement field, for e_patch */
uint8_t *e_jcc32(struct rp_tr *t, unsigned cc); /* as e_jmp32, with a condition */
void e_patch(uint8_t *rel, const uint8_t *to);  /* lets the jump with the field rel go to host code `to` */
void e_gsload(struct rp_tr *t, int size, int reg, int base);    /* size: 2 or 8 bytes */
void e_gsstore(struct rp_tr *t, int size, int reg, int base);   /* size: 2 or 8 bytes */

/* emit_address.c: addresses and references */
void rp_fetch(struct rp_tr *t);
/* 1: the address of o is known; it is in *addr */
int rp_isconst(const struct rp_tr *t, const ZydisDecodedOperand *o, uint64_t *addr);
/* returns the register with the guest address: T0, or the host register of the only guest register */
int rp_addr(struct rp_tr *t, const ZydisDecodedOperand *o, int64_t add);
/* Uses T1; if reg is T0, only its low 48 bits survive. */
void rp_ref(struct rp_tr *t, int kind, unsigned size, int reg);
void rp_refconst(struct rp_tr *t, int kind, unsigned size, uint64_t addr);      /* uses T0 */
/* reports the reference, leaves the host address in dst */
void rp_operand(struct rp_tr *t, const ZydisDecodedOperand *o, int kind, int dst);
void rp_word_append(struct rp_tr *t, int reg);  /* writes reg as the next word */
void rp_out_sync(struct rp_tr *t);              /* updates r11 */

/* emit_refs.c: references that a helper computes */
void rp_refs_by_helper(struct rp_tr *t, enum x86_refs by, const ZydisDecodedOperand *o);
/* sets the fields of h that address o */
void rp_hinfo_set_operand(const struct rp_tr *t, struct rp_hinfo *h, const ZydisDecodedOperand *o);
void rp_maskmov(struct rp_tr *t);       /* maskmovq, maskmovdqu */
void rp_gather_scatter(struct rp_tr *t);        /* gathers and scatters */

/* emit.c: any other instruction, re-encoded */
void rp_plain(struct rp_tr *t);

/* emit_control.c: instructions that are not re-encoded */
int rp_special(struct rp_tr *t);        /* 1: the instruction was emitted; 0: it is not special */
void rp_goto(struct rp_tr *t, uint64_t pc);     /* ends the block with a jump to pc */
void rp_jump(struct rp_tr *t, uint64_t pc);     /* the same, where rp_count_emit was called */
/*
 * Without words: counts n instructions of the block and their references, where it is left.
 * Uses r15.
 */
void rp_count_emit(struct rp_tr *t, int n, unsigned nload, unsigned nstore);
/* ends the block: returns to C with the reason `why` and rip = pc */
void rp_leavewith(struct rp_tr *t, unsigned why, uint64_t pc);
/* calls fn(frame, h) */
void rp_helper(struct rp_tr *t, uint64_t (*fn)(struct rp_frame *, const struct rp_hinfo *),
    const struct rp_hinfo *h);
/* returns a new one, which lives as long as the code; NULL: no memory */
struct rp_hinfo *rp_hinfo(struct rp_tr *t);

/* emit_stack.c */

/* Reports the store and leaves its host address in rcx; rsp is unchanged. */
void rp_push_room(struct rp_tr *t, int size);
void rp_push(struct rp_tr *t);  /* emits the instruction of that name, as do the functions below */
void rp_pop(struct rp_tr *t);
void rp_leave(struct rp_tr *t);
void rp_enter(struct rp_tr *t);
void rp_pushf(struct rp_tr *t);
void rp_popf(struct rp_tr *t);

/* enter.c: thunks */
int rp_thunks(struct rp_tr *t, struct rp_thunks *th);

#endif
