/*
 * The recorder, which runs in the captured process.  It is copied there, so it may use nothing but its own
 * section and struct fast_area, and it leaves vector registers alone.
 *
 * A stub jumps to fast_entry with the address after the program's `syscall` in rcx, and where it wants to
 * continue in r11: the instruction overwrites these two.  The program's stack is not touched.
 */
#include <asm/unistd.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__clang__)
#define NO_VECTORS "no-sse,no-mmx,no-avx"
#else
#define NO_VECTORS "general-regs-only"
#endif
#define IN_PROCESS __attribute__((section("wscap_recorder"), used, noinline, target(NO_VECTORS), \
	no_sanitize("address", "undefined"), no_stack_protector, no_profile_instrument_function))
#define INLINE static inline __attribute__((always_inline, target(NO_VECTORS), \
	no_sanitize("address", "undefined"), no_stack_protector, no_profile_instrument_function))

#define FAST_INLINE INLINE
#include "gen/wscap/fast.h"

#define FAST_ENTRIES 64u        /* of pagemap, read at once */
#define FAST_LEAST  16384u      /* bytes of a file: what is read of a smaller one is not worth to be looked for in a store */
#define CAPABILITY_3 0x20080522u        /* version of capget's structures: those of others have other sizes, or are corrected */
#define FAST_LOOKED (16u << 20) /* bytes of memory that are looked at, at most */

int fast_begin(struct fast_area *a);
void fast_commit(struct fast_area *a);
void fast_answer(struct fast_area *a);

/*
 * fast_timed and fast_made are the addresses after the first and last `syscall` of the recorder that the kernel lets pass.
 * fast_asked is that after the one that stops the process: all registers are the program's then, except rcx,
 * r11 and rip.  At fast_noted, a call has been made and recorded.
 */
#define RAW     4               /* CLOCK_MONOTONIC_RAW */
#define CPUNODE 0x7b            /* the segment whose limit is what rdtscp tells of the processor */
#define AREA(field) "__start_wscap_recorder+" FAST_STRING(FAST_CODE) "+%c[" #field "](%%rip)"
#define FAST_STRING_(x) #x
#define FAST_STRING(x) FAST_STRING_(x)

