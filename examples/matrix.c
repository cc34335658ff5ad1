/* matrix: sums up a matrix by rows, and then by columns, which takes the same instructions but is hard on the cache. */
#include <stdio.h>

#ifndef N
#define N 256
#endif

static double m[N][N];

static double
rows(void)
{
	double sum = 0;

	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
			sum += m[i][j];
	return sum;
}

static double
columns(void)
{
	double sum = 0;

	for (int j = 0; j < N; j++)
		for (int i = 0; i < N; i++)
			sum += m[i][j];
	return sum;
}

int
main(void)
{
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
			m[i][j] = i - j + 1;
	printf("%.0f\n", rows());
	printf("%.0f\n", columns());
	return 0;
}
