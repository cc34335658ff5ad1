/*
 * x86-64 Linux for the runtime of traced programs: what src/ae/runtime/aert.h
 * asks of a machine.
 */
#ifndef TM_AE_RUNTIME_X86_MACHINE_H
#define TM_AE_RUNTIME_X86_MACHINE_H

#define AE_MAP     0x100000000000
#define AE_BUFLEN  0x200000
#define AE_GUARD   0x100000
#define AE_SIDELEN 0x600000
#define AE_PAGE    0x1000
#define AE_THREADS 1
#define AE_LIBRARIES 1
#define AE_LINKS 1
#define AE_HANDLERS 1
#define AE_NREG 18      /* the general ones, rip and the flags */
#define AE_STRIDE  0x1000000    /* from block to block; each is a multiple of it */

/* Fields of struct ae_thread, to which gs points; src/ae/x86/emit_internal.h has some of them, too */
#define AE_T_TOP     0
#define AE_T_FS      8
#define AE_T_PTR     16
#define AE_T_SEND    24
#define AE_T_CB      64
#define AE_T_LIVE    68
#define AE_T_KEPT    72
#define AE_T_PENDING 76
#define AE_T_DEPTH   80
#define AE_T_BUF     96
#define AE_T_SELF    104
#define AE_T_START   112
#define AE_T_ARG     120
#define AE_T_LENT    128
#define AE_T_BELOW   136
#define AE_T_LOW     144
#define AE_T_SPAN    152
#define AE_T_NEXT    160
/* where the thread that has the newest block is: for the unwinder, which cannot read gs */
#define AE_NEWEST 0x100000930ff8

#define AE_UC_R15  96           /* in the context of a handler */

#define AE_ELF     62           /* EM_X86_64 */
#define AE_NSIG    64

#ifndef __ASSEMBLER__
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>
#include "sys.h"

#define AE_KEEP_POINTER __extension__ register uint64_t ae_kept_pointer __asm__("r15")

#define AE_SAFLAGS 0x04000000u          /* there is a restorer */

struct ae_set { unsigned long w[1]; };
struct ae_kact { sighandler_t handler; unsigned long flags; void (*restorer)(void); struct ae_set mask; };

void ae_restorer(void) __attribute__((visibility("hidden")));

struct ae_thread;

#define AE_ADD(p, n) __atomic_fetch_add(p, n, __ATOMIC_RELAXED)

/*
 * gs points to a thread's state. A new thread has that of the one that made it, until it gets its own, so it must be
 * compared by the thread pointer.
 */
static inline struct ae_thread *machine_near(void)
{
	struct ae_thread *t;

	__asm__ volatile("mov %%gs:%c1,%0" : "=r"(t) : "i"(AE_T_SELF));
	return t;
}

static inline int machine_set(struct ae_thread *t)
{
	return sys4(SYS_arch_prctl, 0x1001, (long)(uintptr_t)t, 0, 0) == 0;     /* ARCH_SET_GS */
}

/* bytes of aetext in this file, which thunks compare with */
extern uintptr_t __ae_length __attribute__((visibility("hidden")));

static inline void machine_length(uintptr_t n)
{
	__ae_length = n;
}

/* Does the program, or what started it, use gs? */
static inline int machine_taken(void)
{
	unsigned long gs = 1;

	return sys4(SYS_arch_prctl, 0x1004, (long)&gs, 0, 0) != 0 || gs != 0;   /* ARCH_GET_GS */
}

static inline struct ae_kact kact_make(sighandler_t handler, unsigned long flags, struct ae_set mask)
{
	return (struct ae_kact){ handler, flags | AE_SAFLAGS, ae_restorer, mask };
}

static inline void kact_restorer(struct sigaction *act, unsigned long flags)
{
	act->sa_restorer = flags & AE_SAFLAGS ? ae_restorer : NULL;
}

static inline uintptr_t context_pc(const void *uc)
{
	return (uintptr_t)((const ucontext_t *)uc)->uc_mcontext.gregs[REG_RIP];
}

static inline uintptr_t context_sp(const void *uc)
{
	return (uintptr_t)((const ucontext_t *)uc)->uc_mcontext.gregs[REG_RSP];
}

static inline uintptr_t context_pointer(const void *uc)
{
	return (uintptr_t)((const ucontext_t *)uc)->uc_mcontext.gregs[REG_R15];
}

