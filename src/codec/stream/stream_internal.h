/* Internal to value streams: what is in a file, and a block on its way. */
#ifndef TM_CODEC_STREAM_STREAM_INTERNAL_H
#define TM_CODEC_STREAM_STREAM_INTERNAL_H

#include "base/pool.h"
#include "base/src.h"
#include "base/varint.h"
#include "codec/stream/stream.h"

#define VS_VERSION  1u
#define VS_HEADER   22u                 /* bytes of the header before its fields */
#define VS_BHEAD    (2 * VARINT_MAX + VS_COLUMNS * (1 + VARINT_MAX) + 4)        /* of the head of a block, at most */
#define VS_END      8u                  /* of the end mark */
#define VS_INDEX    (5 * VARINT_MAX + VS_FIELDS * 8 + 8 + 4)                /* of an index without its entries, at most */

extern const uint8_t vs_magic[8], vs_magic_end[4];

uint32_t vs_crc(const uint8_t *p, size_t n, uint32_t crc);

/* Headers */
void vs_put_header(struct buf *b, const struct vs_options *o);
/* From the VS_HEADER bytes at p: how long the header is; 0: *err */
size_t vs_header_size(const uint8_t *p, const char **err);
int vs_get_header(const uint8_t *p, size_t n, struct vs_info *i, const char **err);     /* 0 or -1; i->head is in p */

/* Head of a block, without its checksum */
struct vs_bhead {
	uint64_t n, ninst;
	uint64_t before;                /* records of the block before; 0: there is none */
	size_t ncol;
	size_t len;                     /* of the head, with its checksum */
	uint64_t size;                  /* of the whole block */
	struct vs_stat col[VS_COLUMNS];
};

void vs_put_bhead(struct buf *b, const struct vs_info *i, const struct vs_bhead *h);
/* h->before is set.  1; 0: there are too few bytes; -1: *err.  The number of end is 0 and no head; do not come here then. */
int vs_get_bhead(const uint8_t *p, size_t n, const struct vs_info *i, struct vs_bhead *h, const char **err);

/*
 * One block on its way: bytes of records, columns, bytes of the file; and what
 * a walk is to give of it.
 */
struct vs_part {                        /* a block that is coded: what its head is to say */
	struct vs_bhead head;           /* but for before and len; size: bytes of the columns */
	struct vs_sum sum;
};

struct vs_job {
	size_t no;                      /* number of the block */
	uint64_t off, rec;
	struct vs_bhead head;
	struct buf raw, coded;
	struct vs_block b;
	struct vs_sum sum;
	struct vs_part *part;           /* owned: what a writer made of it, npart blocks; coded has their columns */
	size_t npart, partcap;
	size_t from, n;                 /* of a walk: records to give */
	int bad;                        /* it could not be done: see fault */
	struct fault fault;
};

void vs_job_free(struct vs_job *j);
int vs_job_fail(struct vs_job *j, uint64_t off, const char *what);      /* -1, and j->bad, j->fault */
/* What all blocks of a stream have in common */
struct vs_common {
	struct vs_info info;
	unsigned record;                /* bytes */
	struct vc_prime *prime[VS_COLUMNS];     /* owned; NULL: not made, or the first block has no values there */
	int primed;
	int level, method;              /* of a writer */
};

struct vc_work *vs_job_work(struct vc_work **work, const struct vs_common *m, struct vs_job *j);        /* *work, made if it is not; NULL: j is bad */
int vs_make_primes(struct vs_common *m, struct vc_work *w, const struct vs_block *first);       /* 0, or -1 without memory */
void vs_common_free(struct vs_common *m);

/* 0, or -1 and j->bad, j->fault */
int vs_encode_part(const struct vs_common *m, struct vc_work *w, struct vs_job *j);     /* one more part of j: j->b */
int vs_decode_job(const struct vs_common *m, struct vc_work *w, struct vs_job *j);

/* Appends the block q, whose columns are at `columns`, behind one of so many records (0: it is the first).  0, or -1 without memory. */
int vs_put_block(const struct vs_info *i, struct vs_part *q, size_t before, const uint8_t *columns, struct buf *out);

#define VS_NOMEM "out of memory"

struct vs_reader {
	struct vs_common m;
	struct src src;
	uint8_t *header;                /* owned: the header, which has the head */
	uint64_t first;                 /* offset of the first block */
	struct vs_index index;
	struct vs_entry *entry;         /* owned */
	uint8_t *tail;                  /* owned */
	int indexed;
	uint64_t sum;                   /* of all values, from the index */
	struct vc_work *work;           /* owned: of what is done without threads; NULL: not made */
	struct vs_job first_job;        /* the first block, once it was needed */
	int have_first;                 /* its values are there */
	uint8_t ahead[VS_BHEAD];        /* of a pipe: bytes read but not used, at aheadoff */
	size_t nahead;
	uint64_t aheadoff;
};

/* Bytes of the file at off, which on a pipe may not be before what was read; vs_peek reads VS_BHEAD bytes at most and keeps them */
size_t vs_get(struct vs_reader *r, uint64_t off, uint8_t *p, size_t n);
size_t vs_peek(struct vs_reader *r, uint64_t off, uint8_t *p, size_t n);
int vs_read_error(struct vs_reader *r, struct fault *f, uint64_t off, uint64_t rec);         /* 1 if the last read failed: *f says so */

/* The block at j->off, of which j->no, j->rec and j->head.before are set, into j->coded and j->head: 1; 0: the end of blocks is here; -1: j->fault */
int vs_get_block(struct vs_reader *r, struct vs_job *j);

int vs_get_entry(struct vs_reader *r, size_t no, struct vs_job *j);     /* block no of the index, and all of j; 0; -1: j->fault */

/* The index at off, behind the blocks e (n of them), to the end of the file: 0 and r->index; -1: *f */
int vs_get_index(struct vs_reader *r, uint64_t off, const struct vs_entry *e, size_t n, struct fault *f);

/* What is at off is no block: 1 if the index at the end of the file is good and has block no there, *f says so then */
int vs_blame(struct vs_reader *r, size_t no, uint64_t off, struct fault *f);

/* The primers, if there are more blocks than the first; with values (and to make primers) that block of the index is decoded into r->first_job */
int vs_first(struct vs_reader *r, int values, struct fault *f);
void vs_first_drop(struct vs_reader *r);        /* its values, not the primers */
struct vc_work *vs_reader_work(struct vs_reader *r);    /* NULL without memory */

#endif
