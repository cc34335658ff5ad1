/*
 * seek FILE N: N times, go to a record of a file of bifcm(5) that is chosen at random and read it.  Prints the
 * milliseconds of CPU time that it took: the median, the mean, at most; the first two, which read the first block and make
 * the primers, are left out.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "codec/stream/stream.h"

static int
by_time(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

int
main(int argc, char **argv)
{
	int fd = argc == 3 ? open(argv[1], O_RDONLY) : -1;
	uint64_t v[VS_FIELDS], x = 88172645463325252u;
	double sum = 0, *ms;
	struct fault f = { 0 };
	struct vs_reader *r = fd < 0 ? NULL : vs_open(fd, &f);
	struct vs_cursor *c = r ? vs_cursor(r, &f) : NULL;
	long n = argc == 3 ? strtol(argv[2], NULL, 10) : 0;

	ms = n > 0 ? malloc((size_t)n * sizeof *ms) : NULL;
	if (!c || !vs_count(c) || !ms) {
		fprintf(stderr, "seek: %s\n", fd < 0 || n < 1 ? "usage: seek FILE N" : f.err);
		return 1;
	}
	for (long i = -2; i < n; i++) {
		double t = now();
		uint64_t to;

		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		to = i == -2 ? 0 : i == -1 ? vs_count(c) - 1 : x % vs_count(c);
		if (vs_seek(c, to) != 0 || vs_next(c, v, 1) != 1) {
			fprintf(stderr, "seek: %s\n", vs_cursor_fault(c)->err);
			return 1;
		}
		t = now() - t;
		if (i < 0)
			continue;
		ms[i] = t;
		sum += t;
	}
	qsort(ms, (size_t)n, sizeof *ms, by_time);
	printf("%.3f %.3f %.3f\n", ms[n / 2], sum / (double)n, ms[n - 1]);
	free(ms);
	vs_cursor_free(c);
	vs_close(r);
	return 0;
}
