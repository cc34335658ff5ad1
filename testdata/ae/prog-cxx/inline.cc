/*
 * Inline functions, templates, vtables and static variables of two files; constructors before main, and destructors
 * after it.
 */
#include "inline.h"

static struct early {
	int v[5];
	early() { for (int i = 0; i < 5; i++) v[i] = next(i); }
	~early() { printf("early ends with %d, %d\n", v[4], counter); }
} early;

template <typename T> static T
twice(T v)
{
	return v + v;
}

int
main(int argc, char **)
{
	stack<long, 40> s;
	stack<char, 5> c;
	long area = 0;

	for (int i = 0; i < 50; i++) {
		s.push(next(i) + early.v[i % 5]);
		c.push((char)('a' + i));
	}
	printf("%ld %c %ld\n", s.pop(), c.pop(), s.fold([&](long a, long b) { return a ^ b * argc; }));
	for (int i = 0; i < 8; i++) {
		shape *p = make(i);
		const named *n = tagged(i);
		const both *b = dynamic_cast<const both *>(p);

		area += p->area();
		printf("%s %s %ld %d\n", p->name(), n->tag(), area, b ? b->x : -1);
		delete p;
		delete n;
	}
	printf("%d %ld %f\n", elsewhere(7), sum(s), twice(1.5));
	return counter & 127;
}