static void __attribute__((used, naked, section("wscap_recorder"), no_profile_instrument_function))
fast_assembly(void)
{
	__asm__ volatile(
	    ".globl fast_entry, fast_started, fast_timed, fast_made, fast_asked, fast_noted, fast_goes_on, fast_late\n"
	    "fast_entry:\n"
	    "	mov %%r11, " AREA(back) "\n"
	    "	mov " AREA(head) ", %%r11\n"
	    "	mov %%r11, " AREA(begun) "\n"  /* from here on, the call is not made until they differ */
	    "fast_started:\n"
	    "	mov %%rsp, " AREA(rsp) "\n"
	    "	lea __start_wscap_recorder+" FAST_STRING(FAST_STACK) "(%%rip), %%rsp\n"
	    "	pushfq\n"
	    "	pop %%r11\n"
	    "	and $~0x100, %%r11\n"           /* when we single-step it */
	    "	cld\n"
	    "	mov %%r11, " AREA(flags) "\n"
	    "	mov %%rax, " AREA(r) "\n"
	    "	lea " AREA(r) ", %%r11\n"
	    "	mov %%rcx, 8(%%r11)\n"
	    "	mov %%rdx, 16(%%r11)\n"
	    "	mov %%rbx, 24(%%r11)\n"
	    "	mov %%rbp, 40(%%r11)\n"
	    "	mov %%rsi, 48(%%r11)\n"
	    "	mov %%rdi, 56(%%r11)\n"
	    "	mov %%r8, 64(%%r11)\n"
	    "	mov %%r9, 72(%%r11)\n"
	    "	mov %%r10, 80(%%r11)\n"
	    "	mov %%r12, 96(%%r11)\n"
	    "	mov %%r13, 104(%%r11)\n"
	    "	mov %%r14, 112(%%r11)\n"
	    "	mov %%r15, 120(%%r11)\n"
	    "	mov " AREA(flags) ", %%rax\n"
	    "	mov %%rax, 88(%%r11)\n"
	    "	lea __start_wscap_recorder+" FAST_STRING(FAST_CODE) "(%%rip), %%rdi\n"
	    "	call fast_begin\n"
	    "	mov %%eax, %%ecx\n"
	    "	lea " AREA(r) ", %%r11\n"
	    "	mov (%%r11), %%rax\n"
	    "	mov 16(%%r11), %%rdx\n"
	    "	mov 48(%%r11), %%rsi\n"
	    "	mov 56(%%r11), %%rdi\n"
	    "	mov 64(%%r11), %%r8\n"
	    "	mov 72(%%r11), %%r9\n"
	    "	mov 80(%%r11), %%r10\n"
	    "	test %%ecx, %%ecx\n"
	    "	jz 1f\n"
	    "	js 2f\n"                        /* the call is made already */
	    "	jmp 90f\n"
	    /* rdtsc would fault: the kernel tells the time, and a segment's limit the number of the processor */
	    "70:	mov %%r11, %c[kept](%%rdi)\n"
	    "	lea %c[time](%%rdi), %%rsi\n"
	    "	mov %[gettime], %%eax\n"
	    "	mov %[raw], %%edi\n"
	    "	syscall\n"
	    "fast_timed:\n"
	    "	lea __start_wscap_recorder+" FAST_STRING(FAST_CODE) "(%%rip), %%rdi\n"
	    "	mov 48+%c[r](%%rdi), %%rsi\n"
	    "	mov %c[kept](%%rdi), %%r11\n"
	    "	imulq $1000000000, %c[time](%%rdi), %%rax\n"
	    "	addq 8+%c[time](%%rdi), %%rax\n"
	    "	subq %c[since](%%rdi), %%rax\n"
	    "	mulq %c[scale](%%rdi)\n"
	    "	shrdq $32, %%rdx, %%rax\n"
	    "	addq %c[tsc0](%%rdi), %%rax\n"
	    "	test %%r11, %%r11\n"
	    "	jz 80f\n"
	    "	mov %[cpunode], %%ecx\n"
	    "	lsl %%ecx, %%ecx\n"
	    "	mov %%rcx, 8+%c[r](%%rdi)\n"
	    "	jmp 80f\n"
	    "fast_late:\n"
	    "	mov " AREA(nlate) ", %%r9\n"
	    "	lea " AREA(late) ", %%r8\n"
	    "85:	dec %%r9\n"
	    "	js fast_goes_on\n"
	    "	mov %%r9, %%r10\n"
	    "	shl $5, %%r10\n"
	    "	add %%r8, %%r10\n"
	    "	mov (%%r10), %%rdi\n"
	    "	mov 8(%%r10), %%rsi\n"
	    "	mov 16(%%r10), %%rdx\n"
	    "	mov %[mprotect], %%eax\n"
	    "	syscall\n"
	    "	test %%rax, %%rax\n"
	    "	jnz fast_goes_on\n"            /* it will fault where that is executed */
	    "	mov %%r9, " AREA(nlate) "\n"
	    "	jmp 85b\n"
	    "90:	mov " AREA(given) ", %%rdx\n"
	    "	syscall\n"
	    "fast_made:\n"
	    "	mov %%rax, " AREA(ret) "\n"
	    "	lea __start_wscap_recorder+" FAST_STRING(FAST_CODE) "(%%rip), %%rdi\n"
	    "	call fast_commit\n"
	    "	cmpb $0, " AREA(note) "\n"
	    "	jne 7f\n"
	    "fast_goes_on:\n"
	    "2:	lea " AREA(r) ", %%r11\n"
	    "	mov 8(%%r11), %%rcx\n"
	    "	mov 16(%%r11), %%rdx\n"
	    "	mov 48(%%r11), %%rsi\n"
	    "	mov 56(%%r11), %%rdi\n"
	    "	mov 64(%%r11), %%r8\n"
	    "	mov 72(%%r11), %%r9\n"
	    "	mov 80(%%r11), %%r10\n"
	    "	mov " AREA(ret) ", %%rax\n"
	    "	mov " AREA(flags) ", %%r11\n"
	    "	push %%r11\n"
	    "	popfq\n"
	    "	mov " AREA(rsp) ", %%rsp\n"
	    "	jmp *" AREA(back) "\n"
	    "1:	mov " AREA(flags) ", %%r11\n"
	    "	push %%r11\n"
	    "	popfq\n"
	    "	mov " AREA(rsp) ", %%rsp\n"
	    "	syscall\n"
	    "fast_asked:\n"
	    "	ud2\n"
	    "7:	mov %[getpid], %%eax\n"        /* it is not made, but stops the process */
	    "	syscall\n"
	    "fast_noted:\n"
	    "	ud2\n"
	    /* rdtsc and rdtscp: rax is where the stub continues; all else but rdx is the program's */
	    ".globl fast_tscp, fast_tsc, fast_tsc_started, fast_full\n"
	    "fast_tscp:\n"
	    "	mov %%r11, 88+" AREA(r) "\n"
	    "	mov $1, %%r11\n"
	    "	jmp 3f\n"
	    "fast_tsc:\n"
	    "	mov %%r11, 88+" AREA(r) "\n"
	    "	mov $0, %%r11\n"
	    "3:	mov %%rax, " AREA(back) "\n"
	    "	mov %%rcx, 8+" AREA(r) "\n"
	    "	mov %%rsi, 48+" AREA(r) "\n"
	    "	mov %%rdi, 56+" AREA(r) "\n"
	    "	mov %%rsp, " AREA(rsp) "\n"
	    "	lea __start_wscap_recorder+" FAST_STRING(FAST_STACK) "(%%rip), %%rsp\n"
	    "	pushfq\n"
	    "	pop %%rcx\n"
	    "	and $~0x100, %%rcx\n"
	    "	mov %%rcx, " AREA(flags) "\n"
	    "	lea __start_wscap_recorder+" FAST_STRING(FAST_CODE) "(%%rip), %%rdi\n"
	    "	mov %c[head](%%rdi), %%rcx\n"
	    "	mov %%rcx, %c[begun](%%rdi)\n"
	    "fast_tsc_started:\n"
	    "	movb $1, %c[tsc](%%rdi)\n"
	    "	cmp %[room], %%rcx\n"
	    "	ja 5f\n"
	    "	cmpq $0, %c[scale](%%rdi)\n"
	    "	jne 70b\n"
	    "	test %%r11, %%r11\n"
	    "	jz 4f\n"
	    "	rdtscp\n"
	    "	mov %%rcx, 8+%c[r](%%rdi)\n"
	    "	jmp 6f\n"
	    "4:	rdtsc\n"
	    "6:	shl $32, %%rdx\n"
	    "	or %%rdx, %%rax\n"
	    "80:	mov %%rax, %c[ret](%%rdi)\n"
	    "	mov %c[head](%%rdi), %%rdx\n"
	    "	lea %c[ring](%%rdi, %%rdx), %%rdx\n"
	    "	movl %[size], (%%rdx)\n"
	    "	movq $-1, %c[nr](%%rdx)\n"
	    "	mov %%rcx, %c[arg](%%rdx)\n"
	    "	mov %%r11, 8+%c[arg](%%rdx)\n"
	    "	mov %%rax, %c[value](%%rdx)\n"
	    "	addq %[size], %c[head](%%rdi)\n"
	    "	mov %%rax, %%rdx\n"
	    "	shr $32, %%rdx\n"
	    "	mov %%eax, %%eax\n"
	    "	push " AREA(flags) "\n"
	    "	popfq\n"
	    "	mov 8+" AREA(r) ", %%rcx\n"
	    "	mov 88+" AREA(r) ", %%r11\n"
	    "	mov 56+" AREA(r) ", %%rdi\n"
	    "	mov " AREA(rsp) ", %%rsp\n"
	    "	jmp *" AREA(back) "\n"
	    "5:	push " AREA(flags) "\n"
	    "	popfq\n"
	    "	mov 8+" AREA(r) ", %%rcx\n"
	    "	mov 88+" AREA(r) ", %%r11\n"
	    "	mov 56+" AREA(r) ", %%rdi\n"
	    "	mov " AREA(rsp) ", %%rsp\n"
	    "fast_full:\n"
	    "	ud2\n"
	    /* cpuid: rbx is where the stub continues; all else but rdx is the program's */
	    ".globl fast_cpuid, fast_cpuid_started, fast_cpuid_end\n"
	    "fast_cpuid:\n"
	    "	mov %%rbx, " AREA(back) "\n"
	    "	lea " AREA(r) ", %%rbx\n"
	    "	mov %%rax, (%%rbx)\n"
	    "	mov %%rcx, 8(%%rbx)\n"
	    "	mov %%rsp, 32(%%rbx)\n"
	    "	mov %%rbp, 40(%%rbx)\n"
	    "	mov %%rsi, 48(%%rbx)\n"
	    "	mov %%rdi, 56(%%rbx)\n"
	    "	mov %%r8, 64(%%rbx)\n"
	    "	mov %%r9, 72(%%rbx)\n"
	    "	mov %%r10, 80(%%rbx)\n"
	    "	mov %%r11, 88(%%rbx)\n"
	    "	mov %%r12, 96(%%rbx)\n"
	    "	mov %%r13, 104(%%rbx)\n"
	    "	mov %%r14, 112(%%rbx)\n"
	    "	mov %%r15, 120(%%rbx)\n"
	    "	lea __start_wscap_recorder+" FAST_STRING(FAST_STACK) "(%%rip), %%rsp\n"
	    "	pushfq\n"
	    "	pop %%rdx\n"
	    "	mov %%rdx, " AREA(flags) "\n"
	    "fast_cpuid_started:\n"
	    "	andq $~0x100, " AREA(flags) "\n"
	    "	cld\n"
	    "	lea __start_wscap_recorder+" FAST_STRING(FAST_CODE) "(%%rip), %%rdi\n"
	    "	movb %[iscpuid], %c[tsc](%%rdi)\n"
	    "	call fast_answer\n"
	    "	lea __start_wscap_recorder+" FAST_STRING(FAST_CODE) "(%%rip), %%rdi\n"
	    "	movb $0, %c[tsc](%%rdi)\n"
	    "	mov 48+%c[r](%%rdi), %%rsi\n"
	    "	mov 64+%c[r](%%rdi), %%r8\n"
	    "	mov 72+%c[r](%%rdi), %%r9\n"
	    "	mov 80+%c[r](%%rdi), %%r10\n"
	    "	mov 88+%c[r](%%rdi), %%r11\n"
	    "	mov %c[answer](%%rdi), %%eax\n"
	    "	mov 4+%c[answer](%%rdi), %%ebx\n"
	    "	mov 8+%c[answer](%%rdi), %%ecx\n"
	    "	mov 12+%c[answer](%%rdi), %%edx\n"
	    "	push " AREA(flags) "\n"
	    "	popfq\n"
	    "	mov 56+" AREA(r) ", %%rdi\n"
	    "	mov " AREA(rsp) ", %%rsp\n"
	    "	jmp *" AREA(back) "\n"
	    "fast_cpuid_end:\n"
	    "	ud2\n"
	    /* r12 calls of mprotect, of the list at rbx */
	    ".globl fast_protects\n"
	    "fast_protects:\n"
	    "	mov (%%rbx), %%rdi\n"
	    "	mov 8(%%rbx), %%rsi\n"
	    "	mov 16(%%rbx), %%rdx\n"
	    "	mov %[mprotect], %%eax\n"
	    "	syscall\n"
	    "	mov %%rax, 24(%%rbx)\n"
	    "	add $32, %%rbx\n"
	    "	dec %%r12\n"
	    "	jnz fast_protects\n"
	    "	int3\n"
	    :: [back] "i"(offsetof(struct fast_area, back)), [r] "i"(offsetof(struct fast_area, r)),
	    [rsp] "i"(offsetof(struct fast_area, r) + 32), [flags] "i"(offsetof(struct fast_area, flags)),
	    [ret] "i"(offsetof(struct fast_area, ret)), [head] "i"(offsetof(struct fast_area, head)),
	    [note] "i"(offsetof(struct fast_area, note)), [getpid] "i"(__NR_getpid),
	    [begun] "i"(offsetof(struct fast_area, begun)), [tsc] "i"(offsetof(struct fast_area, tsc)),
	    [room] "i"(FAST_ROOM - sizeof(struct fast_rec)), [ring] "i"(FAST_RING - FAST_CODE),
	    [size] "i"(sizeof(struct fast_rec)), [nr] "i"(offsetof(struct fast_rec, nr)),
	    [arg] "i"(offsetof(struct fast_rec, arg)), [value] "i"(offsetof(struct fast_rec, ret)),
	    [scale] "i"(offsetof(struct fast_area, tsc_scale)), [since] "i"(offsetof(struct fast_area, tsc_since)),
	    [tsc0] "i"(offsetof(struct fast_area, tsc_first)), [time] "i"(offsetof(struct fast_area, time)),
	    [kept] "i"(offsetof(struct fast_area, kept)), [gettime] "i"(__NR_clock_gettime), [raw] "i"(RAW),
	    [cpunode] "i"(CPUNODE), [mprotect] "i"(__NR_mprotect), [nlate] "i"(offsetof(struct fast_area, nlate)),
	    [late] "i"(offsetof(struct fast_area, late)), [given] "i"(offsetof(struct fast_area, given)),
	    [iscpuid] "i"(FAST_CPUID), [answer] "i"(offsetof(struct fast_area, answer)));
}

