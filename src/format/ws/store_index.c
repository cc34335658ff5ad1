/* Captures: which blocks of a store have the bytes of a file, so that it need not be read again. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "format/ws/store_internal.h"

/*
 * In the folder it is a file.  All numbers are little-endian:
 *
 *	offset  bytes   value
 *	0       4       magic: "WSsi"
 *	4       4       number of the entries, n
 *	8       40      what the file is: struct ws_store_id
 *	48      8       number of the notes, m
 *	56      n * 56  entries: offset in the file (8), pages (4), 0 (4), ctime of the block in nanoseconds (8), hash (32);
 *	                        ctime and hash 0: the pages are zero, and there is no block
 *	        m times notes: kind (4), bytes (4), place in the file (8), bytes there (8), and the bytes
 *	        8       checksum of all before it
 */
#define HEAD    56u
#define ENTRY   56u
#define NOTE    24u
#define MOST    (HEAD + (size_t)WS_STORED_MAX * ENTRY + (16u << 20) + 8)        /* bytes of such a file */

struct entry {
	uint64_t offset;
	uint32_t pages;
	int is;                         /* the store has it: 1, 0, or -1: not looked yet */
	uint64_t ctime;                 /* of its file there: a block that has been written to is none */
	uint8_t hash[WS_HASH_BYTES];
};

struct note {
	uint32_t kind, n;
	uint64_t offset, size;
	uint8_t *p;                     /* owned */
};

struct ws_index {
	struct ws_store *store;         /* borrowed */
	struct ws_store_id id;
	struct entry *p;                /* owned */
	size_t n, cap;
	struct hash table;              /* of p, by offset and pages */
	struct note *note;              /* owned */
	size_t nnote, capnote;
	int changed;
};

static void
index_name(const struct ws_store_id *id, char name[64])
{
	snprintf(name, 64, "file.%llx.%llx", (unsigned long long)id->dev, (unsigned long long)id->ino);
}

static uint32_t
index_slot(uint64_t offset, uint32_t pages)
{
	return hash_number(offset + pages);
}

static struct entry *
index_entry(const struct ws_index *x, uint64_t offset, uint32_t pages)
{
	uint32_t h = index_slot(offset, pages), at = h, i;

	while ((i = hash_find(&x->table, h, &at)) != HASH_NONE)
		if (x->p[i].offset == offset && x->p[i].pages == pages)
			return &x->p[i];
	return NULL;
}

/* A new one, or the one that there is; NULL: no memory, or too many */
static struct entry *
index_room(struct ws_index *x, uint64_t offset, uint32_t pages)
{
	struct entry *e = index_entry(x, offset, pages);

	if (e)
		return e;
	if (x->n >= WS_STORED_MAX || buf_grow(&x->p, &x->cap, x->n + 1, sizeof(*x->p)) < 0 ||
	    hash_add(&x->table, index_slot(offset, pages), (uint32_t)x->n) < 0)
		return NULL;
	e = &x->p[x->n++];
	*e = (struct entry){.offset = offset, .pages = pages};
	return e;
}

/* 0, or -1: no memory */
static int
index_note(struct ws_index *x, uint32_t kind, uint64_t offset, uint64_t size, const void *p, size_t n)
{
	struct note *t;

	if (buf_grow(&x->note, &x->capnote, x->nnote + 1, sizeof(*x->note)) < 0)
		return -1;
	t = &x->note[x->nnote];
	*t = (struct note){kind, (uint32_t)n, offset, size, malloc(n + 1)};
	if (!t->p)
		return -1;
	memcpy(t->p, p, n);
	x->nnote++;
	return 0;
}

static void
put_id(uint8_t *h, const struct ws_store_id *id)
{
	put_le64(h, id->dev);
	put_le64(h + 8, id->ino);
	put_le64(h + 16, id->size);
	put_le64(h + 24, id->mtime);
	put_le64(h + 32, id->ctime);
}

/* The m notes of [p, end). */
static void
index_notes(struct ws_index *x, const uint8_t *p, const uint8_t *end, uint64_t m)
{
	for (; m && end - p >= (ptrdiff_t)NOTE; m--) {
		uint32_t n = get_le32(p + 4);

		if (n > (size_t)(end - p) - NOTE)
			return;
		(void)index_note(x, get_le32(p), get_le64(p + 8), get_le64(p + 16), p + NOTE, n);
		p += NOTE + n;
	}
}

/* What the folder has of the file, if it is of this user (or of root) and whole, and the file is as it was. */
static void
index_read(struct ws_index *x, const uint8_t *p, size_t n)
{
	uint8_t id[HEAD - 16];
	uint64_t k;

	put_id(id, &x->id);
	if (n < HEAD + 8 || memcmp(p, "WSsi", 4) || memcmp(p + 8, id, sizeof(id)))
		return;
	k = get_le32(p + 4);
	if (k > (n - HEAD - 8) / ENTRY || get_le64(p + n - 8) != ws_crc(p, n - 8, 0))
		return;
	index_notes(x, p + HEAD + k * ENTRY, p + n - 8, get_le64(p + 48));
	for (const uint8_t *q = p + HEAD; k--; q += ENTRY) {
		struct entry *e = index_room(x, get_le64(q), get_le32(q + 8));

		if (!e)
			return;
		e->is = -1;
		e->ctime = get_le64(q + 16);
		memcpy(e->hash, q + 24, WS_HASH_BYTES);
	}
}

