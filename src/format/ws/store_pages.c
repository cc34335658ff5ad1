/* Captures: the reader's blocks of pages. */
#include <stdlib.h>
#include <zstd.h>

#include "base/bytes.h"
#include "base/search.h"
#include "format/ws/store_internal.h"

void
ws_put_block(uint8_t h[WS_BLOCK_HEAD], const struct ws_block *b)
{
	memset(h, 0, WS_BLOCK_HEAD);
	memcpy(h, ws_magic_pages, 4);
	put_le32(h + 4, b->n);
	put_le32(h + 8, b->where);
	put_le32(h + 12, b->packed);
	if (b->where == WS_BLOCK_STORED)
		memcpy(h + 16, b->hash, WS_HASH_BYTES);
	put_le64(h + 48, b->crc);
	put_le64(h + 56, ws_crc(h, 56, 0));
}

static int
block_sizes(const struct ws_block *b)
{
	uint32_t bytes = b->n * WS_PAGE;

	if (b->where == WS_BLOCK_STORED)
		return !b->packed && !b->crc;
	return b->where == WS_BLOCK_PLAIN ? b->packed == bytes : b->packed && b->packed < bytes;
}

const char *
ws_get_block(const uint8_t h[WS_BLOCK_HEAD], struct ws_block *b, int first)
{
	uint8_t any = 0;

	if (get_le64(h + 56) != ws_crc(h, 56, 0))
		return "the head of a block of pages is damaged";
	memset(b, 0, sizeof(*b));
	b->n = get_le32(h + 4);
	b->where = get_le32(h + 8);
	b->packed = get_le32(h + 12);
	memcpy(b->hash, h + 16, WS_HASH_BYTES);
	b->crc = get_le64(h + 48);
	for (unsigned i = 0; i < WS_HASH_BYTES; i++)
		any |= b->hash[i];
	if (b->where >= WS_NBLOCKS)
		return "an unknown kind of block of pages";
	if (b->n > WS_BLOCK_PAGES || !block_sizes(b) || (any && (b->where != WS_BLOCK_STORED || !b->n)))
		return "a block of pages with a wrong head";
	return b->n || (first && b->where == WS_BLOCK_STORED) ? NULL : "an empty block of pages";
}

uint64_t
ws_pages_read(struct ws_pages *t, struct src *src, uint64_t off, struct fault *f)
{
	uint8_t h[WS_BLOCK_HEAD];
	size_t got = src_read(src, off, h, sizeof(h));
	struct ws_block b = {.n = 0};
	const char *bad = got < sizeof(h) ? NULL : ws_get_block(h, &b, !t->n);

	b.off = off + WS_BLOCK_HEAD;
	b.first = t->npage;
	if (got < sizeof(h) || (!bad && b.packed > src->size - b.off)) {
		fault_set(f, src->size, UINT64_MAX, "cut off in a block of pages");
		return 0;
	}
	if (!bad && b.where == WS_BLOCK_STORED && ++t->nstored > WS_STORED_MAX)
		bad = "too many blocks in a store";
	if (!bad && buf_grow(&t->v, &t->cap, t->n + 1, sizeof(*t->v)) < 0)
		bad = "out of memory";
	if (bad) {
		fault_set(f, off, UINT64_MAX, "%s", bad);
		return 0;
	}
	t->v[t->n++] = b;
	t->npage += b.n;
	return WS_BLOCK_HEAD + b.packed;
}

void
ws_pages_attach(struct ws_pages *t, const struct src *src)
{
	t->src = *src;
	for (size_t i = 0; i < t->n; i++) {
		struct ws_block *b = &t->v[i];

		if (b->where == WS_BLOCK_STORED && b->n && !b->map)
			b->map = ws_store_map(b->hash, (size_t)b->n * WS_PAGE, &b->error);
	}
}

/* The bytes of a stored block. */
static const uint8_t *
pages_stored(struct ws_block *b, const char **why)
{
	uint8_t hash[WS_HASH_BYTES];

	if (b->map && !b->checked) {
		ws_block_hash(b->map, b->n, hash);
		b->checked = 1;
		if (memcmp(hash, b->hash, WS_HASH_BYTES))
			b->error = WS_STORE_DAMAGED;
	}
	if (b->map && !b->error)
		return b->map;
	*why = ws_store_words(b);
	return NULL;
}

