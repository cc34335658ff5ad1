/*
 * twelve: the paper's compressors on one stream of 64-bit words
 *
 *   twelve NAME FILE [LENGTHS]
 *
 * A line `M NAME method hits entries memory file read back next prev` for each: share of hits; bits a value of the
 * entries, of all that is in memory, and in a file (blocks of 2^18 values, zstd -3); millions of steps a second forward and
 * backward, many at once and one by one.  `S NAME method...`: what is selected by the entries of the first PREFIX
 * values, by memory, by file; then bits a value of the entries of the first, in memory of the second, in files of the third.
 *
 * LENGTHS: the stream is several ones behind each other, with so many values.  `W NAME streams values`, then how many
 * bits a value their entries take when each has the method selected by its first PREFIX values, and when it has the best;
 * then for each method how many the first way selects.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/bytes.h"
#include "base/diag.h"
#include "base/mem.h"
#include "codec/bidi/bidi.h"
#include "codec/column/block.h"

#define PREFIX 1024
#define BLOCK  (1u << 18)

static uint64_t *
words(const char *path, size_t *n)
{
	FILE *f = fopen(path, "r");
	size_t cap = 0;
	uint64_t *v = NULL;
	uint8_t b[8];

	if (!f)
		die("%s: cannot be read", path);
	for (*n = 0; fread(b, 8, 1, f) == 1; (*n)++) {
		v = mem_xgrow(v, &cap, *n + 1, sizeof *v);
		v[*n] = get_le64(b);
	}
	fclose(f);
	if (*n == 0)
		die("%s: no values", path);
	return v;
}

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Millions of steps a second of the four walks; the values must be right */
static void
speeds(struct bidi *b, const uint64_t *v, size_t n, double best[4])
{
	uint64_t got[4096], x;

	for (int run = 0; run < 3; run++) {
		double t[5];
		size_t i, k, wrong = 0;

		t[0] = now();
		for (i = 0; (k = bidi_read(b, got, 4096)) > 0; i += k)
			wrong += memcmp(got, v + i, k * sizeof *v) != 0;
		t[1] = now();
		while ((k = bidi_back(b, got, 4096)) > 0)
			wrong += got[k - 1] != v[bidi_tell(b)];
		t[2] = now();
		for (i = 0; bidi_next(b, &x); i++)
			wrong += x != v[i];
		t[3] = now();
		while (bidi_prev(b, &x))
			wrong += x != v[--i];
		t[4] = now();
		if (wrong || i)
			die("%s: other values come out", bidi_name(bidi_method(b)));
		for (int w = 0; w < 4; w++)
			if (best[w] < (double)n / (t[w + 1] - t[w]) / 1e6)
				best[w] = (double)n / (t[w + 1] - t[w]) / 1e6;
	}
}

/* Bytes in a file of blocks; level 0: as bifcm writes them */
static size_t
filed(enum bidi_method m, const uint64_t *v, size_t n, int level)
{
	struct vc_work *w = vc_work_new(1);
	struct buf out = BUF_INIT;
	int bad = w == NULL;

	for (size_t i = 0; i < n && !bad; i += BLOCK) {
		struct vc_col col = { v + i, NULL, n - i < BLOCK ? n - i : BLOCK, 8 };

		bad = level ? bidi_save(m, col.v, col.n, 8, 0, level, &out) :
		    vc_encode_with(w, NULL, &col, (enum vc_method)vc_by_name(bidi_name(m)), &out);
	}
	if (bad)
		die("%s: no block", bidi_name(m));
	n = out.n;
	buf_free(&out);
	vc_work_free(w);
	return n;
}

static void
whole(const char *name, const uint64_t *v, size_t n)
{
	double scale = 8.0 / (double)n, entries[BIDI_NMETHOD], memory[BIDI_NMETHOD];
	int first = bidi_pick(v, n, PREFIX, 0), least = 0, coded = 0;
	size_t file[BIDI_NMETHOD];

	for (enum bidi_method m = 0; m < BIDI_NMETHOD; m++) {
		struct bidi *b = bidi_open(m, v, n, 0);
		double t[4] = { 0 };
		struct bidi_stats s;

		if (!b || first < 0)
			die("no memory");
		bidi_stats(b, &s);
		speeds(b, v, n, t);
		bidi_close(b);
		entries[m] = (double)s.entry_bits / (double)n;
		memory[m] = (double)s.bytes * scale;
		file[m] = filed(m, v, n, 3);
		printf("M %s %s %.6f %.4f %.4f %.4f %.1f %.1f %.1f %.1f\n", name, bidi_name(m), (double)s.hits / (double)(s.hits + s.misses),
		    entries[m], memory[m], (double)file[m] * scale, t[0], t[1], t[2], t[3]);
		if (memory[m] < memory[least])
			least = (int)m;
		if (file[m] < file[coded])
			coded = (int)m;
	}
	printf("S %s %s %s %s %.4f %.4f %.4f\n", name, bidi_name(first), bidi_name(least), bidi_name(coded), entries[first], memory[least],
	    (double)filed(coded, v, n, 0) * scale);
}

static void
each(const char *name, const uint64_t *v, size_t n, const uint64_t *len, size_t nlen)
{
	uint64_t bits[2] = { 0 };
	size_t picked[BIDI_NMETHOD] = { 0 };

	for (size_t k = 0, i = 0; k < nlen && i + len[k] <= n; i += len[k++]) {
		int first = bidi_pick(v + i, len[k], PREFIX, 0), best = bidi_pick(v + i, len[k], len[k], 0);

		if (first < 0 || best < 0)
			die("no memory");
		picked[first]++;
		for (int way = 0; way < 2; way++) {
			struct bidi *b = bidi_open(way ? best : first, v + i, len[k], 0);
			struct bidi_stats s;

			if (!b)
				die("no memory");
			bidi_stats(b, &s);
			bits[way] += s.entry_bits;
			bidi_close(b);
		}
	}
	printf("W %s %zu %zu %.4f %.4f", name, nlen, n, (double)bits[0] / (double)n, (double)bits[1] / (double)n);
	for (enum bidi_method m = 0; m < BIDI_NMETHOD; m++)
		printf(" %zu", picked[m]);
	printf("\n");
}

int
main(int argc, char **argv)
{
	uint64_t *v, *len;
	size_t n, nlen;

	diag_init("twelve", 1);
	if (argc < 3)
		die("NAME FILE [LENGTHS]");
	v = words(argv[2], &n);
	whole(argv[1], v, n);
	if (argc > 3) {
		len = words(argv[3], &nlen);
		each(argv[1], v, n, len, nlen);
		free(len);
	}
	free(v);
	return 0;
}