INLINE struct fast_rec *
fast_at(struct fast_area *a)
{
	return (struct fast_rec *)((uint8_t *)a - FAST_CODE + FAST_RING + a->head);
}

/* A step of ws_hash. */
INLINE uint64_t
fast_mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
	return h ^ h >> 29;
}

/* ws_hash of the registers at the call. */
INLINE uint32_t
fast_hash(struct fast_area *a)
{
	uint64_t h = 0, fs = a->fsbase, gs = a->gsbase;

	if (a->fsgsbase)                /* rdfsbase, rdgsbase: an assembler may not know them */
		__asm__ volatile(".byte 0xf3, 0x48, 0x0f, 0xae, 0xc0; mov %%rax, %0\n"
		    ".byte 0xf3, 0x48, 0x0f, 0xae, 0xc8; mov %%rax, %1" : "=&r"(fs), "=&r"(gs) :: "rax");
	*(volatile uint64_t *)&a->fsbase = fs;  /* the call may set it */
	for (int i = 0; i < 16; i++)
		h = fast_mix(h, a->r[i]);
	h = fast_mix(h, a->r[1]);
	h = fast_mix(h, a->flags & 0xcd5);
	h = fast_mix(h, fs);
	return (uint32_t)((h ^ gs) * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

/* A call for the recorder itself. */
INLINE uint64_t
fast_call(struct fast_area *a, uint64_t nr, uint64_t p, uint64_t q, uint64_t r, uint64_t s)
{
	uint8_t was = *(volatile uint8_t *)&a->selector;
	register uint64_t fourth __asm__("r10") = s;
	uint64_t ret;

	*(volatile uint8_t *)&a->looking = 1;
	*(volatile uint8_t *)&a->selector = 0;
	__asm__ volatile("syscall" : "=a"(ret) : "a"(nr), "D"(p), "S"(q), "d"(r), "r"(fourth) : "rcx", "r11", "memory");
	*(volatile uint8_t *)&a->selector = was;
	*(volatile uint8_t *)&a->looking = 0;
	return ret;
}

/* Is a struct stat that of a regular file?  Its mode is fourth. */
INLINE int
fast_regular(const volatile uint64_t *st)
{
	return st[3] % 0x10000 / 0x1000 == 8;   /* S_IFREG */
}

/* Did nobody read or write memory in [lo, hi)?  By /proc/self/pagemap: the process has no page there. */
INLINE int
fast_untouched(struct fast_area *a, uint64_t lo, uint64_t hi)
{
	volatile uint64_t name[3], e[FAST_ENTRIES];     /* the name is not a constant in other memory */
	int none = 1;
	int64_t fd;

	if (hi - lo > FAST_LOOKED || a->threads)        /* another may be given a descriptor meanwhile */
		return 0;
	name[0] = 0x65732f636f72702f;
	name[1] = 0x6d656761702f666c;
	name[2] = 0x7061;
	fd = (int64_t)fast_call(a, __NR_open, (uint64_t)name, O_RDONLY | O_CLOEXEC, 0, 0);
	if (fd < 0)
		return 0;
	for (uint64_t at = lo / 4096; none && at < hi / 4096; at += FAST_ENTRIES) {
		uint64_t n = hi / 4096 - at < FAST_ENTRIES ? hi / 4096 - at : FAST_ENTRIES;

		none = fast_call(a, __NR_pread64, (uint64_t)fd, (uint64_t)e, n * 8, at * 8) == n * 8;
		for (uint64_t i = 0; none && i < n; i++)
			none = !(e[i] >> 62);           /* in memory, or swapped out */
	}
	fast_call(a, __NR_close, (uint64_t)fd, 0, 0, 0);
	return none;
}

/* May a call that changes mappings be made? */
INLINE int
fast_may_now(struct fast_area *a, uint64_t nr)
{
	int protects = nr == __NR_mprotect, looks;
	uint64_t lo, hi;

	if (!fast_may_map(nr, a->arg, &lo, &hi) || !a->nguard)
		return 0;
	/* what is in the buffer is read before it can be written to, and what was touched before it is replaced */
	if (protects && a->arg[2] & PROT_WRITE && a->mapped & FAST_IN_MEMORY)
		return 0;
	for (uint64_t i = 0; i < a->nlate; i++)
		if (lo < a->late[i].lo + a->late[i].n && hi > a->late[i].lo)
			return 0;
	looks = !protects && lo < hi && a->mapped;
	for (uint64_t i = 0; i < a->nguard; i++)
		if (lo < a->guard[i].hi && hi > a->guard[i].lo) {
			if (!(a->guard[i].lo & FAST_KEEP))
				return 0;
			looks |= !protects;
		}
	return !looks || fast_untouched(a, lo, hi);
}

/* Is p NULL, or in memory that is not hidden? */
INLINE int
fast_is_shown(const struct fast_area *a, uint64_t p)
{
	return !p || (p - a->shown < a->nshown && FAST_KEPT_MOST <= a->nshown - (p - a->shown));
}

/* May the call be made, and is there room for what it returns? */
INLINE int
fast_may(struct fast_area *a, const struct fast_call *k, int granted)
{
	uint64_t fd = a->arg[0], n = 0;
	unsigned files = k->when & (FAST_WRITES | FAST_READS);

	if (!k->when || (files && (fd >= FAST_FILES || !(a->file[fd] & files))))
		return 0;
	if (k->when & FAST_WAITS && a->threads && !(files && a->file[fd] & FAST_STEADY))
		return 0;
	if (k->when & FAST_SOME && !fast_may_some(a->r[0], a->arg))
		return 0;
	if (a->r[0] == __NR_capget && *(volatile uint32_t *)a->arg[0] != CAPABILITY_3)
		return 0;
	if (k->when & FAST_GIVEN) {
		if (a->arg[3] != 8 || (a->r[0] == __NR_rt_sigaction && a->arg[0] == SIGSYS && a->arg[1]) ||
		    !fast_is_shown(a, a->arg[1]) || !fast_is_shown(a, a->arg[2]))
			return 0;
		n += sizeof(struct fast_piece) + FAST_KEPT_MOST;
	}
	if (k->when & FAST_MAPS && !granted && !fast_may_now(a, a->r[0]))
		return 0;
	if ((a->mapped || a->held) && ((a->r[0] == __NR_open && a->arg[1] & O_TRUNC) ||
	    (a->r[0] == __NR_openat && a->arg[2] & O_TRUNC)))
		return 0;
	n += k->when & (FAST_MAPS | FAST_READS) ? 3 * sizeof(uint64_t) + 2 * sizeof(struct fast_piece) + FAST_NAME : 0;
	for (int i = 0; i < 2; i++) {
		uint64_t count = 0;

		if (k->w[i].how == FAST_FIX)
			count = 1;
		else if (k->w[i].how == FAST_RET)       /* the buffer's size follows it */
			count = a->arg[k->w[i].arg + 1u];
		else if (k->w[i].how == FAST_ARG)
			count = a->arg[k->w[i].b];
		if (count > FAST_MOST)
			return 0;
		n += count * k->w[i].n + sizeof(struct fast_piece) + 8;
	}
	return n + sizeof(struct fast_rec) <= FAST_ROOM - a->head;
}

/* Clocks that the vdso answers. */
INLINE int
fast_clock(uint64_t id)
{
	return id < 12 && 0x8f3u >> id & 1;
}

/* Adds n bytes after the record, which are those of addr; returns the end. */
INLINE uint8_t *
fast_add(uint8_t *end, uint64_t addr, uint64_t from, uint64_t n)
{
	struct fast_piece *p = (struct fast_piece *)end;
	uint8_t *to = (uint8_t *)(p + 1);

	p->addr = addr;
	p->n = n;
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) :: "memory");
	return end + sizeof(*p) + (p->n + 7) / 8 * 8;
}

