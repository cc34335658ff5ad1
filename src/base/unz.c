/* Decompression, one step function for each format. See unz.h. */
#include "base/unz.h"

#include <bzlib.h>
#include <errno.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "base/diag.h"
#include "base/mem.h"

#define INSIZE (128u << 10)     /* larger if more was read to recognize the format */

/* Result of one step of a decoder. */
enum step { GOING, ENDED, BROKEN };

struct unz {
	enum unz_kind kind;
	unz_source *source;
	void *arg;
	uint8_t *in;            /* owned: size bytes */
	size_t size, pos, end;
	int eof;                /* the source has ended */
	int between;            /* at the start, or after the end of a member */
	const char *err;
	z_stream gz;
	bz_stream bz;
	lzma_stream xz;
	ZSTD_DStream *zstd;
};

enum unz_kind
unz_kind(const uint8_t *p, size_t n)
{
	if (n >= 3 && !memcmp(p, "\x1f\x8b\x08", 3))
		return UNZ_GZIP;
	if (n >= 10 && !memcmp(p, "BZh", 3) && p[3] >= '1' && p[3] <= '9' &&
	    (!memcmp(p + 4, "\x31\x41\x59\x26\x53\x59", 6) || !memcmp(p + 4, "\x17\x72\x45\x38\x50\x90", 6)))
		return UNZ_BZIP2;
	if (n >= 6 && !memcmp(p, "\xfd" "7zXZ", 6))
		return UNZ_XZ;
	if (n >= 4 &&
	    (!memcmp(p, "\x28\xb5\x2f\xfd", 4) || (p[0] >> 4 == 5 && !memcmp(p + 1, "\x2a\x4d\x18", 3))))
		return UNZ_ZSTD;
	return UNZ_NONE;
}

const char *
unz_refuse(const uint8_t *p, size_t n)
{
	static const char *const what[] = {
#define REFUSE(with) "compressed (" with "): decompress it first, as it is read at any place"
		[UNZ_GZIP] = REFUSE("gzip"), [UNZ_BZIP2] = REFUSE("bzip2"), [UNZ_XZ] = REFUSE("xz"),
		[UNZ_ZSTD] = REFUSE("zstd"),
#undef REFUSE
	};

	return what[unz_kind(p, n)];
}

/* Begins a member (zstd's decoder continues by itself). */
static int
unz_begin(struct unz *z)
{
	switch (z->kind) {
	case UNZ_GZIP:
		return inflateReset2(&z->gz, 16 + MAX_WBITS) == Z_OK ? 0 : -1;
	case UNZ_BZIP2:
		BZ2_bzDecompressEnd(&z->bz);
		memset(&z->bz, 0, sizeof(z->bz));
		return BZ2_bzDecompressInit(&z->bz, 0, 0) == BZ_OK ? 0 : -1;
	case UNZ_XZ:
		return lzma_stream_decoder(&z->xz, UINT64_MAX, 0) == LZMA_OK ? 0 : -1;
	default:
		return 0;
	}
}

struct unz *
unz_new(enum unz_kind kind, unz_source *source, void *arg, const uint8_t *head, size_t nhead)
{
	struct unz *z = xcalloc(1, sizeof(*z));
	int good = 1;

	z->kind = kind;
	z->source = source;
	z->arg = arg;
	z->between = 1;
	z->size = nhead > INSIZE ? nhead : INSIZE;
	z->in = xmalloc(z->size);
	memcpy(z->in, head, nhead);
	z->end = nhead;
	if (kind == UNZ_GZIP)
		good = inflateInit2(&z->gz, 16 + MAX_WBITS) == Z_OK;
	else if (kind == UNZ_BZIP2)
		good = BZ2_bzDecompressInit(&z->bz, 0, 0) == BZ_OK;
	else if (kind == UNZ_ZSTD)
		good = (z->zstd = ZSTD_createDStream()) != NULL;
	if (!good)
		die("out of memory");
	return z;
}

void
unz_free(struct unz *z)
{
	if (!z)
		return;
	if (z->kind == UNZ_GZIP)
		inflateEnd(&z->gz);
	else if (z->kind == UNZ_BZIP2)
		BZ2_bzDecompressEnd(&z->bz);
	else if (z->kind == UNZ_XZ)
		lzma_end(&z->xz);
	ZSTD_freeDStream(z->zstd);
	free(z->in);
	free(z);
}

