/* Internal to captures: blocks of pages, as writer and reader share them. */
#ifndef TM_FORMAT_WS_STORE_INTERNAL_H
#define TM_FORMAT_WS_STORE_INTERNAL_H

#include "base/src.h"
#include "format/ws/store.h"
#include "format/ws/ws_internal.h"

#define WS_BLOCK_HEAD 64u

enum ws_block_where { WS_BLOCK_PLAIN, WS_BLOCK_ZSTD, WS_BLOCK_STORED, WS_NBLOCKS };

struct ws_block {
	uint64_t first;                 /* number of its first page */
	uint32_t n, where, packed;      /* pages; enum ws_block_where; bytes in the file after the head */
	uint64_t off;                   /* of these bytes */
	uint64_t crc;                   /* of them */
	uint8_t hash[WS_HASH_BYTES];
	const uint8_t *map;             /* of a stored one: what ws_store_map has found */
	int error;                      /* or an errno; WS_STORE_NONE, WS_STORE_DAMAGED */
	int checked;
};
enum { WS_STORE_NONE = -1, WS_STORE_DAMAGED = -2 };

void ws_put_block(uint8_t h[WS_BLOCK_HEAD], const struct ws_block *b);
/* NULL, or what is wrong; `first`: it is the first block, which may be empty */
const char *ws_get_block(const uint8_t h[WS_BLOCK_HEAD], struct ws_block *b, int first);

/* The file of a block: it is mapped for good, and found again later even if it can no longer be opened. */
const uint8_t *ws_store_map(const uint8_t hash[WS_HASH_BYTES], size_t bytes, int *error);
/* The ctime of a block's file, in nanoseconds; 0: the store does not have it */
uint64_t ws_store_has(struct ws_store *s, const uint8_t hash[WS_HASH_BYTES], size_t bytes);
/* A file of the folder that is no block, at most `most` bytes, if nobody but this user and root has written it: to be freed; NULL */
uint8_t *ws_store_load(struct ws_store *s, const char *name, size_t most, size_t *n);
int ws_store_save(struct ws_store *s, const char *name, const uint8_t *p, size_t n);    /* 0, or an errno */
const char *ws_store_words(const struct ws_block *b);   /* why it cannot be used */

/* The blocks of a file, as a reader has them.  A zeroed one is empty. */
struct ws_pages {
	struct ws_block *v;             /* owned */
	size_t n, cap, nstored;
	uint64_t npage;
	struct src src;                 /* the file */
	struct ws_pages_room {          /* blocks of the file that were used last */
		size_t block;
		uint64_t used;
		uint8_t *p;             /* owned */
	} room[16];
	uint64_t clock;
};
/* a block whose head is at off; returns its bytes in the file, or 0: see *f */
uint64_t ws_pages_read(struct ws_pages *t, struct src *src, uint64_t off, struct fault *f);
void ws_pages_attach(struct ws_pages *t, const struct src *src);       /* before ws_pages_get */
/* n pages from number `page` on, within a block; NULL: why.  Valid until the next call. */
const uint8_t *ws_pages_get(struct ws_pages *t, uint64_t page, size_t n, const char **why);
/* 1: that page is in a stored block; 0 */
int ws_pages_where(const struct ws_pages *t, uint64_t page, struct ws_stored *s);
void ws_pages_free(struct ws_pages *t);
/* compresses n pages to `out`, which has room for them, or NULL; fills in b; returns the bytes to write: out, or p */
const uint8_t *ws_block_pack(struct ws_block *b, const uint8_t *p, size_t n, uint8_t *out);

/* runs_writer.c: writes bytes between those of the runs */
int ws_runs_write_block(struct ws_runs_writer *w, const void *head, const void *p, size_t n);
void ws_runs_set_pages(struct ws_runs_writer *w, struct ws_pages_writer *pages);
/* runs.c */
struct ws_pages *ws_runs_pages(const struct ws_runs *t);        /* owned by t */

#endif
