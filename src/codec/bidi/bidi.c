/*
 * Compressed values that are walked in both directions: opening, the cursor, statistics, selection
 * of a method.
 */
#include "codec/bidi/bidi_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/varint.h"

#define CHUNK 512u

const struct bidi_how bidi_hows[BIDI_NMETHOD] = {
#define BIDI_METHOD(id, name, engine, context, stride, what) { #name, context, stride, &bidi_##engine },
#include "codec/bidi/method.def"
#undef BIDI_METHOD
};

const char *
bidi_name(enum bidi_method m)
{
	return bidi_hows[m].name;
}

int
bidi_by_name(const char *name)
{
	for (int m = 0; m < BIDI_NMETHOD; m++)
		if (!strcmp(bidi_hows[m].name, name))
			return m;
	return -1;
}

/* Symbols of n values; `before` precedes the first one. */
static void
bidi_symbols(const struct bidi *b, uint64_t before, const uint64_t *v, size_t n, uint64_t *sym)
{
	for (size_t i = 0; i < n; i++) {
		sym[i] = b->how->stride ? zigzag(v[i] - before) : v[i] - b->base;
		before = v[i];
	}
}

static uint64_t
base_of(const struct bidi_how *how, const uint64_t *v, size_t n)
{
	uint64_t base = n ? v[0] : 0;

	for (size_t i = 1; i < n && !how->stride; i++)
		if (v[i] < base)
			base = v[i];
	return base;
}

/* Bits of the largest symbol. */
static unsigned
width_of(const struct bidi *b, const uint64_t *v, size_t n)
{
	uint64_t sym, all = 0;

	for (size_t i = 0; i < n; i++) {
		bidi_symbols(b, i ? v[i - 1] : b->base, v + i, 1, &sym);
		all |= sym;
	}
	return all ? 64 - (unsigned)__builtin_clzll(all) : 0;
}

int
bidi_setup(struct bidi *b, unsigned width)
{
	b->s.width = width;
	b->s.mask = width == 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
	return b->how->engine->make(b);
}

struct bidi *
bidi_feed(enum bidi_method m, const uint64_t *v, size_t n, unsigned tbits)
{
	struct bidi *b = calloc(1, sizeof *b);
	uint64_t sym[CHUNK], before;

	if (!b)
		return NULL;
	b->how = &bidi_hows[m];
	b->count = n;
	b->tbits = tbits;
	b->base = before = base_of(b->how, v, n);
	if (bidi_setup(b, width_of(b, v, n)) != 0) {
		bidi_close(b);
		return NULL;
	}
	for (size_t i = 0, k; i < n; i += k) {
		k = n - i < CHUNK ? n - i : CHUNK;
		bidi_symbols(b, before, v + i, k, sym);
		b->how->engine->feed(b, sym, k);
		before = v[i + k - 1];
	}
	b->cur = before;
	b->how->engine->finish(b);
	return b;
}

struct bidi *
bidi_open(enum bidi_method m, const uint64_t *v, size_t n, unsigned tbits)
{
	struct bidi *b = bidi_feed(m, v, n, tbits);

	if (b) {
		b->how->engine->rewind(b);
		b->cur = b->base;
	}
	return b;
}

void
bidi_close(struct bidi *b)
{
	if (!b)
		return;
	free(b->s.flag);
	free(b->s.slot);
	free(b->s.frtb);
	free(b->s.bltb);
	free(b->index);
	free(b);
}

enum bidi_method
bidi_method(const struct bidi *b)
{
	return (enum bidi_method)(b->how - bidi_hows);
}

size_t
bidi_count(const struct bidi *b)
{
	return b->count;
}

size_t
bidi_tell(const struct bidi *b)
{
	return b->pos;
}

size_t
bidi_read(struct bidi *b, uint64_t *v, size_t n)
{
	uint64_t cur = b->cur, base = b->base;

	if (n > b->count - b->pos)
		n = b->count - b->pos;
	b->fwd(b, v, n);
	if (b->how->stride) {
		for (size_t i = 0; i < n; i++)
			v[i] = cur += unzigzag(v[i]);
		b->cur = cur;
	} else {
		for (size_t i = 0; i < n; i++)
			v[i] += base;
	}
	return n;
}

size_t
bidi_back(struct bidi *b, uint64_t *v, size_t n)
{
	uint64_t cur = b->cur, base = b->base;

	if (n > b->pos)
		n = b->pos;
	b->bwd(b, v, n);
	if (b->how->stride) {
		for (size_t i = 0; i < n; i++) {
			uint64_t before = cur - unzigzag(v[i]);

			v[i] = cur;
			cur = before;
		}
		b->cur = cur;
	} else {
		for (size_t i = 0; i < n; i++)
			v[i] += base;
	}
	return n;
}

int
bidi_next(struct bidi *b, uint64_t *v)
{
	return bidi_read(b, v, 1) != 0;
}

int
bidi_prev(struct bidi *b, uint64_t *v)
{
	return bidi_back(b, v, 1) != 0;
}

void
bidi_seek(struct bidi *b, size_t pos)
{
	uint64_t v[CHUNK];

	if (pos > b->count)
		pos = b->count;
	while (b->pos < pos)
		bidi_read(b, v, pos - b->pos < CHUNK ? pos - b->pos : CHUNK);
	while (b->pos > pos)
		bidi_back(b, v, b->pos - pos < CHUNK ? b->pos - pos : CHUNK);
}

size_t
bidi_context(const struct bidi *b, uint64_t *v, size_t n)
{
	/* the table of last n is in the order of last use, not of the stream, except for its first value */
	const uint64_t *sym = b->how->engine->at_left ? b->list : b->win;
	size_t have = b->how->engine->at_left ? 1 : b->how->ctx, i;
	uint64_t cur = b->cur;

	have += b->how->stride != 0;
	n = n < have ? n : have;
	n = n < b->pos ? n : b->pos;
	for (i = 0; i < n; i++) {
		v[i] = b->how->stride ? cur : b->base + sym[i];
		if (i + 1 < n && b->how->stride)
			cur -= unzigzag(sym[i]);
	}
	return n;
}

void
bidi_stats(const struct bidi *b, struct bidi_stats *s)
{
	s->width = b->s.width;
	s->bytes = sizeof *b + b->how->engine->size(b, s);
}

int
bidi_pick(const uint64_t *v, size_t n, size_t prefix, unsigned tbits)
{
	struct bidi_stats s;
	uint64_t least = UINT64_MAX;
	int best = -1;

	if (n > prefix)
		n = prefix;
	for (enum bidi_method m = 0; m < BIDI_NMETHOD; m++) {
		struct bidi *b = bidi_feed(m, v, n, tbits);

		if (!b)
			return -1;
		bidi_stats(b, &s);
		bidi_close(b);
		if (s.entry_bits < least) {
			least = s.entry_bits;
			best = (int)m;
		}
	}
	return best;
}

int
bidi_pick_size(const uint64_t *v, size_t n, unsigned tbits)
{
	struct bidi_stats s;
	size_t least = SIZE_MAX;
	int best = -1;

	for (enum bidi_method m = 0; m < BIDI_NMETHOD; m++) {
		struct bidi *b = bidi_open(m, v, n, tbits);

		if (!b)
			return -1;
		bidi_stats(b, &s);
		bidi_close(b);
		if (s.bytes < least) {
			least = s.bytes;
			best = (int)m;
		}
	}
	return best;
}
