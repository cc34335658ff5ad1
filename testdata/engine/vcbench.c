/*
 * Sizes and speeds of the methods of codec/column/block.h.
 *
 *	vcbench [-w width] [-r keywidth,width] [-H skip] [-p first] [-b block] [-l level] [-m method] [-k]
 *	[-n runs] file
 *
 * The file holds values of width bytes (8), or with -r records of a key and a
 * value; -H skips bytes before them, -k codes the keys of -r instead of the values.
 * The first block has -p values (all), the others -b (as vc_block_values says).  Without -m and -l:
 * every method.  A line each: values, coded bytes, bits a value, million
 * values a second of CPU time in and out, of the fastest of 3 (-n) runs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "codec/column/block.h"

static struct vc_col all;
static size_t first = SIZE_MAX, block;
static unsigned keywidth, width = 8;
static long skip;
static int keycol, runs = 3;
static size_t later;

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void
die(const char *what)
{
	fprintf(stderr, "vcbench: %s\n", what);
	exit(2);
}

static void
load(const char *path)
{
	FILE *f = fopen(path, "rb");
	struct buf b = BUF_INIT;
	size_t n, rec = keywidth + width;
	uint64_t *v, *key;

	if (!f || fseek(f, skip, SEEK_SET))
		die("cannot open the file");
	while (buf_reserve(&b, 1 << 20) && (n = fread(b.p + b.n, 1, 1 << 20, f)) > 0)
		b.n += n;
	fclose(f);
	n = b.n / rec;
	v = malloc((n + 1) * sizeof *v);
	key = malloc((n + 1) * sizeof *key);
	if (!v || !key || b.nomem)
		die("no memory");
	for (size_t i = 0; i < n; i++) {
		key[i] = get_le(b.p + i * rec, keywidth);
		v[i] = get_le(b.p + i * rec + keywidth, width);
	}
	all = (struct vc_col){ keycol ? key : v, keywidth &&
	    !keycol ? key : NULL, n, keycol ? keywidth : width, NULL };
	buf_free(&b);
}

static struct vc_col
part(size_t i, const uint64_t *v)
{
	size_t n = i ? later : first;

	n = n > VC_MAX ? VC_MAX : n;
	n = n > all.n - i ? all.n - i : n;
	return (struct vc_col){ v + i, all.key ? all.key + i : NULL, n, all.width, NULL };
}

struct coded { enum vc_method m; size_t n, len; };

/* One way: seconds, the bytes in out, or the values in v */
static double
pass(int dec, int method, int level, struct buf *out, struct coded *c, uint64_t *v, double *slow)
{
	struct vc_work *w = vc_work_new(2);
	struct vc_prime *prime = NULL;
	const char *err = "no error";
	double t = now();
	size_t at = 0, k = 0;

	*slow = 0;
	for (size_t i = 0; i < all.n; k++) {
		struct vc_col col = part(i, dec ? v : all.v);
		double t0 = now();

		if (dec) {
			if (vc_decode(w, prime, &col, c[k].m, out->p + at, c[k].len, v + i, &err))
				die(err);
			at += c[k].len;
		} else {
			c[k] = (struct coded){ method < 0 ? 0 : (enum vc_method)method, col.n, out->n };
			if (method < 0 ? vc_encode(w, prime, &col, level, &c[k].m, out)
			    : vc_encode_with(w, prime, &col, c[k].m, out))
				die("not encoded");
			c[k].len = out->n - c[k].len;
			if (!k)
				later = block ? block :
				    vc_block_values(level, c[k].n,
				    &(struct vc_coded){ c[k].m, c[k].n, c[k].len, col.width, 1 }, 1);
		}
		if (k && now() - t0 > *slow)
			*slow = now() - t0;
		i += col.n;
		if (!prime && i < all.n) {
			prime = vc_prime_make(w, &col);
			if (!prime)
				die("no memory");
		}
	}
	t = now() - t;
	vc_prime_free(prime);
	vc_work_free(w);
	return t;
}

static void
measure(const char *name, int method, int level)
{
	struct coded *c = malloc((all.n / 1024 + 2) * sizeof *c);
	uint64_t *v = malloc((all.n + 1) * sizeof *v);
	double in = 1e9, out = 1e9, t, slow;
	struct buf b = BUF_INIT;
	int count[64] = { 0 };

	for (int k = 0; k < runs; k++) {
		b.n = 0;
		t = pass(0, method, level, &b, c, v, &slow);
		in = t < in ? t : in;
		memset(v, 0, all.n * sizeof *v);
		t = pass(1, method, level, &b, c, v, &slow);
		out = t < out ? t : out;
		if (memcmp(v, all.v, all.n * sizeof *v))
			die("decoded values differ");
	}
	printf("%-10s %9zu values %9zu bytes %8.4f bits  in %6.1f out %6.1f M/s  block %5.1f ms ",
		name, all.n, b.n, 8.0 * (double)b.n / (double)all.n, (double)all.n / in / 1e6,
		    (double)all.n / out / 1e6, slow * 1e3);
	for (size_t i = 0, k = 0; method < 0 && i < all.n; i += c[k++].n)
		count[c[k].m & 63]++;
	for (unsigned m = 0; m < 64; m++)
		if (count[m])
			printf(" %s:%d", vc_name(m), count[m]);
	printf("\n");
	fflush(stdout);
	buf_free(&b);
	free(c);
	free(v);
}

int
main(int argc, char **argv)
{
	int o, level = -1, method = -1;

	while ((o = getopt(argc, argv, "w:r:H:p:b:l:m:n:k")) != -1)
		switch (o) {
		case 'w':
			width = (unsigned)atoi(optarg);
			break;
		case 'r':
			if (sscanf(optarg, "%u,%u", &keywidth, &width) != 2)
				die("-r keywidth,width");
			break;
		case 'H':
			skip = atol(optarg);
			break;
		case 'p':
			first = (size_t)atol(optarg);
			break;
		case 'b':
			block = (size_t)atol(optarg);
			break;
		case 'l':
			level = atoi(optarg);
			break;
		case 'm':
			method = vc_by_name(optarg);
			if (method < 0)
				die("no such method");
			break;
		case 'n':
			runs = atoi(optarg);
			break;
		case 'k':
			keycol = 1;
			break;
		default:
			return 2;
		}
	if (optind + 1 != argc || !first || (block && block < 1024))
		die("one file");
	load(argv[optind]);
	if (method >= 0) {
		measure(vc_name((unsigned)method), method, 0);
	} else if (level >= 0) {
		char name[24];

		snprintf(name, sizeof name, "level %d", level);
		measure(name, -1, level);
	} else {
		for (unsigned m = 0; m < 64; m++)
			if (vc_name(m))
				measure(vc_name(m), (int)m, 0);
	}
	free((void *)all.v);
	return 0;
}
