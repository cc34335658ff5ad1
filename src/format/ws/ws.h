/*
 * Working-set captures, ws(5): what a program was given from outside (first
 * registers and memory, results of system calls, signals, time), so that
 * everything else can be computed again.
 *
 * A capture is a header and a flat list of records.  A trigger (SYS, SIG, TSC,
 * CPUID, RAND) says what happens at a point of the execution; the records behind it
 * up to the next trigger are its effects.  START is the first record, its
 * effects are the first memory.
 */
#ifndef TM_FORMAT_WS_WS_H
#define TM_FORMAT_WS_WS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/fault.h"

enum ws_kind {
#define K(name, text, trigger) WS_##name,
#include "format/ws/kind.def"
#undef K
	WS_NKINDS
};

enum ws_map_type { WS_ANON, WS_FILE, WS_EXE, WS_INTERP, WS_STACK, WS_HEAP, WS_VDSO, WS_NMAPS };
enum ws_how { WS_EXITED, WS_KILLED, WS_STOPPED, WS_NHOWS };

enum ws_where { WS_DATA, WS_CODE, WS_KERNEL };          /* of MEM: code: in an executable mapping, or known to be code; kernel: written by a system call that mapped nothing */

enum {          /* bits of struct ws_rec_map.flags */
	WS_SHARED = 1,                  /* MAP_SHARED: other processes may write it */
	WS_GROWS = 2                    /* grows downward as a stack does */
};
enum {          /* bits of struct ws_header.flags */
	WS_TRIMMED = 1,                 /* MEM has only what a replay reads before it is written, and code that branches could have led to */
	WS_FIRST_TOUCH = 2,             /* captured page by page at first touch */
	WS_CPUID_RECORDS = 4,           /* each cpuid is a CPUID record; else the header's table answers */
	WS_KEYFRAMES = 8,               /* there are KEY records (ws(5) says how a replay uses them) */
	WS_TIMES = 16,                  /* there are TIME records: without one, less than WS_TIME_LEAST passed */
	WS_FLAGS = 31
};

#define WS_X86_64     62u               /* ws_header.machine: ELF's e_machine */
#define WS_LINE       64u
#define WS_UNKNOWN    UINT64_MAX        /* an instruction count that is not known */
#define WS_XSAVE_MAX  65536u            /* bytes of a processor state */
#define WS_STR_MAX    65535u            /* bytes of a name, a note; longer: ws_put and ws_create refuse */
#define WS_ARGC_MAX   (1u << 20)        /* Linux gives a program at most 6 MiB, with 8 more bytes for each argument */
#define WS_ARGS_MAX   (6u << 20)        /* bytes of all arguments; one alone may have as many */
#define WS_CPUID_MAX  1024u
#define WS_ID_MAX     64u               /* bytes of a build id */
#define WS_MEM_MAX    (1u << 20)        /* bytes of a MEM in the file; ws_put splits longer ones */
#define WS_SIGSTACK    2048u             /* bytes of stack that tell one loop's iterations from each other */
#define WS_SIGWORD     16u              /* bytes of an address and what is there */
#define WS_SIGWORDS    64u              /* words of memory elsewhere that do */
#define WS_TIME_LEAST  1000000u         /* nanoseconds: a shorter time needs no TIME */
#define WS_TIME_MAX    (UINT64_C(1) << 55)      /* nanoseconds in a TIME: more than a year */
#define WS_RFLAGS     0xcd5u            /* flags that ws_hash looks at: CF PF AF ZF SF DF OF */

/* General registers in the machine's own numbering */
enum { WS_RAX, WS_RCX, WS_RDX, WS_RBX, WS_RSP, WS_RBP, WS_RSI, WS_RDI };

struct ws_regs {
	uint64_t r[16];                 /* rax rcx rdx rbx rsp rbp rsi rdi r8 ... r15 */
	uint64_t rip, rflags, fsbase, gsbase;
};

struct ws_cpuid {
	uint32_t leaf, sub;             /* eax and ecx before */
	uint32_t eax, ebx, ecx, edx;    /* after */
};

/* Strings may be NULL for empty when writing; the reader gives none that is NULL. */
struct ws_header {
	uint32_t machine, page, line, flags;
	uint64_t xcr0;
	int64_t when;                   /* start of the program, nanoseconds since 1970, UTC */
	const char *version;            /* of the program that captured */
	const char *brand;              /* processor */
	const char *kernel;             /* release */
	const char *exe;                /* absolute path of the program */
	const char *const *argv;        /* argc strings; NULL behind them (the reader's) */
	size_t argc;
	const struct ws_cpuid *cpuid;   /* ascending (leaf, sub) */
	size_t ncpuid;
};

