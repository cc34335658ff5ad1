/*
 * Switches: tables that are reached from many places, whose address is kept across calls and longjmp, with targets in the
 * cold part; tables of constants of every width.
 */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

static const signed char small[8] = { 3, -1, 4, -1, 5, -9, 2, -6 };
static const unsigned short medium[8] = { 2, 7, 18, 281, 8284, 59045, 23536, 2 };
static const int words[8] = { -1, 1, -2, 3, -5, 8, -13, 21 };
static const unsigned long wide[8] = { 1, 1UL << 40, 3, 1UL << 50, 5, 7UL << 60, 7, 0 };
static jmp_buf again;
static unsigned char code[64];
static long memory[256];

__attribute__((noinline)) static long
twist(long x)
{
	return x * 6364136223846793005L + 1442695040888963407L;
}

/* One switch in a loop, with calls between: the table's address stays in a register */
static long
run(const unsigned char *p, long x)
{
	for (;; p++) {
		switch (*p) {
		case 0: return x;
		case 1: x = twist(x); break;
		case 2: x += small[x & 7]; break;
		case 3: x ^= medium[x & 7]; break;
		case 4: x -= words[x >> 3 & 7]; break;
		case 5: x += (long)wide[x & 7]; break;
		case 6: memory[x & 255] = x; break;
		case 7: x = memory[x & 255] + 1; break;
		case 8: if (x & 1) p++; break;
		case 9: if (__builtin_expect(x == 42, 0)) abort(); break;
		case 10: longjmp(again, (int)(x & 3) + 1);
		default: x = -x;
		}
	}
}

/* Two switches with the same index, one of them in a loop around the other */
__attribute__((noinline)) static int
nested(int n)
{
	int i, sum = 0;

	for (i = 0; i < n; i++) {
		switch (i % 7) {
		case 0: sum += 3; break;
		case 1: sum ^= 5; break;
		case 2: sum -= i; /* fall through */
		case 3: sum += words[i & 7]; break;
		case 4: sum = (int)twist(sum) & 0xffff; break;
		case 5: sum *= 3; break;
		default: sum++;
		}
		switch (sum & 7) {
		case 0: memory[i & 255]++; break;
		case 1: memory[sum & 255] += i; break;
		case 2: sum += (int)memory[i & 255]; break;
		case 4: sum -= 11; break;
		case 5: return nested(n / 2) + sum;
		case 7: sum += small[i & 7]; break;
		}
	}
	return sum;
}

/* A jump at the end of each step */
static long
threaded(const unsigned char *p, long x)
{
#define NEXT switch (*p++ & 7) { \
	case 0: goto zero; case 1: goto one; case 2: goto two; case 3: goto three; case 4: goto four; case 5: goto five; \
	case 6: goto six; default: goto out; }
	NEXT
zero:	x += 3; NEXT
one:	x = twist(x); NEXT
two:	memory[x & 255] ^= x; NEXT
three:	x ^= memory[x >> 4 & 255]; NEXT
four:	x += small[*p & 7]; NEXT
five:	if (x & 4) goto two; NEXT
six:	x -= 1; NEXT
out:	return x;
}

/* What a switch looks up only, by which compilers make tables of constants */
__attribute__((noinline)) static const char *
name(int k)
{
	switch (k) {
	case 0: return "nought";
	case 1: return "one";
	case 2: return "couple";
	case 3: return "few";
	case 4: return "several";
	case 5: return "many";
	}
	return "?";
}

int
main(void)
{
	volatile int round = 0;
	long x = 7, sum = 0;
	int i;

	for (i = 0; i < 63; i++)
		code[i] = (unsigned char)(1 + (i * 7 + i / 5) % 11);
	for (i = 0; i < 63; i++)
		if (code[i] == 10)
			code[i] = 11;
	code[40] = 10;
	if (setjmp(again)) {
		if (++round == 3)
			code[40] = 8;
		memory[round] += round;
	}
	x = run(code, x + round);
	for (i = 0; i < 63; i++)
		code[i] = (unsigned char)((i * 5 + i / 3) % 7);
	code[63] = 7;
	for (i = 0; i < 20; i++)
		sum += threaded(code, x + i) ^ nested(i * 3);
	for (i = 0; i < 7; i++)
		sum += name(i)[i % 2];
	printf("%ld %ld %d\n", x, sum, round);
	return 0;
}
