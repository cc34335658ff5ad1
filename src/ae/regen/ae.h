/*
 * Regeneration of address traces: the interface of the paper's section 4.2.
 *
 * aec(1) turns a traced executable into C files that define ae_program;
 * linked with libaeregen and an application they recreate every reference of
 * any run of that executable from its event file.  See ae.h(3).
 *
 * One regeneration at a time: the state is that of the process.
 */
#ifndef TM_AE_REGEN_AE_H
#define TM_AE_REGEN_AE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Kinds of events; the names are the paper's. */
enum ae_kind {
	AE_ISSUE_INST,  /* an instruction of aux bytes is fetched at addr */
	AE_READ_MEM,    /* aux bytes at addr are read */
	AE_WRITE_MEM,   /* ... written */
	AE_MODIFY_MEM,  /* ... read, and written by the same instruction */
	AE_LOOP_ENTRY,  /* the loop whose first instruction is at addr is entered; aux 0 */
	AE_LOOP_BACK,   /* ... begins another iteration */
	AE_LOOP_EXIT,   /* ... is left */
	AE_TASK         /* the references of thread `addr` follow: if the file has several; aux 0 */
};

/* A packed reference, ref(5): address in bits 0-47 (sign-extended), size in 48-55, kind in 56-59. */
#define AE_KIND(r) ((unsigned)((uint64_t)(r) >> 56))
#define AE_SIZE(r) ((unsigned)((uint64_t)(r) >> 48 & 255))
#define AE_ADDR(r) ((uint64_t)((int64_t)((uint64_t)(r) << 16) >> 16))

#define AE_BATCH 4096           /* most references in one batch */

/*
 * Recreates the trace of the event file (NULL or "-": standard input), which may be compressed.
 * Calls func for each event, in order: the threads of the run one after the other. Returns 0 when the trace is complete; -1 when the file
 * cannot be read to its end or does not belong to the program, after all events before the fault:
 * ae_error() has the message; AE_STOPPED when the file is complete but recording stopped before the
 * run was over (ae_error() says so), after everything that was recorded.
 */
#define AE_STOPPED (-2)
int ae_recreate(const char *file, void (*func)(int kind, uint64_t addr, unsigned aux));

/*
 * The same, n packed references at a time (1 <= n <= AE_BATCH), which are valid until func returns.
 * If func returns a value other than 0, that ends the regeneration and is returned.
 */
int ae_recreate_batch(const char *file, int (*func)(void *arg, const uint64_t *refs, size_t n), void *arg);

/* The message for the last -1 or AE_STOPPED: "FILE: byte N: WHAT". The string is static. */
const char *ae_error(void);

/*
 * A remark about the trace of the last 0: a fatal signal came before its end; NULL: none. The
 * string is static.
 */
const char *ae_note(void);

/* Sets the file with the events of a forked child's parent; NULL: the file that the child names. */
void ae_parent(const char *file);

/* Sets the thread whose references are recreated, from 1; 0: all. */
void ae_task(unsigned n);

/*
 * Sets the approximate number of references allowed between two events, which is 2^40 by default.
 * Schemas of aecc always end, but others may not.
 */
void ae_most(uint64_t n);

/* The main program that aec writes, with all its options; returns the exit status. */
int ae_main(int argc, char **argv);

/*
 * Packed references in file formats: "addr", "lackey", "din" or "text" (-1: another name). ae_put
 * writes n references (at most AE_PUT_MAX bytes for each) and returns the number of bytes;
 * ae_put_header writes what precedes the first one.
 */
#define AE_PUT_MAX 128
int ae_format(const char *name);
size_t ae_put(int format, void *dst, const uint64_t *refs, size_t n);
size_t ae_put_header(int format, void *dst);

#ifdef AE_GENERATED
/*
 * The building blocks of generated files. Position of the regeneration: where the next reference is
 * written, and where the next event is. p NULL: an unwinding leaves frames until it finds its
 * target.
 */
struct ae_pos {
	uint64_t *p;
	const uint8_t *e;
};

