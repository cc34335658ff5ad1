/* The untraced part of the programs that gen writes */
extern long plain(long (*)(long), long);

long
plain(long (*f)(long), long x)
{
	long s = 0;

	for (int i = 0; i < 3; i++)
		s += f(x + i);
	return x & 1 ? s : f(s & 15);
}
