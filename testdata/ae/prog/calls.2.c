/* The second traced file of calls.c */
extern long far_add(long, long);
extern long far_loop(const long *, int);
extern int far_even(int), far_odd(int);
extern long far_tail(long (*)(long), long);
extern long weak_here(long);

static long far_sub(long a, long b) { return a - b; }
static long far_mul(long a, long b) { return a * b; }

long (*far_table[3])(long, long) = { far_add, far_sub, far_mul };

long far_add(long a, long b) { return a + b; }

long
far_loop(const long *p, int n)
{
	long s = 0;

	while (n-- > 0)
		s += far_table[n % 3](*p++, s);
	return s;
}

int far_even(int n) { return n == 0 ? 1 : far_odd(n - 1); }
int far_odd(int n) { return n == 0 ? 0 : far_even(n - 1); }

long far_tail(long (*f)(long), long x) { return f(x + 2); }

__attribute__((weak)) long weak_here(long x) { return -x; }
