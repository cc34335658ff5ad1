/* Traced side of regs_u.c */
struct pair { unsigned long a, b; };
unsigned long ints(unsigned long, unsigned long, unsigned long, unsigned long, unsigned long, unsigned long,
    unsigned long);
double dbl(double, float, double);
long double ld(long double);
struct pair two(unsigned long);

unsigned long ints(unsigned long a, unsigned long b, unsigned long c, unsigned long d, unsigned long e,
    unsigned long f, unsigned long g)
{
	return a + b + c + d + e + f + g;
}

double dbl(double a, float b, double c)
{
	return a + b * c;
}

long double ld(long double a)
{
	return a * 2;
}

struct pair two(unsigned long a)
{
	return (struct pair){ a, a * 2 };
}
