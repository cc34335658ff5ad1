/* Exceptions through code that is not traced, and caught there; of callbacks, from sort(), and to handlers of the library. */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <string>
#include <vector>

int through(int (*fn)(int), int n);             // foreign.plain.cc
int caught(int (*fn)(int), int n);
int cleaned(int (*fn)(int), int n, int *count);

static int table[32];

static int
thrower(int n)
{
	table[n & 31] += n;
	if (n % 3 == 0)
		throw n;
	if (n % 3 == 1)
		throw std::string("odd");
	return n;
}

static int
nested(int n)
{
	int count = 0, r;

	try {
		r = cleaned(thrower, n, &count);
	} catch (int i) {
		r = table[i & 31] - count;
	}
	return r + caught(thrower, n + 1) + table[count];
}

static int
compare(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	if (x + y == 100)
		throw x - y;
	return x - y;
}

static void
last()
{
	printf("terminated with %d\n", table[4]);
	fflush(stdout);
	_Exit(3);
}

static int
never(int n) noexcept
{
	return through(thrower, n) + 1;
}

int
main(int argc, char **)
{
	std::vector<int> v;
	long sum = 0;

	for (int i = 0; i < 12; i++) {
		try {
			sum += through(thrower, i);
			sum += caught(thrower, i) + table[i];
			sum += caught(nested, i);
			sum += nested(i);
		} catch (int n) {
			sum += n * 10 + table[i];
		} catch (const std::string &s) {
			sum += (long)s.size() + table[i + 1];
		}
	}
	for (int i = 0; i < 40; i++)
		v.push_back(i * 37 % 101);
	for (int bad = 0; bad < 100; bad += 9)
		try {
			std::vector<int> w(v);

			std::sort(w.begin(), w.end(), [&](int a, int b) { if (a == bad) throw b; return a < b; });
			sum += w[3];
		} catch (int b) {
			sum += b;
		}
	try {
		qsort(v.data(), v.size(), sizeof v[0], compare);
	} catch (int d) {
		sum += d;
	}
	std::function<int(int)> none;
	try {
		sum += none(1);
	} catch (const std::bad_function_call &) {
		sum += 7;
	}
	try {
		v.at(100 + (size_t)argc) = 1;
	} catch (const std::exception &e) {
		sum += v[3];
	}
	printf("%ld\n", sum);
	std::set_terminate(last);
	return never(argc) + never(argc + 2);
}