/* Is a struct stat that of a regular file that nobody has written to lately?  Its times are 12th and 14th. */
INLINE int
fast_is_old(const struct fast_area *a, const volatile uint64_t *st)
{
	return fast_regular(st) && st[11] < a->late_before && st[13] < a->late_before;
}

/* May code be mapped without the right to execute it, for now?  Its file must be on a usual file system, which gives that right. */
INLINE int
fast_may_withhold(struct fast_area *a, uint64_t fd)
{
	volatile uint64_t fs[15];       /* struct statfs: kind first, flags 11th */

	if (a->arg[2] != (PROT_READ | PROT_EXEC) || a->threads || a->nlate == FAST_PROTECTS ||
	    fast_call(a, __NR_fstatfs, fd, (uint64_t)fs, 0, 0) || fs[10] & 8)   /* ST_NOEXEC */
		return 0;
	return fs[0] == 0xef53 || fs[0] == 0x58465342 || fs[0] == 0x9123683e || fs[0] == 0x794c7630;    /* ext4, xfs, btrfs, overlay */
}

/*
 * Adds device, inode and name of the file of a descriptor: where that ends, or NULL.  least: 0, or it must be a regular
 * file of at least so many bytes.  *old: its times may be relied on.
 */
INLINE uint8_t *
fast_file(struct fast_area *a, uint8_t *end, uint64_t fd, uint64_t least, int *old)
{
	struct fast_piece *p = (struct fast_piece *)end;
	volatile uint64_t *st = (uint64_t *)(p + 1);    /* struct stat: its size is seventh */
	volatile uint64_t link[5];      /* "/proc/self/fd/" and the number; not as a constant in other memory */
	volatile uint8_t *digit = (volatile uint8_t *)link + 14;
	uint64_t n;

	if (fd > 9999999 || fast_call(a, __NR_fstat, fd, (uint64_t)st, 0, 0) || (least && !fast_regular(st)) || st[6] < least)
		return NULL;
	*old = fast_is_old(a, st);
	link[0] = 0x65732f636f72702f;
	link[1] = 0x2f64662f666c;
	for (n = 1; n * 10 <= fd; n *= 10)
		;
	for (; n; n /= 10)
		*digit++ = (uint8_t)('0' + fd / n % 10);
	*digit = 0;
	n = fast_call(a, __NR_readlink, (uint64_t)link, (uint64_t)(st + 2), FAST_NAME, 0);
	if (n - 1 >= FAST_NAME - 1)     /* an error, nothing, or more than that */
		return NULL;
	p->addr = FAST_FILE;
	p->n = 2 * sizeof(*st) + n;
	return end + sizeof(*p) + (p->n + 7) / 8 * 8;
}

