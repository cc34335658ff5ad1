/* Internal to the writer of .wet files of kind paper. */
#ifndef TM_WET_FILE_PAPER_PAPER_INTERNAL_H
#define TM_WET_FILE_PAPER_PAPER_INTERNAL_H

#include "wet/file/paper/nodes.h"
#include "wet/file/paper/streams.h"
#include "wet/file/writer.h"

/* A pair of executions, each counted over those of its node */
struct plabel { uint32_t use, def; };

/* An edge into a port: from a statement of a node */
struct pedge {
	uint32_t node, stmt;            /* stmt: id less 1 */
	struct plabel *label;           /* owned */
	uint32_t n, cap;
};

/*
 * A use port of a statement of a node.  As long as each execution had one
 * writer, always the same statement of the same execution, there are no edges
 * and that is `same`, its id.
 */
struct pport {
	struct pedge *edge;             /* owned; the one that came last is first */
	uint32_t nedge, same, nsame;
};

/* A node in the segment; [path] */
struct pnode {
	uint32_t *time;                 /* of its n executions; owned */
	uint64_t *val;                  /* nword words each; owned */
	struct pport *port;             /* owned */
	uint32_t n, nport, nword;
	uint32_t before;                /* executions before the segment */
	size_t captime, capval;
};

struct paper {
	struct store_out out;
	struct paper_stats stats;
	struct store_read r;            /* the file of kind full */
	struct paper_classes class;
	struct store_mark mark;         /* what of the code is in the file */
	struct pnode *node;             /* owned */
	uint32_t *seq, *nth;            /* of each execution of a path: which, and the how manieth; owned */
	uint32_t **when;                /* of each class: the execution that has its instance; owned each */
	uint32_t *nwhen;                /* owned */
	size_t capseq, capnth;
	uint64_t time;                  /* executions of paths so far */
	uint64_t n, nword, npair;       /* statements executed in the segment, words of their values, pairs */
	uint32_t nseg;
	struct pnode *at;               /* the node that is executed */
	uint32_t atpath, atport;        /* and the port that comes next */
	struct pstreams streams;
};

/* Port p of a node, executed `before` times before the segment: what was always the same is so no longer.  0, or -1 without memory */
int paper_differs(struct pport *p, uint32_t path, uint32_t before);

/* What there is of a segment is written */
int paper_segment(struct paper *t);

#endif
