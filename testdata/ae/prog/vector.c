/*
 * Loops that -O3 turns into 16-byte vector code, and vector types written out; also unaligned rows and leftovers.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))
#define N 203

typedef int v4si __attribute__((vector_size(16)));
typedef double v2df __attribute__((vector_size(16)));
typedef unsigned char v16qi __attribute__((vector_size(16)));

static unsigned long sum;
static int a[N], b[N], c[N];
static double x[N], y[N];
static unsigned char bytes[N];
static short shorts[N];

static void mix(unsigned long v) { sum = sum * 31 + v; }

NOINLINE static void add(int *restrict d, const int *restrict s, int n) { for (int i = 0; i < n; i++) d[i] += s[i] * 3; }
NOINLINE static int dot(const int *p, const int *q, int n) { int s = 0; for (int i = 0; i < n; i++) s += p[i] * q[i]; return s; }
NOINLINE static void axpy(double *restrict d, const double *restrict s, double k, int n) { for (int i = 0; i < n; i++) d[i] += k * s[i]; }
NOINLINE static int count(const unsigned char *p, int n, int v) { int k = 0; for (int i = 0; i < n; i++) k += p[i] == v; return k; }
NOINLINE static int widen(const short *p, int n) { int s = 0; for (int i = 0; i < n; i++) s += p[i]; return s; }
NOINLINE static void reverse(int *p, int n) { for (int i = 0; i < n / 2; i++) { int t = p[i]; p[i] = p[n - 1 - i]; p[n - 1 - i] = t; } }
NOINLINE static int biggest(const int *p, int n) { int m = p[0]; for (int i = 1; i < n; i++) if (p[i] > m) m = p[i]; return m; }
NOINLINE static void masks(int *restrict d, const int *restrict s, int n) { for (int i = 0; i < n; i++) d[i] = s[i] & 1 ? s[i] >> 2 : d[i] ^ 5; }
NOINLINE static void fill(unsigned char *p, int n, int v) { for (int i = 0; i < n; i++) p[i] = v + (i >> 2); }
NOINLINE static void strided(int *p, int n) { for (int i = 0; i < n; i += 3) p[i] = p[i + 1] - p[i + 2]; }

NOINLINE static v4si
four(v4si p, v4si q, const v4si *r)
{
	v4si t = p * q + *r;

	return t ^ (p > q);
}

NOINLINE static v2df two(const v2df *p, int n) { v2df s = { 0, 0 }; for (int i = 0; i < n; i++) s += p[i] * p[i]; return s; }
#ifdef __clang__
#define SHUFFLE(p, ...) __builtin_shufflevector(p, p, __VA_ARGS__)
#else
#define SHUFFLE(p, ...) __builtin_shuffle(p, (v16qi){ __VA_ARGS__ })
#endif
NOINLINE static v16qi swizzle(v16qi p) { return SHUFFLE(p, 3, 1, 4, 15, 9, 2, 6, 5, 3, 8, 9, 7, 9, 3, 2, 0); }

int
main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 6;
	v4si p = { 1, 2, 3, 4 }, q = { 9, -1, 2, 7 }, r = { 0, 1, 0, 5 };
	_Alignas(16) v2df d[20];
	v16qi s;

	for (int i = 0; i < N; i++)
		a[i] = i * 7 % 31, b[i] = i * i % 17, x[i] = i * 0.5, y[i] = i, shorts[i] = i * 11 - 900;
	memset(&s, 3, sizeof s);
	for (int i = 0; i < 20; i++)
		d[i] = (v2df){ i, -i * 0.25 };
	for (int i = 0; i < n; i++) {
		int from = i % 5;

		add(a + from, b, N - 8 - i);
		mix(dot(a, b + from, N - 5));
		axpy(x + from, y, 0.25, N - 5 - i);
		mix((long)x[50 + i]);
		fill(bytes + from, N - 5, i);
		mix(count(bytes, N, i + 7));
		mix(widen(shorts + from, N - 5));
		reverse(a, N - i);
		mix(biggest(a, N));
		masks(c + from, a, N - 6);
		strided(c, N - 3);
		mix(c[100] + c[N - 7]);
		p = four(p, q, &r);
		q[i & 3] += p[0];
		mix(p[1] + p[3]);
		v2df t = two(d, 20 - i);
		mix((long)(t[0] + t[1] * 16));
		s = swizzle(s + (unsigned char)i);
		s[i & 15] += i;
		mix(s[0] + s[9]);
	}
	printf("%016lx\n", sum);
	return 0;
}
