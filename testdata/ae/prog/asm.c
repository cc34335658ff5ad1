/*
 * Inline assembly: plain, with local and unique labels, asm goto, locked instructions and xchg, a whole function at
 * the top level, conditional jumps to other functions, as clang 19 has them, the compiler's atomics.
 * targets: x86-64
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

static unsigned long sum;
static long cell = 5, other = 9;
static int word = 3;
static long words[4] = {2, 3, 5, 7}, sums[4];
static unsigned char byte = 200;
static _Atomic long counter;
static atomic_flag flag = ATOMIC_FLAG_INIT;

static void mix(unsigned long v) { sum = sum * 31 + v; }

extern long whole(long, long *);

__asm__(
    "	.text\n"
    "	.globl	whole\n"
    "	.type	whole, @function\n"
    "whole:\n"
    "	mov	(%rsi), %rax\n"
    "	test	%rdi, %rdi\n"
    "	jz	2f\n"
    "1:	lea	1(%rax,%rax,2), %rax\n"
    "	dec	%rdi\n"
    "	jnz	1b\n"
    "2:	mov	%rax, (%rsi)\n"
    "	ret\n"
    "	.size	whole, .-whole\n");

extern long either(long, long *);

__asm__(
    "	.globl	either\n"
    "	.type	either, @function\n"
    "either:\n"
    "	test	%rdi, %rdi\n"
    "	jle	labs\n"
    "	mov	8(%rsi), %rax\n"
    "	sub	$4, %rdi\n"
    "	jg	whole\n"
    "	lea	8(%rsi), %rsi\n"
    "	je	whole\n"
    "	add	(%rsi), %rax\n"
    "	ret\n"
    "	.size	either, .-either\n");

NOINLINE static unsigned
bsr_loop(unsigned long x)
{
	unsigned n;

	__asm__("xor %0, %0\n1:\tshr $1, %1\n\tjz 2f\n\tinc %0\n\tjmp 1b\n2:" : "=&r"(n), "+r"(x) : : "cc");
	return n;
}

/* Repeated by the assembler, in both syntaxes */
NOINLINE static long
repeated(long *p, long n)
{
	__asm__(".rept 3\n\tlock; add %1, (%0)\n\tlea 8(%0), %0\n\t.endr\n\t"
	    ".intel_syntax prefix\n\t.rept 2; add [%0-16], %1; dec %1; .endr; .att_syntax prefix"
	    : "+r"(p), "+r"(n) : : "cc", "memory");
	return n + *p;
}

NOINLINE static long
sum_down(long n)
{
	long s = 0;

	__asm__(".Lagain%=:\n\tadd %1, %0\n\tsub $1, %1\n\tjg .Lagain%=" : "+r"(s), "+r"(n) : : "cc");
	return s;
}

/* Branches on rcx, which change no flags: forward and back, and taken or not by a comparison as well */
NOINLINE static long
counts(long n, long k)
{
	long s = 0, c = n, d = k;

	__asm__("jrcxz 2f\n1:\tadd %%rcx, %0\n\tloop 1b\n2:" : "+r"(s), "+c"(c) : : "cc");
	s += words[c & 3];
	c = n + 1;
	__asm__("1:\tadd %2, %0\n\tcmp $77, %0\n\tloopne 1b" : "+r"(s), "+c"(c) : "r"(k) : "cc");
	s += words[c & 3];
	c = n + 2;
	__asm__("1:\tdec %2\n\ttest $3, %2\n\tloope 1b\n\tadc $0, %0" : "+r"(s), "+c"(c), "+r"(d) : : "cc");
	s += words[c & 3] + words[d & 3];
	c = (n & 1) << 32;
	__asm__("jecxz 1f\n\tinc %0\n1:\tjrcxz 2f\n\tadd $16, %0\n2:" : "+r"(s), "+c"(c) : : "cc");
	return s;
}