static const char *
pages_unpack(struct src *src, const struct ws_block *b, uint8_t *to)
{
	size_t bytes = (size_t)b->n * WS_PAGE;
	uint8_t *p = b->where == WS_BLOCK_PLAIN ? to : malloc(b->packed);
	const char *bad = NULL;

	if (!p)
		return "out of memory";
	if (src_read(src, b->off, p, b->packed) < b->packed)
		bad = "a block of pages cannot be read";
	else if (ws_crc(p, b->packed, 0) != b->crc)
		bad = "a block of pages is damaged";
	else if (p != to)
		bad = ws_unpack(WS_ZSTD, p, b->packed, to, bytes);
	if (p != to)
		free(p);
	return bad;
}

/* The bytes of a block in the file: it takes the place of the one that was not used for the longest time. */
static const uint8_t *
pages_loaded(struct ws_pages *t, size_t block, const char **why)
{
	const size_t n = sizeof(t->room) / sizeof(t->room[0]);
	struct ws_pages_room *r = &t->room[0];

	for (size_t i = 0; i < n; i++) {
		struct ws_pages_room *q = &t->room[i];

		if (q->used && q->block == block) {
			q->used = ++t->clock;
			return q->p;
		}
		if (q->used < r->used)
			r = q;
	}
	r->used = 0;
	if (!r->p)
		r->p = malloc(WS_BLOCK_PAGES * WS_PAGE);
	*why = r->p ? pages_unpack(&t->src, &t->v[block], r->p) : "out of memory";
	if (*why)
		return NULL;
	r->block = block;
	r->used = ++t->clock;
	return r->p;
}

const uint8_t *
ws_pages_get(struct ws_pages *t, uint64_t page, size_t n, const char **why)
{
	struct ws_block *b;
	const uint8_t *p;
	size_t i;

	*why = "pages that the file does not have";
	if (page >= t->npage || n > t->npage - page)
		return NULL;
	LOWER_BOUND(i, t->n, t->v[i].first + t->v[i].n <= page);
	b = &t->v[i];
	*why = "pages of more than one block";
	if (n > b->n - (page - b->first))
		return NULL;
	*why = NULL;
	p = b->where == WS_BLOCK_STORED ? pages_stored(b, why) : pages_loaded(t, i, why);
	return p ? p + (page - b->first) * WS_PAGE : NULL;
}

int
ws_pages_where(const struct ws_pages *t, uint64_t page, struct ws_stored *s)
{
	const struct ws_block *b;
	size_t i;

	LOWER_BOUND(i, t->n, t->v[i].first + t->v[i].n <= page);
	if (i == t->n || t->v[i].where != WS_BLOCK_STORED)
		return 0;
	b = &t->v[i];
	memcpy(s->hash, b->hash, WS_HASH_BYTES);
	s->pages = b->n;
	s->at = (uint32_t)(page - b->first);
	return 1;
}

const uint8_t *
ws_block_pack(struct ws_block *b, const uint8_t *p, size_t n, uint8_t *out)
{
	size_t bytes = n * WS_PAGE, k = out ? ZSTD_compress(out, bytes - 1, p, bytes, 1) : 0;
	int larger = !out || ZSTD_isError(k);

	*b = (struct ws_block){.n = (uint32_t)n, .where = larger ? WS_BLOCK_PLAIN : WS_BLOCK_ZSTD};
	b->packed = (uint32_t)(larger ? bytes : k);
	b->crc = ws_crc(larger ? p : out, b->packed, 0);
	return larger ? p : out;
}

void
ws_pages_free(struct ws_pages *t)
{
	for (size_t i = 0; i < sizeof(t->room) / sizeof(t->room[0]); i++)
		free(t->room[i].p);
	free(t->v);
}

size_t
ws_blocks(const struct ws_runs *t)
{
	return ws_runs_pages(t)->n;
}

void
ws_block_info(const struct ws_runs *t, size_t i, struct ws_block_info *info)
{
	const struct ws_block *b = &ws_runs_pages(t)->v[i];

	*info = (struct ws_block_info){.pages = b->n, .stored = b->where == WS_BLOCK_STORED && b->n,
	    .bytes = WS_BLOCK_HEAD + b->packed};
	memcpy(info->hash, b->hash, WS_HASH_BYTES);
}

size_t
ws_blocks_stored(const struct ws_runs *t)
{
	const struct ws_pages *p = ws_runs_pages(t);
	size_t n = 0;

	for (size_t i = 0; i < p->n; i++)
		n += p->v[i].where == WS_BLOCK_STORED && p->v[i].n;
	return n;
}

const char *
ws_block_check(const struct ws_runs *t, size_t i)
{
	struct ws_block *b = &ws_runs_pages(t)->v[i];
	const char *why = NULL;

	if (b->where != WS_BLOCK_STORED || !b->n)
		return NULL;
	if (!b->map)
		b->map = ws_store_map(b->hash, (size_t)b->n * WS_PAGE, &b->error);
	return pages_stored(b, &why) ? NULL : why;
}
