/*
 * The form of bidirectionally compressed values on disk, and the block methods that use it.
 *
 *   tbits (1 byte; 0 for last n)
 *   width of a symbol in bits, 0 to 64; plus 0x80 if the body is a zstd frame
 *   base: as many bytes as a value, lowest first
 *   body
 *
 * A body has three parts. FCM, at the right end: flags of all entries of FR, those of the left
 * extension first, 1 for <T>, eight in a byte from the lowest bit on; the v of entries with flag 0
 * in the same order; then flags of the entries of FRTB that are not 0, and these entries. Last n,
 * at the left end: flags of all entries; the index of each <T>, log2 n bits, packed likewise; the v
 * of the others. Bits after the last one are 0. Symbols are stored in planes of bytes: the lowest
 * bytes of all, the next ones...
 *
 * base is the smallest value; a symbol is the difference to it. For strides, base is the value at
 * that end: the last one (FCM), or the first one (last n; its stride is 0); a symbol is the stride
 * s as 2s (s >= 0) or -2s - 1.
 */
#include "codec/bidi/bidi_internal.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/bytes.h"
#include "codec/column/method.h"

#define SQUEEZED 0x80u  /* flag in the width byte: the body is a zstd frame */
#define LEVEL 19
#define TBITS_SAVED 14

uint8_t *
bidi_encode_bits(uint8_t *p, const uint64_t *a, size_t n)
{
	for (size_t i = 0; i < n; i += 8) {
		unsigned byte = (unsigned)(a[i / 64] >> i % 64 & 0xff);

		*p++ = (uint8_t)(n - i < 8 ? byte & ((1u << (n - i)) - 1) : byte);
	}
	return p;
}

int
bidi_decode_bits(uint64_t *a, const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i += 8)
		a[i / 64] |= (uint64_t)*p++ << i % 64;
	return n % 8 && p[-1] >> n % 8 ? -1 : 0;
}

size_t
bidi_ones(const uint64_t *a, size_t n)
{
	size_t ones = 0;

	for (size_t i = 0; i < n / 64; i++)
		ones += (size_t)__builtin_popcountll(a[i]);
	if (n % 64)
		ones += (size_t)__builtin_popcountll(a[n / 64] << (64 - n % 64));
	return ones;
}

/* Appends entries and table after the head, which is at `at`; compressed by zstd if that is smaller. */
static int
save_body(const struct bidi *b, int level, struct buf *out, size_t at)
{
	size_t room = b->how->engine->bound(b), n, c = 0;
	uint8_t *raw = malloc(room), *p;

	if (!raw)
		return -1;
	n = (size_t)(b->how->engine->save(b, raw) - raw);
	p = buf_reserve(out, ZSTD_compressBound(n));
	if (p && level)
		c = ZSTD_compress(p, ZSTD_compressBound(n), raw, n, level);
	if (p && (c == 0 || ZSTD_isError(c) || c >= n))
		memcpy(p, raw, n);
	else if (p)
		out->p[at + 1] |= SQUEEZED;
	if (p)
		out->n += out->p[at + 1] & SQUEEZED ? c : n;
	free(raw);
	return p ? 0 : -1;
}

/* On disk a table costs only its used entries, and half of what it costs in memory. */
static unsigned
bidi_disk_suitable(size_t n)
{
	unsigned t = 2;

	while (t < TBITS_SAVED && (size_t)16 << (t + 1) <= n)
		t++;
	return t;
}

int
bidi_save(enum bidi_method m, const uint64_t *v, size_t n, unsigned width, unsigned tbits, int level,
    struct buf *out)
{
	struct bidi *b = bidi_feed(m, v, n, tbits ? tbits : bidi_disk_suitable(n));
	size_t at = out->n;
	uint64_t base;
	int r;

	if (!b)
		return -1;
	base = b->how->stride && !b->how->engine->at_left ? b->cur : b->base;
	if (b->how->engine->at_left)
		b->how->engine->rewind(b);
	buf_u8(out, (uint8_t)b->tbits);
	buf_u8(out, (uint8_t)b->s.width);
	for (unsigned k = 0; k < width; k++)
		buf_u8(out, (uint8_t)(base >> 8 * k));
	r = out->nomem ? -1 : save_body(b, level, out, at);
	bidi_close(b);
	if (r != 0)
		out->n = at;
	return r;
}

