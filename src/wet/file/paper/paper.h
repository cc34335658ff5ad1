/*
 * Whole execution traces in the form of "Whole Execution Traces" (Zhang, Gupta 2004): .wet
 * files of kind paper, wet(5).
 *
 * Nodes are paths.  A node is labelled with the times of its executions and with values, an
 * edge between statements of two nodes with pairs of executions.  Tier 1 omits labels that can
 * be inferred or exist already; tier 2 compresses each stream with one of the twelve methods of
 * bidi.h.
 */
#ifndef TM_WET_FILE_PAPER_PAPER_H
#define TM_WET_FILE_PAPER_PAPER_H

#include "codec/bidi/bidi.h"
#include "wet/file/file.h"

#define PAPER_SEGMENT (1u << 26)        /* maximum number of statements executed in a segment */
#define PAPER_WORDS   (1u << 25)        /* words of values, or pairs, after which a segment ends */
#define PAPER_PAIRS   (1u << 26)
#define PAPER_PLAIN   BIDI_NMETHOD      /* as a method: an uncompressed stream, which is all context */
#define PAPER_RAW     (BIDI_NMETHOD + 1)        /* as a method: a long uncompressed stream, as bytes */
#define PAPER_NHOW    (BIDI_NMETHOD + 2)

enum paper_part { PAPER_TS, PAPER_VALS, PAPER_EDGES, PAPER_NPARTS };

struct paper_stats {
	uint64_t nstmt, npath, ntime, nsegment; /* statements executed; paths; executions of paths */
	uint64_t orig[PAPER_NPARTS];    /* bytes: 4 a statement, 8 a word of a value, 8 a dependence */
	uint64_t tier1[PAPER_NPARTS];   /* bytes: 4 a time or an index of a pattern, 8 a word, 8 a pair */
	uint64_t tier2[PAPER_NPARTS];   /* bytes of the compressed streams: entries, table, context */
	uint64_t used[PAPER_NPARTS][PAPER_NHOW];        /* number of streams by method */
	uint64_t fixed, labels, arch;   /* bytes of the file: graph without labels, labels, one-bit labels */
};

/*
 * Converts a file of kind full to kind paper, in segments of at least o->segment statements.
 * It needs memory for a segment, and some bytes for each execution of a path.  If the file was
 * cut off, so is the result.  0, or -1: see *f.
 */
int store_paper(const struct wetfile *full, struct wetfile_writer *w, const struct store_opts *o,
    struct paper_stats *s, struct fault *f);

#endif
