/*
 * The processor of a replay: runs x86-64 user code on an x86-64 processor as translated code,
 * block by block, and reports every reference as a word of ref(5).
 *
 * Guest address g lies at host address rp_host(g).  The owner of the core maps memory there,
 * readable and writable, and fills it.  The guest's vector, x87 and mask registers are in the
 * hardware while rp_run runs, and in cpu.xsave before and after.
 *
 * A process has one core at a time.  rp_run sets the GS base when a thread first calls it, and
 * nobody else may change it after that.  It needs the signals SIGSEGV, SIGBUS,
 * SIGFPE, SIGILL and SIGTRAP: rp_core_new installs handlers, rp_core_free restores the former
 * ones.
 */
#ifndef TM_REPLAY_CPU_CPU_H
#define TM_REPLAY_CPU_CPU_H

#include <stddef.h>
#include <stdint.h>

#include "isa/reference.h"

/*
 * The window of guest memory in this process: its host address, and the low bits of a guest address that select a byte
 * of it.  rp_core_new chooses both, once: 46 bits, or 45 where this process has memory of its own in that window, as it
 * has after `ulimit -s unlimited`.
 */
extern uint64_t rp_base, rp_mask;
#define RP_SLACK 4096u          /* words of room that rp_run requires at out */
#define RP_XSAVE 16384u         /* bytes of cpu.xsave */

/* The host address of guest address g. */
static inline uint8_t *
rp_host(uint64_t g)
{
	return (uint8_t *)(uintptr_t)(rp_base + (g & rp_mask));
}

/*
 * Of large areas, chunks of the window are inaccessible until they are touched.  So who looks for the pages that exist
 * need not look there: a program may reserve terabytes.
 */
#define RP_CHUNK (UINT64_C(1) << 30)
/* closes the whole chunks of an area of guest memory that is mapped, and has no contents yet */
void rp_close(uint64_t addr, uint64_t len);
/* is the chunk of addr inaccessible? */
int rp_closed(uint64_t addr);
/* makes it accessible: 1; 0: it is already, or cannot be made so */
int rp_touched(uint64_t addr);
/* what is there is about to be unmapped or moved: the chunks that are only partly in it are opened */
void rp_forget(uint64_t addr, uint64_t len);

struct rp_cpu {
	uint64_t r[16];         /* rax rcx rdx rbx rsp rbp rsi rdi r8 .. r15 */
	uint64_t rip, rflags, fsbase, gsbase;
	/*
	 * Borrowed, 64-byte aligned, RP_XSAVE bytes in XSAVE's standard format.  A component
	 * whose bit in XSTATE_BV is clear is in its initial state, whatever its bytes are.
	 */
	uint8_t *xsave;
};

enum rp_mode {
	RP_NONE,                /* run, report nothing */
	RP_TALLY,               /* the same, and count the references of each kind */
	RP_REFS,                /* report references */
	/*
	 * The same, but fetches only when an instruction is executed for the first time since it was translated or
	 * rp_fetches_again was called: with those of all up to the next branch, before the references of these.
	 * Otherwise an instruction may report nothing.
	 */
	RP_DATA,
	RP_VALUES,              /* report blocks, references and values, in the format of fact.h */
	/*
	 * The same of a few instructions only: headers of all blocks, records of string instructions, without
	 * references, and the words of instructions that control_has_words (cfg/control.h) names
	 */
	RP_CONTROL,
	RP_NMODES
};

enum rp_stop {
	/*
	 * Less than RP_SLACK words of room are left.  A repeated string instruction may be half
	 * done, with rip at it.
	 */
	RP_FULL,
	RP_COUNT,               /* icount == limit; may also be amid a repeated string instruction */
	RP_SYSCALL,             /* `syscall` was fetched and counted, rip is after it, nothing else changed */
	RP_TSC,                 /* as RP_SYSCALL, at rdtsc or rdtscp: insn says which */
	RP_CPUID,               /* as RP_SYSCALL, at cpuid */
	RP_RAND,                /* as RP_SYSCALL, at rdrand, rdseed or rdpid: see insn, reg and size */
	/* before the instruction at a breakpoint, or before the next element of a repeated one */
	RP_BREAK,
	/* the instruction at rip cannot be replayed (see why); none of its references is reported */
	RP_BAD,
	/* the instruction at rip faults (see sig, addr); none of its references is reported */
	RP_FAULT,
	RP_TRAP,                /* int3 or the like was fetched and counted, rip is after it; see sig */
	RP_NOMEM
};

enum rp_insn { RP_RDTSC, RP_RDTSCP, RP_RDRAND, RP_RDSEED, RP_RDPID };

