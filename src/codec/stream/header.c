/* Value streams: encoding and decoding of headers, block heads and numbers. */
#include <lzma.h>
#include <string.h>

#include "base/bytes.h"
#include "codec/stream/bytes_internal.h"
#include "codec/stream/stream_internal.h"

const uint8_t vs_magic[8] = { 0x89, 'T', 'M', 'B', 'I', 'F', '\r', '\n' };

int
vs_is_stream(const void *p, size_t n)
{
	return n >= sizeof vs_magic && memcmp(p, vs_magic, sizeof vs_magic) == 0;
}
const uint8_t vs_magic_end[4] = { 'B', 'I', 'F', 'e' };

uint32_t
vs_crc(const uint8_t *p, size_t n, uint32_t crc)
{
	return lzma_crc32(p, n, crc);
}

static unsigned
log2_of(unsigned width)
{
	return width == 1 ? 0 : width == 2 ? 1 : width == 4 ? 2 : 3;
}

/* Most records of a block. */
static uint32_t
stream_most(const struct vs_options *o)
{
	uint32_t first = o->first ? o->first : o->block, max = o->block ? o->block : o->most ? o->most : VS_GROUP;

	max = first > max ? first : max;
	return o->group > max ? o->group : max;
}

void
vs_put_header(struct buf *b, const struct vs_options *o)
{
	uint32_t max = stream_most(o);
	size_t start = b->n;

	buf_add(b, vs_magic, sizeof(vs_magic));
	buf_le16(b, VS_VERSION);
	buf_le32(b, max);
	buf_le32(b, (uint32_t)o->nhead);
	buf_le16(b, 0);
	buf_u8(b, (uint8_t)o->layout.ref);
	buf_u8(b, (uint8_t)o->layout.nfield);
	for (unsigned i = 0; i < o->layout.nfield; i++)
		buf_u8(b, (uint8_t)(log2_of(o->layout.width[i]) | o->layout.key[i] << 2));
	buf_add(b, o->head, o->nhead);
	if (!b->nomem)
		buf_le32(b, vs_crc(b->p + start, b->n - start, 0));
}

size_t
vs_header_size(const uint8_t *p, const char **err)
{
	uint32_t nhead = get_le32(p + 14);

	*err = NULL;
	if (memcmp(p, vs_magic, sizeof(vs_magic)))
		*err = "not a value stream of bifcm(5)";
	else if (get_le16(p + 8) == VS_VERSION_OLD)
		*err = "a value stream of version 1, which only the older bifcm that made it can read";
	else if (get_le16(p + 8) < VS_VERSION_BLOCKS || get_le16(p + 8) > VS_VERSION)
		*err = "a value stream of an unknown version";
	else if (nhead > VS_HEAD_MAX || p[21] < 1 ||
	    p[21] > (get_le16(p + 8) <= VS_VERSION_FIELDS ? VS_FIELDS_OLD : VS_FIELDS))
		*err = "the header is damaged";
	return *err ? 0 : VS_HEADER + p[21] + nhead + 4;
}

int
vs_get_header(const uint8_t *p, size_t n, struct vs_info *i, const char **err)
{
	struct vs_layout *y = &i->layout;

	memset(i, 0, sizeof(*i));
	*err = "the header is damaged";
	if (vs_crc(p, n - 4, 0) != get_le32(p + n - 4))
		return -1;
	*err = "the header is not as it must be";
	i->block = get_le32(p + 10);
	i->nhead = get_le32(p + 14);
	y->nfield = p[21];
	i->version = get_le16(p + 8);
	i->whole = i->version > VS_VERSION_BLOCKS;
	if (!i->block || i->block > VC_MAX || get_le16(p + 18) || p[20] > 1)
		return -1;
	y->ref = p[20];
	for (unsigned c = 0; c < y->nfield; c++) {
		uint8_t k = p[VS_HEADER + c], old = i->version <= VS_VERSION_FIELDS;

		if (old && (k & 15) > 3)
			return -1;
		y->width[c] = (uint8_t)(1u << (k & 3));
		y->key[c] = old ? k >> 4 : k >> 2;
	}
	if (!vs_layout_valid(y))
		return -1;
	i->head = p + VS_HEADER + y->nfield;
	return 0;
}

/* Number of values of column c, as far as the head of a block says. */
static uint64_t
stream_values(const struct vs_info *i, const struct vs_bhead *h, size_t c)
{
	if (!i->layout.ref)
		return h->n;
	return c < 2 ? h->ninst : c == 2 ? h->ninst + 1 : h->n - h->ninst;
}

unsigned
vs_width(const struct vs_layout *y, size_t c)
{
	static const uint8_t ref[VS_REFCOLS] = { 8, 1, 4, 2, 8 };

	return y->ref ? ref[c] : y->width[c];
}

