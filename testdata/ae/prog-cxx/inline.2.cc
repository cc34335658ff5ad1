// The other file of inline.cc.
#include "inline.h"

static struct late {
	~late() { printf("late %d\n", next(3)); }
} late;

shape *
make(int i)
{
	if (i % 2)
		return new both(i);
	return new square(i);
}

const named *
tagged(int i)
{
	return new both(i);
}

long
sum(const stack<long, 40> &s)
{
	return s.fold([](long a, long b) { return a + b; });
}

int
elsewhere(int n)
{
	stack<char, 5> c;

	for (int i = 0; i < n; i++)
		c.push((char)next(i));
	return c.pop() + next(2);
}
