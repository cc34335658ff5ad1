/* Internal to value streams: the parts of a file, and a block being coded or decoded. */
#ifndef TM_CODEC_STREAM_STREAM_INTERNAL_H
#define TM_CODEC_STREAM_STREAM_INTERNAL_H

#include "base/pool.h"
#include "base/src.h"
#include "base/varint.h"
#include "codec/stream/stream.h"

#define VS_VERSION  5u
#define VS_VERSION_BYTES  4u            /* without context mixing of bytes; read */
#define VS_VERSION_FIELDS 3u            /* also at most 8 fields, without cm-signed, cm-signed2 and scaled; read */
#define VS_FIELDS_OLD     8u
#define VS_VERSION_BLOCKS 2u            /* also without whole blocks; read */
#define VS_VERSION_OLD 1u               /* smaller tables of context mixing; no longer read */
#define VS_HEADER   22u                 /* bytes of the header before its fields */
/* bytes of the head of a block, at most */
#define VS_BHEAD    (2 * VARINT_MAX + VS_COLUMNS * (1 + VARINT_MAX) + 4)
#define VS_END      8u                  /* bytes of the end mark */
/* bytes of an index without its entries, at most */
#define VS_INDEX    (5 * VARINT_MAX + VS_FIELDS * 8 + 8 + 4)

extern const uint8_t vs_magic[8], vs_magic_end[4];

uint32_t vs_crc(const uint8_t *p, size_t n, uint32_t crc);

/* Headers. */
void vs_put_header(struct buf *b, const struct vs_options *o);
/* The length of the header, from the VS_HEADER bytes at p; 0: *err. */
size_t vs_header_size(const uint8_t *p, const char **err);
/* 0 or -1; i->head points into p */
int vs_get_header(const uint8_t *p, size_t n, struct vs_info *i, const char **err);

/* Head of a block, without its check sum. */
struct vs_bhead {
	uint64_t n, ninst;
	uint64_t before;                /* records of the block before; 0: there is none */
	int whole;                      /* col[0] is its records, coded as bytes */
	size_t ncol;
	size_t len;                     /* bytes of the head, with its check sum */
	uint64_t size;                  /* bytes of the whole block */
	struct vs_stat col[VS_COLUMNS];
};

void vs_encode_block_head(struct buf *b, const struct vs_info *i, const struct vs_bhead *h);
/*
 * h->before must be set. 1; 0: too few bytes; -1: *err. The end of blocks begins with the number 0,
 * which is no head: do not call it there.
 */
int vs_decode_block_head(const uint8_t *p, size_t n, const struct vs_info *i, struct vs_bhead *h,
    const char **err);

/*
 * One block on its way: bytes of records, columns, bytes of the file; and what
 * a walk is to give of it.
 */
struct vs_part {                        /* a coded block, and its head */
	struct vs_bhead head;           /* without before and len */
	struct vs_sum sum;
};

struct vs_job {
	size_t no;                      /* number of the block */
	uint64_t off, rec;
	struct vs_bhead head;
	struct buf raw, coded;
	struct vs_block b;              /* of a whole block, pieces of it; its bytes are in raw */
	struct vs_sum sum;
	/* owned: what a writer made of it, npart blocks; coded has their columns */
	struct vs_part *part;
	size_t npart, partcap;
	size_t from, n;                 /* of a walk: records to give */
	int bad;                        /* it could not be done: see fault */
	struct fault fault;
};

void vs_job_free(struct vs_job *j);
int vs_job_fail(struct vs_job *j, uint64_t off, const char *what);      /* -1, and j->bad, j->fault */
/*
 * The same for a damaged block, which is named: its number, and its records as far as its head says.
 * column: -1, or the number of the column.
 */
int vs_job_damaged(struct vs_job *j, uint64_t off, int column, const char *what);
/* Properties that all blocks of a stream share */
struct vs_common {
	struct vs_info info;
	unsigned record;                /* bytes */
	/* owned; NULL: not made, or the first block has no values there */
	struct vc_prime *prime[VS_COLUMNS];
	int primed;                     /* they are made, or the first block is whole, and there are none */
	int level, method;              /* of a writer */
};

struct vc_work *vs_work_new(const struct vs_info *i);   /* NULL without memory */
/* *work, made if it is not; NULL: j is bad */
struct vc_work *vs_job_work(struct vc_work **work, const struct vs_common *m, struct vs_job *j);
/* 0, or -1 without memory */
int vs_make_primes(struct vs_common *m, struct vc_work *w, const struct vs_block *first);
void vs_common_free(struct vs_common *m);

/* 0, or -1 and j->bad, j->fault */
/* one more part of j: j->b */
int vs_encode_part(const struct vs_common *m, struct vc_work *w, struct vs_job *j);
int vs_decode_job(const struct vs_common *m, struct vc_work *w, struct vs_job *j);