/* Reads the body of len bytes at p into b. */
static int
load_body(struct bidi *b, const uint8_t *p, size_t len, int squeezed, const char **err)
{
	unsigned long long n;
	uint8_t *raw;
	int r = -1;

	*err = "its entries and its table have not the length that they say";
	if (!squeezed)
		return b->how->engine->load(b, p, len);
	n = ZSTD_getFrameContentSize(p, len);
	/* both error values of zstd are larger */
	if (n > b->how->engine->bound(b))
		return -1;
	raw = malloc((size_t)n + 1);
	if (!raw) {
		*err = NULL;
		return -1;
	}
	if (ZSTD_decompress(raw, (size_t)n, p, len) != n)
		*err = "zstd cannot decompress it";
	else
		r = b->how->engine->load(b, raw, (size_t)n);
	free(raw);
	return r;
}

static struct bidi *
bidi_load_end(enum bidi_method m, const uint8_t *p, size_t len, size_t n, unsigned width, const char **err)
{
	int tables = !bidi_hows[m].engine->at_left;
	struct bidi *b;

	*err = "its head cannot be";
	if (len < 2 + width || (p[1] & ~SQUEEZED) > 64 || (tables ? p[0] < 1 || p[0] > BIDI_TBITS_MAX : p[0]))
		return NULL;
	*err = NULL;
	b = calloc(1, sizeof *b);
	if (!b)
		return NULL;
	b->how = &bidi_hows[m];
	b->count = n;
	b->tbits = p[0];
	b->cur = b->base = get_le(p + 2, width);
	if (bidi_setup(b, p[1] & ~SQUEEZED) == 0 &&
	    load_body(b, p + 2 + width, len - 2 - width, p[1] & SQUEEZED, err) == 0)
		return b;
	bidi_close(b);
	return NULL;
}

/* The next n values from the end that was loaded, in the order in which they are passed; -1: impossible. */
static int
bidi_disk_pass(struct bidi *b, uint64_t *v, size_t n, unsigned width)
{
	uint64_t all = 0;

	if (b->how->engine->at_left)
		bidi_read(b, v, n);
	else
		bidi_back(b, v, n);
	for (size_t i = 0; i < n; i++)
		all |= v[i];
	return width < 8 && all >> 8 * width ? -1 : 0;
}

/* Steps over the extension of the right end, if b is there. */
static int
bidi_disk_enter(struct bidi *b)
{
	uint64_t sym[3] = { 0 };

	if (!b->how->engine->at_left)
		b->bwd(b, sym, b->how->ctx);
	return sym[0] | sym[1] | sym[2] ? -1 : 0;
}

struct bidi *
bidi_load(enum bidi_method m, const uint8_t *p, size_t len, size_t n, unsigned width, const char **err)
{
	struct bidi *b = bidi_load_end(m, p, len, n, width, err);
	uint64_t v[256];
	int bad;

	if (!b)
		return NULL;
	bad = bidi_disk_enter(b);
	for (size_t i = 0, k; i < n && !bad; i += k) {
		k = n - i < 256 ? n - i : 256;
		bad = bidi_disk_pass(b, v, k, width);
	}
	bidi_seek(b, 0);
	if (!bad && b->how->engine->clean(b)) {
		b->how->engine->rewind(b);
		return b;
	}
	*err = "no values have such entries";
	bidi_close(b);
	return NULL;
}

static int
bidi_disk_encode(enum bidi_method m, const struct vc_col *col, struct buf *out)
{
	return bidi_save(m, col->v, col->n, col->width, 0, LEVEL, out);
}

static int
bidi_disk_decode(enum bidi_method m, const struct vc_col *col, const uint8_t *p, size_t len, uint64_t *v,
    const char **err)
{
	struct bidi *b = bidi_load_end(m, p, len, col->n, col->width, err);
	int bad;

	if (!b) {
		if (!*err)
			*err = "no memory";
		return -1;
	}
	bad = bidi_disk_enter(b) || bidi_disk_pass(b, v, col->n, col->width);
	if (!b->how->engine->at_left) {
		bad = bad || !b->how->engine->clean(b);
		for (size_t i = 0, k = col->n; i + 1 < k--; i++) {
			uint64_t t = v[i];

			v[i] = v[k];
			v[k] = t;
		}
	}
	bidi_close(b);
	if (bad)
		*err = "no values have such entries";
	return bad ? -1 : 0;
}

#define BIDI_METHOD(id, name, engine, context, stride, what) \
	int vc_##name##_enc(struct vc_work *w, const struct vc_prime *prime, const struct vc_col *col, \
	    struct buf *out) \
	{ \
		(void)w, (void)prime; \
		return bidi_disk_encode(BIDI_##id, col, out); \
	} \
	int vc_##name##_dec(struct vc_work *w, const struct vc_prime *prime, const struct vc_col *col, \
		const uint8_t *p, size_t len, uint64_t *v, const char **err) \
	{ \
		(void)w, (void)prime; \
		return bidi_disk_decode(BIDI_##id, col, p, len, v, err); \
	}
#include "codec/bidi/method.def"
