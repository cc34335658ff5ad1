/* Internal to the writer of value streams: its state, and units, of which whole blocks may be made. */
#ifndef TM_CODEC_STREAM_WRITER_INTERNAL_H
#define TM_CODEC_STREAM_WRITER_INTERNAL_H

#include "codec/stream/group_internal.h"

/* A coded block that waits. */
struct held {
	size_t n, size;                         /* records, bytes */
};

/*
 * A unit of the stream whose blocks wait, because one whole block may be smaller than all of them.
 */
struct unit {
	size_t most;                            /* bytes of its records, at most; 0: there are no units */
	struct buf raw;                         /* its records */
	struct buf coded;                       /* its blocks */
	struct held *held;                   /* owned: nheld of them */
	size_t nheld, cap;
	size_t before;                          /* records of the block before it */
	size_t taken;                           /* bytes of its records that are in jobs */
	size_t made;                            /* records in `held` */
	struct vs_trials *trials;               /* owned; NULL until it is full */
};

struct vs_writer {
	struct vs_common m;
	vs_sink *sink;
	void *arg;
	unsigned threads;
	struct vc_work *work[VS_THREADS];       /* owned; NULL: not allocated yet */
	struct par *par;                        /* owned */
	struct vs_job *job;                     /* owned: njob */
	size_t njob, next;                      /* next: the one being filled */
	size_t done;                            /* blocks made: written, or in the unit */
	size_t written;
	size_t first;                           /* records in the first block */
	struct vs_block *model;                 /* the first block, until the primers are made... */
	struct vc_work *first_work;             /* ...and the tables that coded it */
	int chosen;                             /* it is done: the length of blocks is chosen */
	size_t before;                          /* records in the last block written */
	int free;                               /* the length of blocks is derived from their coded size */
	struct buf block;                       /* the block being written */
	uint64_t off, nrec;
	size_t most;                            /* records of a group, at most; 0: no groups */
	uint32_t longest;                       /* records of a block whose length is derived, at most */
	struct vs_group group;
	struct vs_job whole[VS_THREADS];        /* space for groups */
	struct unit unit;
	struct buf index;                       /* the index entries */
	struct vs_sum sum;
	int bad;
	struct fault fault;
};

/* The functions return 0, or -1 and w->bad, w->fault. */
int vs_writer_fail(struct vs_writer *w, const char *what);
/* writes a coded block of n records after one of `before` records */
int vs_writer_put(struct vs_writer *w, size_t n, size_t before, const uint8_t *p, size_t size);
int vs_writer_collect(struct vs_writer *w, struct vs_job *j);  /* writes what is coded */
int vs_writer_first(struct vs_writer *w, struct vs_job *j);    /* the same for the first block; what follows from it */
size_t vs_writer_records(const struct vs_writer *w);           /* of the job that is being filled */
int vs_writer_submit(struct vs_writer *w);                     /* the job that is full is coded */
void vs_writer_work(void *arg, unsigned thread, void *job);    /* for the pool */

/* Units. */
void vs_unit_write(struct vs_writer *w, const uint8_t *p, size_t n);    /* adds bytes of records */
int vs_unit_flush(struct vs_writer *w);                                 /* codes and writes what there is */
/* adds a coded block */
int vs_unit_enter(struct vs_writer *w, size_t n, const uint8_t *p, size_t size);
void vs_unit_free(struct vs_writer *w);

#endif
