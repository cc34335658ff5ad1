// What foreign.cc calls that is not traced.
struct keep { int *n; ~keep() { ++*n; } };

int through(int (*fn)(int), int n);
int caught(int (*fn)(int), int n);
int cleaned(int (*fn)(int), int n, int *count);

int
through(int (*fn)(int), int n)
{
	volatile int on_the_stack[10] = { n };

	return fn(on_the_stack[0]) + on_the_stack[1];
}

int
caught(int (*fn)(int), int n)
{
	int r = 0;

	for (int i = 0; i < 3; i++)
		try {
			r += fn(n + i);
		} catch (int) {
			r++;
		} catch (...) {
			r--;
		}
	return r;
}

int
cleaned(int (*fn)(int), int n, int *count)
{
	keep k = { count };

	return through(fn, n) * 2;
}