/* Tells where in a file the call reads, and, once, which file that is; returns the end. */
INLINE uint8_t *
fast_tell(struct fast_area *a, uint8_t *end)
{
	uint64_t fd = a->arg[0], at = a->arg[3];
	struct fast_piece *p;

	if (!a->stored || a->arg[2] < FAST_READ || a->file[fd] & FAST_OTHER)
		return end;
	if (!(a->file[fd] & FAST_TOLD)) {
		int old;
		uint8_t *told = fast_file(a, end, fd, FAST_LEAST, &old);

		a->file[fd] |= told ? FAST_TOLD : FAST_OTHER;
		if (!told)
			return end;
		end = told;
	}
	if (a->r[0] == __NR_read)
		at = fast_call(a, __NR_lseek, fd, 0, SEEK_CUR, 0);
	p = (struct fast_piece *)end;
	p->addr = FAST_AT;
	p->n = sizeof(at);
	*(uint64_t *)(p + 1) = at;
	return end + sizeof(*p) + sizeof(at);
}

/* A descriptor that nothing is known of may be read from if its file is not of /proc. */
INLINE void
fast_look(struct fast_area *a, uint64_t fd)
{
	uint64_t st[18];                /* struct statfs: the kind of file system is first; struct stat */

	if (fd >= FAST_FILES || a->file[fd])
		return;
	if (fast_call(a, __NR_fstatfs, fd, (uint64_t)st, 0, 0) || *(volatile uint64_t *)st == 0x9fa0)
		return;
	a->file[fd] = FAST_READS;
	if (a->threads && !fast_call(a, __NR_fstat, fd, (uint64_t)st, 0, 0) && fast_regular(st))
		a->file[fd] |= FAST_STEADY;
}

