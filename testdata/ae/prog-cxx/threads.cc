/*
 * Exceptions in threads: those of the initial one are traced, the others run the same functions untraced; only the output
 * is compared. Functions that begin with a call, or loop back to their very start, run untraced as copies of their own.
 *
 * link: -pthread
 * oracles: none
 */
#include <atomic>
#include <cstdio>
#include <stdexcept>
#include <thread>
#include <vector>

static std::atomic<int> left;

[[gnu::noinline]] static int
fail(int n)
{
	if (n % 3 == 0)
		throw std::runtime_error("three");
	if (n % 5 == 0)
		throw n;
	return n;
}

struct counted { ~counted() { left++; } };

[[gnu::noinline]] static int
first(int n)                            // begins with a call, whose exceptions it catches
{
	try {
		return fail(n) + 1;
	} catch (int k) {
		return k * 2;
	}
}

[[gnu::noinline]] static int
quiet(int n) noexcept(false)            // begins with a call
{
	return fail(n) + 1;
}

[[gnu::noinline]] static int
loop(volatile int *n)                   // jumps back to its very start
{
	do {
		try {
			(void)quiet(*n);
		} catch (int) {
			left++;
		}
	} while (--*n > 0);
	return 1;
}

static int
work(int from)
{
	int sum = 0;

	for (int i = from; i < from + 60; i++) {
		counted c;
		volatile int n = i % 2 + 1;

		try {
			sum += first(i);
			sum += quiet(i + 1);
			sum += loop(&n);
		} catch (const std::exception &e) {
			sum += e.what()[1] == 'h' ? 100 : 0;
		} catch (...) {
			sum += 1000;
		}
		std::vector<counted> v(2);
		try {
			fail(i);
		} catch (...) {
			sum--;
		}
	}
	return sum;
}

int
main()
{
	std::vector<std::thread> t;
	std::vector<int> sum(4);

	for (int i = 0; i < 4; i++)
		t.emplace_back([&sum, i] { sum[(size_t)i] = work(i); });
	int own = work(7);
	for (auto &x : t)
		x.join();
	for (int s : sum)
		own = own * 7 + s;
	printf("%d %d\n", own, left.load());
	return 0;
}