void
vs_encode_block_head(struct buf *b, const struct vs_info *i, const struct vs_bhead *h)
{
	buf_varint(b, h->whole ? 2 : h->n == h->before ? 1 : h->n + 2);
	if (h->whole) {
		buf_varint(b, h->n);
		buf_u8(b, (uint8_t)h->col[0].method);
		buf_varint(b, h->col[0].size);
		return;
	}
	if (i->layout.ref)
		buf_varint(b, h->ninst);
	for (size_t c = 0; c < vs_columns(&i->layout); c++) {
		if (!stream_values(i, h, c))
			continue;
		buf_u8(b, (uint8_t)h->col[c].method);
		buf_varint(b, h->col[c].size);
	}
}

/* The next number, at most max: 1; 0: too few bytes; -1. */
static int
stream_number(const uint8_t *p, size_t n, size_t *at, uint64_t max, uint64_t *v)
{
	const uint8_t *q = p + *at;
	enum varint got = varint_get(&q, p + n, v);

	if (got != VARINT_OK)
		return got == VARINT_CUT ? 0 : -1;
	*at = (size_t)(q - p);
	return *v > max ? -1 : 1;
}

/* The method and the length of a column of at most max bytes: 1; 0: too few bytes; -1. */
static int
stream_column(const uint8_t *p, size_t n, size_t *at, uint64_t max, struct vs_bhead *h, struct vs_stat *s)
{
	int k;

	if (*at == n)
		return 0;
	s->method = p[(*at)++];
	if ((k = stream_number(p, n, at, max, &s->size)) <= 0)
		return k;
	h->size += s->size;
	return 1;
}

/* Can a whole block of so many bytes have that method? */
static int
whole_method(const struct vs_info *i, uint64_t bytes, unsigned method)
{
	if (method == VS_BYTES)
		return i->version > VS_VERSION_BYTES && bytes <= BYTES_MAX;
	return method == VS_LZMA || method == VS_ZSTD;
}

/* What the head of a whole block says after its first number: 1; 0: too few bytes; -1. */
static int
whole_head(const uint8_t *p, size_t n, size_t *at, const struct vs_info *i, struct vs_bhead *h)
{
	uint64_t record = vs_record_size(&i->layout);
	int k = stream_number(p, n, at, VS_UNIT / record, &h->n);

	if (k <= 0)
		return k;
	h->whole = 1;
	h->ncol = 1;
	h->col[0].n = h->n;
	k = h->n ? stream_column(p, n, at, VS_WHOLE_MAX(h->n * record), h, &h->col[0]) : -1;
	return k > 0 && !whole_method(i, h->n * record, h->col[0].method) ? -1 : k;
}

/* The same of another block. */
static int
columns_head(const uint8_t *p, size_t n, size_t *at, const struct vs_info *i, struct vs_bhead *h,
    const char **err)
{
	int k;

	if (i->layout.ref && (k = stream_number(p, n, at, h->n, &h->ninst)) <= 0)
		return k;
	h->ncol = vs_columns(&i->layout);
	for (size_t c = 0; c < h->ncol; c++) {
		struct vs_stat *s = &h->col[c];

		s->n = stream_values(i, h, c);
		if (!s->n)
			continue;
		if ((k = stream_column(p, n, at, s->n * vs_width(&i->layout, c), h, s)) <= 0)
			return k;
		if (!vc_name(s->method)) {
			*err = "a method that is not known";
			return -1;
		}
	}
	return 1;
}

int
vs_decode_block_head(const uint8_t *p, size_t n, const struct vs_info *i, struct vs_bhead *h,
    const char **err)
{
	size_t at = 0;
	uint64_t v, before = h->before, least = i->whole ? 2 : 1;
	int k = stream_number(p, n, &at, i->block + least, &v);

	memset(h, 0, sizeof(*h));
	h->before = before;
	*err = "its head is not as it must be";
	if (k <= 0)
		return k;
	if (v == 2 && i->whole) {
		k = whole_head(p, n, &at, i, h);
	} else {
		h->n = v == 1 ? before : v - least;
		if (!v || !h->n || h->n > i->block || (v > 1 && h->n == before))
			return -1;
		k = columns_head(p, n, &at, i, h, err);
	}
	if (k <= 0)
		return k;
	h->len = at + 4;
	h->size += h->len;
	return n < h->len ? 0 : 1;
}

const char *
vs_method_name(unsigned method)
{
	return method == VS_LZMA ? "lzma" : method == VS_ZSTD ? "zstd" : method == VS_BYTES ? "bytes" : vc_name(method);
}
