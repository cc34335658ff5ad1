/*
 * Working-set captures, ws(5): the input of a program from outside (first registers and memory,
 * results of system calls, signals, time), from which everything else can be computed again.
 *
 * A capture is a header and a flat list of records. A trigger (SYS, SIG, TSC, CPUID, RAND) is an
 * event at a point of the execution; the records after it, up to the next trigger, are its effects.
 * START is the first record; its effects are the first memory.
 */
#ifndef TM_FORMAT_WS_WS_H
#define TM_FORMAT_WS_WS_H

#include <signal.h>
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
/* WS_EXECUTED: the process executed another program, which is the next run (runs.h) */
enum ws_how { WS_EXITED, WS_KILLED, WS_STOPPED, WS_EXECUTED, WS_NHOWS };

/*
 * The memory of a MEM record. code: in an executable mapping, or known to be code; kernel: written
 * by a system call that mapped nothing.
 */
enum ws_where { WS_DATA, WS_CODE, WS_KERNEL };

enum {          /* Bits of struct ws_rec_map.flags. */
	WS_SHARED = 1,                  /* MAP_SHARED: other processes may write it */
	WS_GROWS = 2                    /* grows downward like a stack */
};
enum {          /* Bits of struct ws_header.flags. */
	/* MEM has only what a replay reads before it is written, and code that branches could have led to */
	WS_TRIMMED = 1,
	WS_FIRST_TOUCH = 2,             /* captured page by page at first touch */
	WS_CPUID_RECORDS = 4,           /* each cpuid is a CPUID record; else the header's table answers */
	WS_KEYFRAMES = 8,               /* there are KEY records (ws(5) explains how a replay uses them) */
	/* there are TIME records: where one is missing, less than WS_TIME_LEAST passed */
	WS_TIMES = 16,
	WS_FLAGS = 31
};

#define WS_X86_64     62u               /* ws_header.machine: ELF's e_machine */
#define WS_LINE       64u
#define WS_UNKNOWN    UINT64_MAX        /* an instruction count that is not known */
#define WS_XSAVE_MAX  65536u            /* bytes of a processor state */
#define WS_STR_MAX    65535u            /* bytes of a name or note; ws_put and ws_create refuse longer ones */
/* Linux gives a program at most 6 MiB, with 8 more bytes for each argument */
#define WS_ARGC_MAX   (1u << 20)
#define WS_ARGS_MAX   (6u << 20)        /* bytes of all arguments together; a single one may have as many */
#define WS_CPUID_MAX  1024u
#define WS_ID_MAX     64u               /* bytes of a build id */
#define WS_MEM_MAX    (1u << 20)        /* bytes of a MEM in the file; ws_put splits longer ones */
#define WS_SIGSTACK    2048u            /* bytes of stack that distinguish the iterations of a loop */
#define WS_SIGWORD     16u              /* bytes: an address and its contents */
#define WS_SIGWORDS    512u             /* words elsewhere in memory that do the same */
#define WS_SWITCH      65u              /* in ws_rec_sig, no signal: another thread continues */
#define WS_THREADS_MAX (1u << 26)       /* the greatest number of a thread */
#define WS_TIME_LEAST  1000000u         /* nanoseconds: a shorter time needs no TIME record */
#define WS_TIME_MAX    (UINT64_C(1) << 55)      /* nanoseconds in a TIME: more than a year */
#define WS_SHM        (UINT64_C(1) << 63)       /* plus an identifier of shmget: the inode of such memory */
#define WS_RFLAGS     0xcd5u            /* flags in ws_hash: CF PF AF ZF SF DF OF */

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

/* When writing, strings may be NULL for empty; the reader returns none that is NULL. */
struct ws_header {
	uint32_t machine, page, line, flags;
	uint64_t xcr0;
	int64_t when;                   /* start of the program, nanoseconds since 1970, UTC */
	const char *version;            /* of the capturing program */
	const char *brand;              /* processor */
	const char *kernel;             /* release */
	const char *exe;                /* absolute path of the program */
	const char *const *argv;        /* argc strings, then NULL (from the reader) */
	size_t argc;
	const struct ws_cpuid *cpuid;   /* in ascending order of (leaf, sub) */
	size_t ncpuid;
};

/* What cpuid answers, by a header's table of n entries. */
struct ws_cpuid ws_cpuid_find(const struct ws_cpuid *t, size_t n, uint32_t leaf, uint32_t sub);

/*
 * xsave: XSAVE's standard format, as from PTRACE_GETREGSET NT_X86_XSTATE; the writer cuts zero
 * bytes at its end.
 */
