/*
 * Floating point: float, double and long double (x87), conversions, comparisons with NaN, complex numbers, libm,
 * doubles in structures, arguments and results.
 * link: -lm
 */
#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))

static unsigned long sum;

static void mix(unsigned long v) { sum = sum * 31 + v; }
static void mixd(double d) { unsigned long v; memcpy(&v, &d, sizeof v); mix(v >> 12); }

struct vec { double x, y, z; };
struct pair { float a, b; };

NOINLINE static struct vec cross(struct vec a, struct vec b) { return (struct vec){ a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x }; }
NOINLINE static struct pair swap(struct pair p) { return (struct pair){ p.b, p.a + 1 }; }
NOINLINE static double poly(const double *c, int n, double x) { double r = 0; while (n-- > 0) r = r * x + c[n]; return r; }
NOINLINE static float fsum(const float *p, int n) { float s = 0; for (int i = 0; i < n; i++) s += p[i] * 0.5f; return s; }
NOINLINE static long double lpow(long double x, int n) { long double r = 1; for (; n; n >>= 1, x *= x) if (n & 1) r *= x; return r; }
NOINLINE static int order(double a, double b) { return (a < b) + 2 * (a <= b) + 4 * (a == b) + 8 * (a != b) + 16 * (a > b) + 32 * !(a >= b); }
NOINLINE static double newton(double x) { double r = x > 1 ? x : 1; for (int i = 0; i < 30 && fabs(r * r - x) > 1e-12 * x; i++) r = (r + x / r) / 2; return r; }
NOINLINE static double _Complex mandel(double _Complex z, double _Complex c) { return z * z + c; }

NOINLINE static long
convert(double d, float f, long double l, unsigned long u, int i)
{
	return (int)d + (long)f + (long)l + (long)(double)u + (long)((float)i * 2) + (unsigned)(d * 2) + (long)((long double)u / 3) + (short)(i * 0.5);
}

static long double table[8];

int
main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 40;
	static const double c[] = { 1, -0.5, 0.25, 3, 0.125, -2 };
	float f[50];
	struct vec v = { 1, 2, 3 }, w = { 0.5, -1, 0.25 };
	struct pair p = { 1, 2 };
	double _Complex z = 0;

	for (int i = 0; i < 50; i++)
		f[i] = i * 0.75f;
	for (int i = 0; i < n; i++) {
		double x = i / 16.0 - 1;

		mixd(poly(c, 6, x));
		mixd(fsum(f, i % 50));
		table[i % 8] = lpow(1 + x / 100, i);
		mixd((double)(table[i % 8] + table[(i + 3) % 8]));
		mix(order(x, 0.5) + order(i % 7 ? x : NAN, x) * 64);
		mixd(newton(i + 0.5));
		v = cross(v, w);
		v.x += 1, v.y -= 0.5, w.z = x;
		mixd(v.x + v.y + v.z);
		p = swap(p);
		mixd(p.a);
		z = mandel(cabs(z) > 4 ? 0 : z, 0.3 + x / 10 * I);
		mixd(creal(z));
		mix(convert(x * 10, (float)i, i * 1.5L, i * 77ul, -i));
		mixd(floor(sqrt(i) * 100) + (double)lrint(x * 8) + fmax(x, 0.1));
		mix((unsigned long)(sin(x) * 1000000 + exp(x / 4) * 1000));
	}
	printf("%016lx %.6f %.3Lf\n", sum, v.z, table[5]);
	return 0;
}
