/* A program that has misses of all kinds: it sorts, walks a matrix by columns, and reads at places that cross lines */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int number[6000];
static double matrix[96][96];
static char text[20000];

static int
compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

int
main(void)
{
	unsigned long sum = 0, v;

	for (int i = 0; i < 6000; i++)
		number[i] = i * 7919 % 6007;
	qsort(number, 6000, sizeof *number, compare);
	for (int j = 0; j < 96; j++)
		for (int i = 0; i < 96; i++)
			matrix[i][j] += number[i + j];
	for (size_t i = 0; i + 8 < sizeof text; i += 13) {
		memcpy(&v, text + i, 8);
		v += i;
		memcpy(text + i, &v, 8);
		sum += v;
	}
	printf("%lu %g\n", sum, matrix[5][7]);
	return 0;
}
