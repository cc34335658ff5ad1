/*
 * Coroutines, whose frames are on the heap, and exceptions out of them.
 *
 * link: -fcoroutines
 */
#include <coroutine>
#include <cstdio>
#include <exception>

struct series {
	struct promise_type {
		int value = 0;
		std::exception_ptr thrown;
		series get_return_object() { return series{std::coroutine_handle<promise_type>::from_promise(*this)}; }
		std::suspend_always initial_suspend() noexcept { return {}; }
		std::suspend_always final_suspend() noexcept { return {}; }
		std::suspend_always yield_value(int v) { value = v; return {}; }
		void return_void() {}
		void unhandled_exception() { thrown = std::current_exception(); }
	};
	std::coroutine_handle<promise_type> h;
	explicit series(std::coroutine_handle<promise_type> c) : h(c) {}
	series(const series &) = delete;
	~series() { h.destroy(); }
	bool next()
	{
		h.resume();
		if (h.promise().thrown)
			std::rethrow_exception(h.promise().thrown);
		return !h.done();
	}
};

static int table[16];

static series
count(int from, int to)
{
	int kept[4] = { from, to, 0, 0 };

	for (int i = from; i < to; i++) {
		kept[i & 3] += i;
		if (i == 11)
			throw kept[1];
		co_yield kept[i & 3] + table[i & 15]++;
	}
}

static series
both(int n)
{
	series a = count(0, n), b = count(n, 2 * n);

	while (a.next() && b.next())
		co_yield a.h.promise().value * b.h.promise().value;
}

int
main()
{
	long sum = 0;

	for (int n = 1; n < 9; n++)
		try {
			series s = both(n);

			while (s.next())
				sum += s.h.promise().value;
		} catch (int k) {
			sum += table[k & 15] * 1000;
		}
	printf("%ld\n", sum);
	return 0;
}
