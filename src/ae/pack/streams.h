/*
 * The streams of events of a file, as packing and unpacking go through them, and the parts of a packed file: both do the
 * same in the same order. Internal to ae/pack.
 */
#ifndef TM_AE_PACK_STREAMS_H
#define TM_AE_PACK_STREAMS_H

#include "ae/pack/pack.h"
#include "ae/pack/walk.h"
#include "base/buf.h"
#include "codec/column/block.h"

#define PACK_HEADER   16                /* magic, version, model */
#define PACK_MODEL    1u                /* what the model foresees: any change of it is another number */
#define PACK_FRAME    16                /* before each part: magic, length, checksum, as in ae.out(5) */
#define PACK_TAIL     80u               /* bytes of the event file that the end has, at most: its end record */
#define PACK_BLOCK    (1u << 20)        /* a block ends when it is of so many bytes of the event file */
#define PACK_RAWMAX   (6u << 20)        /* bytes of the event file in a block, at most */
#define PACK_MOST     (16u << 20)       /* bytes of a block, at most */
#define PACK_TASKS    64                /* threads that are walked through at the same time */
#define PACK_PIECE    (1u << 20)        /* bytes that are coded together */

/* Entries of the list of a block */
enum pack_entry {
	PE_BYTES,       /* n: bytes */
	PE_HEAD,        /* n: bytes that are the header or tell of a library, or of a thread that begins */
	/* thread, n, walked: bytes of events; walked: 0, or 1 + how many of them and those left before are coded */
	PE_EVENTS,
	PE_CLOSE        /* thread: it has ended */
};

struct stream {
	uint32_t task;
	int none;                       /* it is not walked through */
	size_t left;                    /* bytes of an event that is not whole */
	struct walk *walk;              /* owned; NULL: not yet, or `none` */
};

struct streams {
	struct exe *x;
	struct prog prog;               /* for the contents of memory */
	struct coder code;
	struct recall recall;
	struct buf head;                /* header and records for feed_blank */
	struct stream *s;
	size_t n, cap;
	const char *err;                /* after a failure */
	struct vc_work *work;
};

int streams_init(struct streams *t, struct exe *x);     /* 0, or -1 with t->err; streams_free in either case */
void streams_free(struct streams *t);

/* More of the header and records; the first is the header: 0, or -1 with t->err if it is not of a run of this program */
int streams_head(struct streams *t, const uint8_t *p, size_t n);
/* The stream of a thread, whose events may be walked through; NULL with t->err */
struct stream *streams_find(struct streams *t, uint32_t task);
/* Makes its walk, if it can be walked through and has none. 0, or -1 with t->err */
int streams_walk(struct streams *t, struct stream *s);
void streams_close(struct streams *t, uint32_t task);
int streams_failed(const struct streams *t);            /* out of memory */

#endif
