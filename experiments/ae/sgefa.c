/*
 * sgefa: Gaussian elimination as LINPACK does it: factor by columns with partial pivoting, solve, residual.  The inner
 * loop is an unrolled daxpy.
 *
 *   sgefa [n [times]]
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void
daxpy(int n, double a, const double *x, double *y)
{
	int i, m = n % 4;

	if (n <= 0 || a == 0)
		return;
	for (i = 0; i < m; i++)
		y[i] += a * x[i];
	for (i = m; i < n; i += 4) {
		y[i] += a * x[i];
		y[i + 1] += a * x[i + 1];
		y[i + 2] += a * x[i + 2];
		y[i + 3] += a * x[i + 3];
	}
}

static void
dscal(int n, double a, double *x)
{
	int i, m = n % 5;

	for (i = 0; i < m; i++)
		x[i] *= a;
	for (i = m; i < n; i += 5) {
		x[i] *= a;
		x[i + 1] *= a;
		x[i + 2] *= a;
		x[i + 3] *= a;
		x[i + 4] *= a;
	}
}

static int
idamax(int n, const double *x)
{
	int at = 0;
	double most = fabs(x[0]);

	for (int i = 1; i < n; i++)
		if (fabs(x[i]) > most) {
			most = fabs(x[i]);
			at = i;
		}
	return at;
}

static int
dgefa(double *a, int lda, int n, int *ipvt)
{
	int info = 0;

	for (int k = 0; k < n - 1; k++) {
		double *col = a + (long)k * lda, t;
		int l = idamax(n - k, col + k) + k;

		ipvt[k] = l;
		if (col[l] == 0) {
			info = k + 1;
			continue;
		}
		t = col[l], col[l] = col[k], col[k] = t;
		dscal(n - k - 1, -1 / col[k], col + k + 1);
		for (int j = k + 1; j < n; j++) {
			double *to = a + (long)j * lda;

			t = to[l];
			if (l != k) {
				to[l] = to[k];
				to[k] = t;
			}
			daxpy(n - k - 1, t, col + k + 1, to + k + 1);
		}
	}
	ipvt[n - 1] = n - 1;
	if (a[(long)(n - 1) * lda + n - 1] == 0)
		info = n;
	return info;
}

static void
dgesl(const double *a, int lda, int n, const int *ipvt, double *b)
{
	for (int k = 0; k < n - 1; k++) {
		int l = ipvt[k];
		double t = b[l];

		if (l != k) {
			b[l] = b[k];
			b[k] = t;
		}
		daxpy(n - k - 1, t, a + (long)k * lda + k + 1, b + k + 1);
	}
	for (int k = n; k-- > 0; ) {
		b[k] /= a[(long)k * lda + k];
		daxpy(k, -b[k], a + (long)k * lda, b);
	}
}

/* The matrix of the benchmark, and the sums of its rows: the solution is all ones */
static double
matgen(double *a, int lda, int n, double *b)
{
	int seed = 1325;
	double most = 0;

	for (int j = 0; j < n; j++)
		for (int i = 0; i < n; i++) {
			seed = 3125 * seed % 65536;
			a[(long)j * lda + i] = (seed - 32768.0) / 16384.0;
			if (a[(long)j * lda + i] > most)
				most = a[(long)j * lda + i];
		}
	for (int i = 0; i < n; i++)
		b[i] = 0;
	for (int j = 0; j < n; j++)
		for (int i = 0; i < n; i++)
			b[i] += a[(long)j * lda + i];
	return most;
}

int
main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 100, times = argc > 2 ? atoi(argv[2]) : 1, lda = n | 1, info = 0;
	double *a = malloc((size_t)lda * (size_t)n * sizeof *a), *b = malloc((size_t)n * sizeof *b), err = 0;
	int *ipvt = malloc((size_t)n * sizeof *ipvt);

	if (!a || !b || !ipvt)
		return 1;
	while (times-- > 0) {
		matgen(a, lda, n, b);
		info = dgefa(a, lda, n, ipvt);
		dgesl(a, lda, n, ipvt, b);
	}
	for (int i = 0; i < n; i++)
		if (fabs(b[i] - 1) > err)
			err = fabs(b[i] - 1);
	printf("n %d info %d %s\n", n, info, err < n * 1e4 * DBL_EPSILON ? "solved" : "NOT SOLVED");
	free(a);
	free(b);
	free(ipvt);
	return 0;
}