struct ws_index *
ws_index_open(struct ws_store *s, const struct ws_store_id *id)
{
	struct ws_index *x = calloc(1, sizeof(*x));
	uint8_t *p;
	char name[64];
	size_t n;

	if (!x)
		return NULL;
	x->store = s;
	x->id = *id;
	index_name(id, name);
	p = ws_store_load(s, name, MOST, &n);
	if (p)
		index_read(x, p, n);
	free(p);
	return x;
}

static int
entry_zero(const struct entry *e)
{
	uint64_t any = e->ctime;

	for (unsigned i = 0; i < WS_HASH_BYTES; i++)
		any |= e->hash[i];
	return !any;
}

int
ws_index_find(struct ws_index *x, uint64_t offset, uint32_t pages, uint8_t hash[WS_HASH_BYTES])
{
	struct entry *e = index_entry(x, offset, pages);

	if (!e)
		return 0;
	if (e->is < 0)
		e->is = e->pages && e->pages <= WS_BLOCK_PAGES && (entry_zero(e) ||
		    (e->ctime && ws_store_has(x->store, e->hash, (size_t)e->pages * WS_PAGE) == e->ctime));
	memcpy(hash, e->hash, WS_HASH_BYTES);
	return e->is ? entry_zero(e) ? WS_INDEX_ZERO : WS_INDEX_BLOCK : 0;
}

void
ws_index_add(struct ws_index *x, uint64_t offset, uint32_t pages, const uint8_t *hash)
{
	uint64_t ctime = hash ? ws_store_has(x->store, hash, (size_t)pages * WS_PAGE) : 0;
	struct entry *e = ctime || !hash ? index_room(x, offset, pages) : NULL;

	if (!e)
		return;
	e->is = 1;
	e->ctime = ctime;
	if (hash)
		memcpy(e->hash, hash, WS_HASH_BYTES);
	else
		memset(e->hash, 0, WS_HASH_BYTES);
	x->changed = 1;
}

const void *
ws_index_kept(const struct ws_index *x, uint32_t kind, uint64_t offset, uint64_t size, size_t *n)
{
	for (size_t i = 0; i < x->nnote; i++) {
		const struct note *t = &x->note[i];

		if (t->kind == kind && t->offset == offset && t->size == size) {
			*n = t->n;
			return t->p;
		}
	}
	return NULL;
}

void
ws_index_keep(struct ws_index *x, uint32_t kind, uint64_t offset, uint64_t size, const void *p, size_t n)
{
	size_t had;

	if (n <= WS_INDEX_NOTE && !ws_index_kept(x, kind, offset, size, &had) &&
	    !index_note(x, kind, offset, size, p, n))
		x->changed = 1;
}

static void
index_write(const struct ws_index *x)
{
	size_t n = HEAD + x->n * ENTRY + 8;
	uint8_t *p, *q;
	char name[64];

	for (size_t i = 0; i < x->nnote; i++)
		n += NOTE + x->note[i].n;
	if (n > MOST || !(p = calloc(1, n)))
		return;
	q = p + HEAD;
	memcpy(p, "WSsi", 4);
	put_le32(p + 4, (uint32_t)x->n);
	put_id(p + 8, &x->id);
	put_le64(p + 48, x->nnote);
	for (size_t i = 0; i < x->n; i++, q += ENTRY) {
		put_le64(q, x->p[i].offset);
		put_le32(q + 8, x->p[i].pages);
		put_le64(q + 16, x->p[i].ctime);
		memcpy(q + 24, x->p[i].hash, WS_HASH_BYTES);
	}
	for (size_t i = 0; i < x->nnote; i++) {
		const struct note *t = &x->note[i];

		put_le32(q, t->kind);
		put_le32(q + 4, t->n);
		put_le64(q + 8, t->offset);
		put_le64(q + 16, t->size);
		memcpy(q + NOTE, t->p, t->n);
		q += NOTE + t->n;
	}
	put_le64(q, ws_crc(p, n - 8, 0));
	index_name(&x->id, name);
	(void)ws_store_save(x->store, name, p, n);      /* without it, the next capture reads the file again */
	free(p);
}

void
ws_index_close(struct ws_index *x)
{
	if (!x)
		return;
	if (x->changed)
		index_write(x);
	hash_free(&x->table);
	for (size_t i = 0; i < x->nnote; i++)
		free(x->note[i].p);
	free(x->note);
	free(x->p);
	free(x);
}
