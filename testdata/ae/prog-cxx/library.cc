/* The library's containers and algorithms, with comparisons, lambdas and virtual functions of ours. */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <typeinfo>
#include <vector>

struct node {
	std::string name;
	std::vector<std::unique_ptr<node>> sub;
	explicit node(std::string n) : name(std::move(n)) {}
	virtual ~node() = default;
	virtual int weight() const { int w = 1; for (auto &s : sub) w += s->weight(); return w; }
};

struct leaf : node {
	using node::node;
	int weight() const override { return (int)name.size(); }
};

static std::unique_ptr<node>
grow(int depth, const std::string &at)
{
	if (depth == 0)
		return std::make_unique<leaf>(at);
	auto n = std::make_unique<node>(at);
	for (char c = 'a'; c < 'a' + depth; c++)
		n->sub.push_back(grow(depth - 1, at + c));
	return n;
}

static int
descending(const void *a, const void *b)
{
	return *(const int *)b - *(const int *)a;
}

int
main()
{
	std::map<std::string, int> seen;
	std::vector<int> v;
	std::string all;
	unsigned x = 1;

	for (int i = 0; i < 60; i++) {
		x = x * 1103515245 + 12345;
		v.push_back((int)(x >> 16 & 1023));
		seen[std::to_string(v.back() % 17)] += i;
	}
	std::sort(v.begin(), v.end(), [](int a, int b) { return a % 100 < b % 100 || (a % 100 == b % 100 && a < b); });
	for (int i : v)
		all += std::to_string(i) + ' ';
	puts(all.c_str());
	qsort(v.data(), v.size(), sizeof v[0], descending);
	std::function<int(int)> add = [&](int i) { return i ? add(i - 1) + v[(size_t)i] : 0; };
	printf("%d %d\n", v[0], add(20));
	for (const auto &[k, n] : seen)
		printf("%s:%d ", k.c_str(), n);
	auto tree = grow(3, "t");
	const node &first = *tree->sub[0]->sub[0]->sub[0];
	printf("\n%d %s\n", tree->weight(), typeid(first).name());
	return 0;
}
