/*
 * All solutions of n queens by backtracking.
 * big: 14
 */
#include <stdio.h>
#include <stdlib.h>

static int col[32], up[64], down[64], at[32];
static long solutions, sum;

static void
place(int row, int n)
{
	if (row == n) {
		solutions++;
		for (int i = 0; i < n; i++)
			sum = (sum * 31 + at[i]) % 1000003;
		return;
	}
	for (int c = 0; c < n; c++) {
		if (col[c] || up[row + c] || down[row - c + n])
			continue;
		col[c] = up[row + c] = down[row - c + n] = 1;
		at[row] = c;
		place(row + 1, n);
		col[c] = up[row + c] = down[row - c + n] = 0;
	}
}

int
main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 6;

	place(0, n);
	printf("%ld %ld\n", solutions, sum);
	return 0;
}