struct ae_state {
	const uint8_t *eend;            /* end of the available events */
	uintptr_t stack;                /* a frame below this address is too deep */
	uint64_t fs;                    /* the traced thread's fs base */
	uint64_t base;                  /* what addresses are more than those of the executable's file */
	int tail;                       /* the last function left by a jump to an unknown one, ... */
	uint64_t tailrsp;               /* ...with this rsp */
	/* unwinding: -1 to an unknown call, AE_CAUGHT to where an exception lands, otherwise to this setjmp site... */
	int land;
	uint64_t landrsp;               /* ...of the frame with this rsp */
	struct ae_pos landpos;          /* where that frame's regeneration continues */
	uint64_t buf[AE_BATCH];
};

typedef struct ae_pos ae_enter_fn(struct ae_pos q, uint64_t rsp);
struct ae_span { uint64_t addr, size; const unsigned char *bytes; };
struct ae_reloc { uint64_t value; unsigned char *bytes; };

/* A shared library: in a run, its functions have other numbers */
struct ae_library {
	const char *name;
	const unsigned char *id;        /* build id */
	unsigned idlen;
	unsigned first, nfunc;          /* its functions in func of ae_program */
	unsigned nro;                   /* read-only data by address in the file */
	const struct ae_span *ro;
	unsigned moves;
	unsigned nreloc;
	const struct ae_reloc *reloc;
};

struct ae_program {
	const char *name;               /* of the executable */
	const unsigned char *id;        /* build id */
	unsigned idlen;
	unsigned machine;               /* ELF's number */
	unsigned word, big;             /* bytes of a register in the events; are they big-endian? */
	unsigned push;                  /* bytes that a call pushes */
	unsigned nfunc;                 /* functions in the order of their numbers; NULL: no schema */
	ae_enter_fn *const *func;
	unsigned nro;                   /* read-only data by address */
	const struct ae_span *ro;
	unsigned moves;                 /* it is position independent */
	unsigned nreloc;                /* words of the read-only data to which the base is added */
	const struct ae_reloc *reloc;
	unsigned nown;                  /* functions of the executable, which are the first ones of func */
	unsigned nlib;
	const struct ae_library *lib;
	uint64_t *libbase;              /* of each, where it was loaded */
};

extern struct ae_state ae_;
extern const struct ae_program ae_program;

enum ae_wrong { AE_BRANCH, AE_TARGET, AE_MARK, AE_DEEP, AE_SWITCH, AE_NEVER, AE_SHORT };

/* Slow paths: make `want` bytes of events available at e; make room in the buffer; faults. */
const uint8_t *ae_more(uint64_t *p, const uint8_t *e, unsigned want);
uint64_t *ae_flush(uint64_t *p, const uint8_t *e);
_Noreturn void ae_fault(uint64_t *p, const uint8_t *e, enum ae_wrong what);

/*
 * Run sequences: at an unknown call, after a known call of a function that may leave by a jump to
 * an unknown one (q is what it returned), at setjmp. rsp is that of the calling function.
 */
struct ae_pos ae_unknown(struct ae_pos q, uint64_t rsp);
struct ae_pos ae_after(struct ae_pos q, uint64_t rsp);
struct ae_pos ae_setjmp(struct ae_pos q, uint64_t rsp, int site);

/* A repeated string instruction of at most n elements: returns how many there were. */
uint64_t ae_rep(struct ae_pos *q, uint64_t inst, unsigned how, unsigned w, uint64_t n, uint64_t rsi,
    uint64_t rdi);

/* A masked or indexed access: the references of operation 35 of ae-schema(5), with condition cc */
uint64_t *ae_masked(struct ae_pos q, unsigned cc, unsigned w, unsigned n, uint64_t at, const uint64_t *mask,
    const uint64_t *index);

/* n bytes at addr, less the base, of the executable's read-only data. */
uint64_t ae_rodata(struct ae_pos q, uint64_t addr, unsigned n);
/* The same of library number `lib`, less where it was loaded */
uint64_t ae_librodata(struct ae_pos q, unsigned lib, uint64_t addr, unsigned n);