struct ws_rec_state {                   /* START, KEY */
	struct ws_regs regs;
	const uint8_t *xsave;
	size_t nxsave;
	uint32_t thread;                /* KEY: the number of the thread that runs; 0 is 1; START: 0 */
	uint64_t icount;                /* KEY: instructions before it; START: 0 */
	uint64_t trigger;               /* KEY: triggers before it (ws_put fills it in); START: 0 */
	/*
	 * KEY: instances before it (instructions; a repeated string instruction or a SIG counts as one), or
	 * WS_UNKNOWN; START: 0
	 */
	uint64_t instances;
};

/* memory that reads as zero until MEM sets it; replaces what was there */
struct ws_rec_map {
	uint64_t addr, len;             /* multiples of the page size, len > 0, addr + len does not wrap */
	uint32_t prot;                  /* PROT_READ | PROT_WRITE | PROT_EXEC */
	uint32_t type;                  /* enum ws_map_type */
	uint32_t flags;
	uint64_t offset, dev, ino;      /* of the file; dev and ino are 0 if unknown */
	const char *name;               /* path, "" for none */
	const uint8_t *id;              /* build id */
	size_t nid;
};

struct ws_rec_range {                   /* UNMAP, PROT (prot) */
	uint64_t addr, len;
	uint32_t prot;
};

/* mremap: contents move along; if newlen > oldlen, the rest is zero */
struct ws_rec_move {
	uint64_t from, oldlen, to, newlen;
};

struct ws_rec_mem {                     /* contents of memory from now on */
	uint64_t addr;
	/* NULL: n zero bytes. From ws_next: valid until the next call, and NULL exactly if all are zero */
	const uint8_t *p;
	size_t n;
	/*
	 * For ws_put: not 0: p does not count, and the bytes are pages of the file (store.h), this one minus
	 * 1 and those after it.  From ws_next: 0
	 */
	uint64_t page;
	/* enum ws_where. For ws_put: WS_CODE if it is known to be executed; otherwise ws_put decides */
	uint32_t where;
};

struct ws_rec_sys {                     /* a system call */
	/* address of the `syscall` instruction itself (2 bytes; the next rip is pc + 2) */
	uint64_t pc;
	uint64_t nr;                    /* rax before */
	uint64_t arg[6];                /* rdi rsi rdx r10 r8 r9 before */
	/* rax after; rcx = pc + 2, r11 = rflags, all other registers are unchanged */
	uint64_t ret;
	/* ws_hash of the registers at the call: rax = nr, rcx and r11 as set by `syscall`, rip = pc + 2 */
	uint32_t hash;
};

/* a signal is delivered, a handler returned, or another thread continues */
struct ws_rec_sig {
	/*
	 * 0: rt_sigreturn, the SYS before it, set the registers to `to`.  WS_SWITCH: the thread that ran is
	 * at `at` and stops there; `thread` runs from `to` on.
	 */
	uint32_t sig;
	/* WS_SWITCH: its number, in the order in which they began; the first is 1.  Otherwise 0. */
	uint32_t thread;
	/*
	 * at: before executing at.rip, or right after the SYS before; to: at the handler's first
	 * instruction
	 */
	struct ws_regs at, to;
	const uint8_t *xsave;           /* at the handler's first instruction */
	size_t nxsave;                  /* 0: unchanged */
	/* instructions before it; WS_UNKNOWN: `at` and the stack identify the place */
	uint64_t icount;
	const uint8_t *stack;           /* with icount WS_UNKNOWN: the nstack bytes at at's rsp */
	size_t nstack;                  /* at most WS_SIGSTACK; 0: unknown */
	/* with icount WS_UNKNOWN: words elsewhere; each is its address and its contents, 16 bytes */
	const uint8_t *words;
	size_t nwords;                  /* at most WS_SIGWORDS; 0: unknown */
};

struct ws_rec_tsc {
	uint64_t value;
	uint32_t aux;                   /* ecx of rdtscp; 0 for rdtsc */
	int has_aux;                    /* it was rdtscp */
};

enum ws_random { WS_RDRAND, WS_RDSEED, WS_RDPID, WS_NRANDOMS };

struct ws_rec_rand {                    /* an instruction whose result comes from the processor alone */
	uint32_t insn;                  /* enum ws_random */
	/* CF is 0, and so is value; never for rdpid, which leaves CF unchanged */
	int failed;
	uint64_t value;
};

struct ws_rec_end {
	uint32_t how;                   /* enum ws_how */
	uint32_t status;                /* by how: exit status; signal; 0 */
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
		/* TIME: nanoseconds that the program took at most between the last trigger and the next */
		uint64_t time;
		struct ws_rec_end end;
		const char *note;
	} u;                            /* KEYEND: nothing */
};

