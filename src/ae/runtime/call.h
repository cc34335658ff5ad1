/*
 * System calls for the runtime library.  The core may not call libc: it runs
 * before libc is ready, inside signal handlers, and must leave errno and
 * every other bit of the program's libc state alone.
 *
 * The machine's sys.h has sys6 and sys4 (raw calls with 6 and 4 arguments; the
 * result is the negative error number if the call failed), sys_fstat,
 * sys_truncate, sys_seek, sys_end (fd; sizes of 64 bits everywhere), sys_thread, and
 * mem_copy and mem_zero (the compiler would turn plain loops into calls).
 */
#ifndef TM_AE_RUNTIME_CALL_H
#define TM_AE_RUNTIME_CALL_H

#include <errno.h>
#include "ae/runtime/aert.h"
#include "sys.h"

#define SYS_P(p) ((long)(uintptr_t)(p))

/* An error number if the result of a system call is one, else 0. */
static inline int sys_err(long r)
{
	return r < 0 && r >= -4095 ? (int)-r : 0;
}

/* What the runtime knows of this thread; NULL: it is not recorded. */
static inline struct ae_thread *ae_me(void)
{
	struct ae_thread *t = ae_on ? machine_near() : NULL;

	return t && t->fs == sys_thread() ? t : NULL;
}

#if AE_THREADS
#define AE_BASE(t) ((uintptr_t)(t) - AE_SIDE)
#define AE_SIDE0(t) ((uintptr_t)(t) + AE_SELFLEN)
#else
#define AE_BASE(t) ((void)(t), AE_START)
#define AE_SIDE0(t) (AE_BASE(t) + AE_SIDE)
#endif
#define AE_END(t) (AE_BASE(t) + AE_BUFLEN)

static inline long sys3(long n, long a, long b, long c)
{
	return sys4(n, a, b, c, 0);
}

/* The struct timespec of the oldest calls */
struct sys_time { long s, ns; };

/* Sends a signal to this process. */
static inline long sys_kill(long tid, int sig)
{
	return sys3(SYS_tgkill, sys3(SYS_getpid, 0, 0, 0), tid, sig);
}

/* Signal sets in the kernel's layout; signals are numbered from 1. */
#define SET_BITS (8 * sizeof(unsigned long))

static inline int set_has(const struct ae_set *s, int sig)
{
	return (int)(s->w[(unsigned)(sig - 1) / SET_BITS] >> (unsigned)(sig - 1) % SET_BITS & 1);
}

static inline void set_add(struct ae_set *s, int sig)
{
	s->w[(unsigned)(sig - 1) / SET_BITS] |= 1ul << (unsigned)(sig - 1) % SET_BITS;
}

static inline void set_del(struct ae_set *s, int sig)
{
	s->w[(unsigned)(sig - 1) / SET_BITS] &= ~(1ul << (unsigned)(sig - 1) % SET_BITS);
}

static inline struct ae_set set_of(unsigned long bits)
{
	struct ae_set s;
	size_t i;

	for (i = 0; i < sizeof s.w / sizeof s.w[0]; i++)
		s.w[i] = bits;
	return s;
}
#define set_none() set_of(0)
#define set_all() set_of(~0ul)

static inline long set_mask(int how, const struct ae_set *new, struct ae_set *old)
{
	return sys4(SYS_rt_sigprocmask, how, SYS_P(new), SYS_P(old), sizeof *new);
}

static inline void set_swallow(int sig)
{
	struct ae_set s = set_none();
	struct sys_time none = { 0, 0 };

	set_add(&s, sig);
	sys4(SYS_rt_sigtimedwait, SYS_P(&s), 0, SYS_P(&none), sizeof s);
}

#endif