/* Adds the file that a call maps: where that ends, or NULL. */
INLINE uint8_t *
fast_map(struct fast_area *a, uint8_t *end)
{
	uint64_t fd = a->arg[4] & 0xffffffff;
	uint8_t *added;
	int old;

	if (a->arg[3] & MAP_ANONYMOUS)
		return end;
	added = fast_file(a, end, fd, 0, &old);
	if (added && old && fast_may_withhold(a, fd)) {
		a->withheld = 1;
		a->given &= ~(uint64_t)PROT_EXEC;
	}
	return added;
}

/* 0: we shall be asked; 1: the call is made, and fast_commit is called; -1: all that has been done. */
int IN_PROCESS
fast_begin(struct fast_area *a)
{
	uint64_t nr = a->r[0];
	const struct fast_call *k = &a->call[nr < FAST_CALLS ? nr : 0];
	struct fast_rec *r = fast_at(a);
	uint8_t *end = (uint8_t *)(r + 1);
	int granted = *(volatile uint8_t *)&a->grant;

	/* not as one store, for which gcc has a constant in other memory */
	*(volatile uint8_t *)&a->grant = 0;
	*(volatile uint8_t *)&a->made = 0;
	*(volatile uint8_t *)&a->tsc = 0;
	a->arg[0] = a->r[7];
	a->arg[1] = a->r[6];
	a->arg[2] = a->r[2];
	a->arg[3] = a->r[10];
	a->arg[4] = a->r[8];
	a->arg[5] = a->r[9];
	if (a->slow || nr >= FAST_CALLS)
		return 0;
	if (k->when & FAST_READS)
		fast_look(a, a->arg[0]);
	if (!fast_may(a, k, granted))
		return 0;
	if (k->when & FAST_CLOSES && a->arg[0] < FAST_FILES)
		a->file[a->arg[0]] = 0;
	if (k->when & FAST_DUPS && a->arg[1] < FAST_FILES)
		a->file[a->arg[1]] = 0;
	a->given = a->arg[2];
	*(volatile uint8_t *)&a->withheld = 0;
	if (nr == __NR_mmap && !(end = fast_map(a, end)))
		return 0;
	if (nr == __NR_read || nr == __NR_pread64)
		end = fast_tell(a, end);
	r->nr = nr;
	r->pc = a->r[1] - 2;
	r->arg[0] = a->arg[0];
	r->arg[1] = a->arg[1];
	r->arg[2] = a->arg[2];
	r->arg[3] = a->arg[3];
	r->arg[4] = a->arg[4];
	r->arg[5] = a->arg[5];
	r->hash = fast_hash(a);
	if (k->when & FAST_GIVEN && a->arg[1])          /* the kernel may write the former one there */
		end = fast_add(end, FAST_KEPT, a->arg[1], nr == __NR_rt_sigaction ? FAST_KEPT_MOST : 8);
	a->before = (uint64_t)(end - (uint8_t *)(r + 1));
	if (k->when & FAST_CLOCK && a->clock && fast_clock(a->arg[0]) && a->arg[1]) {
		int (*clock)(uint64_t, uint64_t) = (int (*)(uint64_t, uint64_t))a->clock;

		a->ret = (uint64_t)(int64_t)clock(a->arg[0], a->arg[1]);
		fast_commit(a);
		return -1;
	}
	if (k->when & FAST_DENIED) {
		a->ret = (uint64_t)-38;         /* ENOSYS */
		fast_commit(a);
		return -1;
	}
	return 1;
}

