/* Variables of many types, in registers, on the stack and nowhere: for wetq at and gdb */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum colour { RED, GREEN = 5, BLUE };
enum flag { A = 1, B = 2, C = 8 };
union both { int i; float f; unsigned char byte[4]; };
struct pair { short x, y; };
struct node {
	int value;
	struct node *next;
	const char *name;
	struct pair at[2];
	union both both;
	unsigned small : 3;
	int sign : 5;
	bool on : 1;
	enum colour colour;
	double weight;
	char text[12];
	int (*call)(int);
};

static int total;
volatile int sink;

__attribute__((noinline)) static int
twice(int x)
{
	int y = x + x;

	sink = y;
	return y + 1;
}

static inline __attribute__((always_inline)) int
mix(int a, int b)
{
	int low = a & 15, high = b * 16;

	sink += low;
	return low | high;
}

__attribute__((noinline)) static double
weigh(double w, float f, int n)
{
	double sum = 0;

	for (int i = 0; i < n; i++) {
		double part = w * i + f;

		sum += part;
		sink += (int)part;
	}
	return sum;
}

__attribute__((noinline)) static int
walk(const struct node *n, int depth)
{
	struct times { int by; } three = { 3 };         /* a type before what is inlined here */
	int here = n->value * three.by;
	static int calls;

	calls++;
	if (n->next) {
		int below = walk(n->next, depth + 1);

		sink = below;
		here += mix(below, depth);
	}
	total += here;
	return here;
}

__attribute__((noinline)) static unsigned long
text(const char *s, size_t n, char c)
{
	unsigned long h = 5381;
	char copy[8];

	for (size_t i = 0; i < n; i++) {
		unsigned char k = (unsigned char)s[i];

		copy[i % 8] = s[i];
		h = h * 33 + k + (unsigned char)c;
	}
	sink = copy[0];
	return h;
}

__attribute__((noinline)) static int
compare(const void *a, const void *b)
{
	int p = *(const int *)a, q = *(const int *)b;

	return (p > q) - (p < q);
}

int
main(int argc, char **argv)
{
	struct node third = { 3, NULL, "third", { { 1, 2 }, { 3, 4 } }, { 7 }, 5, -3, true, BLUE, 0.1, "in\tside", twice };
	struct node second = { 2, &third, "second", { { -1, 2 }, { 3, -4 } }, { -1 }, 1, 7, false, (enum colour)3, -1e300, "", NULL };
	struct node first = { 1, &second, "first one, with a name that is longer", { { 0, 0 }, { 9, 9 } }, { 0 }, 0, 0, true, RED,
		1.0 / 3, "twelve bytes", twice };
	int numbers[5] = { 5, 3, -9, 11, 0 }, matrix[2][3] = { { 1, 2, 3 }, { 4, 5, 6 } };
	enum flag flags = A | C;
	unsigned long long big = 0xfedcba9876543210ull;
	signed char c = '\n';
	long double wide = 2.5L;
	__int128 huge = -5;

	sink = argc + (argv != NULL) + (int)big + flags + c + (int)wide + (int)huge;
	qsort(numbers, 5, sizeof *numbers, compare);
	printf("%d %lu %g %d\n", walk(&first, 0), text(first.name, strlen(first.name), (char)c), weigh(1.5, 0.25f, 4),
	    numbers[0] + matrix[1][2] + twice(argc));
	return total == 0;
}
