/*
 * Loads and stores of variables of many kinds: parameters, locals, globals, members, elements, by pointers and callers.
 * There is no library: an instruction is an instance, and captures are small.
 */
enum colour { RED, GREEN = 5, BLUE };
struct point { short x, y; };
struct item {
	int value;
	struct item *next;
	struct point at[3];
	union { unsigned whole; unsigned char byte[4]; } both;
	unsigned small : 3, large : 20;
	enum colour colour;
	double weight;
	char text[8];
};

extern int elsewhere;
extern long table[3];
int shared(int x);

static struct item heap, first, second = { .value = 7, .next = &first };
static int grid[3][4];
int total;
volatile int sink;

__attribute__((noinline)) static void
fill(struct item *p, const char *s)
{
	int k = 0;

	for (; s[k] && k < 7; k++)
		p->text[k] = s[k];
	p->text[k] = '\0';
	p->value -= 9;
	p->at[1].y = (short)-k;
	p->both.byte[2] = (unsigned char)k;
	p->small = k & 7;
	p->colour = k & 1 ? BLUE : GREEN;
	p->weight = k * 0.5;
	p->next->next->value += k;
}

__attribute__((noinline)) static int
sum(const int *v, int n)
{
	int all = 0;

	for (int i = 0; i < n; i++) {
		int all2 = v[i] * 2;

		{
			int n = all2 - 1;

			sink = n;
		}
		all += all2;
	}
	return all;
}

static inline __attribute__((always_inline)) int
mix(int a, int b)
{
	int low = a & 15;

	sink += low;
	return low | b << 4;
}

__attribute__((noinline)) static void
back(int *to, long *other, int n)
{
	*to = n + 1;
	*other = -(long)n;
	if (n > 0) {
		int inner = n * 3;

		back(&inner, other, n - 1);
		*to += inner;
	}
}

int
main(int argc, char **argv)
{
	int list[5] = { 1, 2, 3, 4, 5 }, result = 0;
	struct item own = { .value = -3, .next = &second }, *p = &heap;
	long other = 0;

	(void)argv;
	*p = own;
	first.next = &second;
	p->next->next = &own;
	fill(p, "pencil");
	fill(&own, "ink");
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 4; j++)
			grid[i][j] = i * 10 + j - argc;
	total = sum(list, 5) + grid[2][1];
	back(&result, &other, 2);
	elsewhere = result;
	table[argc] = other + elsewhere;
	for (struct item *q = p; q && sink < 100000; q = q->next)
		sink += q->value + 30000;
	total += mix(result, (int)other) + shared(total);
	return total == 1;
}

void
_start(void)
{
	static char *none[1];

	__asm__ volatile ("and $-16, %rsp");
	main(1, none);
	__asm__ volatile ("syscall" :: "a" (231), "D" (0));
	for (;;)
		;
}
