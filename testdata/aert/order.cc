/* Threads of C++ for order.t, as those of order.c */
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

static std::mutex lock;
static std::condition_variable more;
static volatile unsigned slot[4096], nslot, turn;

static __attribute__((noinline)) void put(unsigned me)
{
	unsigned n = nslot;

	slot[n] = me;
	nslot = n + 1;
}

static void body(unsigned me)
{
	for (unsigned i = 0; i < 100; i++) {
		std::unique_lock<std::mutex> held(lock);

		more.wait(held, [me] { return turn == me; });
		put(me);
		turn = (me + 1) % 4;
		more.notify_all();
	}
	try {
		std::lock_guard<std::mutex> held(lock);

		put(me);
		throw me;
	} catch (unsigned) {
		std::lock_guard<std::mutex> held(lock);

		put(me);
	}
}

int main()
{
	std::vector<std::thread> t;

	for (unsigned i = 0; i < 4; i++)
		t.emplace_back(body, i);
	for (auto &x : t)
		x.join();
	put(77);
	printf("%p 0x0 0x0 %u\n", (void *)slot, nslot);
	for (unsigned i = 0; i < nslot; i++)
		printf("%u\n", slot[i]);
	return 0;
}
