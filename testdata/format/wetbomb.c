/*
 * .wet files that are small and claim much.
 *
 * wetbomb full FILE     a file of kind full without exceptions in its last segment, given columns of 2^25
 * of them, to standard output wetbomb text          a file of kind text whose only section claims as many
 * bytes wetbomb stmts FILE N  a file of kind full, and a last segment that has N more statements, each
 * with 64 ports for memory
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wet/model/column.h"
#include "wetmend.h"

#define N ((size_t)1 << 25)

static uint8_t in[1 << 20], out[2 << 20];

static void
section(size_t *n, uint32_t tag, const void *p, size_t len)
{
	memset(out + *n, 0, WETFILE_SECTION);
	put_le32(out + *n, tag);
	put_le64(out + *n + 8, len);
	memcpy(out + *n + WETFILE_SECTION, p, len);
	*n += WETFILE_SECTION + len;
}

/* Section DEP ends with five columns without values: three of them have 2^25 */
static size_t
full(size_t have, const struct buf *zeros)
{
	size_t off = WETFILE_HEADER, n = WETFILE_HEADER;

	memcpy(out, in, off);
	while (have - off >= WETFILE_SECTION) {
		uint64_t len = get_le64(in + off + 8);
		uint32_t tag = get_le32(in + off);

		if (tag == WETFILE_INDX)        /* the sections are looked for from the front then */
			break;
		memcpy(out + n, in + off, WETFILE_SECTION + len);
		n += WETFILE_SECTION + len;
		if (tag == WETFILE_DEP) {
			n -= 5;
			for (int i = 0; i < 3; i++, n += zeros->n)
				memcpy(out + n, zeros->p, zeros->n);
			n += 2;
			memset(out + n - 2, 0, 2);
			put_le64(out + n - (len - 5 + 3 * zeros->n + 2) - WETFILE_SECTION + 8,
			    len - 5 + 3 * zeros->n + 2);
		}
		off += WETFILE_SECTION + len;
	}
	return n;
}

static int
to_stdout(void *arg, const void *p, size_t n)
{
	(void)arg;
	return fwrite(p, 1, n, stdout) == n ? 0 : 5;
}

/* CODE: no strings, n statements, no paths */
static int
code(struct buf *b, struct vc_work *w, size_t n)
{
	static const uint8_t has[] = { 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0 };
	struct col c = { 0 };
	int bad = col_room(&c, n) != 0;

	for (unsigned i = 0; !bad && i < sizeof has; i++) {
		c.n = has[i] ? n : 0;
		for (size_t k = 0; k < c.n; k++)
			c.v[k] = i == 3 ? 64 : 0;
		bad = col_put(b, w, 1, &c, NULL) != 0;
	}
	col_free(&c);
	return bad ? -1 : 0;
}

/* The last segment again, with other code */
static int
stmts(const char *path, size_t n, struct vc_work *w)
{
	FILE *in_file = fopen(path, "rb");
	struct fault f;
	struct wetfile r;
	struct wetfile_writer *to = wetfile_create(to_stdout, NULL, WETFILE_FULL, &f);
	struct buf b = BUF_INIT;
	int bad = !in_file || !to || wetfile_open(&r, fileno(in_file), &f) != 0;

	for (size_t i = 0; !bad && i < r.nsection + 7; i++) {
		size_t k = i < r.nsection ? i : i - 7;

		bad = wetfile_load(&r, k, &b, &f) != 0;
		if (i == r.nsection) {
			b.n = 0;
			bad = bad || code(&b, w, n) != 0;
		}
		bad = bad || wetfile_put(to, r.section[k].tag, r.section[k].segment + (i >= r.nsection), b.p,
		    b.n) != 0;
	}
	bad = bad || wetfile_finish(to) != 0;
	buf_free(&b);
	wetfile_free(to);
	if (in_file) {
		wetfile_close(&r);
		fclose(in_file);
	}
	vc_work_free(w);
	return bad || fflush(stdout) != 0;
}

int
main(int argc, char **argv)
{
	struct vc_work *w = vc_work_new(1);
	struct buf zeros = BUF_INIT;
	struct col c = { 0 };
	FILE *f = argc > 2 ? fopen(argv[2], "rb") : NULL;
	size_t n = WETFILE_HEADER;

	if (w && argc == 4)
		return stmts(argv[2], strtoul(argv[3], NULL, 10), w);
	if (col_room(&c, N) != 0)
		return 2;
	memset(c.v, 0, N * sizeof *c.v);
	c.n = N;
	if (!w || col_put(&zeros, w, 1, &c, NULL) != 0)
		return 2;
	if (f)
		n = full(fread(in, 1, sizeof in, f), &zeros);
	else {
		memcpy(out, WETFILE_MAGIC, 8);
		out[8] = WETFILE_VERSION;
		out[10] = WETFILE_TEXT;
		section(&n, WETFILE_RAW, zeros.p, zeros.n);
	}
	mend(out, n);
	fwrite(out, 1, n, stdout);
	if (f)
		fclose(f);
	col_free(&c);
	buf_free(&zeros);
	vc_work_free(w);
	return fflush(stdout) != 0;
}
