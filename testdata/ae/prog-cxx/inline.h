// What both files of inline.cc have: the linker keeps one copy of each.
#include <cstdio>
#include <cstddef>

inline int counter;

inline int
next(int by)
{
	static int calls;

	calls++;
	return counter += by * calls;
}

template <typename T, int N> struct stack {
	T at[N];
	int n = 0;

	void push(T v) { if (n < N) at[n++] = v; }
	T pop() { return n > 0 ? at[--n] : T(); }
	template <typename F> T fold(F f, T v = T()) const { for (int i = 0; i < n; i++) v = f(v, at[i]); return v; }
};

struct shape {
	int x;
	explicit shape(int a) : x(a) { counter++; }
	virtual ~shape() { counter--; }
	virtual long area() const { return x; }
	virtual const char *name() const = 0;
};

struct square : shape {
	explicit square(int a) : shape(a) {}
	long area() const override { return (long)x * x; }
	const char *name() const override { return "square"; }
};

struct named { virtual const char *tag() const { return "named"; } virtual ~named() {} };

struct both : square, named {
	both(int a) : square(a) {}
	const char *tag() const override { return x > 3 ? "big" : "small"; }
};

shape *make(int);               // inline.2.cc
const named *tagged(int);
int elsewhere(int);
long sum(const stack<long, 40> &);
