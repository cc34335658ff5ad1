/* MIPS Linux, o32: what src/ae/runtime/aert.h requires of a machine. */
#ifndef TM_AE_RUNTIME_MIPS_MACHINE_H
#define TM_AE_RUNTIME_MIPS_MACHINE_H

/*
 * Below the region where Linux maps from the stack down (0x77ff0000), above those where it maps
 * from 0x2aaa8000 and qemu from 0x40000000 up: they reach this one late or never.
 */
#define AE_MAP     0x60000000
#define AE_BUFLEN  0x200000
#define AE_GUARD   0x100000
#define AE_SIDELEN 0x300000
#define AE_PAGE    0x10000      /* the largest page size */
#define AE_THREADS 0            /* a thread has no register of its own that could find its block */
#define AE_LIBRARIES 0
#define AE_LINKS 0
#define AE_HANDLERS 0
#define AE_NREG 1
#define AE_STRIDE  0

#define AE_ELF     8            /* EM_MIPS */
#define AE_NSIG    128

#ifndef __ASSEMBLER__
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/cachectl.h>
#include <ucontext.h>
#include "sys.h"

#define AE_KEEP_POINTER __extension__ register uintptr_t ae_kept_pointer __asm__("$23")

#define AE_SAFLAGS 0u

struct ae_set { unsigned long w[4]; };
/* qemu's struct has a word more than the kernel's. */
struct ae_kact { unsigned flags; sighandler_t handler; struct ae_set mask; unsigned unused; };

static inline struct ae_kact kact_make(sighandler_t handler, unsigned long flags, struct ae_set mask)
{
	return (struct ae_kact){ flags, handler, mask, 0 };
}

/* The kernel itself makes the return from a handler. */
static inline void kact_restorer(struct sigaction *act, unsigned long flags)
{
	(void)act;
	(void)flags;
}

#define AE_ADD(p, n) (*(p) += (n))      /* one thread only */

struct ae_thread;
extern struct ae_thread ae_only __attribute__((visibility("hidden")));

static inline struct ae_thread *machine_near(void)
{
	return &ae_only;
}

static inline int machine_set(struct ae_thread *t)
{
	(void)t;
	return 1;
}

static inline void machine_length(uintptr_t n)
{
	(void)n;
}

static inline int machine_taken(void)
{
	return 0;
}

_Static_assert(offsetof(ucontext_t, uc_mcontext) == 24, "asm.S knows it");

static inline uintptr_t context_pc(const void *uc)
{
	return (uintptr_t)((const ucontext_t *)uc)->uc_mcontext.pc;
}

static inline uintptr_t context_sp(const void *uc)
{
	return (uintptr_t)((const ucontext_t *)uc)->uc_mcontext.gregs[29];
}

static inline uintptr_t context_pointer(const void *uc)
{
	return (uintptr_t)((const ucontext_t *)uc)->uc_mcontext.gregs[23];
}

/* The kernel does not say what the access was. */
static inline enum ae_access context_access(const void *uc)
{
	(void)uc;
	return AE_SOME;
}

static inline void context_set_pointer(void *uc, uintptr_t p)
{
	((ucontext_t *)uc)->uc_mcontext.gregs[23] = p;
}

#define AE_PATCHLEN 8
static inline void entry_patch(uintptr_t entry, uintptr_t thunk)
{
	uint32_t *e = (uint32_t *)entry;

	e[0] = 0x08000000u | (thunk >> 2 & 0x03ffffffu);        /* j thunk */
	e[1] = 0;                                               /* nop */
}

static inline void entry_sync(uintptr_t lo, uintptr_t hi)
{
	sys4(SYS_cacheflush, (long)lo, (long)(hi - lo), BCACHE, 0);
}
#endif

#endif