/*
 * Appends the block q, whose columns are at `columns`, after a block of `before` records (0: q is
 * the first block).  0, or -1 without memory.
 */
int vs_put_block(const struct vs_info *i, struct vs_part *q, size_t before, const uint8_t *columns,
    struct buf *out);

/* Whole blocks, of records as bytes: methods, in files. */
enum { VS_LZMA = 16, VS_ZSTD, VS_BYTES };

/*
 * Trials of the bytes of a unit, which do what they can beside the pool's other jobs. The bytes stay where they are
 * until they are freed; NULL without memory.
 */
struct vs_trials *vs_trials_new(struct par *par, const struct buf *raw);
void vs_trials_free(struct vs_trials *s);       /* all that have begun are done, or the pool is freed */
void vs_trials_early(struct vs_trials *s);      /* begins what is needed in any case */
void vs_trials_guess(struct vs_trials *s, double size); /* begins what is likely if its blocks take that many bytes */
void vs_trials_wait(struct vs_trials *s);       /* for all that have begun */

/*
 * Codes the records at raw, those of s, as a whole block if that takes less than `size` bytes, and appends it to
 * out with its head. 1 if it did; 0; -1 without memory, and out is as it was. It does not depend on the number of
 * threads.
 */
int vs_whole_encode(const struct vs_common *m, const struct buf *raw, struct vs_trials *s, size_t size,
    struct buf *out);
/* j->coded to j->raw and j->sum; j->b is used. 0, or -1 and j->fault. */
int vs_whole_decode(const struct vs_common *m, struct vs_job *j);

#define VS_NOMEM "out of memory"

#define VS_DICT_MAX (64u << 20) /* LZMA's dictionary for a whole block, at most: that of xz -9 */

/* The greatest blocks whose heads were read. */
struct vs_seen {
	struct vc_shape column[VS_COLUMNS];
	uint64_t first, later;          /* records */
	uint64_t firstsize, latersize, whole;   /* bytes; whole: all that one takes */
};

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
	struct vc_work *work;           /* owned: for work without threads; NULL: not allocated yet */
	struct vs_job first_job;        /* the first block, once it was needed */
	int have_first;                 /* its values are present */
	int first_whole;                /* it is a whole block: known when primers are */
	uint8_t ahead[VS_BHEAD];        /* for a pipe: bytes read but not used, at aheadoff */
	size_t nahead;
	uint64_t aheadoff;
	struct vs_seen seen;
	uint64_t memory;                /* 0: no limit */
	unsigned threads;               /* for which it is a limit */
};

/*
 * Bytes of the file at off, which on a pipe may not be before what was read. vs_peek reads at most
 * VS_BHEAD bytes and keeps them.
 */
size_t vs_get(struct vs_reader *r, uint64_t off, uint8_t *p, size_t n);
size_t vs_peek(struct vs_reader *r, uint64_t off, uint8_t *p, size_t n);
/* 1 if the last read failed; *f then says so */
int vs_read_error(struct vs_reader *r, struct fault *f, uint64_t off, uint64_t rec);

/*
 * Reads the block at j->off into j->coded and j->head; j->no, j->rec and j->head.before must be
 * set. 1; 0: the blocks end here; -1: j->fault.
 */
int vs_get_block(struct vs_reader *r, struct vs_job *j);

/* the head of block no of the index; 0; -1: *f */
int vs_get_block_head(struct vs_reader *r, size_t no, struct vs_bhead *h, struct fault *f);

void vs_memory_note(struct vs_reader *r, const struct vs_job *j);       /* the head of j was seen */
/* likewise; 1: that needs more than r->memory: j->fault */
int vs_memory_exceeds(struct vs_reader *r, struct vs_job *j);

/* block no of the index into j; 0; -1: j->fault */
int vs_get_entry(struct vs_reader *r, size_t no, struct vs_job *j);

/* The index at off, after the n blocks e, up to the end of the file: 0 and r->index; -1: *f. */
int vs_get_index(struct vs_reader *r, uint64_t off, const struct vs_entry *e, size_t n, struct fault *f);

/*
 * What is at off is not a block: 1 if the index at the end of the file is good and has block no
 * there; *f then says so.
 */
int vs_index_contradicts(struct vs_reader *r, size_t no, uint64_t off, struct fault *f);

/*
 * Makes the primers if there is more than one block; `values`, or making primers, decodes the first
 * block of the index into r->first_job.
 */
int vs_first(struct vs_reader *r, int values, struct fault *f);
void vs_first_drop(struct vs_reader *r);        /* drops its values, not the primers */
struct vc_work *vs_reader_work(struct vs_reader *r);    /* NULL without memory */

#endif