/* Code was mapped, of a file that nobody writes to: it gets the right to be executed later. */
INLINE void
fast_withhold(struct fast_area *a, struct fast_piece *is)
{
	const uint64_t *file = (uint64_t *)(is + 1);    /* device and inode */
	struct fast_protect *p = &a->late[a->nlate];

	p->lo = a->ret;
	p->n = a->arg[1];
	p->prot = a->arg[2];
	is->addr = FAST_OLD;
	a->steady[0] = file[0];
	a->steady[1] = file[1];
	*(volatile uint64_t *)&a->nlate += 1;
	*(volatile uint8_t *)&a->withheld = 0;
}

/*
 * A mapping was made: code is searched before it is executed, and what may be written to is read before that, unless it
 * can be read in the file.  file: what is known of it, or NULL: it is not of a file.
 */
INLINE void
fast_mapped(struct fast_area *a, struct fast_piece *file)
{
	const uint64_t *is = (uint64_t *)(file + 1);    /* device and inode */
	uint8_t *p = a->file;
	uint64_t n = FAST_FILES;
	int steady;

	if (a->withheld)
		fast_withhold(a, file);
	else if (a->arg[2] & PROT_EXEC)
		*(volatile uint8_t *)&a->note |= FAST_AFTER;
	if (!file)
		return;
	steady = a->steady[1] && is[0] == a->steady[0] && is[1] == a->steady[1];
	if (a->arg[2] & PROT_WRITE && steady)
		file->addr = FAST_OLD;
	else if (a->arg[2] & PROT_WRITE)
		*(volatile uint8_t *)&a->note |= FAST_AFTER;
	/* what is written to the file from now on is to be seen */
	__asm__ volatile("rep stosb" : "+D"(p), "+c"(n) : "a"(0) : "memory");
	*(volatile uint8_t *)&a->mapped |= steady ? FAST_IN_FILE : FAST_IN_MEMORY;
}