static enum step
step_gzip(struct unz *z, uint8_t *p, size_t n, size_t *got)
{
	int r;

	z->gz.next_in = z->in + z->pos;
	z->gz.avail_in = (uInt)(z->end - z->pos);
	z->gz.next_out = p;
	z->gz.avail_out = (uInt)n;
	r = inflate(&z->gz, Z_NO_FLUSH);
	z->pos = z->end - z->gz.avail_in;
	*got = n - z->gz.avail_out;
	return r == Z_STREAM_END ? ENDED : r == Z_OK || r == Z_BUF_ERROR ? GOING : BROKEN;
}

static enum step
step_bzip2(struct unz *z, uint8_t *p, size_t n, size_t *got)
{
	int r;

	z->bz.next_in = (char *)z->in + z->pos;
	z->bz.avail_in = (unsigned)(z->end - z->pos);
	z->bz.next_out = (char *)p;
	z->bz.avail_out = (unsigned)n;
	r = BZ2_bzDecompress(&z->bz);
	z->pos = z->end - z->bz.avail_in;
	*got = n - z->bz.avail_out;
	return r == BZ_STREAM_END ? ENDED : r == BZ_OK ? GOING : BROKEN;
}

static enum step
step_xz(struct unz *z, uint8_t *p, size_t n, size_t *got)
{
	lzma_ret r;

	z->xz.next_in = z->in + z->pos;
	z->xz.avail_in = z->end - z->pos;
	z->xz.next_out = p;
	z->xz.avail_out = n;
	r = lzma_code(&z->xz, LZMA_RUN);
	z->pos = z->end - z->xz.avail_in;
	*got = n - z->xz.avail_out;
	return r == LZMA_STREAM_END ? ENDED : r == LZMA_OK || r == LZMA_BUF_ERROR ? GOING : BROKEN;
}

static enum step
step_zstd(struct unz *z, uint8_t *p, size_t n, size_t *got)
{
	ZSTD_inBuffer in = { z->in, z->end, z->pos };
	ZSTD_outBuffer out = { p, n, 0 };
	size_t r = ZSTD_decompressStream(z->zstd, &out, &in);

	z->pos = in.pos;
	*got = out.pos;
	return ZSTD_isError(r) ? BROKEN : r == 0 ? ENDED : GOING;
}

static enum step
unz_step(struct unz *z, uint8_t *p, size_t n, size_t *got)
{
	switch (z->kind) {
	case UNZ_GZIP:
		return step_gzip(z, p, n, got);
	case UNZ_BZIP2:
		return step_bzip2(z, p, n, got);
	case UNZ_XZ:
		return step_xz(z, p, n, got);
	default:
		return step_zstd(z, p, n, got);
	}
}

/* Reads more compressed bytes after those not used yet: 0, or -1. */
static int
unz_refill(struct unz *z)
{
	ssize_t k;

	memmove(z->in, z->in + z->pos, z->end - z->pos);
	z->end -= z->pos;
	z->pos = 0;
	if (z->eof || z->end == z->size)
		return 0;
	k = z->source(z->arg, z->in + z->end, z->size - z->end);
	if (k < 0) {
		z->err = strerror(errno);
		return -1;
	}
	z->eof = k == 0;
	z->end += (size_t)k;
	return 0;
}

/*
 * Between two members: 1 if another one begins, 0 at the end, -1 for anything else. Zeros are
 * skipped as padding (tapes, split files).
 */
static int
next_member(struct unz *z)
{
	size_t i;

	for (;;) {
		while (z->end - z->pos < 10 && !z->eof)
			if (unz_refill(z) < 0)
				return -1;
		if (z->pos == z->end)
			return 0;
		if (unz_kind(z->in + z->pos, z->end - z->pos) == z->kind)
			return unz_begin(z) < 0 ? -1 : 1;
		for (i = z->pos; i < z->end; i++) {
			if (z->in[i]) {
				z->err = "garbage after the compressed data";
				return -1;
			}
		}
		z->pos = z->end;
	}
}

ssize_t
unz_read(struct unz *z, void *p, size_t n)
{
	size_t got = 0;
	enum step s;
	int r;

	if (n > 1u << 30)
		n = 1u << 30;
	while (!z->err) {
		if (z->between) {
			r = next_member(z);
			if (r < 0)
				break;
			if (!r)
				return 0;
			z->between = 0;
		}
		if (z->pos == z->end && unz_refill(z) < 0)
			break;
		s = unz_step(z, p, n, &got);
		if (s == ENDED)
			z->between = 1;
		else if (s == BROKEN)
			z->err = "damaged compressed data";
		else if (!got && z->eof && z->pos == z->end)
			z->err = "truncated compressed data";
		if (got)
			return (ssize_t)got;
	}
	if (!z->err)
		z->err = "out of memory";
	return -1;
}

const char *
unz_error(const struct unz *z)
{
	return z->err;
}
