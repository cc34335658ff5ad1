/*
 * Thread-local data in functions that have many values in registers, which the calls of -mtls-dialect=gnu2 keep: of the
 * program (-DPROG), of a library (-DLIB), or both in one
 */
#include <stdio.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))

extern __thread long shared[64];
long work(int n);

#ifdef LIB
__thread long shared[64] = { 1, 2, 3 };
static __thread unsigned char bytes[256];
static __thread long own[16] = { 5 }, more[16];
static __thread struct { long n; char c[40]; } state = { 3, "abc" };

/* all registers, and r11 for one of them */
NOINLINE static long crowd(const long *a, const long *b, long n)
{
	unsigned long s0 = 1, s1 = 2, s2 = 3, s3 = 4, s4 = 5, s5 = 6, s6 = 7;

	for (long i = 0; i < n; i++) {
		s0 += a[s1 & 7] ^ shared[i & 63];
		s1 += b[s2 & 7] + own[i & 15];
		s2 ^= a[s3 & 7] * 3 + bytes[(s0 + i) & 255]++;
		s3 -= b[s4 & 7] ^ s0;
		s4 += more[s5 & 15]++;
		s5 ^= a[s6 & 7] + s1;
		s6 += b[s0 & 7] - state.n++;
	}
	return s0 ^ s1 ^ s2 ^ s3 ^ s4 ^ s5 ^ s6;
}

/* arguments in registers */
NOINLINE static long six(long a, long b, long c, long d, long e, long f) { return shared[a & 63] += b * c + d * e + f; }
NOINLINE static long *where(int i) { return i & 1 ? &shared[i & 63] : &own[i & 15]; }
NOINLINE static double real(double x, const double *y, int i) { shared[i & 63]++; return x * y[i & 3]; }
NOINLINE static long deep(int n) { return n ? deep(n - 1) + shared[n & 63] : own[n]; }

NOINLINE static long cases(int i, const char *s)
{
	switch (i & 7) {
	case 0: return shared[3];
	case 1: return own[2] + s[1];
	case 2: return bytes[i & 255];
	case 3: return state.c[i & 31];
	case 4: return s[i & 3];
	case 5: return (long)strlen(state.c + (i & 1));
	case 6: shared[i & 63] = s[0]; return 1;
	default: return more[i & 15];
	}
}

long work(int n)
{
	static const char text[] = "0123456789abcdefghijklmnopqrstuvwxyz";
	long a[8] = { 3, 1, 4, 1, 5, 9, 2, 6 }, b[8] = { 2, 7, 1, 8, 2, 8, 1, 8 };
	double y[4] = { 1, 1.5, 0.5, 2 }, x = 1;
	unsigned long s = 0;

	for (int i = 0; i < n; i++) {
		s += crowd(a, b, i);
		s += six(i, s & 255, 3, i, s & 15, 2);
		s += cases(i, text);
		*where(i) += i;
		s ^= *where(i * 3);
		x = real(x, y, i);
		memcpy(state.c, text + i % 4, 32);
		s += deep(i % 9);
	}
	return s + (long)x;
}
#endif

#ifdef PROG
int main(void)
{
	unsigned long s = 0;

	for (int i = 0; i < 20; i++) {
		shared[i & 7] += i;
		s += work(i) + shared[i * 3 & 63];
	}
	printf("%016lx\n", s);
	return 0;
}
#endif
