__thread long far = 9;
static __thread char pad[100];
static __thread struct { int a; unsigned low : 3, high : 11; } mine = { .a = 4 };

long
bump(long x)
{
	mine.a += (int)x;
	mine.low = (unsigned)x;
	mine.high += 3;
	pad[x & 7] = (char)mine.a;
	far ^= mine.a;
	return mine.a;
}
