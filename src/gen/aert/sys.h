/*
 * Raw system calls for the runtime library.  The core may not call libc: it
 * runs before libc is ready, inside signal handlers, and must leave errno and
 * every other bit of the program's libc state alone.
 */
#ifndef TM_AERT_SYS_H
#define TM_AERT_SYS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

static inline long sys6(long n, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long r;

	__asm__ volatile("syscall" : "=a"(r)
	    : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
	    : "rcx", "r11", "memory");
	return r;
}

static inline long sys3(long n, long a, long b, long c)
{
	long r;

	__asm__ volatile("syscall" : "=a"(r) : "a"(n), "D"(a), "S"(b), "d"(c)
	    : "rcx", "r11", "memory");
	return r;
}

static inline long sys4(long n, long a, long b, long c, long d)
{
	return sys6(n, a, b, c, d, 0, 0);
}

#define SYS_P(p) ((long)(uintptr_t)(p))

/* An error number if a system call's result is one, else 0 */
static inline int sys_err(long r)
{
	return r < 0 && r >= -4095 ? (int)-r : 0;
}

/* The compiler would turn plain loops into calls of memcpy and memset */
static inline void mem_copy(void *d, const void *s, size_t n)
{
	__asm__ volatile("rep movsb" : "+D"(d), "+S"(s), "+c"(n) : : "memory");
}

static inline void mem_zero(void *d, size_t n)
{
	__asm__ volatile("rep stosb" : "+D"(d), "+c"(n) : "a"(0) : "memory");
}

static inline uint64_t sys_fsbase(void)
{
	uint64_t v;

	__asm__("mov %%fs:0,%0" : "=r"(v));
	return v;
}

#endif
