/*
 * Exceptions: through several frames, by type, with clean-up only, rethrown, nested, out of constructors, in loops; what
 * landing pads find in registers and on the stack decides the addresses that follow.
 */
#include <cstdio>
#include <stdexcept>
#include <string>

struct low { int at; explicit low(int a) : at(a) {} };
struct lower : low { long more[4]; explicit lower(int a) : low(a) { for (long &m : more) m = a; } };

static int table[64], depth, alive;

struct guard {
	int *p;
	explicit guard(int *q) : p(q) { ++*p; alive++; }
	~guard() { --*p; alive--; table[alive & 63]++; }
};

static int
deep(int n, int kind)
{
	guard g(&depth);

	if (n > 0)
		return deep(n - 1, kind) + table[n];
	switch (kind % 5) {
	case 0: throw low(kind);
	case 1: throw lower(kind);
	case 2: throw std::runtime_error("run " + std::to_string(kind));
	case 3: throw &table[kind];
	default: return kind;
	}
}

struct built {
	guard a, b;
	int part[3];
	built(int n, int *p) : a(p), b(p + 1) { for (int i = 0; i < 3; i++) part[i] = deep(n, n + i); }
};

static int
classify(int n, int kind)
{
	try {
		return deep(n, kind);
	} catch (const lower &e) {
		return (int)e.more[n & 3] + 1000;
	} catch (const low &e) {
		return e.at + 2000;
	} catch (const std::exception &e) {
		return (int)std::string(e.what()).size() + 3000;
	}
}

static long
loops(int n)
{
	long sum = 0;

	for (int i = 0; i < n; i++) {
		int kept[8];

		for (int j = 0; j < 8; j++)
			kept[j] = i * j;
		for (int j = 0; j < 4; j++) {
			try {
				sum += classify(j, i);
				if (i % 7 == 6)
					continue;
				sum += built(j, table + i % 32).part[1];
			} catch (int *p) {
				sum += p - table + kept[(sum + j) & 7];
				break;
			} catch (const low &e) {
				sum += kept[e.at & 7] + j;
			} catch (...) {
				sum -= kept[j];
			}
		}
	}
	return sum;
}

static int
again(int n)
{
	try {
		try {
			deep(2, n);
		} catch (low &e) {
			e.at += 5;
			throw;
		} catch (int *p) {
			throw std::string(p - table, 'x');
		}
	} catch (const low &e) {
		return e.at;
	} catch (const std::string &s) {
		return (int)s.size() * 10;
	} catch (...) {
		try {
			deep(1, 1);
		} catch (lower &e) {
			return e.at + table[2];
		}
	}
	return -1;
}

static int
many(int a, int b, int c, int d, int e, int f, int g, int h)
{
	return deep(a & 1, b + c + d + e + f + g + h);
}

int
main(int argc, char **)
{
	printf("%ld\n", loops(20));
	for (int i = 0; i < 5; i++) {
		int r = 0;

		try {
			r = many(i, i, 2, 3, argc, 5, 6, 3);
		} catch (...) {
			r = table[i] + i;
		}
		printf("%d %d\n", again(i), r);
	}
	printf("%d %d\n", depth, alive);
	return alive;
}