/* The call has returned a->ret: completes its record.  The last store makes it count. */
void IN_PROCESS
fast_commit(struct fast_area *a)
{
	const struct fast_call *k = &a->call[a->r[0]];
	struct fast_rec *r = fast_at(a);
	uint8_t *end = (uint8_t *)(r + 1) + a->before;
	int64_t ret = (int64_t)a->ret;

	if (a->r[0] == __NR_mmap && ret >= 0)
		fast_mapped(a, a->arg[3] & MAP_ANONYMOUS ? NULL : (struct fast_piece *)(r + 1));
	if (k->when & FAST_SETS_FS && !ret && !a->fsgsbase)
		a->fsbase = a->arg[1];
	if (k->when & FAST_SETS_FS && a->late_before) { /* glibc has mapped all libraries before that, and executes them after it */
		a->late_before = 0;
		*(volatile uint8_t *)&a->note |= a->nlate ? FAST_AFTER : 0;
	}
	a->made = 1;
	r->ret = a->ret;
	for (int i = 0; i < 2 && ret >= 0; i++) {
		uint64_t at, n = 1;

		if (!k->w[i].how)
			continue;
		at = a->arg[k->w[i].arg];
		if (k->w[i].how == FAST_ARG)
			n = a->arg[k->w[i].b];
		if (k->w[i].how == FAST_RET) {
			n = a->arg[k->w[i].arg + 1u];   /* getxattr says what it would need */
			n = (uint64_t)ret < n ? (uint64_t)ret : n;
		}
		n *= k->w[i].n;
		if (at && n)
			end = fast_add(end, at, at, n);
	}
	r->size = (uint32_t)(end - (uint8_t *)r);
	__asm__ volatile("" ::: "memory");
	*(volatile uint64_t *)&a->head += r->size;
}

/* The answer's place in the table, as in ws_cpuid_find; ncpuid: there is none. */
INLINE uint32_t
fast_leaf(const struct fast_area *a, uint32_t leaf, uint32_t sub)
{
	uint32_t i, n = a->ncpuid;

	for (i = 0; i < n; i++)
		if (a->cpuid[i].leaf == leaf && (a->cpuid[i].sub == sub ||
		    (a->cpuid[i].sub == 0 && (i + 1 == n || a->cpuid[i + 1].leaf != leaf))))
			break;
	return i;
}

/* What cpuid answers for a->r[0] and a->r[1]. */
void IN_PROCESS
fast_answer(struct fast_area *a)
{
	uint32_t leaf = (uint32_t)a->r[0], sub = (uint32_t)a->r[1], i = fast_leaf(a, leaf, sub);

	if (a->last != FAST_NOLEAF && fast_leaf(a, leaf, 0) == a->ncpuid)
		i = fast_leaf(a, a->last, sub);
	for (int k = 0; k < 4; k++)
		*(volatile uint32_t *)&a->answer[k] = i < a->ncpuid ? a->cpuid[i].answer[k] : 0;
}
