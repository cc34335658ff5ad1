/*
 * Value streams as files, bifcm(5): a writer, a reader that walks blocks in
 * either direction with several threads, and a cursor over the values.
 *
 * A stream is records of a layout (layout.h), in blocks that can be read
 * without each other (but for the first block, from which the others' primers
 * are made).  Bytes kept aside at the front (the head) and what is left of an
 * incomplete record at the end (the tail) are part of it.
 */
#ifndef TM_CODEC_STREAM_STREAM_H
#define TM_CODEC_STREAM_STREAM_H

#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "codec/stream/layout.h"

#define VS_FIRST    1048576u            /* records in a first block, which is what the primers of the others know */
#define VS_GROUP    524288u             /* records in another block, or in a group, at most, unless told otherwise */
#define VS_HEAD_MAX (1u << 20)          /* bytes of a head */
#define VS_THREADS  64u                 /* the most */

/* Writer.  Errors stick: the failing call and all later ones return -1, and vs_write_fault says why. */

struct vs_options {
	struct vs_layout layout;
	uint32_t block;                 /* records, 1 to VC_MAX; 0: as the first block shows them to be quick to seek in */
	uint32_t first;                 /* records in the first block; 0: as many */
	uint32_t group;                 /* records that may become one block, at most, if LZ makes that smaller than all of theirs; 0: none */
	int level;                      /* of vc_encode */
	int method;                     /* an enum vc_method for all columns, where it makes them smaller; or -1 */
	unsigned threads;               /* 1 to VS_THREADS; what is written does not depend on it */
	const uint8_t *head;            /* copied */
	size_t nhead;
};

typedef int vs_sink(void *arg, const void *p, size_t n);        /* 0; -1 with errno */

struct vs_writer *vs_create(vs_sink *sink, void *arg, const struct vs_options *o, struct fault *f);  /* NULL: see *f */
int vs_write(struct vs_writer *w, const void *p, size_t n);     /* bytes of records, in any pieces */
int vs_put(struct vs_writer *w, const uint64_t *v, size_t n);   /* n records, field by field; not with bytes of half a record before */
int vs_finish(struct vs_writer *w);     /* what is left, the index; vs_free is still needed */
const struct fault *vs_write_fault(const struct vs_writer *w);       /* off: bytes written before */
void vs_free(struct vs_writer *w);

/* Reader.  pread on a file (so several may share the descriptor), read on a pipe. */

struct vs_info {
	struct vs_layout layout;
	uint32_t block;                 /* records in any block, at most */
	const uint8_t *head;            /* owned by the reader */
	size_t nhead;
	int seeks;                      /* a file or memory */
};

struct vs_entry {
	uint64_t off;                   /* in the file */
	uint64_t rec;                   /* first record */
	uint64_t size;                  /* bytes in the file */
	uint32_t n;                     /* records */
};

struct vs_index {
	const struct vs_entry *e;       /* owned by the reader */
	size_t n;
	uint64_t nrec;
	const uint8_t *tail;            /* owned by the reader */
	size_t ntail;
	uint64_t size;                  /* bytes of the file */
	int whole;                      /* 0: the file has no good index, and blocks were looked for from the front */
	struct fault fault;          /* of a file that is not whole */
};

struct vs_reader *vs_open(int fd, struct fault *f);          /* NULL: see *f.  fd is the caller's. */
struct vs_reader *vs_open_mem(const void *p, size_t n, struct fault *f);     /* borrows p */
void vs_close(struct vs_reader *r);
const struct vs_info *vs_info(const struct vs_reader *r);
const struct vs_index *vs_index(struct vs_reader *r, struct fault *f);       /* owned by r; NULL: see *f (a pipe, no memory) */

/* Column c of block i as it is in the file: its values, bytes and method, from the block's head.  0, or -1: see *f. */
struct vs_stat {
	uint64_t n, size;
	unsigned method;                /* vc_name knows it */
};
int vs_stat(struct vs_reader *r, size_t i, struct vs_stat s[VS_COLUMNS], struct fault *f);

/*
 * Hands the bytes of records over, block by block, in order.  The whole stream
 * forward (vs_copy) works on pipes too, and tells of everything that is wrong
 * with the file; its head is not handed over, its tail is.  A part (vs_walk)
 * needs no block outside it but the first; backward begins with its last
 * record.  All that comes before a fault was handed over.  A sink that returns
 * -1 ends it: -1 with f->err empty.
 */
int vs_copy(struct vs_reader *r, unsigned threads, vs_sink *sink, void *arg, struct fault *f);
int vs_walk(struct vs_reader *r, uint64_t start, uint64_t count, int backward, unsigned threads,
	vs_sink *sink, void *arg, struct fault *f);

/*
 * Cursor: a place between two records.  It keeps the two blocks that it was in
 * last.  Records are given field by field.  Several cursors may use one
 * reader, in one thread.
 */
struct vs_cursor *vs_cursor(struct vs_reader *r, struct fault *f);   /* before the first record; NULL: see *f */
void vs_cursor_free(struct vs_cursor *c);
uint64_t vs_count(const struct vs_cursor *c);                   /* records, of a file that was cut off those that are there */
uint64_t vs_tell(const struct vs_cursor *c);                    /* records before it */
int vs_seek(struct vs_cursor *c, uint64_t rec);                 /* 0 to vs_count; 0 or -1 */
const struct fault *vs_cursor_fault(const struct vs_cursor *c);

/* Up to n records behind (before) the cursor, which moves over them, nearest first: 1 to n; 0: none is left; -1: see vs_cursor_fault */
long vs_next(struct vs_cursor *c, uint64_t *v, size_t n);
long vs_prev(struct vs_cursor *c, uint64_t *v, size_t n);

#endif
