/*
 * The processor of a replay: x86-64 user code run again on an x86-64
 * processor, block by block as translated code, every reference of ref(5)
 * reported.
 *
 * Guest address g lies at host address rp_host(g); whoever drives the core
 * maps memory there, readable and writable, and puts in what the guest should
 * find.  The guest's vector, x87 and mask registers are in the hardware while
 * rp_run runs, and in cpu.xsave before and after.
 *
 * One core a process at a time: rp_run needs SIGSEGV, SIGBUS, SIGFPE, SIGILL
 * and SIGTRAP, which rp_core_new takes over and rp_core_free gives back, and
 * the GS base.
 */
#ifndef TM_REPLAY_CPU_CPU_H
#define TM_REPLAY_CPU_CPU_H

#include <stddef.h>
#include <stdint.h>

#define RP_BASE  0x200000000000u
#define RP_MASK  0x1fffffffffffu
#define RP_SLACK 4096u          /* words of room that rp_run wants at out */
#define RP_XSAVE 16384u         /* bytes at cpu.xsave */

/* Where guest address g lies */
static inline uint8_t *
rp_host(uint64_t g)
{
	return (uint8_t *)(uintptr_t)(RP_BASE | (g & RP_MASK));
}

struct rp_cpu {
	uint64_t r[16];         /* rax rcx rdx rbx rsp rbp rsi rdi r8 .. r15 */
	uint64_t rip, rflags, fsbase, gsbase;
	uint8_t *xsave;         /* borrowed, 64-aligned, RP_XSAVE bytes, XSAVE's standard format; a component without its bit in XSTATE_BV
	                           is in its initial state, whatever its bytes are */
};

enum rp_mode {
	RP_NONE,                /* run only */
	RP_REFS,                /* and report references */
	RP_VALUES,              /* and report blocks, references and values, as fact.h has them */
	RP_NMODES
};

enum rp_stop {
	RP_FULL,                /* less than RP_SLACK words of room; a repeated string instruction may be half done, rip at it */
	RP_COUNT,               /* icount == limit; may be amid a repeated string instruction as well */
	RP_SYSCALL,             /* `syscall` was fetched and counted, rip is behind it, nothing else changed */
	RP_TSC,                 /* rdtsc or rdtscp, the same: insn says which */
	RP_CPUID,               /* cpuid, the same */
	RP_RAND,                /* rdrand, rdseed or rdpid, the same: insn, reg and size say which */
	RP_BREAK,               /* before the instruction at a breakpoint, or before another element of a repeated one there */
	RP_BAD,                 /* the instruction at rip cannot be replayed: why; nothing of it is reported */
	RP_FAULT,               /* the instruction at rip faults: sig, addr; nothing of it is reported */
	RP_TRAP,                /* int3 and its kin were fetched and counted, rip is behind: sig */
	RP_NOMEM
};

enum rp_insn { RP_RDTSC, RP_RDTSCP, RP_RDRAND, RP_RDSEED, RP_RDPID };

struct rp_run {
	struct rp_cpu cpu;
	uint64_t *out, *end;    /* not RP_NONE: words go to out, which advances; never beyond end */
	uint64_t icount;        /* fetches done: instructions, a repeated string instruction counted as often as ref(5) fetches it */
	uint64_t again;         /* so many of them begin no instance of an instruction, or one that is not over: icount - again are complete */
	uint64_t half;          /* not 0: fetches were done of a string instruction that is not over */
	uint64_t limit;         /* stop there; UINT64_MAX: never */
	uint64_t xcr0;          /* what xgetbv(0) gives */
	enum rp_insn insn;      /* after RP_TSC, RP_RAND */
	unsigned reg, size;     /* after RP_RAND: the general register that gets the value, and its bytes */
	uint64_t *late;         /* RP_VALUES, after RP_SYSCALL, RP_TSC, RP_CPUID, RP_RAND: the end of room for FACT_NLATE values; NULL: none are wanted */
	const char *why;        /* after RP_BAD: what it is; valid until the next call */
	int sig;                /* after RP_FAULT, RP_TRAP: the signal that the guest would have got */
	uint64_t addr;          /* after RP_FAULT by SIGSEGV: the guest address as far as known (its low 45 bits) */
};

struct rp_core;
struct facts;

struct rp_core *rp_core_new(void);      /* NULL without memory, or on a processor that lacks what this needs: rp_core_why */
void rp_amd(struct rp_core *c, int amd);        /* before the first rp_run: guest code is of an AMD processor, or is not; else as this one */
void rp_core_free(struct rp_core *c);
const char *rp_core_why(void);

/*
 * Run from x->cpu until something stops it.  The first instruction is run
 * even if a breakpoint is there (one element of it if it is repeated):
 * compare before you call.  With icount >= limit it returns RP_COUNT at once.
 */
enum rp_stop rp_run(struct rp_core *c, struct rp_run *x, enum rp_mode mode);

/*
 * RP_VALUES.  out gets a header for each block, then what each of its
 * instructions leaves, as fact.h says.  The values of one that stopped rp_run
 * (syscall, rdtsc, rdtscp, cpuid, rdrand, rdseed, rdpid) are for the caller to fill in at `late`.
 */
struct facts *rp_facts(struct rp_core *c);      /* the core's, until rp_core_free; NULL without memory */
enum {
	RP_FLAGS = 1,           /* flags' values also of instructions that define a register */
	RP_MEMORY = 2,          /* what references load and store */
	RP_CONTROL = 4          /* headers only, and the records of string instructions, which have no references */
};
int rp_wants(struct rp_core *c, unsigned what);         /* before the first rp_run that has RP_VALUES; 0, -1 without memory */

/* Report only instructions at a pc for which pick says so (NULL: all); a block without any leaves nothing */
int rp_pick(struct rp_core *c, int (*pick)(void *arg, uint64_t pc), void *arg); /* 0, -1 without memory */

int rp_break(struct rp_core *c, uint64_t pc, int on);           /* 0, -1 without memory */

/*
 * The breakpoint at pc stops only where all of n tests hold (n 0: always), as
 * translated code finds out by itself; now and then it stops nevertheless.
 * At most one breakpoint has tests.
 */
#define RP_NTEST 4u
#define RP_TEST_XMM 16
struct rp_test {
	int reg;                /* a general register; RP_TEST_XMM + n: the low half of xmm n; -1: the 8 bytes at addr, which stay mapped while the test is there */
	uint64_t addr, value;
};
void rp_break_if(struct rp_core *c, uint64_t pc, const struct rp_test *t, unsigned n);

/* Guest memory that is at other addresses as well: *i is 0 before the first call; 0: no more */
typedef int rp_twin_fn(void *arg, uint64_t addr, size_t *i, uint64_t *other);
void rp_twins(struct rp_core *c, rp_twin_fn *fn, void *arg);
void rp_flush(struct rp_core *c, uint64_t addr, uint64_t len);  /* code there changed or its mapping did: call after the host's mapping changed */

/*
 * The driver may write guest memory at any time between calls: pages with
 * translated code are write-protected on the host, a write to them is
 * noticed, and their translations go away by themselves.  System calls do not
 * notice (read(2) into such a page gives EFAULT), nor do new mappings.
 */

#endif