/* xsave: XSAVE's standard format as PTRACE_GETREGSET NT_X86_XSTATE gives it; the writer cuts zero bytes at its end. */
struct ws_rec_state {                   /* START, KEY */
	struct ws_regs regs;
	const uint8_t *xsave;
	size_t nxsave;
	uint64_t icount;                /* KEY: instructions before it; START: 0 */
	uint64_t trigger;               /* KEY: triggers before it (ws_put fills it in); START: 0 */
	uint64_t instances;             /* KEY: instances before it: instructions, a repeated string instruction and a SIG as one; WS_UNKNOWN; START: 0 */
};

struct ws_rec_map {                     /* memory that reads as zero until MEM says otherwise; replaces what was there */
	uint64_t addr, len;             /* multiples of the page size, len > 0, addr + len does not wrap */
	uint32_t prot;                  /* PROT_READ | PROT_WRITE | PROT_EXEC */
	uint32_t type;                  /* enum ws_map_type */
	uint32_t flags;
	uint64_t offset, dev, ino;      /* of the file; dev and ino 0 when not known */
	const char *name;               /* path, "" for none */
	const uint8_t *id;              /* build id */
	size_t nid;
};

struct ws_rec_range {                   /* UNMAP, PROT (prot) */
	uint64_t addr, len;
	uint32_t prot;
};

struct ws_rec_move {                    /* mremap: contents go along; newlen > oldlen: zero behind */
	uint64_t from, oldlen, to, newlen;
};

struct ws_rec_mem {                     /* what memory holds from now on */
	uint64_t addr;
	const uint8_t *p;               /* NULL: n zero bytes.  From ws_next: valid until the next call, NULL exactly if all are zero */
	size_t n;
	uint32_t where;                 /* enum ws_where.  For ws_put: WS_CODE if it is known to be executed; the rest it finds out */
};

struct ws_rec_sys {                     /* a system call */
	uint64_t pc;                    /* address of the `syscall` instruction itself (2 bytes; rip behind it is pc + 2) */
	uint64_t nr;                    /* rax before */
	uint64_t arg[6];                /* rdi rsi rdx r10 r8 r9 before */
	uint64_t ret;                   /* rax after; rcx = pc + 2, r11 = rflags, all other registers unchanged */
	uint32_t hash;                  /* ws_hash of the registers at the call: rax = nr, rcx and r11 as `syscall` sets them, rip = pc + 2 */
};

struct ws_rec_sig {                     /* a signal is delivered, or a handler returned */
	uint32_t sig;                   /* 0: rt_sigreturn, the SYS before, gave the registers `to` */
	struct ws_regs at, to;          /* before executing at.rip, or right behind the SYS before; to: at the handler's first instruction */
	const uint8_t *xsave;           /* at the handler's first instruction */
	size_t nxsave;                  /* 0: unchanged */
	uint64_t icount;                /* instructions before it; WS_UNKNOWN: where `at` and the stack are these */
	const uint8_t *stack;           /* with icount WS_UNKNOWN: what nstack bytes at at's rsp are */
	size_t nstack;                  /* at most WS_SIGSTACK; 0: not told */
	const uint8_t *words;           /* with icount WS_UNKNOWN: and elsewhere; of each word its address and what it is, 16 bytes */
	size_t nwords;                  /* at most WS_SIGWORDS; 0: not told */
};

struct ws_rec_tsc {
	uint64_t value;
	uint32_t aux;                   /* ecx of rdtscp; 0 for rdtsc */
	int has_aux;                    /* it was rdtscp */
};

enum ws_random { WS_RDRAND, WS_RDSEED, WS_RDPID, WS_NRANDOMS };

struct ws_rec_rand {                    /* an instruction whose result the processor makes up */
	uint32_t insn;                  /* enum ws_random */
	int failed;                     /* CF is 0, and so is value; not of rdpid, which leaves CF as it is */
	uint64_t value;
};

struct ws_rec_end {
	uint32_t how;                   /* enum ws_how */
	uint32_t status;                /* exit status; signal; 0 */
	uint64_t icount;                /* or WS_UNKNOWN */
};

