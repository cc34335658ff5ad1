/*
 * .wet files that are small and claim much.
 *
 * wetbomb full FILE     a file of kind full without exceptions in its last segment, given columns of 2^25 of them, to standard output
 * wetbomb text          a file of kind text whose only section claims as many bytes
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/wet/col.h"
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
			put_le64(out + n - (len - 5 + 3 * zeros->n + 2) - WETFILE_SECTION + 8, len - 5 + 3 * zeros->n + 2);
		}
		off += WETFILE_SECTION + len;
	}
	return n;
}

int
main(int argc, char **argv)
{
	struct vc_work *w = vc_work_new(1);
	struct buf zeros = BUF_INIT;
	struct col c = { 0 };
	FILE *f = argc > 2 ? fopen(argv[2], "rb") : NULL;
	size_t n = WETFILE_HEADER;

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
