/* Captures: compression of a stream. A stream that would not become smaller is stored. */
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "format/ws/ws_internal.h"

#define DICT_MIN 4096u
#define QUICK_MIN 1024u         /* bytes of a stream that quick compression is worth the time for */
/* with a dictionary as large as the stream; 9 takes longer and gains nothing */
#define LEVEL    6u
#define NICE     128u
#define DEPTH    24u            /* a third less time than the level's own depth, 0.05 % larger */

/* Parameters for each stream (literal context, literal position, position bits), as measured on captures. */
static const struct {
	uint8_t lc, lp, pb;
} tune[WS_NSTREAMS] = {
	[WS_S_CONTROL] = { 3, 0, 0 },
	[WS_S_DATA] = { 3, 0, 3 },
	[WS_S_CODE] = { 4, 0, 0 },
	[WS_S_KERNEL] = { 3, 0, 0 },
	[WS_S_HASH] = { 0, 2, 2 },
};

static uint32_t
ws_dictionary(size_t n)
{
	return n < DICT_MIN ? DICT_MIN : (uint32_t)n;
}

/* Bytes written to out, which has room for n - 1; 0 if that is not enough; -1 without memory. */
static long
pack_lzma(enum ws_stream s, const uint8_t *p, size_t n, uint8_t *out)
{
	lzma_options_lzma o;
	lzma_filter f[2] = { { LZMA_FILTER_LZMA2, &o }, { LZMA_VLI_UNKNOWN, NULL } };
	size_t used = 0;
	lzma_ret e;

	if (lzma_lzma_preset(&o, LEVEL))
		return -1;
	o.dict_size = ws_dictionary(n);
	o.nice_len = NICE;
	o.depth = DEPTH;
	o.lc = tune[s].lc;
	o.lp = tune[s].lp;
	o.pb = tune[s].pb;
	e = lzma_raw_buffer_encode(f, NULL, p, n, out, &used, n - 1);
	return e == LZMA_OK ? (long)used : e == LZMA_BUF_ERROR ? 0 : -1;
}

static long
pack_zstd(const uint8_t *p, size_t n, uint8_t *out, void **z)
{
	size_t k;

	if (!*z)
		*z = ZSTD_createCCtx();
	if (!*z)
		return -1;
	k = ZSTD_compressCCtx(*z, out, n - 1, p, n, 1);
	return ZSTD_isError(k) ? 0 : (long)k;
}

void
ws_pack_free(void *z)
{
	ZSTD_freeCCtx(z);
}

int
ws_pack(enum ws_level level, enum ws_stream s, const uint8_t *p, size_t n, struct buf *out, void **z)
{
	uint8_t *d;
	long k;

	out->n = 0;
	if (level == WS_PLAIN || n < (level == WS_QUICK ? QUICK_MIN : 2))
		return WS_NONE;
	d = buf_reserve(out, n);
	if (!d)
		return -1;
	k = level == WS_SMALL ? pack_lzma(s, p, n, d) : pack_zstd(p, n, d, z);
	if (k <= 0)
		return k ? -1 : WS_NONE;
	out->n = (size_t)k;
	return level == WS_SMALL ? WS_LZMA : WS_ZSTD;
}

static const char *
unpack_lzma(const uint8_t *p, size_t n, uint8_t *out, size_t nout)
{
	lzma_options_lzma o = { .dict_size = ws_dictionary(nout) };
	lzma_filter f[2] = { { LZMA_FILTER_LZMA2, &o }, { LZMA_VLI_UNKNOWN, NULL } };
	size_t in = 0, got = 0;
	lzma_ret e = lzma_raw_buffer_decode(f, NULL, p, &in, n, out, &got, nout);

	if (e == LZMA_MEM_ERROR)
		return "out of memory";
	return e == LZMA_OK && in == n && got == nout ? NULL : "damaged lzma data";
}

const char *
ws_unpack(unsigned method, const uint8_t *p, size_t n, uint8_t *out, size_t nout)
{
	size_t k;

	if (method == WS_LZMA)
		return unpack_lzma(p, n, out, nout);
	k = ZSTD_decompress(out, nout, p, n);
	return !ZSTD_isError(k) && k == nout ? NULL : "damaged zstd data";
}
