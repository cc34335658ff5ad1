/* State of the writer of kind paper, shared by its files. */
#ifndef TM_WET_FILE_PAPER_PAPER_INTERNAL_H
#define TM_WET_FILE_PAPER_PAPER_INTERNAL_H

#include "wet/file/paper/nodes.h"
#include "wet/file/paper/streams.h"
#include "wet/file/writer.h"

/* A pair of executions; each number counts the executions of its node. */
struct plabel { uint32_t use, def; };

/* An edge from a statement of a node into a port. */
struct pedge {
	uint32_t node, stmt;            /* stmt: id - 1 */
	struct plabel *label;           /* owned */
	uint32_t n, cap;
};

/*
 * A use port of a statement of a node.  While each execution has had one writer, always the
 * same statement of the same execution, there are no edges, and `same` is the id of that
 * statement.
 */
struct pport {
	struct pedge *edge;             /* owned; the most recently used is first */
	uint32_t nedge, same, nsame;
};

/* A node in the segment; the index is its path. */
struct pnode {
	uint32_t *time;                 /* of its n executions; owned */
	uint64_t *val;                  /* nword words of each execution; owned */
	struct pport *port;             /* owned */
	uint32_t n, nport, nword;
	uint32_t before;                /* executions before the segment */
	size_t captime, capval;
};

struct paper {
	struct store_out out;
	struct paper_stats stats;
	struct store_read r;            /* the input file of kind full */
	struct paper_classes class;
	struct store_mark mark;         /* the part of the code that is in the file */
	struct pnode *node;             /* owned */
	/* for each execution of a path: the path, and which execution of the path it is; owned */
	uint32_t *seq, *nth;
	/* for each class and instance: its execution; the array and each element are owned */
	uint32_t **when;
	uint32_t *nwhen;                /* owned */
	size_t capseq, capnth;
	uint64_t time;                  /* executions of paths so far */
	/* in the segment: statements executed, words of their values, pairs */
	uint64_t n, nword, npair;
	uint32_t nseg;
	struct pnode *at;               /* the node that is being executed */
	uint32_t atpath, atport;        /* its path, and the next port */
	struct pstreams streams;
};

/*
 * Port p of a node, executed `before` times before the segment, has now another writer:
 * converts `same` to an edge.  0, or -1: no memory.
 */
int paper_port_add_edge(struct pport *p, uint32_t path, uint32_t before);

/* Writes the current segment. */
int paper_segment(struct paper *t);

#endif
