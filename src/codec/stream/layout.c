/* Value streams: layouts; conversion of records to columns and back. See layout.h. */
#include "codec/stream/layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/diag.h"
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

/* A layout while it is parsed. */
struct parser {
	const char *text, *at;
	struct vs_layout y;
	struct fault *f;
};

/* `field 2, character 3 ("3"): what is allowed`; -1 */
static int
layout_wrong(const struct parser *p, const char *allowed)
{
	size_t off = (size_t)(p->at - p->text), n = strcspn(p->at, ",:");

	fault_set(p->f, off, DIAG_NOREC, "field %u, character %zu (%s%.*s%s): %s", p->y.nfield + 1, off + 1,
	    *p->at ? "\"" : "", *p->at ? (int)(n ? n < 16 ? n : 16 : 1) : 7, *p->at ? p->at : "the end",
	    *p->at ? "\"" : "", allowed);
	return -1;
}

/* A number that ends where a field or its width can end: its length, or 0. */
static size_t
layout_number(const char *s, uint64_t *v)
{
	size_t k = num_dec(s, strlen(s), v);

	return k && strchr(",:", s[k]) ? k : 0;         /* also at the final NUL */
}

static int
layout_key(struct parser *p)
{
	uint64_t v;
	size_t k = layout_number(p->at, &v);
	char allowed[80];

	if (k && v <= p->y.nfield) {
		p->y.key[p->y.nfield] = (uint8_t)v;
		p->at += k;
		return 0;
	}
	snprintf(allowed, sizeof allowed, p->y.nfield < 1 ? "the first field can only have key 0, no key" :
	    p->y.nfield < 2 ? "its key is 1, the field before it, or 0, no key" :
	    "its key is a field before it, 1 to %u, or 0, no key", p->y.nfield);
	return layout_wrong(p, allowed);
}

static int
layout_field(struct parser *p)
{
	uint64_t v;
	size_t k = layout_number(p->at, &v);

	if (p->y.nfield == VS_FIELDS)
		return layout_wrong(p, "a record has at most 64 fields");
	if (!k || v > 8 || !valid_width((unsigned)v))
		return layout_wrong(p, p->y.nfield ? "a width is 1, 2, 4 or 8" :
		    "a width is 1, 2, 4 or 8; or the layout is addr or auto, and nothing else");
	p->y.width[p->y.nfield] = (uint8_t)v;
	p->y.key[p->y.nfield] = p->y.nfield > 0;
	p->at += k;
	if (*p->at == ':') {
		p->at++;
		if (layout_key(p) != 0)
			return -1;
	}
	if (*p->at && *p->at != ',')
		return layout_wrong(p, "a comma and another field may follow");
	p->y.nfield++;
	return 0;
}

int
vs_layout_parse(struct vs_layout *y, const char *s, struct fault *f)
{
	struct parser p = { .y = { .ref = !strcmp(s, "addr") }, .f = f };

	p.text = p.at = p.y.ref ? "8" : s;
	while (layout_field(&p) == 0) {
		if (!*p.at) {
			*y = p.y;
			return 0;
		}
		p.at++;
	}
	return -1;
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
		b->col[c].scale = &b->scale[c];
		b->scale[c].kind = VC_SCALE_NONE;
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
