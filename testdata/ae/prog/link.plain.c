/* The part of link.c that is not traced, and calls back */
extern long plain_call(long (*)(const long *), const long *, int);
extern long far_wrapped(const long *);

long
plain_call(long (*f)(const long *), const long *p, int n)
{
	long s = 0;

	while (n-- > 0)
		s += f(p + n) + far_wrapped(p);
	return s;
}