#define AE_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define AE_REF(kind, a, n) \
	(((uint64_t)(a) & UINT64_C(0xffffffffffff)) | (uint64_t)(n) << 48 | (uint64_t)(kind) << 56)
#define HERE ((struct ae_pos){p, e})

/* References. ROOM(n): at most n references follow before the next ROOM. */
#define ROOM(n)          do { if (AE_UNLIKELY(p > ae_.buf + (AE_BATCH - (n)))) p = ae_flush(p, e); } while (0)
#define ISSUE_INST(n)    do { *p++ = AE_REF(AE_ISSUE_INST, PC, n); PC += n; } while (0)
#define READ_MEM(a, n)   (*p++ = AE_REF(AE_READ_MEM, a, n))
#define WRITE_MEM(a, n)  (*p++ = AE_REF(AE_WRITE_MEM, a, n))
#define MODIFY_MEM(a, n) (*p++ = AE_REF(AE_MODIFY_MEM, a, n))
#define LOOP_START(a)    (*p++ = AE_REF(AE_LOOP_ENTRY, a, 0))
#define LOOP_CONT(a)     (*p++ = AE_REF(AE_LOOP_BACK, a, 0))
#define LOOP_END(a)      (*p++ = AE_REF(AE_LOOP_EXIT, a, 0))

/* Repeated string instructions of len bytes with elements of w bytes. */
#define AE_STRING(how, len, w, si, di) do { \
	struct ae_pos q_ = HERE; \
	uint64_t n_ = ae_rep(&q_, AE_REF(AE_ISSUE_INST, PC, len), how, w, rcx, si, di); \
	p = q_.p; e = q_.e; PC += len; rcx -= n_; ev = n_ * w; \
} while (0)
#define REP_MOVS(len, w) do { AE_STRING(0, len, w, rsi, rdi); rsi += ev; rdi += ev; } while (0)
#define REP_STOS(len, w) do { AE_STRING(1, len, w, 0, rdi); rdi += ev; } while (0)
#define REP_LODS(len, w) do { AE_STRING(2, len, w, rsi, 0); rsi += ev; } while (0)
#define REP_CMPS(len, w) do { AE_STRING(3, len, w, rsi, rdi); rsi += ev; rdi += ev; } while (0)
#define REP_SCAS(len, w) do { AE_STRING(4, len, w, 0, rdi); rdi += ev; } while (0)

/* Values of variables, as an array */
#define AE_WORDS(...) ((const uint64_t[]){__VA_ARGS__})
#define MASKED_MEM(cc, w, n, at, mask, index) (p = ae_masked(HERE, cc, w, n, at, mask, index))

/*
 * Events of 1, 2, 4 and 8 bytes, little-endian; or big-endian in the generated files of a program
 * for such a machine, which define AE_BIG.
 */
#if defined AE_BIG == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
#define AE_ORDER(bits, v) __builtin_bswap##bits(v)
#else
#define AE_ORDER(bits, v) (v)
#endif

static inline uint64_t
ae_get(const uint8_t *e, unsigned n)
{
	uint16_t h;
	uint32_t w;
	uint64_t d;

	switch (n) {
	case 1:
		return *e;
	case 2:
		__builtin_memcpy(&h, e, 2);
		return AE_ORDER(16, h);
	case 4:
		__builtin_memcpy(&w, e, 4);
		return AE_ORDER(32, w);
	default:
		__builtin_memcpy(&d, e, 8);
		return AE_ORDER(64, d);
	}
}

#define AE_NEED(n)  do { if (AE_UNLIKELY((size_t)(ae_.eend - e) < n)) e = ae_more(p, e, n); } while (0)
#define GET(x, n)   do { AE_NEED(n); x = ae_get(e, n); e += n; } while (0)
/* A short value, ae.out(5) */
#define GET_SHORT(x) do { \
	GET(x, 4); \
	if (AE_UNLIKELY(x >> 31)) { \
		uint64_t hi_ = x; \
		if (hi_ == 0xffffffff) { \
			AE_NEED(8); \
			x = ae_get(e, 8); \
			if (x >> 32 < 0x7fffffff) ae_fault(p, e, AE_SHORT); \
			e += 8; \
		} else { \
			AE_NEED(4); \
			x = ae_get(e, 4) | (hi_ & 0x7fffffff) << 32; \
			if (x <= 0x7fffffff) ae_fault(p, e, AE_SHORT); \
			e += 4; \
		} \
	} \
} while (0)
#define GET_BRANCH(b) \
	do { AE_NEED(1); b = *e; if (AE_UNLIKELY(b > 1)) ae_fault(p, e, AE_BRANCH); e++; } while (0)

