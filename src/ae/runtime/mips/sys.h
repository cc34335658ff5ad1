/* Raw system calls of MIPS Linux, o32, and the rest of what src/ae/runtime/call.h requires of a machine. */
#ifndef TM_AE_RUNTIME_MIPS_SYS_H
#define TM_AE_RUNTIME_MIPS_SYS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#define SYS_CLOBBERS \
	"$1", "$3", "$8", "$9", "$10", "$11", "$12", "$13", "$14", "$15", "$24", "$25", "hi", "lo", "memory"

/* The fifth and sixth arguments are on the stack; $7 says whether $2 is an error number. */
static inline long sys6(long n, long a, long b, long c, long d, long e, long f)
{
	register long r __asm__("$2") = n;
	register long r4 __asm__("$4") = a;
	register long r5 __asm__("$5") = b;
	register long r6 __asm__("$6") = c;
	register long r7 __asm__("$7") = d;
	register long r16 __asm__("$16") = e;
	register long r17 __asm__("$17") = f;

	__asm__ volatile("addiu $29,$29,-32\n\tsw %5,16($29)\n\tsw %6,20($29)\n\tsyscall\n\taddiu $29,$29,32"
	    : "+r"(r), "+r"(r7) : "r"(r4), "r"(r5), "r"(r6), "r"(r16), "r"(r17) : SYS_CLOBBERS);
	return r7 ? -r : r;
}

static inline long sys4(long n, long a, long b, long c, long d)
{
	register long r __asm__("$2") = n;
	register long r4 __asm__("$4") = a;
	register long r5 __asm__("$5") = b;
	register long r6 __asm__("$6") = c;
	register long r7 __asm__("$7") = d;

	__asm__ volatile("syscall" : "+r"(r), "+r"(r7) : "r"(r4), "r"(r5), "r"(r6) : SYS_CLOBBERS);
	return r7 ? -r : r;
}

_Static_assert(offsetof(struct stat64, st_ino) == 16 && offsetof(struct stat64, st_mode) == 24,
    "libc's stat64 is the kernel's");

static inline long sys_fstat(int fd, uint64_t *dev, uint64_t *ino, mode_t *mode)
{
	struct stat64 st;
	long r = sys4(SYS_fstat64, fd, (long)&st, 0, 0);

	*dev = st.st_dev;
	*ino = st.st_ino;
	*mode = st.st_mode;
	return r;
}

/* A character device: is it the null device? */
static inline int sys_isnull(int fd)
{
	struct stat64 st;

	return sys4(SYS_fstat64, fd, (long)&st, 0, 0) == 0 && st.st_rdev == 0x103;
}

/* A pair of words begins at an even argument, in memory order. */
static inline long sys_truncate(int fd, uint64_t size)
{
	const long lo = (long)(uint32_t)size, hi = (long)(uint32_t)(size >> 32);

#ifdef __MIPSEB__
	return sys4(SYS_ftruncate64, fd, 0, hi, lo);
#else
	return sys4(SYS_ftruncate64, fd, 0, lo, hi);
#endif
}

static inline void sys_seek(int fd, uint64_t pos)
{
	uint64_t now;

	sys6(SYS__llseek, fd, (long)(uint32_t)(pos >> 32), (long)(uint32_t)pos, (long)&now, 0, 0);
}

/* Seeks to the end of the file; returns its size. */
static inline uint64_t sys_end(int fd)
{
	uint64_t now = 0;

	sys6(SYS__llseek, fd, 0, 0, (long)&now, 2, 0);
	return now;
}

/* The thread pointer, which identifies a thread. Kernels for older machines emulate rdhwr fastest into $3. */
static inline uintptr_t sys_thread(void)
{
	register uintptr_t v __asm__("$3");

	__asm__(".set push\n\t.set mips32r2\n\trdhwr %0,$29\n\t.set pop" : "=r"(v));
	return v;
}

/* The empty statements keep the compiler from turning the loops into calls of memcpy and memset. */
static inline void mem_copy(void *d, const void *s, size_t n)
{
	uint8_t *to = d;
	const uint8_t *from = s;

	for (; n > 0; n--) {
		*to++ = *from++;
		__asm__ volatile("" : : : "memory");
	}
}

static inline void mem_zero(void *d, size_t n)
{
	uint8_t *to = d;

	for (; n > 0; n--) {
		*to++ = 0;
		__asm__ volatile("" : : : "memory");
	}
}

#endif
