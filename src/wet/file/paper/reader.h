/* Reads whole execution traces from .wet files of kind paper; each stream is decoded when it is needed. */
#ifndef TM_WET_FILE_PAPER_READER_H
#define TM_WET_FILE_PAPER_READER_H

#include "wet/file/full/reader.h"
#include "wet/file/paper/nodes.h"
#include "wet/file/paper/streams.h"

#define PAPER_LABELS (1u << 27)         /* maximum pairs of an edge in a segment */

/* A node in a segment: executed n times there, and `before` times in earlier segments. */
struct paper_node { uint32_t path, n, before; };

struct paper_read {
	const struct wetfile *file;     /* borrowed */
	struct fault fault;     /* set when a function returns -1 */
	size_t nsegment;                /* complete ones */
	struct store_code code;
	struct paper_classes class;
	struct paper_node *node;        /* of all segments; owned */
	size_t *first;                  /* index of the first node of each segment; owned */
	uint32_t *seq;                  /* paths in the order of execution, ntime of them; owned */
	uint64_t ntime;
	uint32_t *total;                /* executions of each path; owned */
	uint64_t *base;                 /* start of each path's rows in `row`; owned */
	/* for each execution of a path: the instance of each class, then the time; owned */
	uint32_t *row;
	uint32_t *count;                /* instances of each class; owned */
	size_t sec;                     /* current section */
	struct vc_work *work;           /* owned */
	struct buf b;
	struct pstreams_in in;
};

/* Functions that return int return 0, or -1 and r->fault. */
int paper_read_open(struct paper_read *r, const struct wetfile *f);     /* reads all code and all times */
void paper_read_close(struct paper_read *r);

/* Number of executions of statement s. */
static inline uint32_t
paper_count(const struct paper_read *r, uint32_t s)
{
	return r->count[r->class.of[s]];
}

/* For the statement at place k of a path: its instances in the path's executions; and their times. */
static inline const uint32_t *
paper_instances(const struct paper_read *r, uint32_t path, uint32_t k)
{
	return r->row + r->base[path] + (uint64_t)r->class.row[r->code.path[path].first + k] * r->total[path];
}
static inline const uint32_t *
paper_times(const struct paper_read *r, uint32_t path)
{
	return r->row + r->base[path] +
	    (uint64_t)(r->class.first[path + 1] - r->class.first[path]) * r->total[path];
}

/*
 * Calls fn, within a segment and for statements s with only[s] != 0: for word j of n values and
 * their instances; and for the writers of each instance's ports that have any, the instances of
 * a statement in the order of paths.  A nonzero result of fn: no memory.
 */
typedef int paper_value_fn(void *arg, uint32_t s, unsigned j, const uint32_t *x,
    const uint64_t *word, size_t n);
int paper_read_values(struct paper_read *r, size_t segment, const uint8_t *only,
    paper_value_fn *fn, void *arg);
int paper_read_edges(struct paper_read *r, size_t segment, const uint8_t *only, store_use_fn *fn, void *arg);

/* For the reader's files: section `what` of a segment, from WETFILE_CODE (0) on; and setting a fault. */
enum paper_section { PAPER_CODE, PAPER_NODE, PAPER_GRP, PAPER_EDGE, PAPER_NSECTION };
/* loads section `what` of a segment, for reading columns */
int paper_load(struct paper_read *r, size_t segment, enum paper_section what, struct col_reader *c);
int paper_bad(struct paper_read *r, const char *err);   /* returns -1; NULL: no memory */

#endif