const char *ws_kind_name(unsigned kind);        /* "start", ...; kind < WS_NKINDS */
const char *ws_map_name(unsigned type);         /* "anon", ...; type < WS_NMAPS */
const char *ws_how_name(unsigned how);          /* "exited", ...; how < WS_NHOWS */
const char *ws_random_name(unsigned insn);      /* "rdrand", ...; insn < WS_NRANDOMS */
const char *ws_sys_name(uint64_t nr);           /* "read", ...; NULL if no call has this number */
int ws_is_trigger(unsigned kind);
int ws_is_capture(const uint8_t *p, size_t n);  /* do the first n bytes of a file begin like a capture? */

/* A hash of 32 bits: r[], rip, rflags & WS_RFLAGS, fsbase, gsbase. */
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

/* Are these the same registers? Only the flags of WS_RFLAGS are compared. */
static inline int
ws_same(const struct ws_regs *a, const struct ws_regs *b)
{
	return memcmp(a->r, b->r, sizeof a->r) == 0 && a->rip == b->rip &&
	    !((a->rflags ^ b->rflags) & WS_RFLAGS) && a->fsbase == b->fsbase && a->gsbase == b->gsbase;
}

/* Is it no signal, but a place that the program came to? */
static inline int
ws_is_place(const struct ws_rec_sig *s)
{
	return s->sig == SIGSTOP && ws_same(&s->at, &s->to);
}

/* Was the thread before the system call that its registers are about to make? */
static inline int
ws_before_call(const struct ws_rec_sig *s)
{
	return s->sig == WS_SWITCH && s->at.r[1] == s->at.rip + 2 && s->at.r[11] == s->at.rflags;
}

/*
 * Are the registers those at which s comes?  A thread that stops before a system call has rcx and r11 as that
 * will leave them, because only then are they known.
 */
static inline int
ws_comes_at(const struct ws_rec_sig *s, const struct ws_regs *g)
{
	struct ws_regs at;

	if (!ws_before_call(s))
		return ws_same(g, &s->at);
	if (g->rip != s->at.rip)
		return 0;
	at = *g;
	at.r[1] = s->at.r[1];
	at.r[11] = s->at.r[11];
	return ws_same(&at, &s->at);
}

/*
 * A capture that ends before its program: its length, and the reason in the NOTE right before END.
 * `is` 0: it is complete.
 */
struct ws_early {
	uint64_t icount;                /* instructions, or WS_UNKNOWN */
	char why[160];                  /* printable; "": unknown */
	int is;
};
#define WS_EARLY_TEXT 320u
/* n bytes, or up to a zero byte */
void ws_early_set(struct ws_early *e, uint64_t icount, const char *why, size_t n);
/* to be called for each record; complete after END */
void ws_early_rec(struct ws_early *e, const struct ws_rec *rec);
/* a line for people, in p; returns p */
const char *ws_early_text(const struct ws_early *e, char p[WS_EARLY_TEXT]);

/*
 * Writer. It copies everything. Errors stick: the failing call and all later ones return -1, and
 * ws_write_fault() says why (off: bytes written before it).
 */
struct ws_writer;
typedef int ws_write_fn(void *arg, const void *p, size_t n);    /* writes all of it: 0, or an errno */
int ws_write_fd(void *arg, const void *p, size_t n);            /* arg: int *fd */

enum ws_level {
	WS_PLAIN,                       /* uncompressed */
	WS_QUICK,                       /* zstd, as fast as it can be: for a running capture */
	WS_SMALL                        /* smallest; slow */
};

/* Writes the header.  NULL: see *f. */
struct ws_writer *ws_create(ws_write_fn *write, void *arg, const struct ws_header *h, enum ws_level level,
    struct fault *f);
int ws_put(struct ws_writer *w, const struct ws_rec *rec);

/*
 * Room for the n <= WS_MEM_MAX bytes of a MEM at addr in the writer's own buffer, to avoid a copy:
 * fill it, then call ws_put for a MEM of this addr whose p is the room (n may be smaller). No other
 * function of the writer may be called in between; room that is not put is dropped. NULL: an error.
 */
uint8_t *ws_reserve(struct ws_writer *w, uint64_t addr, size_t n);
int ws_end_group(struct ws_writer *w);                  /* ends the group: everything so far is written */

/*
 * Records whose contents are known later than their place.  ws_hold: ends the group, and gives a place; from then
 * on groups are kept in memory.  ws_fill: writes those that come before a place; records that are put next stand
 * there.  Places are filled in ascending order; the last is SIZE_MAX, after which nothing is kept any more, and
 * other places are no longer valid.  0 or -1.
 */
int ws_hold(struct ws_writer *w, size_t *place);
int ws_fill(struct ws_writer *w, size_t place);
/* on: records that are put next stand in front of all that is kept.  off: behind it again.  0 or -1. */
int ws_front(struct ws_writer *w, int on);
/* of the groups that end later; behind ws_end_group only, if one of them is WS_SMALL */
void ws_set_level(struct ws_writer *w, enum ws_level level);
/* groups end after n unpacked bytes: smaller ones are found faster, and take more room */
void ws_set_cut(struct ws_writer *w, size_t n);
size_t ws_held(const struct ws_writer *w);              /* bytes that are kept */