/* rcx is not known before, and recorded at loope itself, whose flags are live */
NOINLINE static long
chosen(long n, const long *p)
{
	long s = 0;

	for (long i = 0; i < n; i++) {
		long x = 0, c = 0;

		__asm__ volatile("testq $1, %[i]\n\tjz 5f\n\tmovq (%[p]), %%rcx\n\tjmp 6f\n5:\tmovq 8(%[p]), %%rcx\n"
		    "6:\tcmpq %[i], %[three]\n\tloope 7f\n\tincq %[x]\n\tjmp 8f\n7:\taddq $100, %[x]\n"
		    "8:\taddq (%[p],%%rcx,8), %[x]"
		    : [x] "+r"(x), "+c"(c) : [i] "r"(i), [p] "r"(p), [three] "r"(3L) : "cc", "memory");
		s = s * 7 + x;
	}
	return s;
}

NOINLINE static int
is_negative(long x)
{
	__asm__ goto("test %0, %0\n\tjs %l[yes]" : : "r"(x) : "cc" : yes);
	return 0;
yes:
	return 1;
}

static inline long xchg(long *p, long v) { __asm__ volatile("xchg %0, %1" : "+r"(v), "+m"(*p) : : "memory"); return v; }
static inline long xadd(long *p, long v) { __asm__ volatile("lock xaddq %0, %1" : "+r"(v), "+m"(*p) : : "memory", "cc"); return v; }

static inline int
cmpxchg(long *p, long want, long v)
{
	char ok;

	__asm__ volatile("lock cmpxchgq %3, %1\n\tsete %0" : "=q"(ok), "+m"(*p), "+a"(want) : "r"(v) : "memory", "cc");
	return ok;
}

static void rmw(int *p, unsigned char *q) {
	__asm__ volatile("incl %0\n\tnegb %1\n\tlock orl $16, %0\n\tbtsl $7, %0\n\trolb $3, %1\n\tnotl %0\n\tmovl $3, %%eax\n\txaddl %%eax, %0"
	    : "+m"(*p), "+m"(*q) : : "eax", "cc"); }

NOINLINE static long
pushes(long x)
{
	long r;

	/* below the red zone of this leaf */
	__asm__ volatile("lea -128(%%rsp), %%rsp\n\tpush %1\n\tpushq %2\n\tpop %0\n\tpop %%rcx\n\tadd %%rcx, %0\n\tlea 128(%%rsp), %%rsp"
	    : "=&r"(r) : "r"(x), "m"(other) : "rcx", "cc", "memory");
	return r;
}

NOINLINE static long
flags_around(long x)
{
	long r;

	__asm__("add $1, %1\n\tpushfq\n\tpop %0\n\tand $0x41, %0" : "=&r"(r), "+r"(x) : : "cc", "memory");
	return r;
}

NOINLINE static void
atomics(long i)
{
	long want = i;

	counter += i;
	atomic_fetch_or(&counter, 8);
	atomic_fetch_xor_explicit(&counter, i, memory_order_relaxed);
	mix(atomic_exchange(&counter, counter + 3));
	mix(atomic_compare_exchange_strong(&counter, &want, 7));
	mix(want);
	mix(__sync_fetch_and_add(&word, 2));
	mix(__atomic_sub_fetch(&byte, 3, __ATOMIC_SEQ_CST));
	mix(__sync_fetch_and_nand(&word, i));           /* a loop around cmpxchg */
	mix(atomic_flag_test_and_set(&flag));
	if (i & 1)
		atomic_flag_clear(&flag);
	__sync_synchronize();
}

int
main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 30;

	for (int i = 0; i < n; i++) {
		mix(whole(i % 6, &cell));
		mix(either(i % 9 - 2, sums) + either(4, sums + i % 2));
		mix(bsr_loop(sum) + sum_down(i));
		mix(is_negative(i % 3 - 1));
		mix(counts(i % 5, i));
		mix(chosen(i, words));
		mix(xchg(&cell, i) + xadd(&other, i));
		mix(cmpxchg(&cell, i % 2 ? i : -1, i * 3));
		mix(cell);
		rmw(&word, &byte);
		mix(word + byte);
		mix(pushes(i) + repeated(sums, i));
		mix(flags_around(i % 4 - 2));
		atomics(i);
		__asm__ volatile("nop\n\tpause");
	}
	printf("%016lx\n", sum);
	return 0;
}
