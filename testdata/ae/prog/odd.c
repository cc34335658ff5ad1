/*
 * What compilers seldom write: tables of labels in bytes, a constant compared with memory, the address of a function plus
 * something, __builtin_setjmp in a function with a switch.
 *
 * targets: x86-64
 */
#include <stdio.h>

#define NOINLINE __attribute__((noinline))

static const char hello[] = "hello", other[] = "other";
static const char *cur = hello;
static void *buf[5];
static long a[64];

NOINLINE static long
bytes(const unsigned char *code)
{
	static const unsigned char off[] = { &&add - &&base, &&sub - &&base, &&end - &&base };
	long acc = 1;
base:
	goto *(&&base + off[*code++]);
add:	acc += a[acc & 63]++; goto base;
sub:	acc -= 2; goto base;
end:	return acc;
}

NOINLINE static void choose(int i) { cur = i % 3 ? hello : other; }
NOINLINE static long chosen(int i) { return cur == hello ? a[i * 2]++ : a[i + 3]; }

NOINLINE long first(int i) { a[i & 63] += 3; return a[(i + 1) & 63]; }
NOINLINE long second(int i) { a[i & 63] += 5; return a[(i + 2) & 63]; }
NOINLINE static long far(long off, int i) { return ((long (*)(int))((char *)first + off))(i) + 1; }

NOINLINE static void
deep(int i)
{
	if (i % 3 == 0)
		__builtin_longjmp(buf, 1);
	a[i + 1] += 2;
}

NOINLINE static long
back(int k)
{
	long r = 7;

	if (__builtin_setjmp(buf))
		r = a[3];
	else
		deep(k);
	switch (k) {
	case 0: a[4] += 5; r += 1; break;
	case 1: a[5] *= 5; r += 3; break;
	case 2: a[6] ^= 5; r -= 1; break;
	case 3: r += a[k]; break;
	case 4: a[7] -= r; break;
	case 5: a[8] -= r; r = 2; break;
	}
	return r;
}

/* the last label is in gcc's cold part of the function, which has no instruction */
NOINLINE static long
never_last(const unsigned char *p, long x)
{
	static void *const go[] = { &&inc, &&dbl, &&end, &&never };

	goto *go[*p++];
inc:
	x++;
	goto *go[*p++];
dbl:
	x *= a[1];
	goto *go[*p++];
end:
	return x;
never:
	__builtin_unreachable();
}

int
main(void)
{
	static const unsigned char code[] = { 0, 1, 0, 0, 1, 1, 0, 2 };
	long sum = 0;

	for (int i = 0; i < 8; i++) {
		choose(i);
		sum += bytes(code + i) + chosen(i) + far((i & 1) * ((char *)second - (char *)first), i) + back(i) +
		    never_last(code + i, i);
	}
	printf("%ld\n", sum);
	return 0;
}
