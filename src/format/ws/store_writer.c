/* Captures: writes pages once. */
#include <nettle/sha2.h>
#include <nettle/umac.h>
#include <stdlib.h>
#include <sys/random.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "format/ws/store_internal.h"

#define PENDING   64u           /* pages of a block in the file: a reader unpacks all for one of them */
#define COPIES_MAX (256u << 20)  /* bytes of pages that are kept to be compared */
#define KNOWN_MAX (1u << 22)    /* pages that are found again */
#define KEY       16u           /* bytes by which they are */

struct known {
	uint8_t hash[KEY];              /* of SHA-256, half of it: that many bits never meet by chance */
	uint64_t page;
	uint64_t block;                 /* number of its block: a reference is to pages of one */
};

/* Pages that came from a place in a file, in one block.  To compare them takes less time than to hash them. */
struct copy {
	uint64_t dev, ino, offset;
	size_t n;
	uint64_t page;
	uint8_t *p;                     /* owned */
};

struct ws_pages_writer {
	struct ws_runs_writer *runs;
	struct ws_store *store;         /* NULL: none */
	int store_error, failed;
	size_t nstored;
	uint64_t npage;                 /* numbers given */
	uint64_t nblock;                /* blocks written */
	struct known *known;            /* owned */
	size_t nknown, capknown;
	struct hash table;              /* of known */
	struct copy *copy;              /* owned */
	size_t ncopy, capcopy, copied;  /* and bytes of them */
	struct hash places;             /* of copy */
	uint8_t *pending;               /* owned: pages of the next block in the file */
	size_t npending;
	int plain;                      /* they are not to be compressed */
	uint8_t *packed;                /* owned */
	uint8_t hash[WS_BLOCK_PAGES][WS_HASH_BYTES];
	struct umac128_ctx mac;         /* with a random key: nobody can make two pages meet */
	int nokey;                      /* the system gave none */
};

static uint32_t
known_slot(const uint8_t *hash)
{
	return get_le32(hash + 12);
}

/* NULL: it is new.  Valid until the next one is added. */
static const struct known *
known_find(const struct ws_pages_writer *w, const uint8_t *hash)
{
	uint32_t h = known_slot(hash), at = h, i;

	while ((i = hash_find(&w->table, h, &at)) != HASH_NONE)
		if (!memcmp(w->known[i].hash, hash, sizeof(w->known[i].hash)))
			return &w->known[i];
	return NULL;
}

/* Without memory, the page is not found again, and so written again. */
static void
known_add(struct ws_pages_writer *w, const uint8_t *hash, uint64_t page)
{
	if (w->nknown >= KNOWN_MAX || buf_grow(&w->known, &w->capknown, w->nknown + 1, sizeof(*w->known)) < 0 ||
	    hash_add(&w->table, known_slot(hash), (uint32_t)w->nknown) < 0)
		return;
	w->known[w->nknown].page = page;
	w->known[w->nknown].block = w->nblock;
	memcpy(w->known[w->nknown++].hash, hash, sizeof(w->known->hash));
}

static int
block_write(struct ws_pages_writer *w, struct ws_block *b, const uint8_t *p)
{
	uint8_t h[WS_BLOCK_HEAD];

	w->nblock++;
	ws_put_block(h, b);
	if (ws_runs_write_block(w->runs, h, p, b->packed))
		w->failed = 1;
	return w->failed ? -1 : 0;
}

int
ws_pages_announce(struct ws_pages_writer *w)
{
	struct ws_block none = {.where = WS_BLOCK_STORED};

	return block_write(w, &none, NULL);
}

struct ws_pages_writer *
ws_pages_create(struct ws_runs_writer *runs, struct ws_store *store)
{
	struct ws_pages_writer *w = calloc(1, sizeof(*w));
	uint8_t key[UMAC_KEY_SIZE];

	if (!w)
		return NULL;
	w->nokey = getrandom(key, sizeof(key), 0) != sizeof(key);
	if (!w->nokey)
		umac128_set_key(&w->mac, key);
	w->runs = runs;
	ws_runs_set_pages(runs, w);
	w->store = store;
	w->pending = malloc(PENDING * WS_PAGE);
	w->packed = malloc(PENDING * WS_PAGE);
	if (!w->pending || !w->packed) {
		ws_pages_close(w);
		return NULL;
	}
	/* so that a reader looks for blocks in a file that has one run */
	if (store)
		ws_pages_announce(w);
	return w;
}

