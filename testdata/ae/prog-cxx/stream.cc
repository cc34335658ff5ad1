/* Streams of the library with a buffer of ours, whose functions the library calls and which throw; shared pointers. */
#include <iostream>
#include <list>
#include <memory>
#include <optional>
#include <sstream>
#include <streambuf>
#include <variant>

struct full { int at; };

class small : public std::streambuf {
	char text[16];
	int lines = 0;
protected:
	int overflow(int c) override
	{
		if (++lines > 3)
			throw full{lines};
		for (char *p = pbase(); p < pptr(); p++)
			sum += *p * lines;
		setp(text, text + sizeof text - lines);
		return c == EOF ? c : sputc((char)c);
	}
public:
	long sum = 0;
	small() { setp(text, text + sizeof text); }
};

struct item {
	int n;
	std::shared_ptr<item> next;
	std::weak_ptr<item> self;
	~item() { count += n; }
	static int count;
};
int item::count;

int
main()
{
	small b;
	std::ostream out(&b);
	std::istringstream in("12 x 40 7");
	std::list<std::variant<int, std::string>> all;
	std::shared_ptr<item> head;
	std::optional<long> last;

	out.exceptions(std::ios::badbit);
	for (int i = 0; i < 9; i++) {
		try {
			out << "line " << i << ' ' << 1.5 * i << '\n';
			out.flush();
		} catch (const full &f) {
			last = f.at * 100 + i;
			out.clear();
		}
		head = std::make_shared<item>(item{i, head, {}});
		head->self = head;
	}
	in.exceptions(std::ios::failbit);
	for (int i = 0; i < 4; i++) {
		int n = 0;
		std::string s;

		try {
			in >> n;
			all.emplace_back(n);
		} catch (const std::ios::failure &) {
			in.clear();
			in >> s;
			all.emplace_back(s);
		}
	}
	for (const auto &v : all)
		if (const int *n = std::get_if<int>(&v))
			b.sum += *n;
		else
			try {
				b.sum += std::get<int>(v);
			} catch (const std::bad_variant_access &) {
				b.sum += (long)std::get<std::string>(v).size();
			}
	std::weak_ptr<item> w = head;
	head.reset();
	std::cout << b.sum << ' ' << last.value_or(1) << ' ' << w.expired() << ' ' << item::count << std::endl;
	return 0;
}
