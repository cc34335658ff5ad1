/*
 * Pages of memory that a capture has once: ws(5).  They stand in blocks outside the runs, in the file or in
 * a store, which is a folder with the blocks of many captures.  A block's name there is the hash of its bytes;
 * a capture says nothing else of where it is.  The MEM records of all runs refer to pages by number.
 */
#ifndef TM_FORMAT_WS_STORE_H
#define TM_FORMAT_WS_STORE_H

#include "format/ws/runs.h"

#define WS_HASH_BYTES   32u             /* SHA-256 */
#define WS_HASH_TEXT    65u             /* in hexadecimal, with a NUL */
#define WS_BLOCK_PAGES  256u            /* pages in a block */
#define WS_STORED_MAX   16384u          /* blocks of a capture in a store: a reader maps each of them */

/* names the folder where readers look for blocks */
#define WS_STORE_ENV    "TRACEMILL_STORE"

/*
 * A store that can be written.  Several processes may write to it at once.  It is made if it does not exist;
 * NULL: see errno.
 */
struct ws_store;
struct ws_store *ws_store_open(const char *path);
void ws_store_close(struct ws_store *s);

/* Pages of a block that is in a store. */
struct ws_stored {
	uint8_t hash[WS_HASH_BYTES];
	uint32_t pages;                 /* of the block */
	uint32_t at;                    /* the first one that is meant */
};
/*
 * After a MEM from ws_next: are its bytes pages of such a block?  1: *s says which, and the bytes are valid as long
 * as the process; 0
 */
int ws_rec_stored(const struct ws_reader *r, struct ws_stored *s);

/* The hash of a block: that of the hashes of its n pages, one after the other. */
void ws_page_hash(const uint8_t *page, uint8_t hash[WS_HASH_BYTES]);
void ws_block_hash(const uint8_t *pages, size_t n, uint8_t hash[WS_HASH_BYTES]);
void ws_hash_text(const uint8_t hash[WS_HASH_BYTES], char text[WS_HASH_TEXT]);

/* The store has the block from now on: 0, or an errno.  A damaged file of that name is replaced. */
int ws_store_put(struct ws_store *s, const uint8_t hash[WS_HASH_BYTES], const uint8_t *p, size_t n);

/* Are the n bytes at p those of the block from its page b->at on? */
int ws_store_same(struct ws_store *s, const struct ws_stored *b, const uint8_t *p, size_t n);

/*
 * What a store remembers of a file of this system: which blocks have its bytes.  It is for writers alone; readers of
 * a capture do not need it.  It is believed only if the file's identity is the same, and the folder's own file was
 * written by this user or by root; blocks that have gone or were written to since are not found.
 */
struct ws_store_id { uint64_t dev, ino, size, mtime, ctime; };  /* times in nanoseconds */
struct ws_index;
struct ws_index *ws_index_open(struct ws_store *s, const struct ws_store_id *id);       /* NULL: no memory */
/* What is known of these pages, from the byte at offset on? */
enum { WS_INDEX_BLOCK = 1, WS_INDEX_ZERO };     /* 0: nothing; their block has this hash; they are zero */
int ws_index_find(struct ws_index *x, uint64_t offset, uint32_t pages, uint8_t hash[WS_HASH_BYTES]);
void ws_index_add(struct ws_index *x, uint64_t offset, uint32_t pages, const uint8_t *hash);    /* NULL: zero */
/*
 * Notes about the `size` bytes from offset on: up to WS_INDEX_NOTE bytes for each kind, which is the caller's number.
 * Kept: NULL, or n bytes, valid until the next call.
 */
#define WS_INDEX_NOTE   (64u << 10)
const void *ws_index_kept(const struct ws_index *x, uint32_t kind, uint64_t offset, uint64_t size, size_t *n);
void ws_index_keep(struct ws_index *x, uint32_t kind, uint64_t offset, uint64_t size, const void *p, size_t n);
void ws_index_close(struct ws_index *x);        /* what is new is written to the folder, if that can be */

/*
 * Writes pages of a file of runs, each once.  Without a store, or when that cannot be written, all are in the
 * file.  Errors are those of runs.h, and stick.
 */
struct ws_pages_writer;
struct ws_pages_writer *ws_pages_create(struct ws_runs_writer *runs, struct ws_store *store);   /* NULL: no memory */
void ws_pages_close(struct ws_pages_writer *w);         /* borrows both */

struct ws_pages_ref {                   /* n pages with numbers from page on */
	uint64_t page;
	size_t n;
};
struct ws_pages_from {                  /* where pages come from; ino 0: from no file */
	uint64_t dev, ino, offset;
	int clean;                      /* they are the file's, and may go to the store */
	int once;                       /* they will hardly be given again: no copy is kept to compare with */
	int alone;                      /* nor others like them: they are not hashed, if they go to the file */
	int plain;                      /* they are not compressed there, which takes longer than all the rest */
};
/*
 * n pages, at most WS_BLOCK_PAGES.  Returns how many references stand for them, at most n, or 0: an error.
 * `from` need not be true: it tells with which pages to compare them first.
 */
size_t ws_pages_add(struct ws_pages_writer *w, const uint8_t *p, size_t n, const struct ws_pages_from *from,
    struct ws_pages_ref *ref);
int ws_pages_flush(struct ws_pages_writer *w);          /* before the records that refer to them are written */
int ws_pages_store_error(const struct ws_pages_writer *w);      /* the first errno of the store, or 0 */
/*
 * A file may refer to blocks that are in a store already.  Without a store of its own that is announced first:
 * readers look for blocks in a file with one run only then.  0 or -1
 */
int ws_pages_announce(struct ws_pages_writer *w);
/* The number of the page that s means.  0; -1: an error, or it cannot refer to more blocks */
int ws_pages_refer(struct ws_pages_writer *w, const struct ws_stored *s, uint64_t *page);
size_t ws_pages_stored(const struct ws_pages_writer *w);        /* blocks in a store so far */

/* The blocks of a file, for people. */
struct ws_block_info {
	uint32_t pages;
	int stored;
	uint8_t hash[WS_HASH_BYTES];    /* if it is stored */
	uint64_t bytes;                 /* in the file */
};
size_t ws_blocks(const struct ws_runs *t);
void ws_block_info(const struct ws_runs *t, size_t i, struct ws_block_info *b);
size_t ws_blocks_stored(const struct ws_runs *t);        /* how many of them are in a store */
/* NULL, or why a stored block cannot be used: valid until the next call */
const char *ws_block_check(const struct ws_runs *t, size_t i);

/*
 * As ws_run_copy, but records are written again, for a file with the pages of w: they refer to the same stored
 * blocks.  w NULL: all is in them.
 */
int ws_run_copy_records(int fd, size_t n, struct ws_pages_writer *w, ws_write_fn *write, void *arg, struct fault *f);

/* Writes the file at fd again, with the stored blocks in it: 0, or -1: see *f. */
int ws_store_fetch(int fd, ws_write_fn *write, void *arg, struct fault *f);

#endif