void
ws_pages_close(struct ws_pages_writer *w)
{
	if (!w)
		return;
	ws_runs_set_pages(w->runs, NULL);
	free(w->pending);
	free(w->packed);
	for (size_t i = 0; i < w->ncopy; i++)
		free(w->copy[i].p);
	free(w->copy);
	hash_free(&w->places);
	free(w->known);
	hash_free(&w->table);
	free(w);
}

int
ws_pages_flush(struct ws_pages_writer *w)
{
	struct ws_block b;
	const uint8_t *p;

	if (!w->npending || w->failed)
		return w->failed ? -1 : 0;
	p = ws_block_pack(&b, w->pending, w->npending, w->plain ? NULL : w->packed);
	w->npending = 0;
	return block_write(w, &b, p);
}

/* The pages stand in the next block of the file: the number of the first one. */
static uint64_t
pages_append(struct ws_pages_writer *w, const uint8_t *p, size_t n)
{
	memcpy(w->pending + w->npending * WS_PAGE, p, n * WS_PAGE);
	w->npending += n;
	w->npage += n;
	return w->npage - n;
}

static uint64_t
page_append(struct ws_pages_writer *w, const uint8_t *p, const uint8_t *hash)
{
	if (w->npending == PENDING)
		ws_pages_flush(w);
	known_add(w, hash, w->npage);
	return pages_append(w, p, 1);
}

/* Are these pages, in order, in one block already? */
static int
block_known(struct ws_pages_writer *w, size_t n, uint64_t *page)
{
	const struct known *first = known_find(w, w->hash[0]);

	for (size_t i = 1; i < n && first; i++) {
		const struct known *k = known_find(w, w->hash[i]);

		if (!k || k->page != first->page + i || k->block != first->block)
			first = NULL;
	}
	if (first)
		*page = first->page;
	return first != NULL;
}

/* Makes a block of the store of n pages: 0, or -1: they go to the file */
static int
block_store(struct ws_pages_writer *w, const uint8_t *p, size_t n, uint64_t *page)
{
	struct ws_block b = {.n = (uint32_t)n, .where = WS_BLOCK_STORED};
	struct sha256_ctx c;

	sha256_init(&c);
	sha256_update(&c, n * WS_HASH_BYTES, w->hash[0]);
	sha256_digest(&c, WS_HASH_BYTES, b.hash);
	if (!w->store_error)
		w->store_error = ws_store_put(w->store, b.hash, p, n * WS_PAGE);
	if (w->store_error || ws_pages_flush(w))
		return -1;
	*page = w->npage;
	w->npage += n;
	w->nstored++;
	for (size_t i = 0; i < n; i++)
		if (!known_find(w, w->hash[i]))
			known_add(w, w->hash[i], *page + i);
	return block_write(w, &b, NULL);
}

/*
 * The hashes of n pages.  Those that may go to a store have it as their name there.  All others, also those that a process
 * has written to, only meet each other, and UMAC takes a fifth of the time.
 */
static void
pages_hash(struct ws_pages_writer *w, const uint8_t *p, size_t n, int named)
{
	static const uint8_t nonce[16];

	for (size_t i = 0; i < n; i++, p += WS_PAGE) {
		if (named || w->nokey) {
			ws_page_hash(p, w->hash[i]);
			continue;
		}
		umac128_set_nonce(&w->mac, sizeof(nonce), nonce);
		umac128_update(&w->mac, WS_PAGE, p);
		umac128_digest(&w->mac, KEY, w->hash[i]);
	}
}

static uint32_t
copy_slot(const struct ws_pages_from *from)
{
	return hash_number(from->dev + from->ino * 31 + from->offset);
}

