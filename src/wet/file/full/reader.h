/*
 * Reads whole execution traces from .wet files of kinds full and loads: segment by segment,
 * path by path.
 */
#ifndef TM_WET_FILE_FULL_READER_H
#define TM_WET_FILE_FULL_READER_H

#include "format/wetfile/wetfile.h"
#include "wet/file/full/addresses.h"
#include "wet/file/full/reexecute.h"
#include "wet/model/memory_deps.h"
#include "wet/model/model.h"

/* Columns of DEP sections, in order; the first DEP_NKEYED have keys. */
enum { DEP_TOKEN, DEP_NUM, DEP_SUB, DEP_ID, DEP_FAR, DEP_AT, DEP_PORT, DEP_COUNT, DEP_XID,
	DEP_XFAR, DEP_NCOL };
#define DEP_NKEYED (DEP_FAR + 1)

/* of a statement: position of its values in VAL, executions in the segment */
struct store_place { uint64_t at, n; };

/* Values of a segment: some of its blocks, or all. */
struct store_vals {
	struct col val;
	size_t at;                      /* the segment plus 1; 0: none */
	uint8_t *have;                  /* which of its nblock blocks are decoded; owned */
	size_t nblock;
	uint64_t block;                 /* values in a block */
	int part;                       /* only a part of a statement's values was wanted */
	uint64_t used;
};

/* executions of the statements that a segment executes, sorted by id; owned */
struct store_rank { struct store_count *v; size_t n; };

#define STORE_KEPT 64u                  /* segments whose values may be cached */

struct store_read {
	const struct wetfile *file;     /* borrowed */
	int shared;                     /* code, nstmt, total and rank are another reader's */
	struct fault fault;     /* set when a function returns -1 */
	size_t nsegment;                /* complete ones */
	size_t at;                      /* the current segment plus 1 */
	struct store_code code;
	size_t coded;                   /* number of segments whose code was read */
	struct load *load;              /* of kind loads; owned */
	struct model model;
	struct memdep dep;
	size_t *nstmt;                  /* statements known after the code of each segment; owned */
	struct waddr addr;              /* of the statements of the first `addrs` segments */
	size_t addrs;
	uint64_t *total;                /* executions of each statement in all segments; owned */
	struct store_rank *rank;        /* of each segment; owned */
	uint32_t *count;                /* executions of each statement before the current path; owned */
	struct col path, col[DEP_NCOL];         /* col[DEP_TOKEN] is not used: token */
	struct store_vals vals;         /* values of the segment whose values were requested last */
	/* cache of others that were requested in part, of up to `keep` bytes; at 0: unused */
	struct store_vals kept[STORE_KEPT];
	size_t keep;                    /* limit of the cache, set by the caller after open; 0: no cache */
	uint64_t turns;
	struct store_place *place;      /* of each statement; owned */
	uint32_t *times;                /* executions of each path in the segment; owned */
	size_t captimes;
	uint32_t *at_slot;              /* for reading DEP: index of the next token of each port; owned */
	size_t capat;
	struct col sorted, keys;        /* for reading DEP: tokens by port, keys; kept for the next segment */
	/* tokens of DEP_TOKEN, by time; as many by port, for reading DEP; owned */
	uint8_t *token, *by_port;
	size_t ntoken, captoken, capby_port;
	uint64_t n;                     /* statements executed in the segment */
	uint64_t nport;                 /* their ports for control and registers */
	uint64_t done;                  /* ports that store_read_deps has read */
	struct col ref;                 /* references to memory of all statements, words of ref.h, by time */
	/* first index in ref of each statement executed, and the end; owned */
	uint32_t *refat;
	size_t caprefat;
	size_t pos[DEP_NCOL];           /* position in each column */
	uint64_t exc;                   /* position of the next exception */
	size_t sec;                     /* current section */
	struct vc_work *work;           /* owned */
	struct buf b;
};

enum store_want { STORE_PATHS = 0, STORE_DEPS = 1, STORE_VALUES = 2, STORE_ADDRS = 4 };

/* Functions that return int return 0, or -1 and r->fault. */

