/* Whole execution traces from .wet files of kind paper: each stream by itself, where it is asked for. */
#ifndef TM_WET_FILE_PAPER_READER_H
#define TM_WET_FILE_PAPER_READER_H

#include "wet/file/full/reader.h"
#include "wet/file/paper/nodes.h"
#include "wet/file/paper/streams.h"

#define PAPER_LABELS (1u << 27)         /* pairs of an edge in a segment: the most */

/* A node in a segment: executed n times there, `before` times before */
struct paper_node { uint32_t path, n, before; };

struct paper_read {
	const struct wetfile *file;     /* borrowed */
	struct fault fault;     /* after -1 */
	size_t nsegment;                /* whole ones */
	struct store_code code;
	struct paper_classes class;
	struct paper_node *node;        /* of all segments; owned */
	size_t *first;                  /* of each segment: its first; owned */
	uint32_t *seq;                  /* paths in the order of execution, ntime of them; owned */
	uint64_t ntime;
	uint32_t *total;                /* executions of each path; owned */
	uint64_t *base;                 /* of each path: its rows in `row`; owned */
	uint32_t *row;                  /* of each execution of a path, the instance of each class, then the time; owned */
	uint32_t *count;                /* instances of each class; owned */
	size_t sec;                     /* section that is looked at */
	struct vc_work *work;           /* owned */
	struct buf b;
	struct pstreams_in in;
};

/* Functions that return int give 0, or -1 and r->fault. */
int paper_read_open(struct paper_read *r, const struct wetfile *f);     /* gets all code, and when what was executed */
void paper_read_close(struct paper_read *r);

/* Executions of statement s */
static inline uint32_t paper_count(const struct paper_read *r, uint32_t s) { return r->count[r->class.of[s]]; }

/* Of the statement at place k of a path: the instances that it has in the path's executions; and their times */
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
 * In a segment, of statements for which `only` is not 0: words number j of n
 * values, and their instances; and what each instance's ports depend on, of
 * those that depend on anything, the instances of a statement in the order of
 * paths.  fn: not 0 without memory.
 */
typedef int paper_value_fn(void *arg, uint32_t s, unsigned j, const uint32_t *x, const uint64_t *word, size_t n);
int paper_read_values(struct paper_read *r, size_t segment, const uint8_t *only, paper_value_fn *fn, void *arg);
int paper_read_edges(struct paper_read *r, size_t segment, const uint8_t *only, store_use_fn *fn, void *arg);

/* For the files that read: section `what` of a segment, from WETFILE_CODE (0) on; what is wrong with it */
enum paper_section { PAPER_CODE, PAPER_NODE, PAPER_GRP, PAPER_EDGE, PAPER_NSECTION };
int paper_load(struct paper_read *r, size_t segment, enum paper_section what, struct col_reader *c);
int paper_bad(struct paper_read *r, const char *err);   /* -1; NULL: no memory */

#endif
