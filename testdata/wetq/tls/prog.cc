// Thread-local variables, members of bits, references, members of classes and variables in namespaces
#include <pthread.h>

extern "C" {
extern __thread long far;
extern __thread int near;
long bump(long x);
}

namespace shop {
	thread_local int seen = 2;
	int total = 5;
	namespace { int quiet = 3; }
	enum Kind { LOW = -2, NONE, HIGH };
	struct Flags {
		unsigned open : 1;
		bool paid : 1;
		int level : 5;
		enum Kind kind : 3;
		unsigned long wide : 37;
		signed char tiny : 4;
		unsigned char after;
	};
	struct Base {
		int id;
		explicit Base(int i) : id(i) {}
	};
	class Cart : public Base {
	public:
		static int carts;
		static thread_local long adds;
		Flags flags;
		int count, price[4];
		Cart *next;
		explicit Cart(int i) : Base(i), flags(), count(0), price(), next(nullptr) { carts++; }
		void add(int p);
		int sum(const Cart &other) const;
	};
	int Cart::carts;
	thread_local long Cart::adds;

	__attribute__((noinline)) void
	Cart::add(int p)
	{
		static thread_local int calls = 7;

		price[count & 3] = p;
		count++;
		flags.level = -count;
		flags.open = 1;
		flags.paid = p & 1;
		flags.kind = p & 1 ? HIGH : LOW;
		flags.wide = 0x123456789ul * (unsigned)count;
		flags.tiny = (signed char)-p;
		flags.after = (unsigned char)p;
		adds += p;
		seen++;
		calls++;
		total += p;
		quiet = total + id;
		id++;
		far += calls;
		near ^= p;
	}

	__attribute__((noinline)) int
	Cart::sum(const Cart &other) const
	{
		int all = 0;

		for (int i = 0; i < 4; i++)
			all += price[i] - other.price[i];
		return all + flags.level + other.flags.tiny;
	}
}

template <class T> __attribute__((noinline)) static void
swap(T &a, T &b)
{
	T c = a;

	a = b;
	b = c;
}

static void *
work(void *p)
{
	shop::Cart *cart = static_cast<shop::Cart *>(p);

	cart->next->add(9);
	cart->flags.open = 0;
	bump(4);
	return p;
}

int
main()
{
	shop::Cart a(1), b(2);
	int x = 1, y = 2;
	pthread_t t;

	a.next = &b;
	for (int i = 0; i < 3; i++) {
		a.add(i);
		a.next->add(i * 2);
		swap(x, y);
		bump(i);
	}
	pthread_create(&t, nullptr, work, &a);
	pthread_join(t, nullptr);
	bump(1);
	return a.sum(b) & 1;
}