/* also reads all code, and how often each statement is executed */
int store_read_open(struct store_read *r, const struct wetfile *f);
void store_read_close(struct store_read *r);
/*
 * Makes r another reader of the file, with the tables of `of`, which must be closed after it; it may
 * be used by another thread.  It has no values of kind loads.
 */
int store_read_share(struct store_read *r, const struct store_read *of);

/*
 * Loads segment k, in any order; r->count is correct only if all segments from 0 on were loaded
 * in order.
 */
int store_read_segment(struct store_read *r, size_t k, unsigned want);
/*
 * Loads segment k with STORE_DEPS, if something in it may depend on the instance `who`, which is before it:
 * 1; 0: nothing does; -1.  Few of the dependences are decoded then.
 */
int store_read_deps_on(struct store_read *r, size_t k, uint64_t who);
/*
 * Loads only the values of instances [from, to) of statement s (id - 1), counted in segment k;
 * and place.
 */
int store_read_values(struct store_read *r, size_t k, uint32_t s, uint64_t from, uint64_t to);
/* verifies the checksum of data that the text form does not contain */
int store_read_check(struct store_read *r, size_t k);

/*
 * References of the nth statement executed in the segment (STORE_ADDRS): returns the index of
 * the first in r->ref, and their number in *k.
 */
static inline size_t
store_refs(const struct store_read *r, size_t n, size_t *k)
{
	*k = r->refat ? r->refat[n + 1] - r->refat[n] : 0;
	return r->refat ? r->refat[n] : 0;
}

/* addresses_decoder.c: decodes r->ref; c is after the statements of section ADDR.  0, or -1 and c->err. */
int store_addr_refs_decode(struct store_read *r, struct col_reader *c);

/* The n writers of a use port, the latest first. */
struct store_uses { const uint64_t *who; size_t n; };

/*
 * Calls fn for each use port of each statement of path i of r->path, the next one of the
 * segment (x: the statement's instance), and advances r->count.  only: of statements s with
 * only[s] != 0; NULL: of all.  A nonzero result of fn means that memory ran out.
 */
typedef int store_use_fn(void *arg, uint32_t s, uint32_t x, uint32_t port, const uint64_t *who, size_t n);
int store_read_deps(struct store_read *r, size_t i, const uint8_t *only, store_use_fn *fn, void *arg);

/* The sections of a segment, in this order. */
enum { FULL_CODE, FULL_KEY, FULL_PATH, FULL_RANK, FULL_DEP, FULL_VAL, FULL_ADDR, FULL_SECTIONS };

/* code_ranks.c: reads all code and ranks: sets r->code, nstmt, total, rank and place.  0, or -1 and r->fault */
int full_reader_ranks(struct store_read *r);

/* reader.c, for deps_columns.c.  Loads section `what` of segment k for reading columns: 0, or -1 and r->fault. */
int full_reader_load(struct store_read *r, size_t k, unsigned what, struct col_reader *c);
int full_reader_over(struct store_read *r, const struct col_reader *c);  /* after the last column: the same */
/* The section that was read last is not as it should be: -1 and r->fault.  err NULL: no memory */
int full_reader_bad(struct store_read *r, const char *err);

/* deps_columns.c: reads DEP of segment k; who: as for store_read_deps_on, or 0.  1, 0: nothing depends on it, or -1 */
int full_reader_deps(struct store_read *r, size_t k, uint64_t who);

/*
 * value_cache.c: value_cache_select makes r->vals the values of segment k, as far as they are
 * cached; value_cache_alloc allocates n values in blocks of size `block` if there are none (-1:
 * no memory).
 */
void value_cache_select(struct store_read *r, size_t k);
int value_cache_alloc(struct store_read *r, size_t k, uint64_t n, uint64_t block);
void value_cache_free(struct store_read *r);

/*
 * Kind loads (loads_decoder.c).  store_load_open makes r->load from r->code: 0; -1: no memory;
 * 1: a statement does not match its instruction.  store_load_values computes the nval words of
 * r->vals from the state at the segment's beginning, with r->place; c is at VAL.  0, or -1 and
 * c->err.
 */
int store_load_open(struct store_read *r);
int store_load_values(struct store_read *r, struct col_reader *c, uint64_t nval);

#endif
