/*
 * For loader.t: the loader of a program (its PT_INTERP), which maps code and data of a file, and executes some of it: loader FILE
 * WHAT.  It has no library, and makes all calls itself.
 */
#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#define PAGE 4096L
#define MANY 40
#define BAD  16L                /* nothing is there */

/* One instruction makes all calls: the recorder knows it from the first one on. */
static long __attribute__((noinline))
call(long nr, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile("syscall" : "=a"(ret) : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9) :
	    "rcx", "r11", "memory");
	return ret;
}

#define CALL(nr, a, b, c, d) call(nr, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)

static void
put(const char *name, unsigned long v)
{
	char line[80];
	size_t n = 0, digits = 0;

	for (; name[n]; n++)
		line[n] = name[n];
	line[n++] = ' ';
	for (unsigned long k = v; digits == 0 || k; k /= 10)
		digits++;
	for (size_t i = digits; i; i--, v /= 10)
		line[n + i - 1] = (char)('0' + v % 10);
	n += digits;
	line[n++] = '\n';
	CALL(SYS_write, 1, line, n, 0);
}

static void __attribute__((noreturn))
leave(int status)
{
	for (;;)
		CALL(SYS_exit_group, status, 0, 0, 0);
}

/* Executes the `syscall; ret` at p: does getpid answer what it does here? */
static unsigned long
execute(const uint8_t *p)
{
	long pid = SYS_getpid;

	__asm__ volatile("call *%1" : "+a"(pid) : "r"(p) : "rcx", "r11", "memory");
	return pid == CALL(SYS_getpid, 0, 0, 0, 0);
}

static uint8_t *
map(long at, long n, long prot, int fd, long offset)
{
	long p = call(SYS_mmap, at, n, prot, MAP_PRIVATE | (at ? MAP_FIXED : 0), fd, offset);

	if (p < 0 && p > -PAGE) {
		put("mmap failed", (unsigned long)-p);
		leave(99);
	}
	return (uint8_t *)p;
}

/* what /proc/self/maps says of the mapping that begins at p: r-xp is 5, with a bit for each letter */
static unsigned long
shown(const uint8_t *p)
{
	static char text[65536];
	long fd = CALL(SYS_open, "/proc/self/maps", O_RDONLY, 0, 0), n = 0, got;

	while ((got = CALL(SYS_read, fd, text + n, (long)sizeof(text) - n, 0)) > 0)
		n += got;
	CALL(SYS_close, fd, 0, 0, 0);
	for (long i = 0; i < n; i++) {
		unsigned long v = 0;

		for (; i < n && text[i] != '-'; i++)
			v = v * 16 + (unsigned long)(text[i] <= '9' ? text[i] - '0' : text[i] - 'a' + 10);
		for (; i < n && text[i] != ' '; i++)
			;
		if (v == (unsigned long)p)
			return (text[i + 1] == 'r') + 2ul * (text[i + 2] == 'w') + 4ul * (text[i + 3] == 'x');
		for (; i < n && text[i] != '\n'; i++)
			;
	}
	return 99;
}

static void
on_fault(int sig, siginfo_t *si, void *u)
{
	(void)u;
	put("signal", (unsigned long)sig);
	put("code", (unsigned long)si->si_code);
	put("address in its page", (unsigned long)si->si_addr % PAGE);
	leave(4);
}

/* the child of the call nr executes p, and the parent after it */
static void
child(long nr, const uint8_t *p)
{
	long pid = CALL(nr, 0, 0, 0, 0);
	int st = 0;

	if (pid == 0) {
		execute(p);
		leave(7);
	}
	CALL(SYS_wait4, pid, &st, 0, 0);
	put("status", (unsigned long)st);
	put("parent", execute(p));
}

