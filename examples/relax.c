/* relax: heat in a rod, computed in place: which of the two loops could run in parallel? */
#include <stdio.h>

#define N 200

static double heat[N], step[N];

int
main(void)
{
	for (int t = 0; t < 100; t++) {
		heat[0] = 100;
		for (int i = 1; i < N - 1; i++)
			heat[i] = (heat[i - 1] + heat[i + 1]) / 2;
		for (int i = 1; i < N; i++)
			step[i] = heat[i] - heat[i - 1];
	}
	printf("%.3f %.3f\n", heat[N / 2], step[N / 2]);
	return 0;
}
