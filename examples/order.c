/*
 * order: the price of an order, of lines "PRICE COUNT" in cents; who takes ten or more of one thing pays 90 percent.
 * There is a bug in it: what comes after such a line is too cheap as well.
 */
#include <stdio.h>

static long percent = 100;

static long
cost(long price, long count)
{
	if (count >= 10)
		percent = 90;
	return price * count * percent / 100;
}

int
main(void)
{
	long price, count, sum = 0;

	while (scanf("%ld %ld", &price, &count) == 2) {
		long item = cost(price, count);

		sum += item;
		printf("%8ld\n", item);
	}
	printf("%8ld in all\n", sum);
	return 0;
}
