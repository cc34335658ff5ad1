/*
 * Whole execution traces from .wet files of kinds full and loads: segment by segment,
 * path by path.
 */
#ifndef TM_WET_FILE_FULL_READER_H
#define TM_WET_FILE_FULL_READER_H

#include "format/wetfile/wetfile.h"
#include "wet/file/full/addresses.h"
#include "wet/file/full/reexecute.h"
#include "wet/model/memory_deps.h"
#include "wet/model/model.h"

/* DEP: columns in this order; the first DEP_NKEYED have keys */
enum { DEP_TOKEN, DEP_NUM, DEP_SUB, DEP_ID, DEP_FAR, DEP_AT, DEP_PORT, DEP_COUNT, DEP_XID, DEP_XFAR, DEP_NCOL };
#define DEP_NKEYED (DEP_FAR + 1)

struct store_place { uint64_t at, n; };         /* where a statement's values are in VAL, executions in the segment */

/* Values of a segment, some of its blocks or all */
struct store_vals {
	struct col val;
	size_t at;                      /* the segment, plus 1; 0: none */
	uint8_t *have;                  /* is that block there?  Of nblock blocks; owned */
	size_t nblock;
	uint64_t block;                 /* values in one */
	int part;                       /* less than all of a statement was wanted */
	uint64_t used;
};

#define STORE_KEPT 64u                  /* segments whose values may be kept */

struct store_read {
	const struct wetfile *file;     /* borrowed */
	struct fault fault;     /* after -1 */
	size_t nsegment;                /* whole ones */
	size_t at;                      /* the segment that is loaded, plus 1 */
	struct store_code code;
	size_t coded;                   /* segments whose code is in it */
	struct load *load;              /* kind loads; owned */
	struct model model;
	struct memdep dep;
	size_t *nstmt;                  /* statements known behind the code of each segment; owned */
	struct waddr addr;              /* of the statements of segments before addrs */
	size_t addrs;
	uint64_t *total;                /* executions of each statement in all segments; owned */
	uint32_t *count;                /* those before the segment, and its paths so far; owned */
	struct col path, col[DEP_NCOL];
	struct store_vals vals;         /* values of the segment that was asked for them last */
	struct store_vals kept[STORE_KEPT];     /* others, of which a part was asked for, up to `keep` bytes with them; at 0: free */
	size_t keep;                    /* of the caller, behind open: 0, nothing is kept */
	uint64_t turns;
	struct store_place *place;      /* of each statement; owned */
	uint64_t n;                     /* statements executed in the segment, */
	uint64_t nport;                 /* ports of these for control and registers, */
	uint64_t done;                  /* and how many of them store_read_deps has been through */
	struct col ref;                 /* references to memory of all statements, words of ref.h, in order of time */
	uint32_t *refat;                /* of each, and behind the last: where its begin; owned */
	size_t caprefat;
	size_t pos[DEP_NCOL];           /* how far the columns are used up */
	uint64_t exc;                   /* where the next exception is */
	size_t sec;                     /* section that is looked at */
	struct vc_work *work;           /* owned */
	struct buf b;
};

enum store_want { STORE_PATHS = 0, STORE_DEPS = 1, STORE_VALUES = 2, STORE_ADDRS = 4 };

/* Functions that return int give 0, or -1 and r->fault. */
int store_read_open(struct store_read *r, const struct wetfile *f);     /* also gets all code, and how often each statement is executed */
void store_read_close(struct store_read *r);

/* Segment k; any order, but r->count is only right if it is asked for from 0 on */
int store_read_segment(struct store_read *r, size_t k, unsigned want);
/* Only values of instances [from, to) of statement s (id less 1), counted in segment k, are right then, and place */
int store_read_values(struct store_read *r, size_t k, uint32_t s, uint64_t from, uint64_t to);
int store_read_check(struct store_read *r, size_t k);           /* is the checksum right of what text has no part of? */
int store_read_rank(struct store_read *r, size_t k);            /* r->place[].n, of segment k */

/* The references of the nth statement executed in the segment, of which there are *k: the first's index in r->ref (STORE_ADDRS) */
static inline size_t
store_refs(const struct store_read *r, size_t n, size_t *k)
{
	*k = r->refat ? r->refat[n + 1] - r->refat[n] : 0;
	return r->refat ? r->refat[n] : 0;
}

/* addresses_decoder.c: r->ref, c being behind the statements of section ADDR.  0, or -1 and c->err */
int store_addr_refs_get(struct store_read *r, struct col_reader *c);

/* A use port: n writers, the latest first */
struct store_uses { const uint64_t *who; size_t n; };

/*
 * The dependences of the next path of the segment, path i of r->path; each
 * statement's ports are handed to fn (x: its instance), and r->count goes on.
 * only: of statements for which it is not 0; NULL: all.
 */
typedef int store_use_fn(void *arg, uint32_t s, uint32_t x, uint32_t port, const uint64_t *who, size_t n);     /* not 0: no memory */
int store_read_deps(struct store_read *r, size_t i, const uint8_t *only, store_use_fn *fn, void *arg);

/*
 * value_cache.c: r->vals becomes that of segment k, with what is known of it;
 * gets room for n values in such blocks if nothing is (-1: no memory).
 */
void store_vals_turn(struct store_read *r, size_t k);
int store_vals_blocks(struct store_read *r, size_t k, uint64_t n, uint64_t block);
void store_vals_free(struct store_read *r);

/*
 * Kind loads (loads_decoder.c): open makes r->load from r->code: 0, -1 without memory, 1 if a statement is not as its
 * instruction.  values makes the nval words of r->vals: r->place and the registers are those of the segment's beginning; c
 * is at VAL: 0, or -1 and c->err.
 */
int store_load_open(struct store_read *r);
int store_load_values(struct store_read *r, struct col_reader *c, uint64_t nval);

#endif