struct ws_rec {
	enum ws_kind kind;
	union {
		struct ws_rec_state state;      /* START, KEY */
		struct ws_rec_map map;
		struct ws_rec_range range;      /* UNMAP, PROT */
		struct ws_rec_move move;
		struct ws_rec_mem mem;
		struct ws_rec_sys sys;
		struct ws_rec_sig sig;
		struct ws_rec_tsc tsc;
		struct ws_cpuid cpuid;
		struct ws_rec_rand rand;
		uint64_t time;                  /* TIME: nanoseconds of the processor that the program took at most between the trigger before and the next */
		struct ws_rec_end end;
		const char *note;
	} u;                            /* KEYEND: nothing */
};

const char *ws_kind_name(unsigned kind);        /* "start", ...; kind < WS_NKINDS */
const char *ws_map_name(unsigned type);         /* "anon", ...; type < WS_NMAPS */
const char *ws_how_name(unsigned how);          /* "exited", ...; how < WS_NHOWS */
const char *ws_random_name(unsigned insn);      /* "rdrand", ...; insn < WS_NRANDOMS */
const char *ws_sys_name(uint64_t nr);           /* "read", ...; NULL if there is none of this number */
int ws_is_trigger(unsigned kind);

/* 32 bits of r[], rip, rflags & WS_RFLAGS, fsbase, gsbase */
static inline uint32_t
ws_hash(const struct ws_regs *g)
{
	uint64_t h = 0;

	for (int i = 0; i < 16; i++) {
		h = (h ^ g->r[i]) * 0x9e3779b97f4a7c15u;
		h ^= h >> 29;
	}
	h = (h ^ g->rip) * 0x9e3779b97f4a7c15u;
	h ^= h >> 29;
	h = (h ^ (g->rflags & WS_RFLAGS)) * 0x9e3779b97f4a7c15u;
	h ^= h >> 29;
	h = (h ^ g->fsbase) * 0x9e3779b97f4a7c15u;
	h ^= h >> 29;
	h = (h ^ g->gsbase) * 0x9e3779b97f4a7c15u;
	return (uint32_t)(h >> 32);
}

/* Are these the same registers?  Of the flags those of WS_RFLAGS */
static inline int
ws_same(const struct ws_regs *a, const struct ws_regs *b)
{
	return memcmp(a->r, b->r, sizeof a->r) == 0 && a->rip == b->rip &&
	    !((a->rflags ^ b->rflags) & WS_RFLAGS) && a->fsbase == b->fsbase && a->gsbase == b->gsbase;
}

/*
 * A capture that ends before its program: how much there is, and what the NOTE
 * right before END says of why.  `is` 0: it does not.
 */
struct ws_early {
	uint64_t icount;                /* instructions, or WS_UNKNOWN */
	char why[160];                  /* printable; "": not known */
	int is;
};
#define WS_EARLY_TEXT 320u
void ws_early_set(struct ws_early *e, uint64_t icount, const char *why, size_t n);      /* n bytes, or up to a zero byte */
void ws_early_rec(struct ws_early *e, const struct ws_rec *rec);        /* each record in turn: known after END */
const char *ws_early_text(const struct ws_early *e, char p[WS_EARLY_TEXT]);     /* a line for people: p */

/*
 * Writer.  Everything is copied.  Errors stick: the failing call and all later
 * ones return -1, and ws_write_fault() says why (off: bytes written before).
 */
struct ws_writer;
typedef int ws_write_fn(void *arg, const void *p, size_t n);    /* all of it: 0, or an errno */
int ws_write_fd(void *arg, const void *p, size_t n);            /* arg: int *fd */

enum ws_level {
	WS_PLAIN,                       /* as it is: for the capture that runs */
	WS_QUICK,                       /* zstd */
	WS_SMALL                        /* the smallest; slow */
};

/* Writes the header.  NULL: see *f. */
struct ws_writer *ws_create(ws_write_fn *write, void *arg, const struct ws_header *h, enum ws_level level, struct fault *f);
int ws_put(struct ws_writer *w, const struct ws_rec *rec);

/*
 * Room for the n <= WS_MEM_MAX bytes of a MEM at addr, in the writer's own
 * buffer, so that they need not be copied: fill it, then ws_put a MEM of this
 * addr with p the room (n may be smaller).  Nothing else of the writer may be
 * called between; a room that is not put is forgotten.  NULL: an error.
 */
