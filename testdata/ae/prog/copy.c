/*
 * Block moves: structure copies of many sizes (rep movs at -Os), memset and memcpy of constants, string functions,
 * and rep movs, stos, scas, cmps and lods written by hand.
 * targets: x86-64
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))

struct s24 { long v[3]; };
struct s100 { char c[100]; };
struct s264 { long v[33]; };
struct s4k { int v[1030]; };

static unsigned long sum;
static struct s24 a24, b24;
static struct s100 a100, b100;
static struct s264 a264, b264;
static struct s4k a4k, b4k;

static void mix(unsigned long v) { sum = sum * 31 + v; }

NOINLINE static void cp24(struct s24 *d, const struct s24 *s) { *d = *s; }
NOINLINE static void cp100(struct s100 *d, const struct s100 *s) { *d = *s; }
NOINLINE static void cp264(struct s264 *d, const struct s264 *s) { *d = *s; }
NOINLINE static void cp4k(struct s4k *d, const struct s4k *s) { *d = *s; }
NOINLINE static struct s264 ret264(long x) { struct s264 r = { { x, x + 1 } }; r.v[32] = x; return r; }
NOINLINE static long arg264(struct s264 s) { return s.v[0] + s.v[32]; }
NOINLINE static void clr4k(struct s4k *d) { memset(d, 0, sizeof *d); }
NOINLINE static void set100(struct s100 *d, int c) { memset(d, c, sizeof *d); }

static void *
movsb(void *d, const void *s, size_t n)
{
	__asm__ volatile("rep movsb" : "+D"(d), "+S"(s), "+c"(n) : : "memory");
	return d;
}

static void movsq(void *d, const void *s, size_t n) { __asm__ volatile("rep movsq" : "+D"(d), "+S"(s), "+c"(n) : : "memory"); }
static void stosl(void *d, int v, size_t n) { __asm__ volatile("rep stosl" : "+D"(d), "+c"(n) : "a"(v) : "memory"); }
static void stosw(void *d, short v, size_t n) { __asm__ volatile("rep stosw" : "+D"(d), "+c"(n) : "a"(v) : "memory"); }

NOINLINE static size_t
scasb(const char *s, int c, size_t n)
{
	const char *p = s;

	__asm__ volatile("repne scasb" : "+D"(p), "+c"(n) : "a"(c) : "cc", "memory");
	return p - s;
}

NOINLINE static size_t
cmpsb(const char *a, const char *b, size_t n)
{
	const char *p = a;

	__asm__ volatile("cmp %%rax, %%rax\n\trepe cmpsb" : "+D"(p), "+S"(b), "+c"(n) : : "cc", "memory");
	return p - a;
}

NOINLINE static long
lodsw(const short *p, int n)
{
	long s = 0;
	short v;

	while (n-- > 0) {
		__asm__ volatile("lodsw" : "=a"(v), "+S"(p) : : "memory");
		s = s * 3 + v;
	}
	return s;
}

/* one element each, no rep */
static char *
step(char *d, const char *s)
{
	__asm__ volatile("movsb\n\tmovsw\n\tmovsl\n\tmovsq\n\tstosb\n\tstosq" : "+D"(d), "+S"(s) : "a"(7) : "memory");
	return d;
}

int
main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 10;
	char x[200], y[200];

	for (int i = 0; i < n; i++) {
		for (int k = 0; k < 33; k++)
			a264.v[k] = i * k;
		a24.v[i % 3] = i;
		a100.c[i % 100] = i;
		a4k.v[i * 97 % 1030] = i;
		cp24(&b24, &a24);
		cp100(&b100, &a100);
		cp264(&b264, &a264);
		cp4k(&b4k, &a4k);
		mix(b24.v[2] + b100.c[i] + b264.v[32] + b4k.v[i * 97 % 1030]);
		b264 = ret264(i);
		mix(arg264(b264));
		clr4k(&b4k);
		set100(&b100, i);
		mix(b100.c[99]);
		stosl(x, i * 0x01020304, 50);
		stosw(y, i * 0x0101, i);
		movsb(y + 1, x, 11 + i);
		movsq(x + 8, y, i % 7);
		movsb(y, y + 3, 0);
		mix(x[20] + y[5]);
		x[i * 3] = '!';
		mix(scasb(x, '!', sizeof x));
		mix(scasb(x, 77, 10) + scasb(x, 77, 0));
		memcpy(y, x, sizeof y);
		y[60 + i] ^= 1;
		mix(cmpsb(x, y, 50) + cmpsb(x, y, sizeof y) + cmpsb(x, y, 61 + i));
		mix(lodsw((short *)x, 20));
		step(y, x);
		mix(memcmp(x, y, sizeof x) > 0);
		x[199] = '\0';
		mix(strlen(x) + (strchr(x, '!') != NULL));
		mix(strcmp(strcpy(y, "abc"), "abd") < 0);
	}
	printf("%016lx\n", sum);
	return 0;
}
