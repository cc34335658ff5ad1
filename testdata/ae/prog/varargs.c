/*
 * Variable arguments: integers, doubles, structures by value, va_copy, a va_list handed on, more arguments than
 * registers.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))

struct small { int a, b; };
struct big { long v[5]; };
struct mixed { double d; long l; };

static unsigned long sum;

static void mix(unsigned long v) { sum = sum * 31 + v; }

NOINLINE static long
add_all(int n, ...)
{
	va_list ap;
	long s = 0;

	va_start(ap, n);
	while (n-- > 0)
		s = s * 3 + va_arg(ap, long);
	va_end(ap);
	return s;
}

NOINLINE static double
add_doubles(int n, ...)
{
	va_list ap, again;
	double s = 0;

	va_start(ap, n);
	va_copy(again, ap);
	for (int i = 0; i < n; i++)
		s += va_arg(ap, double);
	for (int i = 0; i < n; i++)
		s -= va_arg(again, double) / 3;
	va_end(again);
	va_end(ap);
	return s;
}

NOINLINE static void
vformat(char *out, const char *fmt, va_list ap)
{
	for (; *fmt; fmt++) {
		if (*fmt != '%') {
			*out++ = *fmt;
			continue;
		}
		switch (*++fmt) {
		case 'd': out += sprintf(out, "%d", va_arg(ap, int)); break;
		case 'l': out += sprintf(out, "%ld", va_arg(ap, long)); break;
		case 'f': out += sprintf(out, "%.3f", va_arg(ap, double)); break;
		case 'L': out += sprintf(out, "%.3Lf", va_arg(ap, long double)); break;
		case 's': out = stpcpy(out, va_arg(ap, const char *)); break;
		case 'S': { struct small s = va_arg(ap, struct small); out += sprintf(out, "{%d %d}", s.a, s.b); break; }
		case 'B': { struct big b = va_arg(ap, struct big); out += sprintf(out, "[%ld %ld]", b.v[0], b.v[4]); break; }
		case 'M': { struct mixed m = va_arg(ap, struct mixed); out += sprintf(out, "<%g %ld>", m.d, m.l); break; }
		}
	}
	*out = '\0';
}

NOINLINE static void
format(char *out, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vformat(out, fmt, ap);
	va_end(ap);
}

NOINLINE static struct big
by_value(struct big b, struct small s, struct mixed m)
{
	b.v[1] += s.a + b.v[0];
	b.v[2] += (long)m.d * s.b;
	return b;
}

int
main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 12;
	char buf[300];
	struct big b = { { 1, 2, 3, 4, 5 } };

	for (int i = 0; i < n; i++) {
		struct small s = { i, -i };
		struct mixed m = { i / 4.0, i * 1000003L };

		mix(add_all(3, 1L, 2L, (long)i));
		mix(add_all(9, 1L, 2L, (long)i, 4L, 5L, 6L, 7L, 8L, 9L));
		mix((long)(1000 * add_doubles(2, 1.5, i * 0.25)));
		mix((long)(1000 * add_doubles(11, 1., 2., 3., 4., 5., 6., 7., 8., 9., 10., (double)i)));
		format(buf, "%d %s %l %f %S|%B|%M %L %d %d %f", i, "str", 1L << i, i * 1.25, s, b, m, (long double)i / 8, 7, 8, 9.5);
		for (char *p = buf; *p; p++)
			mix(*p);
		b = by_value(b, s, m);
		mix(b.v[2]);
	}
	puts(buf);
	printf("%016lx\n", sum);
	return 0;
}
