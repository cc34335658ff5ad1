/*
 * Whole execution traces as "Whole Execution Traces" (Zhang, Gupta 2004) has
 * them: .wet files of kind paper, wet(5).
 *
 * Nodes are paths.  A node is labelled with the times of its executions and
 * with values, an edge between statements of two nodes with pairs of their
 * executions.  Tier 1 leaves out what can be inferred and what is there
 * already; tier 2 is one of the twelve compressors of bidi.h for each stream.
 */
#ifndef TM_WET_FILE_PAPER_PAPER_H
#define TM_WET_FILE_PAPER_PAPER_H

#include "codec/bidi/bidi.h"
#include "wet/file/file.h"

#define PAPER_SEGMENT (1u << 26)        /* statements executed in a segment: the most */
#define PAPER_WORDS   (1u << 25)        /* words of values, and pairs, at which a segment ends */
#define PAPER_PAIRS   (1u << 26)
#define PAPER_PLAIN   BIDI_NMETHOD      /* as a method: a stream that is all context, not compressed */
#define PAPER_RAW     (BIDI_NMETHOD + 1)        /* the same, of a long one: as bytes */
#define PAPER_NHOW    (BIDI_NMETHOD + 2)

enum paper_part { PAPER_TS, PAPER_VALS, PAPER_EDGES, PAPER_NPARTS };

struct paper_stats {
	uint64_t nstmt, npath, ntime, nsegment; /* statements executed; paths; their executions */
	uint64_t orig[PAPER_NPARTS];    /* bytes: 4 a statement, 8 a word of a value, 8 a dependence */
	uint64_t tier1[PAPER_NPARTS];   /* 4 a time or an index of a pattern, 8 a word, 8 a pair */
	uint64_t tier2[PAPER_NPARTS];   /* of the streams as they are compressed: entries, table, context */
	uint64_t used[PAPER_NPARTS][PAPER_NHOW];    /* streams */
	uint64_t fixed, labels, arch;   /* bytes of the file: graph without labels, labels, one-bit labels */
};

/*
 * What a file of kind full holds as one of kind paper, in segments of
 * o->segment statements or a little more; memory is that of a segment and some
 * bytes for each path executed.  If the file was cut off, so is what is
 * written.  0, or -1: see *f.
 */
int store_paper(const struct wetfile *full, struct wetfile_writer *w, const struct store_opts *o,
    struct paper_stats *s, struct store_fault *f);

#endif
