/*
 * Gaussian elimination with partial pivoting, in doubles.
 * big: 2300
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static double **
matrix(int n)
{
	double **a = malloc(n * sizeof *a);
	unsigned r = 7;

	for (int i = 0; i < n; i++) {
		a[i] = malloc((n + 1) * sizeof **a);
		for (int k = 0; k <= n; k++) {
			r = r * 1103515245u + 12345u;
			a[i][k] = (r >> 16) / 65536.0 - 0.5;
		}
	}
	return a;
}

static void
eliminate(double **a, int n)
{
	for (int k = 0; k < n; k++) {
		int p = k;
		double *t;

		for (int i = k + 1; i < n; i++)
			if (fabs(a[i][k]) > fabs(a[p][k]))
				p = i;
		t = a[k], a[k] = a[p], a[p] = t;
		for (int i = k + 1; i < n; i++) {
			double f = a[i][k] / a[k][k];

			for (int c = k; c <= n; c++)
				a[i][c] -= f * a[k][c];
		}
	}
}

static void
substitute(double **a, double *x, int n)
{
	for (int i = n - 1; i >= 0; i--) {
		double s = a[i][n];

		for (int k = i + 1; k < n; k++)
			s -= a[i][k] * x[k];
		x[i] = s / a[i][i];
	}
}

int
main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 18;
	double **a = matrix(n), *x = malloc(n * sizeof *x), s = 0;

	eliminate(a, n);
	substitute(a, x, n);
	for (int i = 0; i < n; i++)
		s += fabs(x[i]);
	printf("%.6g\n", s);
	for (int i = 0; i < n; i++)
		free(a[i]);
	free(a);
	free(x);
	return 0;
}
