/* The plain decoder: METHODS of bifcm(5), in its order. */
#include <lzma.h>
#include <stdlib.h>
#include <zstd.h>

#include "plain_bidi.h"
#include "plain_cm.h"
#include "plain_bytes.h"
#include "plain_value.h"

static uint64_t
mask(unsigned w)
{
	return w == 8 ? UINT64_MAX : (1ull << 8 * w) - 1;
}

#include "plain_scaled.h"
#include "plain_units.h"

static void
stored(const uint8_t *p, size_t len, struct column *c)
{
	if (len != c->n * c->w)
		reject("stored: length");
	for (size_t i = 0; i < c->n; i++)
		for (unsigned k = 0; k < c->w; k++)
			c->v[i] |= (uint64_t)*p++ << 8 * k;
}

/* What kind of numbers methods 5 to 8 code: values, differences, signed differences, signed second ones */
static uint64_t
number_of_kind(unsigned kind, const uint64_t *v, size_t i, unsigned w)
{
	uint64_t d = v[i] - (kind && i ? v[i - 1] : 0);

	if (kind == 3 && i)
		d -= v[i - 1] - (i > 1 ? v[i - 2] : 0);
	d &= mask(w);
	if (kind < 2)
		return d;
	return d > mask(w) / 2 ? 2 * (mask(w) - d) + 1 : 2 * d;
}

/* The value from that number, and from those before it */
static uint64_t
value_of_kind(unsigned kind, uint64_t d, const uint64_t *v, size_t i, unsigned w)
{
	if (kind >= 2)
		d = d & 1 ? mask(w) - d / 2 : d / 2;
	if (kind == 3 && i)
		d += v[i - 1] - (i > 1 ? v[i - 2] : 0);
	return (d + (kind && i ? v[i - 1] : 0)) & mask(w);
}

/* The primer of a column, kept with it, for each kind */
static struct cm *
primer(struct column *first, unsigned kind)
{
	size_t from = first->n > 1048576 ? first->n - 1048576 : 0, N = first->n - from;
	struct cm *c = first->primer[kind];

	if (c)
		return c;
	c = first->primer[kind] = cm_new(N, N, first->k != NULL, first->w);
	for (size_t i = 0; i < N; i++)
		value(c, first->k ? first->k[from + i] : 0, number_of_kind(kind, first->v + from, i, first->w));
	return c;
}

static void
context_mixing(const uint8_t *p, size_t len, struct column *c, struct column *first, unsigned kind)
{
	struct cm *m = first ? cm_again(primer(first, kind), first->n + c->n) :
	    cm_new(c->n, c->n, c->k != NULL, c->w);

	/* an empty column is not a coder without bytes */
	m->r.p = len ? p : (const uint8_t *)"";
	m->r.len = len;
	m->r.R = UINT64_MAX;
	m->r.L = word(&m->r) << 32;
	m->r.L |= word(&m->r);
	for (size_t i = 0; i < c->n; i++) {
		uint64_t d = value(m, c->k ? c->k[i] : 0, 0);

		if (d & ~mask(c->w))
			reject("value");
		c->v[i] = value_of_kind(kind, d, c->v, i, c->w);
	}
	if (m->r.read < len)
		reject("bytes behind the last value");
	cm_done(m);
}

/* Layouts */
static void
layout(unsigned kind, const uint8_t *p, struct column *c)
{
	uint64_t *last = alloc(4096 * sizeof(*last)), none = 0;

	if (kind > 7 || (kind & 3) == 3 || ((kind & 3) == 2 && !c->k) || (kind & 4 && c->w == 1))
		reject("layout");
	for (size_t i = 0; i < c->n; i++) {
		uint64_t *before = (kind & 3) == 0 ? NULL : (kind & 3) == 1 ? &none :
		    &last[c->k[i] * 0x9e3779b97f4a7c15 >> 52];

		c->v[i] = 0;
		for (unsigned b = 0; b < c->w; b++)
			c->v[i] |= (uint64_t)p[kind & 4 ? b * c->n + i : i * c->w + b] << 8 * b;
		if (before)
			*before = c->v[i] = (c->v[i] + *before) & mask(c->w);
	}
	free(last);
}