struct rp_run {
	struct rp_cpu cpu;
	uint64_t *out, *end;    /* rp_has_words: words are written at out, which advances, never beyond end */
	/* Fetches so far: a repeated string instruction counts as often as ref(5) fetches it. */
	uint64_t icount;
	/* Fetches that complete no instruction: icount - again instances are complete. */
	uint64_t again;
	uint64_t half;          /* nonzero: a string instruction was fetched and is not complete */
	uint64_t limit;         /* stop at this icount; UINT64_MAX: never */
	uint64_t tally[REF_NACCESS];    /* RP_TALLY: references so far, but for fetches: those are icount */
	uint64_t xcr0;          /* result of xgetbv(0) */
	enum rp_insn insn;      /* after RP_TSC, RP_RAND */
	/* after RP_RAND: the general register that receives the value, and its bytes */
	unsigned reg, size;
	/*
	 * RP_VALUES, after RP_SYSCALL, RP_TSC, RP_CPUID, RP_RAND: end of the room for
	 * FACT_NLATE values; NULL: none are wanted.
	 */
	uint64_t *late;
	const char *why;        /* after RP_BAD: the reason; valid until the next call */
	int sig;                /* after RP_FAULT, RP_TRAP: the signal that the guest would have received */
	uint64_t addr;          /* after RP_FAULT by SIGSEGV: the guest address & rp_mask */
};

/* Are words written in this mode? */
static inline int
rp_has_words(enum rp_mode mode)
{
	return mode > RP_TALLY;
}

struct rp_core;
struct facts;

/*
 * The caller frees the core with rp_core_free.  NULL: no memory, or the processor lacks a
 * required feature; rp_core_why says which.
 */
struct rp_core *rp_core_new(void);
/*
 * Says whether the guest code was captured on an AMD processor; call it before the first
 * rp_run.  Default: as this processor.
 */
void rp_core_set_amd(struct rp_core *c, int amd);
void rp_core_free(struct rp_core *c);
const char *rp_core_why(void);  /* the reason why the last rp_core_new failed */

/*
 * Runs from x->cpu until one of the reasons in enum rp_stop.  The first instruction is run even
 * if it has a breakpoint (one element of it if it is repeated), so check for breakpoints before
 * calling.  With icount >= limit it returns RP_COUNT at once.
 */
enum rp_stop rp_run(struct rp_core *c, struct rp_run *x, enum rp_mode mode);
void rp_fetches_again(struct rp_core *c);       /* RP_DATA: fetches are reported again */

/*
 * RP_VALUES, RP_CONTROL: out receives a header for each block, then the words of each of its instructions,
 * in the format of fact.h.  An instruction that stopped rp_run (syscall, rdtsc, rdtscp, cpuid,
 * rdrand, rdseed, rdpid) has room at `late`, where the caller fills in its values.
 */
struct facts *rp_facts(struct rp_core *c);      /* owned by the core; NULL: no memory */
enum {
	RP_FLAGS = 1,           /* values of flags also for instructions that define a register */
	RP_MEMORY = 2           /* what references load and store */
};
/*
 * what: a set of RP_FLAGS, RP_MEMORY.  Call it before the first rp_run with RP_VALUES or
 * RP_CONTROL. 0, or -1: no memory.
 */
int rp_values_enable(struct rp_core *c, unsigned what);

/*
 * Report only instructions at a pc that `pick` accepts (NULL: all).  A block without any
 * reports nothing.
 */
/* 0, or -1: no memory */
int rp_values_filter(struct rp_core *c, int (*pick)(void *arg, uint64_t pc), void *arg);

/* Sets (on: 1) or removes (0) a breakpoint. 0, or -1: no memory. */
int rp_break(struct rp_core *c, uint64_t pc, int on);

/*
 * The breakpoint at pc stops only where all n tests hold (n 0: always).  Translated code
 * evaluates the tests and may stop although they do not hold.  At most one breakpoint has
 * tests.
 */
#define RP_NTEST 4u
#define RP_TEST_XMM 16
struct rp_test {
	/*
	 * A general register; RP_TEST_XMM + n: the low half of xmm n; -1: the 8 bytes at addr,
	 * which must stay mapped while the test is set.
	 */
	int reg;
	uint64_t addr, value;
};
/* n 0 removes all tests */
void rp_break_if(struct rp_core *c, uint64_t pc, const struct rp_test *t, unsigned n);

/*
 * Enumerates the other addresses of guest memory that is mapped more than once.  *i is 0 in the
 * first call.  Returns 0: no more.
 */
typedef int rp_alias_fn(void *arg, uint64_t addr, size_t *i, uint64_t *other);
/* sets the function that enumerates addresses */
void rp_core_set_alias(struct rp_core *c, rp_alias_fn *fn, void *arg);
/* The code or the mapping at [addr, addr + len) changed.  Call it after the host's mapping has changed. */
void rp_flush(struct rp_core *c, uint64_t addr, uint64_t len);

/*
 * The driver may write guest memory at any time between calls: pages with translated code are
 * write-protected on the host, and a write to one drops its translations.  Writes by system
 * calls (read(2) into such a page fails with EFAULT) and new mappings are not noticed.
 */

#endif