/* What the access was that faulted: bit 1 of the error code of a page fault is a write */
static inline enum ae_access context_access(const void *uc)
{
	return ((const ucontext_t *)uc)->uc_mcontext.gregs[REG_ERR] & 2 ? AE_WRITE : AE_READ;
}

static inline void context_set_pointer(void *uc, uintptr_t p)
{
	((ucontext_t *)uc)->uc_mcontext.gregs[REG_R15] = (greg_t)p;
}

static inline void context_stack(const void *uc, uintptr_t *low, uintptr_t *size)
{
	const stack_t *s = &((const ucontext_t *)uc)->uc_stack;

	*low = (uintptr_t)s->ss_sp;
	*size = s->ss_size;
}

/* The flags that instructions compute */
#define AE_FLAGS 0xcd5

static inline void context_regs(const void *uc, uintptr_t reg[AE_NREG])
{
	const greg_t *r = ((const ucontext_t *)uc)->uc_mcontext.gregs;
	int i;

	_Static_assert(REG_RIP == AE_NREG - 2 && REG_EFL == AE_NREG - 1, "the first ones are the general registers");
	for (i = 0; i < AE_NREG; i++)
		reg[i] = (uintptr_t)r[i] & (i == REG_EFL ? AE_FLAGS : ~(uintptr_t)0);
}

static inline void context_return(void *uc, void (*to)(void))
{
	((uintptr_t *)uc)[-1] = (uintptr_t)to;
}

/*
 * A handler runs that interrupted traced code, and sees its registers: r15 as the program has it. Returns what ae_tramp
 * puts there when it returns.
 */
static inline uintptr_t context_lend(void *uc, uintptr_t lent, int is_lent)
{
	greg_t *r15 = &((ucontext_t *)uc)->uc_mcontext.gregs[REG_R15];
	uintptr_t was = (uintptr_t)*r15;

	_Static_assert(offsetof(ucontext_t, uc_mcontext.gregs[REG_R15]) == AE_UC_R15, "asm.S knows it");
	if (is_lent)
		*r15 = (greg_t)lent;
	return was;
}
#define AE_LENDS 1

#define AE_PATCHLEN 5
static inline void entry_patch(uintptr_t entry, uintptr_t thunk)
{
	uint8_t *e = (uint8_t *)entry;
	uint32_t rel = (uint32_t)(thunk - entry - 5);

	e[0] = 0xe9;
	__builtin_memcpy(e + 1, &rel, 4);
}

/* where a patched entry leads; 0: it is not one */
static inline uintptr_t entry_patched(uintptr_t entry)
{
	const uint8_t *e = (const uint8_t *)entry;
	int32_t rel;

	__builtin_memcpy(&rel, e + 1, 4);
	return e[0] == 0xe9 ? entry + 5 + (uintptr_t)(intptr_t)rel : 0;
}

/* The code of a struct ae_site: movq %r15, %gs:16, perhaps movq %gs:128, %r15, and a call or jump */
#define SITE_MOV 9
#define SITE_GS 0x65            /* begins a mov, and no call or jump */

static inline const uint8_t *site_jump(const uint8_t *p)
{
	return p + SITE_MOV + (p[SITE_MOV] == SITE_GS ? SITE_MOV : 0);
}

/* where the call or jump leads, as the linker made it */
static inline uintptr_t site_target(const uint8_t *p)
{
	int32_t rel;

	p = site_jump(p);
	__builtin_memcpy(&rel, p + 1, 4);
	return (uintptr_t)p + 5 + (uintptr_t)(intptr_t)rel;
}

static inline int site_iscall(const uint8_t *p)
{
	return *site_jump(p) == 0xe8;
}

/* It leads to traced code at `to`. skip: control goes on where it ends, so many bytes from p on; or 0 */
static inline void site_link(uint8_t *p, uintptr_t to, unsigned skip)
{
	static const uint8_t nop[SITE_MOV] = { 0x66, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0 };
	size_t n = (size_t)(site_jump(p) - p), i;
	int32_t rel = (int32_t)(to - ((uintptr_t)p + n + 5));

	for (i = 0; i < n; i += SITE_MOV)
		__builtin_memcpy(p + i, nop, sizeof nop);
	__builtin_memcpy(p + n + 1, &rel, 4);
	if (skip) {
		p[n + 5] = 0xeb;
		p[n + 6] = (uint8_t)(skip - n - 7);
	}
}

static inline void entry_sync(uintptr_t lo, uintptr_t hi)
{
	(void)lo;
	(void)hi;
}
#endif

#endif
