/*
 * The example of the seed paper's figure 1: a[i][j] = i + j, 100 x 100, n times.
 * big: 2000000
 */
#include <stdio.h>
#include <stdlib.h>

int a[100][100];

static void sub(int *x, int i);

int
main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1;
	long sum = 0;
	int i, k;

	for (k = 0; k < n; k = k + 1)
		for (i = 0; i < 100; i = i + 1)
			sub(a[i], i + (k & 1));
	for (i = 0; i < 100; i++)
		sum += a[i][i] * (i + 1L);
	printf("%ld\n", sum);
	return 0;
}

static __attribute__((noinline)) void
sub(int *x, int i)
{
	int j;

	for (j = 0; j < 100; j = j + 1)
		x[j] = i + j;
}