static void
fast(const uint8_t *p, size_t len, struct column *c)
{
	size_t n = c->n * c->w;
	uint8_t *raw = alloc(n);

	if (len < 1 || ZSTD_decompress(raw, n, p + 1, len - 1) != n)
		reject("fast");
	layout(p[0], raw, c);
	free(raw);
}

/* The bytes of a layout of a column */
static void
bytes_of(unsigned kind, const struct column *c, uint8_t *p)
{
	uint64_t *last = alloc(4096 * sizeof(*last)), none = 0;

	for (size_t i = 0; i < c->n; i++) {
		uint64_t *before = (kind & 3) == 0 ? NULL : (kind & 3) == 1 ? &none :
		    &last[c->k[i] * 0x9e3779b97f4a7c15 >> 52];
		uint64_t d = c->v[i] - (before ? *before : 0);

		if (before)
			*before = c->v[i];
		for (unsigned b = 0; b < c->w; b++)
			p[kind & 4 ? b * c->n + i : i * c->w + b] = (uint8_t)(d >> 8 * b);
	}
	free(last);
}

static void
lz(const uint8_t *p, size_t len, struct column *c, const struct column *first)
{
	lzma_options_lzma o;
	lzma_filter f[2] = { { LZMA_FILTER_LZMA2, &o }, { LZMA_VLI_UNKNOWN, NULL } };
	size_t n = c->n * c->w, in = 1, out = 0, most = n < 1048576 / 4 ? 4 * n : 1048576;
	uint8_t *raw = alloc(n), *primer = alloc(1048576);
	struct column end = { 0 };

	if (len < 1 || p[0] > 7 || (p[0] & 3) == 3 || ((p[0] & 3) == 2 && !c->k) || (p[0] & 4 && c->w == 1) ||
	    lzma_lzma_preset(&o, 6))
		reject("lz");
	if (first) {
		size_t k = first->n < 1048576 / c->w ? first->n : 1048576 / c->w;

		end = (struct column){ .v = first->v + (first->n - k), .k = first->k ?
		    first->k + (first->n - k) : NULL, .n = k, .w = c->w };
		bytes_of(p[0], &end, primer);
		o.preset_dict_size = (uint32_t)(k * c->w < most ? k * c->w : most);
		o.preset_dict = primer + k * c->w - o.preset_dict_size;
	}
	n += first ? o.preset_dict_size : 0;
	o.dict_size = n < 4096 ? 4096 : n > 4194304 ? 4194304 : (uint32_t)n;
	n = c->n * c->w;
	if (lzma_raw_buffer_decode(f, NULL, p, &in, len, raw, &out, n) != LZMA_OK || in != len || out != n)
		reject("lz");
	layout(p[0], raw, c);
	free(raw);
	free(primer);
}

static void
decode(unsigned method, const uint8_t *p, size_t len, struct column *c, struct column *first)
{
	switch (method) {
	case 0:
		stored(p, len, c);
		break;
	case 3:
		fast(p, len, c);
		break;
	case 4:
		lz(p, len, c, first);
		break;
	case 5: case 6: case 7: case 8:
		context_mixing(p, len, c, first, method - 5);
		break;
	case 9:
		scaled(p, len, c, first);
		break;
	default:
		if (method < 32 || method > 43)
			reject("method");
		bidirectional(method - 32, p, len, c);
	}
}

/* The bytes of whole blocks */
static void
whole_lzma(const uint8_t *p, size_t len, uint8_t *raw, size_t n)
{
	lzma_options_lzma o = { .dict_size = 4096 };
	lzma_filter f[2] = { { LZMA_FILTER_LZMA2, &o }, { LZMA_VLI_UNKNOWN, NULL } };
	size_t in = 0, out = 0;
	uint32_t k = 4096;

	for (; k < n && k < 67108864; k *= 2)
		o.dict_size = 3 * k / 2 >= n ? 3 * k / 2 : 2 * k;
	if (lzma_raw_buffer_decode(f, NULL, p, &in, len, raw, &out, n) != LZMA_OK || in != len || out != n)
		reject("LZMA of a whole block");
}

static void
whole_zstd(const uint8_t *p, size_t len, uint8_t *raw, size_t n)
{
	uint8_t *frame = alloc(len + 4);

	memcpy(frame, "\x28\xb5\x2f\xfd", 4);
	memcpy(frame + 4, p, len);
	if (ZSTD_decompress(raw, n, frame, len + 4) != n)
		reject("zstd of a whole block");
	free(frame);
}
