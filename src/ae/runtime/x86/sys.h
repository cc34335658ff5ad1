/* Raw system calls of x86-64 Linux, and what else src/ae/runtime/call.h asks of a machine. */
#ifndef TM_AE_RUNTIME_X86_SYS_H
#define TM_AE_RUNTIME_X86_SYS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
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

static inline long sys4(long n, long a, long b, long c, long d)
{
	register long r10 __asm__("r10") = d;
	long r;

	__asm__ volatile("syscall" : "=a"(r) : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10)
	    : "rcx", "r11", "memory");
	return r;
}

static inline long sys_fstat(int fd, uint64_t *dev, uint64_t *ino, mode_t *mode)
{
	struct stat st;
	long r = sys4(SYS_fstat, fd, (long)&st, 0, 0);

	*dev = st.st_dev;
	*ino = st.st_ino;
	*mode = st.st_mode;
	return r;
}

/* A character device: is it the null device? */
static inline int sys_isnull(int fd)
{
	struct stat st;

	return sys4(SYS_fstat, fd, (long)&st, 0, 0) == 0 && st.st_rdev == 0x103;
}

static inline long sys_truncate(int fd, uint64_t size)
{
	return sys4(SYS_ftruncate, fd, (long)size, 0, 0);
}

static inline void sys_seek(int fd, uint64_t pos)
{
	sys4(SYS_lseek, fd, (long)pos, 0, 0);
}

/* Where the file ends, and now we are */
static inline uint64_t sys_end(int fd)
{
	long r = sys4(SYS_lseek, fd, 0, 2, 0);

	return r < 0 ? 0 : (uint64_t)r;
}

/* The thread pointer, by which a thread is known */
static inline uintptr_t sys_thread(void)
{
	uintptr_t v;

	__asm__("mov %%fs:0,%0" : "=r"(v));
	return v;
}

static inline void mem_copy(void *d, const void *s, size_t n)
{
	__asm__ volatile("rep movsb" : "+D"(d), "+S"(s), "+c"(n) : : "memory");
}

static inline void mem_zero(void *d, size_t n)
{
	__asm__ volatile("rep stosb" : "+D"(d), "+c"(n) : "a"(0) : "memory");
}

#endif