static void
work(int fd, char what, long offset, long n)
{
	uint8_t *p = map(0, n, PROT_READ | PROT_EXEC, fd, offset), *q, *many[MANY];
	struct { void (*handler)(int, siginfo_t *, void *); unsigned long flags; void *restorer; uint64_t mask; } act = {
	    on_fault, SA_SIGINFO | 0x04000000, NULL, 0};
	long in = 0, page;

	if (what == 'd' || what == 'c') {       /* data of the same file, which is changed at once; and the file after that */
		q = map(0, 2 * PAGE, PROT_READ | PROT_WRITE, fd, 0);
		q[1] = 'X';
		if (what == 'c')
			CALL(SYS_pwrite64, fd, "Y", 1, 2);
		put("data", q[1] + q[2] * 256ul);
		put("code", p[in]);
	}
	if (what == 'b')
		act.handler = NULL;
	/* the recorder has to tell which memory it has, and that is looked for before it is executed */
	while (in < n - 3 && (p[in] != 0x0f || p[in + 1] != 5 || p[in + 2] != 0xc3))
		in++;
	page = in / PAGE * PAGE;
	switch (what) {
	case 'f':
		child(SYS_fork, p + in);
		break;
	case 'v':
		child(SYS_vfork, p + in);
		break;
	case 'l':                       /* more than are looked at together */
		for (int i = 0; i < MANY; i++)
			many[i] = map(0, PAGE, PROT_READ | PROT_EXEC, fd, offset + page);
		for (int i = 0; i < MANY; i++)
			put("executed", execute(many[i] + (in - page)));
		break;
	case 'm':
		put("shown", shown(p));
		break;
	case 'p':                       /* no longer executable, before it ever was */
		CALL(SYS_mprotect, p, n, PROT_READ, 0);
		CALL(SYS_rt_sigaction, SIGSEGV, &act, 0, 8);
		break;
	case 'u':                       /* other code takes its place */
		map((long)(p + page), PAGE, PROT_READ | PROT_EXEC, fd, offset + page);
		CALL(SYS_munmap, p, page, 0, 0);
		break;
	case 's':                       /* a fault of its own, before that of the first instruction there */
		CALL(SYS_rt_sigaction, SIGSEGV, &act, 0, 8);
		__asm__ volatile("movb $1, (%0)" :: "r"(BAD) : "memory");
		break;
	case 'b':                       /* the signal is blocked */
		CALL(SYS_rt_sigprocmask, SIG_BLOCK, &(uint64_t){1ul << (SIGSEGV - 1)}, 0, 8);
		put("executed", execute(p + in));
		CALL(SYS_rt_sigprocmask, SIG_BLOCK, 0, &act.mask, 8);
		put("blocked", (unsigned long)act.mask);
		break;
	case 'w':                       /* it becomes writable */
		CALL(SYS_mprotect, p, n, PROT_READ | PROT_WRITE, 0);
		p[in + 2] = 0xc3;
		CALL(SYS_mprotect, p, n, PROT_READ | PROT_EXEC, 0);
		break;
	}
	put("executed", execute(p + in));
	CALL(SYS_arch_prctl, 0x1002, &act, 0, 0);       /* ARCH_SET_FS */
	q = map(0, PAGE, PROT_READ | PROT_EXEC, fd, offset + page);
	put("executed", execute(q + (in - page)));
	leave(3);
}

void __attribute__((used))
run(const long *sp)
{
	char *const *arg = (char *const *)(sp + 1);
	Elf64_Ehdr e;
	Elf64_Phdr h;
	int fd = (int)CALL(SYS_open, arg[1], arg[2][0] == 'c' ? O_RDWR : O_RDONLY, 0, 0);

	if (sp[0] < 3 || CALL(SYS_pread64, fd, &e, sizeof(e), 0) != (long)sizeof(e))
		leave(98);
	for (unsigned i = 0; i < e.e_phnum; i++) {
		CALL(SYS_pread64, fd, &h, sizeof(h), e.e_phoff + i * sizeof(h));
		if (h.p_type == PT_LOAD && h.p_flags & PF_X)
			work(fd, arg[2][0], (long)h.p_offset / PAGE * PAGE, (long)h.p_filesz);
	}
	leave(97);
}

__asm__(".globl _start\n_start: mov %rsp, %rdi\nand $-16, %rsp\ncall run\n");
