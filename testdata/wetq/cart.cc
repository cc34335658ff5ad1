/* A class in a namespace, a template, overloaded functions and a thread's variable, whose names wetq knows. */
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace shop {

struct item { int price; };

class cart {
	std::vector<item> items;
public:
	__attribute__((noinline)) void add(int price) { items.push_back(item{ price }); }
	__attribute__((noinline)) void add(double price) { items.push_back(item{ (int)price }); }
	__attribute__((noinline)) int total(int discount) const
	{
		int t = 0;

		for (const item &i : items)
			t += i.price - discount;
		return t;
	}
};

template <class T> __attribute__((noinline)) T twice(T x)
{
	return x + x;
}

}

namespace other {
__attribute__((noinline)) int total(int x) { return x + 1; }
}

int main(int argc, char **argv)
{
	shop::cart c;
	int n;

	for (int i = 1; i < argc; i++)
		c.add(atoi(argv[i]));
	c.add(2.5);
	n = shop::twice(other::total(c.total(1)));
	printf("%d\n", n);
	return 0;
}
