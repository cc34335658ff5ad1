/* Streams of a .wet file of kind paper: many of them in a section, each as the one of twelve compressors keeps it that suits it best. */
#ifndef TM_WET_FILE_PAPER_STREAMS_H
#define TM_WET_FILE_PAPER_STREAMS_H

#include "wet/file/paper/paper.h"
#include "wet/model/column.h"

/* Being written */
struct pstreams {
	struct col how, len, plain;
	struct buf body, try, best;
};

int pstream_put(struct pstreams *t, const uint64_t *v, size_t n, int level, struct paper_stats *s, enum paper_part part);
int pstreams_save(struct pstreams *t, struct vc_work *w, int level, struct buf *b);     /* all of them, behind b; then there is none */
void pstreams_free(struct pstreams *t);
/* Both: 0, or -1 without memory */

/* Being read: the section's bytes are borrowed */
struct pstream { uint64_t off, n; uint32_t len; uint8_t method, width; };       /* off: of its bytes, or in plain */
struct pstreams_in {
	struct col how, len, plain;
	const uint8_t *body;
	uint64_t nbody, at, nplain;     /* bytes; how far streams have been told */
	struct pstream *stream;         /* owned */
	size_t n, cap;
};

/* 0, or -1 and r->err */
int pstreams_load(struct pstreams_in *t, struct col_reader *r);
int pstreams_next(struct pstreams_in *t, uint64_t n, struct col_reader *r);     /* the next stream has n values */
int pstreams_over(const struct pstreams_in *t, struct col_reader *r);           /* there are no others */
int pstream_get(const struct pstreams_in *t, size_t i, uint64_t most, struct col *c, struct col_reader *r);    /* in place of c */
void pstreams_in_free(struct pstreams_in *t);

#endif