uint8_t *ws_room(struct ws_writer *w, uint64_t addr, size_t n);
int ws_cut(struct ws_writer *w);        /* ends the group: everything so far is written */
void ws_icount(struct ws_writer *w, uint64_t icount);   /* instructions before the next record: for the index (KEY says its own) */
uint64_t ws_written(const struct ws_writer *w);         /* bytes of the file so far */
const struct fault *ws_write_fault(const struct ws_writer *w);
int ws_finish(struct ws_writer *w);     /* behind END: last group, index, end mark; 0 or -1; ws_free is still needed */
void ws_free(struct ws_writer *w);      /* without ws_finish: what is not cut is lost */

/*
 * Reader.  Uses pread on a file (so forked children may share the descriptor,
 * each with the reader it inherited), read on a pipe (no seeking then, no
 * ws_groups).  Memory: about one group, compressed and not.
 */
struct ws_reader;

struct ws_group {
	uint64_t off, size;             /* in the file: bytes before it, its bytes */
	uint64_t rec, trigger;          /* records and triggers before it */
	uint64_t icount;                /* instructions before it, or WS_UNKNOWN */
	uint32_t nrec, ntrigger;
	uint32_t flags;                 /* WS_GROUP_ */
};
enum {
	WS_GROUP_KEY = 1,               /* begins with KEY */
	WS_GROUP_INSIDE = 2,            /* begins inside a keyframe */
	WS_GROUP_X86 = 4                /* addresses in its code are absolute (the reader undoes that) */
};

/* Each group has five streams of bytes, compressed on their own */
enum ws_stream { WS_S_CONTROL, WS_S_DATA, WS_S_CODE, WS_S_KERNEL, WS_S_HASH, WS_NSTREAMS };
enum ws_method { WS_NONE, WS_ZSTD, WS_LZMA, WS_NMETHODS };
struct ws_sizes {
	uint32_t method[WS_NSTREAMS];   /* enum ws_method */
	uint32_t raw[WS_NSTREAMS], packed[WS_NSTREAMS];
};

struct ws_reader *ws_open(int fd, struct fault *f);          /* NULL: see *f.  fd is the caller's. */
struct ws_reader *ws_open_mem(const void *p, size_t n, struct fault *f);     /* borrows p */
void ws_close(struct ws_reader *r);
const struct ws_header *ws_head(const struct ws_reader *r);     /* owned by r */

/*
 * 1: a record, whose pointers are valid until the next call; 0: the end; -1:
 * see ws_fault.  A file that was cut off gives all whole groups, then -1.
 */
int ws_next(struct ws_reader *r, struct ws_rec *rec);
int ws_skip_key(struct ws_reader *r);                   /* after a KEY: behind its KEYEND.  As ws_next, 1 for done */
const struct fault *ws_fault(const struct ws_reader *r);
uint64_t ws_rec_off(const struct ws_reader *r);         /* file offset of the group that the last record is in */
uint64_t ws_next_off(const struct ws_reader *r);        /* of what follows that group; at the end: the size of the file */
const struct ws_sizes *ws_sizes(const struct ws_reader *r);     /* of that group; owned by r */
void ws_rec_bytes(const struct ws_reader *r, uint32_t n[WS_NSTREAMS]);          /* of the last record in each of its streams */
const char *ws_stream_name(unsigned stream);            /* "control", ... */
const char *ws_method_name(unsigned method);            /* "none", ... */
uint64_t ws_rec_no(const struct ws_reader *r);          /* records handed over, counted from the start of the file */

/*
 * The groups, from the index; without one (cut off) they are found by walking
 * over the file, and *whole is 0.  NULL with ws_fault: a pipe, or not even
 * walking works.  Owned by r.
 */
const struct ws_group *ws_groups(struct ws_reader *r, size_t *n, int *whole);
int ws_seek_group(struct ws_reader *r, size_t i);       /* the next record is the first of group i; clears a fault; 0 or -1 */

/*
 * Places behind any record, in memory: `last` is that record, a trigger, KEY
 * or END, which ws_return gives again, valid until the next call of it.
 */
struct ws_mark;
struct ws_mark *ws_mark(struct ws_reader *r, const struct ws_rec *last);  /* NULL: no memory, a pipe, behind the end */
int ws_return(struct ws_reader *r, const struct ws_mark *m, struct ws_rec *last);       /* clears a fault; 0 or -1 */
uint64_t ws_mark_bytes(const struct ws_mark *m, unsigned others);       /* of memory that at most so many others share: marks of the same group, the reader */
void ws_mark_free(struct ws_mark *m);                   /* marks may outlive the reader, and serve another one of the same file */

#endif
