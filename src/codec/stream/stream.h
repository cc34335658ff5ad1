/*
 * Value streams as files, bifcm(5): a writer, a reader that walks blocks in either direction with
 * several threads, and a cursor over the values.
 *
 * A stream is a sequence of records of a layout (layout.h), in blocks that can be read
 * independently of each other (except the first block, from which the others' primers are made).
 * Bytes stored at the front (the head), and the rest of an incomplete record at the end (the tail),
 * are part of it.
 */
#ifndef TM_CODEC_STREAM_STREAM_H
#define TM_CODEC_STREAM_STREAM_H

#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "codec/stream/layout.h"

/* records in a first block, which is what the primers of the others know */
#define VS_FIRST    1048576u
/* records in another block, or in a group, at most, unless an option changes it */
#define VS_GROUP    524288u
#define VS_UNIT     (128u << 20)        /* bytes of a whole block, at most */
#define VS_WHOLE_MAX(bytes) ((bytes) + (bytes) / 4096)  /* their coded bytes, at most: some more where they are noise */
#define VS_HEAD_MAX (1u << 20)          /* bytes of a head, at most */
#define VS_THREADS  64u                 /* at most */

/* Writer. Errors stick: the failing call and all later ones return -1, and vs_write_fault says why. */

struct vs_options {
	struct vs_layout layout;
	/* records, 1 to VC_MAX; 0: derived from the first block, so that seeking is quick */
	uint32_t block;
	uint32_t most;                  /* records at most, if it is derived; 0: VS_GROUP */
	uint32_t first;                 /* records in the first block; 0: the same as the others */
	/* most records that may become one block, by zstd or LZMA, if that is smaller than their blocks; 0: no groups */
	uint32_t group;
	/*
	 * bytes of records, at most VS_UNIT, that also are coded together as bytes, by LZMA and zstd, of
	 * which the smallest is kept: a whole block; 0: none are
	 */
	uint32_t unit;
	int level;                      /* level of vc_encode */
	int method;                     /* an enum vc_method for all columns that it makes smaller; or -1 */
	unsigned threads;               /* 1 to VS_THREADS; the output does not depend on it */
	const uint8_t *head;            /* copied */
	size_t nhead;
};

typedef int vs_sink(void *arg, const void *p, size_t n);        /* 0; -1 with errno */

/* The most memory that writing a stream takes, in bytes. bytes: those of the stream, at most. */
uint64_t vs_write_memory(const struct vs_options *o, uint64_t bytes);
/*
 * Makes units and (unless `fixed`) blocks shorter, and takes fewer threads, so that it takes no more than
 * `memory`. Returns what it takes, which is more if nothing can be shorter.
 */
uint64_t vs_write_within(struct vs_options *o, uint64_t bytes, uint64_t memory, int fixed);

/* NULL: see *f */
struct vs_writer *vs_create(vs_sink *sink, void *arg, const struct vs_options *o, struct fault *f);
int vs_write(struct vs_writer *w, const void *p, size_t n);     /* bytes of records, in pieces of any size */
/* n records, field by field; not after half a record written by vs_write */
int vs_put(struct vs_writer *w, const uint64_t *v, size_t n);
int vs_finish(struct vs_writer *w);     /* writes the rest and the index; vs_free is still needed */
const struct fault *vs_write_fault(const struct vs_writer *w);  /* off: bytes written before it */
void vs_free(struct vs_writer *w);

/* Reader. It uses pread on a file (so several may share the descriptor), read on a pipe. */

struct vs_info {
	struct vs_layout layout;
	uint32_t block;                 /* records in any block that is not whole, at most */
	unsigned version;               /* of the format */
	int whole;                      /* blocks may be whole */
	const uint8_t *head;            /* owned by the reader */
	size_t nhead;
	int seeks;                      /* it is a file or memory */
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
	/* 0: the file has no good index, and blocks were searched from the front */
	int whole;
	struct fault fault;             /* set if the file is not whole */
};

int vs_is_stream(const void *p, size_t n);              /* are these the first bytes of such a file? */
struct vs_reader *vs_open(int fd, struct fault *f);     /* NULL: see *f. The caller closes fd. */
struct vs_reader *vs_open_mem(const void *p, size_t n, struct fault *f);        /* borrows p */
void vs_close(struct vs_reader *r);
const struct vs_info *vs_info(const struct vs_reader *r);
/*
 * The most memory that vs_copy and vs_walk take, in bytes: for a file for all of it, for a pipe for the
 * blocks that were read.
 */
uint64_t vs_read_memory(struct vs_reader *r, unsigned threads);
/* A block with which they would take more with that many threads is a fault. */
void vs_read_limit(struct vs_reader *r, uint64_t memory, unsigned threads);
/* owned by r; NULL: see *f (a pipe, no memory) */
const struct vs_index *vs_index(struct vs_reader *r, struct fault *f);

/*
 * Column c of block i as it is in the file: number of values, bytes and method, from the block's
 * head. A whole block has one, with its records. 1 if the block is whole, 0, or -1: see *f.
 */
struct vs_stat {
	uint64_t n, size;
	unsigned method;                /* for vs_method_name */
};
int vs_stat(struct vs_reader *r, size_t i, struct vs_stat s[VS_COLUMNS], struct fault *f);
const char *vs_method_name(unsigned method);    /* NULL: no such method */

/*
 * Pass the bytes of records to a sink, block by block, in order. vs_copy passes the whole stream
 * forward; it works on pipes, too, and reports everything that is wrong with the file. It does not
 * pass the head, but passes the tail. vs_walk passes a part and needs no block outside it but the
 * first; backward begins with the last record. Everything before a fault is passed. A sink that
 * returns -1 ends it: -1 with f->err empty.
 */
int vs_copy(struct vs_reader *r, unsigned threads, vs_sink *sink, void *arg, struct fault *f);
int vs_walk(struct vs_reader *r, uint64_t start, uint64_t count, int backward, unsigned threads,
	vs_sink *sink, void *arg, struct fault *f);

/*
 * Cursor: a position between two records. It keeps the last two blocks that it used. Records are
 * returned field by field. Several cursors may share a reader, in one thread.
 */
/* before the first record; NULL: see *f */
struct vs_cursor *vs_cursor(struct vs_reader *r, struct fault *f);
void vs_cursor_free(struct vs_cursor *c);
/* records; of a truncated file those that are there */
uint64_t vs_count(const struct vs_cursor *c);
uint64_t vs_tell(const struct vs_cursor *c);                    /* records before it */
int vs_seek(struct vs_cursor *c, uint64_t rec);                 /* 0 to vs_count; 0 or -1 */
const struct fault *vs_cursor_fault(const struct vs_cursor *c);

/*
 * Up to n records after (before) the cursor, which moves over them, nearest first: 1 to n; 0: none
 * left; -1: see vs_cursor_fault.
 */
long vs_next(struct vs_cursor *c, uint64_t *v, size_t n);
long vs_prev(struct vs_cursor *c, uint64_t *v, size_t n);

#endif
