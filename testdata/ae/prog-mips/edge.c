/*
 * Callbacks from untraced code, more than a buffer of events: edge N K sorts N times; K calls of rand shift the events,
 * so that for some K a word of an entry crosses the end of the buffer.
 * targets: mipsel mips
 * levels: none
 */
#include <stdio.h>
#include <stdlib.h>

static unsigned seed = 1;
static int v[3000];

static int
cmp(const void *a, const void *b)
{
	volatile int stack[4];

	stack[1] = *(const int *)b;
	return *(const int *)a - stack[1];
}

int
main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1;
	unsigned s = 0;

	for (int k = argc > 2 ? atoi(argv[2]) : 0; k > 0; k--)
		rand();
	while (n-- > 0) {
		for (int i = 0; i < 3000; i++)
			v[i] = (int)((seed = seed * 1103515245 + 12345) >> 8);
		qsort(v, 3000, sizeof *v, cmp);
		s = s * 31 + (unsigned)v[7];
	}
	printf("%u\n", s);
	return 0;
}