/* The copy of pages from there; NULL: there is none */
static struct copy *
copy_find(const struct ws_pages_writer *w, const struct ws_pages_from *from, size_t n)
{
	uint32_t h = copy_slot(from), at = h, i;

	while ((i = hash_find(&w->places, h, &at)) != HASH_NONE) {
		struct copy *c = &w->copy[i];

		if (c->dev == from->dev && c->ino == from->ino && c->offset == from->offset && c->n == n)
			return c;
	}
	return NULL;
}

/* Keeps a copy, if there is room: it may take the place of c, that of other contents. */
static void
copy_keep(struct ws_pages_writer *w, const struct ws_pages_from *from, struct copy *c, const uint8_t *p, size_t n,
    uint64_t page)
{
	size_t bytes = n * WS_PAGE;

	if (!c) {
		if (w->copied + bytes > COPIES_MAX || buf_grow(&w->copy, &w->capcopy, w->ncopy + 1, sizeof(*c)) < 0)
			return;
		c = &w->copy[w->ncopy];
		*c = (struct copy){from->dev, from->ino, from->offset, n, page, malloc(bytes)};
		if (!c->p || hash_add(&w->places, copy_slot(from), (uint32_t)w->ncopy) < 0) {
			free(c->p);
			return;
		}
		w->ncopy++;
		w->copied += bytes;
	}
	c->page = page;
	memcpy(c->p, p, bytes);
}

size_t
ws_pages_add(struct ws_pages_writer *w, const uint8_t *p, size_t n, const struct ws_pages_from *from,
    struct ws_pages_ref *ref)
{
	struct copy *copy = from->ino ? copy_find(w, from, n) : NULL;
	size_t nref = 0;
	uint64_t page, block = 0;

	if (copy && !memcmp(copy->p, p, n * WS_PAGE)) {
		ref[0] = (struct ws_pages_ref){copy->page, n};
		return w->failed ? 0 : 1;
	}
	if ((from->ino && w->npending + n > PENDING) || w->plain != from->plain)
		ws_pages_flush(w);
	w->plain = from->plain;
	if (from->ino && from->alone && n <= PENDING && !w->store && !w->failed) {
		ref[0] = (struct ws_pages_ref){pages_append(w, p, n), n};
		return 1;
	}
	pages_hash(w, p, n, w->store && from->clean && from->ino);
	if (from->clean && w->store && w->nstored < WS_STORED_MAX && !w->failed &&
	    (block_known(w, n, &page) || !block_store(w, p, n, &page))) {
		ref[0] = (struct ws_pages_ref){page, n};
		copy_keep(w, from, copy, p, n, page);
		return 1;
	}
	for (size_t i = 0; i < n && !w->failed; i++) {
		const struct known *k = known_find(w, w->hash[i]);
		uint64_t last = block;

		page = k ? k->page : page_append(w, p + i * WS_PAGE, w->hash[i]);
		block = k ? k->block : w->nblock;
		if (nref && block == last && ref[nref - 1].page + ref[nref - 1].n == page)
			ref[nref - 1].n++;
		else
			ref[nref++] = (struct ws_pages_ref){page, 1};
	}
	if (nref == 1 && from->clean && !from->once)
		copy_keep(w, from, copy, p, n, ref[0].page);
	return w->failed ? 0 : nref;
}

int
ws_pages_refer(struct ws_pages_writer *w, const struct ws_stored *s, uint64_t *page)
{
	struct ws_block b = {.n = s->pages, .where = WS_BLOCK_STORED};
	const struct known *k = known_find(w, s->hash);

	if (k) {
		*page = k->page + s->at;
		return w->failed ? -1 : 0;
	}
	if (w->nstored >= WS_STORED_MAX || ws_pages_flush(w))
		return -1;
	memcpy(b.hash, s->hash, WS_HASH_BYTES);
	/* a block is known by its own hash here, which is that of no page */
	known_add(w, s->hash, w->npage);
	*page = w->npage + s->at;
	w->npage += s->pages;
	w->nstored++;
	return block_write(w, &b, NULL);
}

size_t
ws_pages_stored(const struct ws_pages_writer *w)
{
	return w->nstored;
}

int
ws_pages_store_error(const struct ws_pages_writer *w)
{
	return w->store_error;
}
