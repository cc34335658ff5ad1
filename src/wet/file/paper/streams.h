/*
 * Streams of a .wet file of kind paper: a section has many of them, each compressed by the best
 * of twelve methods.
 */
#ifndef TM_WET_FILE_PAPER_STREAMS_H
#define TM_WET_FILE_PAPER_STREAMS_H

#include "wet/file/paper/paper.h"
#include "wet/model/column.h"

/* Streams that are being written. */
struct pstreams {
	struct col how, len, plain;
	struct buf body, try, best;
};

int pstream_encode(struct pstreams *t, const uint64_t *v, size_t n, int level, struct paper_stats *s,
    enum paper_part part);
/* appends all of them to b and empties t */
int pstreams_save(struct pstreams *t, struct vc_work *w, int level, struct buf *b);
void pstreams_free(struct pstreams *t);
/* pstream_encode adds one.  Both: 0, or -1: no memory. */

/* Streams that are being read; the section's bytes are borrowed.  off: of its bytes, or in plain. */
struct pstream { uint64_t off, n; uint32_t len; uint8_t method, width; };
struct pstreams_in {
	struct col how, len, plain;
	const uint8_t *body;
	uint64_t nbody, at, nplain;     /* bytes of streams; positions so far in body and plain */
	struct pstream *stream;         /* owned */
	size_t n, cap;
};

/* Functions return 0, or -1 and r->err. */
int pstreams_load(struct pstreams_in *t, struct col_reader *r);
/* the next stream has n values */
int pstreams_next(struct pstreams_in *t, uint64_t n, struct col_reader *r);
/* there are no more streams */
int pstreams_at_end(const struct pstreams_in *t, struct col_reader *r);
/* stream i, values up to `most`, replaces c */
int pstream_decode(const struct pstreams_in *t, size_t i, uint64_t most, struct col *c, struct col_reader *r);
void pstreams_in_free(struct pstreams_in *t);

#endif