/*
 * Numbers of blocks: the target of a conditional jump; the number that a block has when control
 * reaches it otherwise.
 */
#define GET_BYTE(b) do { AE_NEED(1); b = *e++; } while (0)
#define GET_HALF(b) do { AE_NEED(2); b = (unsigned)ae_get(e, 2); e += 2; } while (0)
#define cjump_err()      ae_fault(p, e - 1, AE_TARGET)
#define cjump_err_half() ae_fault(p, e - 2, AE_TARGET)
#define BLOCK_NUMBER(b, n) \
	do { AE_NEED(n); if (AE_UNLIKELY(ae_get(e, n) != (b))) ae_fault(p, e, AE_MARK); e += n; } while (0)

/* Calls: the callee returns the position; p NULL: frames are left down to another function's. */
#define AE_FRAME() \
	do { char here; if (AE_UNLIKELY((uintptr_t)&here < ae_.stack)) ae_fault(p, e, AE_DEEP); } while (0)
#define CALL(f)     do { struct ae_pos q_ = f; p = q_.p; e = q_.e; if (AE_UNLIKELY(!p)) return q_; } while (0)
#define CALL_SJ(f) \
	do { struct ae_pos q_ = f; p = q_.p; e = q_.e; if (AE_UNLIKELY(!p)) goto unwound; } while (0)
/* A call in block n whose exceptions land at label Pn, if they come to this frame, which ends at sp0; otherwise: `up`. */
#define AE_CAUGHT 0xffff
#define CALL_LANDING(f, n, sp0, rsp, up) do { \
	struct ae_pos q_ = f; \
	p = q_.p; e = q_.e; \
	if (AE_UNLIKELY(!p)) { \
		if (ae_.land != AE_CAUGHT || ae_.landrsp > (sp0)) \
			up; \
		p = ae_.landpos.p; e = ae_.landpos.e; rsp = ae_.landrsp; \
		goto P##n; \
	} \
} while (0)
#define LAND(site, rsp) \
	do { p = ae_.landpos.p; e = ae_.landpos.e; rsp = ae_.landrsp; goto J##site; } while (0)
#define RETURN()    return HERE
#define TAIL(rsp)   do { ae_.tail = 1; ae_.tailrsp = rsp; return HERE; } while (0)

/*
 * Values: low bytes extended to 64 bits. A result of 4 bytes clears the rest of a register, one of
 * 2 or 1 leaves it unchanged.
 */
#define SX1(x) ((uint64_t)(int8_t)(x))
#define SX2(x) ((uint64_t)(int16_t)(x))
#define SX4(x) ((uint64_t)(int32_t)(x))
#define SX8(x) (x)
#define ZX1(x) ((uint64_t)(uint8_t)(x))
#define ZX2(x) ((uint64_t)(uint16_t)(x))
#define ZX4(x) ((uint64_t)(uint32_t)(x))
#define ZX8(x) (x)
#define ALIGN4(x) ((x) & ~UINT64_C(3))
#define LOW2(r, x) (((r) & ~UINT64_C(0xffff)) | ZX2(x))
#define LOW1(r, x) (((r) & ~UINT64_C(0xff)) | ZX1(x))
#define SAR(x, n) ((uint64_t)((int64_t)(x) >> (n)))
#define ROL(x, n, bits) ((x) << ((n) % (bits)) | (x) >> ((bits) - (n) % (bits)) % (bits))
#define SIGNED(x) ((int64_t)(x))
#endif

#ifdef __cplusplus
}
#endif

#endif
