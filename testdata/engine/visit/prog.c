/* A program that visit.t captures: parts of registers, flags, strings, vectors, x87. */
#ifndef ROUNDS
#define ROUNDS 60
#endif
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static uint8_t from[512], to[512];
static float x[256], y[256];
static double z[256];

static uint64_t
parts(uint64_t a)
{
	uint64_t r = a, t = 3;

	__asm__ volatile(
	    "movb $7, %%ah\n\tmovb %%ah, %%bl\n\txchgb %%al, %%bh\n\taddb %%ah, %%al\n\tmovw %%ax, %%dx\n\tmovzbl %%dh, %%esi\n\t"
	    "incl %%esi\n\tjbe 1f\n\tdecb %%dl\n1:\tadcq %%rsi, %%rax\n\tsetc %%cl\n\tseta %%ch\n\tshlq %%cl, %%rax\n\trolb $1, %%al\n\tadcb %%ah, %%bh\n\t"
	    "lahf\n\tsahf\n\tcmovbl %%esi, %%edx\n\tcmovnc %%rdx, %%rsi\n\tbtq $3, %%rax\n\tjc 2f\n\tstc\n2:\tcmc\n\tsbbw %%bx, %%bx\n\t"
	    "bsfl %%esi, %%edi\n\tbswap %%edi\n\tpushfq\n\tpopq %%r8\n\tpushw %%dx\n\tpopw %%r9w\n\tmovl $5, %%ecx\n3:\taddq %%r8, %%r9\n\tloop 3b\n\tjrcxz 4f\n\tnop\n4:\t"
	    "movq %%rax, %%r10\n\tmulq %%rsi\n\txorl %%edx, %%edx\n\tmovl $9, %%r11d\n\tdivq %%r11\n\tcwtl\n\tcltq\n\tcqto\n\tmovsbq %%al, %%r11\n\taddq %%r11, %0\n\txaddq %%r9, %1\n\t"
	    "enter $32, $0\n\tmovb %%al, -1(%%rbp)\n\tmovw %%bx, -8(%%rbp)\n\tmovl -8(%%rbp), %%eax\n\tmovq -8(%%rbp), %%rax\n\tleave\n\taddq %%rax, %0"
	    : "+m"(r), "+m"(t) :: "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc");
	return r + t;
}

static uint64_t
strings(unsigned n)
{
	uint8_t *s = from, *d = to, *e = to + n;
	uint64_t c = n, old = 7, r = 5;

	__asm__ volatile("rep movsb" : "+S"(s), "+D"(d), "+c"(c) :: "memory");
	c = n / 8;
	d = to + 3;
	__asm__ volatile("rep stosq" : "+D"(d), "+c"(c) : "a"(old) : "memory");
	c = n;
	s = from + n;
	__asm__ volatile("std\n\trep movsb\n\tcld" : "+S"(s), "+D"(e), "+c"(c) :: "memory");
	c = n;
	d = to;
	__asm__ volatile("repne scasb" : "+D"(d), "+c"(c) : "a"(9) : "memory", "cc");
	s = from;
	d = to;
	c = n;
	__asm__ volatile("repe cmpsb\n\tsetb %b3" : "+S"(s), "+D"(d), "+c"(c), "+q"(r) :: "memory", "cc");
	__asm__ volatile("lock cmpxchgq %2, %1\n\tbtsl %k3, %1\n\tlock xaddl %k2, %1" : "+a"(old), "+m"(*(uint64_t *)(void *)(to + 8)), "+r"(r) : "r"(c + 37) : "memory", "cc");
	return r + c + to[5];
}