uint64_t ws_triggers(const struct ws_writer *w);        /* triggers so far */
/* instructions before the next record, for the index (KEY has its own) */
void ws_icount(struct ws_writer *w, uint64_t icount);
uint64_t ws_written(const struct ws_writer *w);         /* bytes of the file so far */
const struct fault *ws_write_fault(const struct ws_writer *w);
/* after END: last group, index, end mark; 0 or -1; ws_free is still needed */
int ws_finish(struct ws_writer *w);
void ws_free(struct ws_writer *w);      /* without ws_finish, the unfinished group is lost */

/*
 * Reader. It uses pread on a file (so forked children may share the descriptor, each with the
 * reader that it inherited), read on a pipe (then without seeking and ws_groups). Memory: about one
 * group, compressed and unpacked.
 */
struct ws_reader;

struct ws_group {
	uint64_t off, size;             /* in the file: its offset and size */
	uint64_t rec, trigger;          /* records and triggers before it */
	uint64_t icount;                /* instructions before it, or WS_UNKNOWN */
	uint32_t nrec, ntrigger;
	uint32_t flags;                 /* WS_GROUP_ */
};
enum {
	WS_GROUP_KEY = 1,               /* begins with KEY */
	WS_GROUP_INSIDE = 2,            /* begins within a keyframe */
	/* addresses in its code are absolute (the reader converts them back) */
	WS_GROUP_X86 = 4
};

/* Each group has five streams of bytes, which are compressed separately. */
enum ws_stream { WS_S_CONTROL, WS_S_DATA, WS_S_CODE, WS_S_KERNEL, WS_S_HASH, WS_NSTREAMS };
enum ws_method { WS_NONE, WS_ZSTD, WS_LZMA, WS_NMETHODS };
struct ws_sizes {
	uint32_t method[WS_NSTREAMS];   /* enum ws_method */
	uint32_t raw[WS_NSTREAMS], packed[WS_NSTREAMS];
};

/* NULL: see *f. Borrows fd. Of a file with several runs: the main one (runs.h) */
struct ws_reader *ws_open(int fd, struct fault *f);
struct ws_reader *ws_open_mem(const void *p, size_t n, struct fault *f);        /* borrows p */
void ws_close(struct ws_reader *r);
const struct ws_header *ws_head(const struct ws_reader *r);     /* owned by r */

/*
 * 1: a record, whose pointers are valid until the next call; 0: the end; -1: see ws_fault. Of a
 * truncated file all complete groups are returned before -1.
 */
int ws_next(struct ws_reader *r, struct ws_rec *rec);
/* after a KEY: skips to the record after its KEYEND. Like ws_next; 1: done */
int ws_skip_key(struct ws_reader *r);
const struct fault *ws_fault(const struct ws_reader *r);
uint64_t ws_rec_off(const struct ws_reader *r);         /* file offset of the group of the last record */
/* file offset of what follows that group; at the end: the size of the file */
uint64_t ws_next_off(const struct ws_reader *r);
const struct ws_sizes *ws_sizes(const struct ws_reader *r);     /* sizes of that group; owned by r */
/* bytes of the last record in each of its streams */
void ws_rec_bytes(const struct ws_reader *r, uint32_t n[WS_NSTREAMS]);
const char *ws_stream_name(unsigned stream);            /* "control", ... */
const char *ws_method_name(unsigned method);            /* "none", ... */
/* records returned, counted from the start of the file */
uint64_t ws_rec_no(const struct ws_reader *r);

/*
 * The groups, from the index; without an index (truncated file), they are found by walking over the
 * file, and *whole is 0. NULL with ws_fault: a pipe, or walking fails, too. Owned by r.
 */
const struct ws_group *ws_groups(struct ws_reader *r, size_t *n, int *whole);
/* the next record is the first of group i; clears a fault; 0 or -1 */
int ws_seek_group(struct ws_reader *r, size_t i);

/*
 * Marks: positions after any record, in memory. `last` is that record if it is a trigger, KEY or
 * END; ws_mark_return returns it again, valid until the next call of it.
 */
struct ws_mark;
/* NULL: no memory, a pipe, after the end */
struct ws_mark *ws_mark(struct ws_reader *r, const struct ws_rec *last);
/* clears a fault; 0 or -1 */
int ws_mark_return(struct ws_reader *r, const struct ws_mark *m, struct ws_rec *last);
/* bytes of memory that at most `others` others share: marks of the same group, the reader */
uint64_t ws_mark_bytes(const struct ws_mark *m, unsigned others);
/* marks may outlive the reader, and be used with another one of the same file */
void ws_mark_free(struct ws_mark *m);

#endif
