/* A program whose answers are known: story [crash | abort | null] */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct account { int id; long balance; double rate; char name[16]; };

static struct account book[4];
static int watched;
static long total;

static long
factorial(long n)
{
	long below;

	if (n < 2)
		return 1;
	below = factorial(n - 1);
	return n * below;
}

static void
deposit(struct account *a, long amount)
{
	a->balance += amount;
	if (amount == 13)
		watched = a->id;	/* the line that wrote it last */
	total += amount;
}

static double
interest(const struct account *a)
{
	double factor = a->rate / 100;
	double result = (double)a->balance * factor;

	return result;
}

static void
on_usr1(int sig)
{
	total += sig;
}

int
main(int argc, char **argv)
{
	int *none = NULL;
	double sum = 0;

	for (int i = 0; i < 4; i++) {
		book[i] = (struct account){ i + 1, 100 * i, 1.5 + i, "" };
		snprintf(book[i].name, sizeof book[i].name, "account %d", i);
	}
	for (long k = 1; k <= 40; k++)
		deposit(&book[k % 4], k);
	for (int i = 0; i < 4; i++)
		sum += interest(&book[i]);
	signal(SIGUSR1, on_usr1);
	raise(SIGUSR1);
	printf("%ld %ld %.3f\n", total, factorial(10), sum);
	fflush(stdout);
	if (argc > 1 && strcmp(argv[1], "abort") == 0)
		abort();
	if (argc > 1 && strcmp(argv[1], "crash") == 0)
		*none = watched;	/* the crash */
	watched = 7;
	return 3;
}
