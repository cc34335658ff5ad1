/* Control flow of every sort, parts of registers, strings, flags: little of each. */
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OWN __attribute__((noinline, noclone))

static volatile int sink;
static jmp_buf back;

OWN static int
loops(int n)
{
	int s = 0, i = 0;

	for (int k = 0; k < n; k++) {
		if (k % 3 == 0)
			continue;
		for (int m = k; m; m >>= 1) {
			if (m == 5)
				break;
			s += m & 1;
		}
		if (s > 40)
			return s;
	}
	do
		s ^= i;
	while (++i < n);
	return s;
}

OWN static int
choose(int a, int b)
{
	switch (a) {
	case 0: return b;
	case 1: b += 3; break;
	case 2: b *= 5; /* fallthrough */
	case 3: b ^= 77; break;
	case 4: return 9 * b;
	case 5: b -= a; break;
	case 9: if (b > 100) return 1; b--; break;
	default: b = ~b;
	}
	return b + 1;
}

OWN static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
OWN static int odd(unsigned n);
OWN static int even(unsigned n) { return n == 0 ? 1 : odd(n - 1); }
OWN static int odd(unsigned n) { return n == 0 ? 0 : even(n - 1); }
OWN static int twice(int v) { return 2 * v; }
OWN static int less(int v) { return v - (v > 7); }
OWN static int apply(int (*f)(int), int v) { return f(v); }
static int order(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

OWN static int
deep(int n)
{
	volatile int local = n;

	if (n == 0)
		longjmp(back, 3);
	return deep(n - 1) + local;
}

OWN static int
jumps(void)
{
	int v = setjmp(back);

	if (v == 0)
		return deep(4);
	return v > 2 ? v + 1 : 0;
}

OWN static uint64_t
parts(uint64_t v)
{
	uint64_t a = v, b = 0, c = v;

	__asm__("movb $7, %b0\n\tmovb %b2, %h0\n\tmovw %w0, %w1\n\taddb %h0, %b1\n\txorl %k2, %k2\n\tadcw "
	    "$1, %w2\n\tmovsbl %h0, %k2\n\tincb %b0\n\tsetc %h1"
	    : "+Q"(a), "+Q"(b), "+Q"(c) : : "cc");
	__asm__("cmpq %1, %0\n\tcmovbq %1, %0\n\tstc\n\tdecl %k0\n\trclq $1, %0\n\tlahf\n\tmovzbl %%ah, "
	    "%k1\n\tsahf\n\tjp 1f\n\tnotq %0\n1:\tbsfq %1, %0\n\txchgq %0, %1"
	    : "+r"(b), "+r"(c) : : "rax", "cc");
	__asm__("movd %1, %%xmm0\n\tmovss %%xmm0, %%xmm1\n\tmovq %%xmm1, %0\n\tpunpcklqdq %%xmm0, "
	    "%%xmm1\n\tpxor %%xmm0, %%xmm0\n\tmovhlps %%xmm1, %%xmm0\n\tmovq %%xmm0, %1"
	    : "+r"(a), "+r"(c) : : "xmm0", "xmm1");
	return a ^ b ^ c;
}

OWN static int
strings(void)
{
	char a[200], b[200], *p = b, *q = a;
	size_t n = 100;
	unsigned char below;

	a[3] = 'x';
	__asm__ volatile("rep stosb" : "+D"(q), "+c"(n) : "a"('z') : "memory");
	a[50] = a[51] = 'y';
	q = a;
	n = 12;
	__asm__ volatile("rep movsq" : "+S"(q), "+D"(p), "+c"(n) : : "memory");
	n = 0;
	__asm__ volatile("rep movsb" : "+S"(q), "+D"(p), "+c"(n) : : "memory");
	q = a;
	p = b;
	b[70] = 1;
	n = 90;
	__asm__ volatile("repe cmpsb\n\tsetb %3" : "+S"(q), "+D"(p), "+c"(n), "=q"(below) : : "memory", "cc");
	p = b;
	n = 100;
	__asm__ volatile("repne scasb" : "+D"(p), "+c"(n) : "a"('y') : "memory", "cc");
	q = a + 50;
	__asm__ volatile("lodsb\n\tmovsw" : "+S"(q), "+D"(p) : : "rax", "memory");
	memcpy(b + 3, a, 40);
	return (int)(p - b) + below + (int)n;
}

int
main(int argc, char **argv)
{
	int v[] = { 5, 3, 9, 1, 7, 2 }, s = 0;
	int (*f[])(int) = { twice, less, abs };
	double d = argc;

	(void)argv;
	s += loops(12);
	for (int i = 0; i < 12; i++)
		s += choose(i, s);
	s += fib(6) + even(5) + odd(8);
	for (int i = 0; i < 7; i++)
		s += apply(f[i % 3], i - 3);
	qsort(v, 6, sizeof *v, order);
	s += v[2] + jumps() + (int)parts((uint64_t)s * 77) + strings();
	for (int i = 1; i < 4; i++)
		d = d * 1.5 + i / d;
	sink = s + (int)d;
	if (write(1, v, sizeof v) != sizeof v)
		return 1;
	return sink & 1;
}
