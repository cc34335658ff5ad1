/* A program without libraries that sorts, recurses and calls through pointers; its status is 7. */
static unsigned seed = 1, v[2000];
static int (*volatile op[2])(int);

static unsigned
next(void)
{
	return seed = seed * 1103515245 + 12345;
}

static __attribute__((noinline)) void
sift(unsigned *a, unsigned i, unsigned n)
{
	for (unsigned c, t; (c = 2 * i + 1) < n; i = c) {
		if (c + 1 < n && a[c + 1] > a[c])
			c++;
		if (a[i] >= a[c])
			return;
		t = a[i];
		a[i] = a[c];
		a[c] = t;
	}
}

static __attribute__((noinline)) int
fib(int n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static int more(int i) { return i + 1; }
static int twice(int i) { return i * 2; }

__attribute__((noinline)) static unsigned
run(void)
{
	unsigned r = 0, t;

	op[0] = more;
	op[1] = twice;
	for (int i = 0; i < 2000; i++)
		v[i] = next();
	for (unsigned i = 1000; i-- > 0;)
		sift(v, i, 2000);
	for (unsigned i = 2000; i-- > 1;) {
		t = v[0];
		v[0] = v[i];
		v[i] = t;
		sift(v, 0, i);
	}
	for (unsigned i = 1; i < 2000; i++)
		r += v[i - 1] > v[i];
	for (int i = 0; i < 200; i++)
		t = (unsigned)op[next() >> 31]((int)t) & 255;
	return r + (fib(15) != 610);
}

void
_start(void)
{
	__asm__ volatile("and $-16, %rsp");
	__asm__ volatile("syscall" : : "a"(231L), "D"(7L + run()));
}
