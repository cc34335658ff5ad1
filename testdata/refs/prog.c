/* A program with functions and lines to find */
#include <stdio.h>
#include <stdlib.h>

static int a[500];

static int
compare(const void *x, const void *y)
{
	return *(const int *)x - *(const int *)y;
}

__attribute__((noinline)) static long
sum(int n)
{
	long s = 0;

	for (int i = 0; i < n; i++)
		s += a[i]; /* the line */
	return s;
}

int
main(void)
{
	for (int i = 0; i < 500; i++)
		a[i] = (i * 379) % 501;
	qsort(a, 500, sizeof *a, compare);
	printf("%ld\n", sum(500));
	return 0;
}
