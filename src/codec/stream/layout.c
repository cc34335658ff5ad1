/* Value streams: layouts; conversion of records to columns and back. See layout.h. */
#include "codec/stream/layout.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/num.h"

static int
valid_width(unsigned w)
{
	return w == 1 || w == 2 || w == 4 || w == 8;
}

int
vs_layout_valid(const struct vs_layout *y)
{
	if (y->nfield < 1 || y->nfield > VS_FIELDS || (y->ref && (y->nfield != 1 || y->width[0] != 8)))
		return 0;
	for (unsigned i = 0; i < y->nfield; i++)
		if (!valid_width(y->width[i]) || y->key[i] > i)
			return 0;
	return 1;
}

int
vs_layout_parse(struct vs_layout *y, const char *s)
{
	struct vs_layout r = { .ref = !strcmp(s, "addr") };
	uint64_t v;
	size_t k;

	if (r.ref)
		s = "8";
	for (;;) {
		if (r.nfield == VS_FIELDS || !(k = num_dec(s, strlen(s), &v)) || v > 8)
			return -1;
		r.width[r.nfield] = (uint8_t)v;
		r.key[r.nfield] = r.nfield > 0;
		s += k;
		if (*s == ':') {
			s++;
			if (!(k = num_dec(s, strlen(s), &v)) || v > r.nfield)
				return -1;
			r.key[r.nfield] = (uint8_t)v;
			s += k;
		}
		r.nfield++;
		if (!*s)
			break;
		if (*s++ != ',')
			return -1;
	}
	if (!vs_layout_valid(&r))
		return -1;
	*y = r;
	return 0;
}

void
vs_layout_text(const struct vs_layout *y, struct buf *b)
{
	if (y->ref) {
		buf_str(b, "addr");
		return;
	}
	for (unsigned i = 0; i < y->nfield; i++) {
		buf_printf(b, "%s%u", i ? "," : "", y->width[i]);
		if (y->key[i] != (i > 0))
			buf_printf(b, ":%u", y->key[i]);
	}
}

unsigned
vs_record_size(const struct vs_layout *y)
{
	unsigned n = 0;

	for (unsigned i = 0; i < y->nfield; i++)
		n += y->width[i];
	return n;
}

unsigned
vs_columns(const struct vs_layout *y)
{
	return y->ref ? VS_REFCOLS : y->nfield;
}

struct vs_sum
vs_sum_cat(struct vs_sum x, struct vs_sum y)
{
	return (struct vs_sum){ x.n + y.n, x.a + y.a, x.b + y.b + y.n * x.a };
}

uint64_t
vs_sum_word(struct vs_sum s)
{
	return s.a ^ (s.b << 32 | s.b >> 32);
}

int
vs_reserve(uint64_t **v, size_t *cap, size_t n)
{
	return buf_grow(v, cap, n ? n : 1, sizeof(**v));
}

void
vs_block_free(struct vs_block *b)
{
	for (unsigned c = 0; c < VS_COLUMNS; c++) {
		free(b->v[c]);
		free(b->k[c]);
	}
	free(b->word);
	memset(b, 0, sizeof(*b));
}

/* Loads n numbers of width bytes, each step bytes after the one before. */
static void
layout_load(uint64_t *v, const uint8_t *p, size_t n, unsigned width, size_t step)
{
	size_t i;

	switch (width) {
	case 1:
		for (i = 0; i < n; i++, p += step)
			v[i] = *p;
		break;
	case 2:
		for (i = 0; i < n; i++, p += step)
			v[i] = get_le16(p);
		break;
	case 4:
		for (i = 0; i < n; i++, p += step)
			v[i] = get_le32(p);
		break;
	default:
		for (i = 0; i < n; i++, p += step)
			v[i] = get_le64(p);
	}
}

/* Stores them; d is 1, or -1: the last value first. */
static void
layout_store(const uint64_t *v, int d, uint8_t *p, size_t n, unsigned width, size_t step)
{
	switch (width) {
	case 1:
		for (; n; n--, p += step, v += d)
			*p = (uint8_t)*v;
		break;
	case 2:
		for (; n; n--, p += step, v += d)
			put_le16(p, (uint16_t)*v);
		break;
	case 4:
		for (; n; n--, p += step, v += d)
			put_le32(p, (uint32_t)*v);
		break;
	default:
		for (; n; n--, p += step, v += d)
			put_le64(p, *v);
	}
}

int
vs_split(const struct vs_layout *y, struct vs_block *b, const uint8_t *p, size_t n)
{
	size_t size = vs_record_size(y);

	b->n = n;
	if (y->ref) {
		if (vs_reserve(&b->word, &b->wordcap, n) != 0)
			return -1;
		layout_load(b->word, p, n, 8, 8);
		return vs_ref_split(b);
	}
	for (unsigned c = 0; c < y->nfield; c++) {
		if (vs_prepare_column(y, b, c) != 0)
			return -1;
		layout_load(b->v[c], p, n, y->width[c], size);
		p += y->width[c];
	}
	return 0;
}

int
vs_prepare_column(const struct vs_layout *y, struct vs_block *b, unsigned c)
{
	int bad = 0;

	if (y->ref) {
		bad = vs_ref_shape(b, c);
	} else {
		b->col[c].n = b->n;
		b->col[c].width = y->width[c];
		b->col[c].key = y->key[c] ? b->v[y->key[c] - 1] : NULL;
	}
	if (!bad && vs_reserve(&b->v[c], &b->cap[c], b->col[c].n) != 0)
		bad = -1;
	b->col[c].v = b->v[c];
	return bad;
}

int
vs_join(const struct vs_layout *y, struct vs_block *b)
{
	return y->ref ? vs_ref_join(b) : 0;
}

const uint64_t *
vs_field(const struct vs_layout *y, const struct vs_block *b, unsigned f)
{
	return y->ref ? b->word : b->v[f];
}

struct vs_sum
vs_block_sum(const struct vs_layout *y, const struct vs_block *b)
{
	struct vs_sum s = { b->n * y->nfield, 0, 0 };
	const uint64_t *v = vs_field(y, b, 0);

	if (y->nfield == 1) {
		for (size_t i = 0; i < b->n; i++)
			s.b += s.a += v[i];
		return s;
	}
	for (size_t i = 0; i < b->n; i++)
		for (unsigned c = 0; c < y->nfield; c++)
			s.b += s.a += b->v[c][i];
	return s;
}

void
vs_bytes(const struct vs_layout *y, const struct vs_block *b, size_t from, size_t n, int backward, uint8_t *p)
{
	size_t size = vs_record_size(y);

	for (unsigned f = 0; n && f < y->nfield; f++) {
		layout_store(vs_field(y, b, f) + (backward ? from + n - 1 : from), backward ? -1 :
		    1, p, n, y->width[f], size);
		p += y->width[f];
	}
}
