/*
 * seek FILE N: N times, go to a record of a file of bifcm(5) that is chosen at random and read it.  Prints the
 * milliseconds of CPU time that it took in the mean and at most; the first time, which makes the primer, is left out.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "engine/codec/stream.h"

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

int
main(int argc, char **argv)
{
	int fd = argc == 3 ? open(argv[1], O_RDONLY) : -1;
	uint64_t v[VS_FIELDS], x = 88172645463325252u;
	double sum = 0, most = 0;
	struct vs_fault f = { 0 };
	struct vs_reader *r = fd < 0 ? NULL : vs_open(fd, &f);
	struct vs_cursor *c = r ? vs_cursor(r, &f) : NULL;
	long n = argc == 3 ? strtol(argv[2], NULL, 10) : 0;

	if (!c || !vs_count(c) || n < 1) {
		fprintf(stderr, "seek: %s\n", fd < 0 ? "usage: seek FILE N" : f.err);
		return 1;
	}
	for (long i = -1; i < n; i++) {
		double t = now();

		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		if (vs_seek(c, x % vs_count(c)) != 0 || vs_next(c, v, 1) != 1) {
			fprintf(stderr, "seek: %s\n", vs_cursor_fault(c)->err);
			return 1;
		}
		t = now() - t;
		if (i < 0)
			continue;
		sum += t;
		most = t > most ? t : most;
	}
	printf("%.3f %.3f\n", sum / (double)n, most);
	vs_cursor_free(c);
	vs_close(r);
	return 0;
}