/* What is loaded overlaps what is stored */
static uint64_t
overlaps(uint64_t a, unsigned n)
{
	uint8_t *s = to, *d = to + 1;
	uint64_t c = n, r = a;
	static uint64_t pair[4] __attribute__((aligned(16)));
	static uint8_t state[512] __attribute__((aligned(16)));

	__asm__ volatile("rep movsb" : "+S"(s), "+D"(d), "+c"(c) :: "memory");
	__asm__ volatile(
	    "leaq -512(%%rsp), %%rsp\n\tmovq %0, (%%rsp)\n\tmovq %0, -8(%%rsp)\n\tpushq -4(%%rsp)\n\tpushq 3(%%rsp)\n\tpopq -5(%%rsp)\n\tpopq 4(%%rsp)\n\t"
	    "leaq 1f(%%rip), %%rax\n\tmovq %%rax, -4(%%rsp)\n\tcallq *-4(%%rsp)\n1:\tleaq 8(%%rsp), %%rsp\n\tcall 2f\n\tjmp 3f\n2:\tret $8\n3:\tleaq -8(%%rsp), %%rsp\n\t"
	    "leaq 4f(%%rip), %%rax\n\tmovq %%rax, 16(%%rsp)\n\tjmpq *16(%%rsp)\n4:\tpushw 2(%%rsp)\n\tpopw 1(%%rsp)\n\txchgq %0, 8(%%rsp)\n\tmovb 9(%%rsp), %%ah\n\tmovbew 9(%%rsp), %%cx\n\t"
	    "leaq 512(%%rsp), %%rsp"
	    : "+r"(r) :: "rax", "rcx", "memory", "cc");
	__asm__ volatile("fldpi\n\tfstpt %0\n\tfldt %0\n\tfistpll %0\n\tfninit\n\tfnstcw %1\n\tfnstenv %1\n\tfldenv %1\n\tfxsave %1\n\tfxrstor %1" : "+m"(*(uint8_t (*)[16])(void *)pair), "+m"(state) :: "memory", "st", "st(1)", "st(2)", "st(3)", "st(4)", "st(5)", "st(6)", "st(7)");
	__asm__ volatile("lock cmpxchg16b %0" : "+m"(*(uint8_t (*)[16])(void *)(pair + 2)) : "a"(pair[2]), "d"(pair[3]), "b"(r), "c"(n) : "memory", "cc");
	__asm__ volatile("movdqu %0, %%xmm1\n\tpshufd $27, %%xmm1, %%xmm2\n\tmovq %1, %%rdi\n\tmaskmovdqu %%xmm1, %%xmm2" :: "m"(from[n]), "r"(to + n) : "rdi", "xmm1", "xmm2", "memory");
#ifdef __AVX2__
	__asm__ volatile("vpcmpeqd %%ymm1, %%ymm1, %%ymm1\n\tvpsrld $28, %%ymm1, %%ymm3\n\tvpgatherdd %%ymm1, (%0,%%ymm3,4), %%ymm2\n\tvmovdqu %1, %%ymm1\n\tvpmaskmovd %%ymm2, %%ymm1, %1\n\tvpmaskmovd %1, %%ymm2, %%ymm1"
	    :: "r"(from), "m"(*(uint8_t (*)[32])(void *)(to + n)) : "xmm1", "xmm2", "xmm3", "memory");
#endif
#ifdef __AVX512F__
	__asm__ volatile("kmovw %k2, %%k1\n\tvmovdqu32 %0, %%zmm1%{%%k1%}%{z%}\n\tvmovdqu32 %%zmm1, %1%{%%k1%}\n\tvpaddd %0, %%zmm1, %%zmm1\n\tvmovdqu64 %%zmm1, %1\n\t"
	    "vpmovzxbd %0, %%zmm2\n\tvpscatterdd %%zmm1, (%3,%%zmm2,4)%{%%k1%}"
	    :: "m"(*(uint8_t (*)[64])(void *)from), "m"(*(uint8_t (*)[64])(void *)(to + n)), "r"(n * 37 + 3), "r"(to) : "xmm1", "xmm2", "k1", "memory");
#endif
	return r + pair[2];
}

static void
vectors(void)
{
	__asm__ volatile(
	    "movss %0, %%xmm0\n\tmovsd %1, %%xmm1\n\tmovss %%xmm0, %%xmm1\n\tmovhps %1, %%xmm0\n\tmovlps %1, %%xmm2\n\tmovhlps %%xmm0, %%xmm2\n\tmovlhps %%xmm1, %%xmm0\n\t"
	    "addsd %%xmm0, %%xmm1\n\tcvtsi2sdl %0, %%xmm3\n\tcvtsd2ss %%xmm3, %%xmm2\n\tsqrtsd %%xmm1, %%xmm3\n\tunpckhps %%xmm3, %%xmm2\n\tpunpckhqdq %%xmm2, %%xmm1\n\tpinsrw $3, %0, %%xmm1\n\t"
	    "movmskps %%xmm1, %%eax\n\tmovd %%xmm1, %%edx\n\tmovq %%xmm2, %%rcx\n\tpxor %%xmm4, %%xmm4\n\tpcmpeqb %%xmm5, %%xmm5\n\tucomisd %%xmm1, %%xmm0\n\tmovhps %%xmm0, %1\n\tmovlps %%xmm1, %1\n\tmovups %%xmm2, %1"
	    : "+m"(*(float *)x), "+m"(*(double (*)[2])(void *)z) :: "rax", "rcx", "rdx", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "memory", "cc");
}

int
main(void)
{
	uint64_t s = 1;
	long double l = 1;

	for (unsigned i = 0; i < 256; i++) {
		from[i] = (uint8_t)(i * 7);
		x[i] = (float)i;
		z[i] = i / 3.0;
	}
	for (unsigned k = 0; k < ROUNDS; k++) {
		s += parts(s * k) + strings(k);
		vectors();
		s += overlaps(s, k) + to[k];
		for (unsigned i = 0; i < 256; i++) {
			y[i] = x[i] > 100 ? x[i] * 3 + y[255 - i] : y[i] - 1;
			z[i] += y[i] * (i & 1 ? 2 : z[255 - i]);
			if (from[i] > k)
				to[i] ^= from[i];
		}
		l += sinl(l) / (k + 1);
		s += (uint64_t)fabs(z[k]) % 1000 + strlen(memset(to, 3 + (int)k, k + 1)) ;
	}
	printf("%llx %.9Lg %g\n", (unsigned long long)s, l, z[7]);
	return 0;
}
