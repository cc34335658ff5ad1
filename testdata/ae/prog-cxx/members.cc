/* Virtual bases, pointers to members, operators, casts; exceptions of constructors, destructors and try blocks of functions. */
#include <cstdio>
#include <new>
#include <typeinfo>

static int made, table[32];

struct root {
	int id;
	explicit root(int i) : id(i) { made++; }
	virtual ~root() { made--; }
	virtual int value() const { return id; }
	int twice() const { return 2 * id; }
};

struct left : virtual root {
	int l[3];
	explicit left(int i) : root(i) { for (int k = 0; k < 3; k++) l[k] = i + k; }
	int value() const override { return l[id % 3]; }
};

struct right : virtual root {
	long r;
	explicit right(int i) : root(i), r(i * 100L) { if (i % 4 == 3) throw r; }
	virtual long size() const { return r; }
};

struct bottom : left, right {
	bottom(int i) try : root(i), left(i), right(i) { if (i % 5 == 4) throw i; } catch (long n) { table[n % 32]++; }
	~bottom() override { table[id & 31] += 3; }
	int value() const override { return left::value() + (int)size(); }
	long size() const override { return r + 1; }
};

struct loud {
	int n;
	~loud() noexcept(false) { if (n > 0) throw n; }
};

struct number {
	long v;
	number operator+(const number &o) const { return number{v + o.v}; }
	number &operator+=(int i) { v += table[i & 31]; return *this; }
	explicit operator bool() const { return v % 3 != 0; }
	void *operator new(std::size_t n, int where) { table[where]++; return ::operator new(n); }
	void operator delete(void *p, int) { ::operator delete(p); }
	void operator delete(void *p) { ::operator delete(p); }
};

struct fails : number {
	fails(int i) : number{i} { if (i & 1) throw *this; }
};

template <typename... T> static long
total(T... v)
{
	return (0L + ... + v);
}

int
main()
{
	int (root::*const call[])() const = { &root::value, &root::twice };
	int number[8] = { 0 };
	long sum = 0;

	for (int i = 0; i < 12; i++) {
		root *p = nullptr;

		try {
			p = i % 3 ? new bottom(i) : static_cast<root *>(new left(i));
			sum += (p->*call[i & 1])() + total(i, 'a', 3L);
			if (right *r = dynamic_cast<right *>(p))
				sum += r->size();
			sum += dynamic_cast<bottom &>(*p).id;
		} catch (const std::bad_cast &) {
			number[i & 7]++;
		} catch (long n) {
			sum += table[n % 32];
		} catch (int n) {
			sum += number[n & 7] + n;
		}
		delete p;
		try {
			loud l = { i % 3 - 1 };
			sum += l.n;
		} catch (int n) {
			number[n] += i;
		}
		try {
			fails *f = new (i) fails(i);

			*f += i;
			sum += f->v;
			delete f;
		} catch (const ::number &n) {
			sum += (n + n).v + (n ? number[n.v & 7] : 0);
		}
	}
	printf("%ld %d %d %d\n", sum, made, number[1], table[3]);
	return 0;
}
