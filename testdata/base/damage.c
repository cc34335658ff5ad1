/*
 * Every truncation and every flipped bit of a small compressed file or archive, read by in_open: `damage
 * FILE WANT [cut|same]` prints how many were refused, how many gave WANT all the same, how many were
 * taken for no compressed file, and how many gave something else without an error, or when cut, bytes
 * that WANT does not begin with (if enough to recognise an archive by).  same: also where, byte.bit.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/in.h"
#include "base/mem.h"

static uint8_t *want;
static size_t nwant;
static unsigned refused, same, plain, wrong;

static uint8_t *
slurp(const char *path, size_t *n)
{
	int fd = open(path, O_RDONLY);
	uint8_t *p = xmalloc(1 << 20);
	ssize_t k = read(fd, p, 1 << 20);

	if (k < 0)
		die_sys("%s", path);
	close(fd);
	*n = (size_t)k;
	return p;
}

/* 'r': refused; 's': the same; 'p': as it is; 'w': wrong.  file: its nfile bytes */
static int
judge(const char *path, const uint8_t *file, size_t nfile, int cut)
{
	struct in *in = in_open(path);
	const uint8_t *p;
	size_t n, got = 0, given = 0, asis = 0;
	int good = 1;

	while (p = in_peek(in, 1, &n), n) {
		given += n;
		good &= n <= nwant - got && !memcmp(p, want + got, n);
		got += good ? n : 0;
		if (asis + n <= nfile && !memcmp(p, file + asis, n))
			asis += n;
		in_skip(in, n);
	}
	n = in_error(in) && (good || !cut || given < 512) ? 'r' : good &&
	    got == nwant ? 's' : asis == nfile ? 'p' : 'w';
	in_close(in);
	refused += n == 'r';
	same += n == 's';
	plain += n == 'p';
	wrong += n == 'w';
	return (int)n;
}

int
main(int argc, char **argv)
{
	uint8_t *file;
	size_t nfile;
	char *path, *member;
	int fd = memfd_create("damaged", 0), list = argc > 3 && !strcmp(argv[3], "same");

	diag_init(argv[0], 1);
	if (argc < 3)
		die_usage("wanted: file want [cut|same]");
	member = strstr(argv[1], "//");
	path = xasprintf("/proc/self/fd/%d%s", fd, member ? member : "");
	if (member)
		*member = '\0';
	file = slurp(argv[1], &nfile);
	want = slurp(argv[2], &nwant);
	if (fd < 0 || pwrite(fd, file, nfile, 0) != (ssize_t)nfile || judge(path, file, nfile, 1) != 's')
		die("%s: is not read as %s", argv[1], argv[2]);
	same = 0;
	for (size_t i = 0; i < 8 * nfile && (argc < 4 || list); i++) {
		int r;

		file[i / 8] ^= (uint8_t)(1 << i % 8);
		if (pwrite(fd, file + i / 8, 1, (off_t)(i / 8)) != 1)
			die_sys("memory");
		r = judge(path, file, nfile, 0);
		if (list && (r == 's' || r == 'w'))
			printf("%zu.%zu:%c ", i / 8, i % 8, r);
		file[i / 8] ^= (uint8_t)(1 << i % 8);
		if (pwrite(fd, file + i / 8, 1, (off_t)(i / 8)) != 1)
			die_sys("memory");
	}
	for (size_t i = nfile; i-- > 0;) {
		int r;

		if (ftruncate(fd, (off_t)i) != 0)
			die_sys("memory");
		r = judge(path, file, i, 1);
		if (list && (r == 's' || r == 'w'))
			printf("cut %zu:%c ", i, r);
	}
	printf("%u refused, %u same, %u plain, %u wrong\n", refused, same, plain, wrong);
	free(path);
	free(file);
	free(want);
	return 0;
}
