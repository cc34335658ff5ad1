/*
 * The dependences of a segment as arrays, for slices.  Dependences on
 * registers are not among them, as they follow from the order of the
 * statements, except for those that the file stores as exceptions.
 *
 * Instances are numbered as in run.h: those of statement 1 first.  The arrays
 * have numbers plus 1, and 0 for no instance.
 */
#ifndef TM_WET_FILE_FULL_LINKS_H
#define TM_WET_FILE_FULL_LINKS_H

#include "wet/file/full/reader.h"

#define LINKS_LIST (UINT64_C(1) << 63)  /* the rest is an index in list, of a number of instances, then they */

/* A step of a path is a statement in it, a piece a part of a path whose statements have one control parent. */
enum links_step {
	LINKS_PIECE = 1,                /* a piece begins */
	LINKS_ENTER = 2,                /* regions may end before it */
	LINKS_LEAVE = 4                 /* it may begin or end regions or calls */
};

/* What all segments have in common */
struct links_code {
	uint8_t *step;                  /* of each element of store_code.seq: enum links_step; owned */
	const uint64_t *first;          /* number of instance 0 of each statement; borrowed */
};

/* The register that a statement uses by port `port` was not written as the order says, but by `on`. */
struct links_exception {
	uint32_t n;                     /* the statement is the nth in the segment, counted from 0 */
	uint32_t port;
	uint64_t on;
	int only;                       /* on is the register's last writer for later statements, too */
};

struct links {
	uint64_t *mem;                  /* by each memory port of each statement, by time; owned */
	size_t nmem, capmem;
	uint64_t *parent;               /* control parents of pieces, by time; owned */
	size_t nparent, capparent;
	uint64_t *list;                 /* numbers of instances, each with as many instances after it; owned */
	size_t nlist, caplist;
	struct links_exception *exc;    /* by time; owned */
	size_t nexc, capexc;
	uint32_t *slow;                 /* paths in which each statement is a piece, by index; owned */
	size_t nslow, capslow;
	const uint8_t *step;            /* of links_code; borrowed */
	uint64_t lane[FACT_NREG][FACT_NLANE];   /* the last writers of registers before the segment */
};

int links_code_init(struct links_code *c, const struct store_code *code);       /* sets step: 0, -1: no memory */
/*
 * Sets l to the dependences of the segment that store_read_segment loaded with STORE_DEPS; r->count
 * has the executions before it.  0, or -1 and r->fault
 */
int links_fill(struct links *l, struct store_read *r, const struct links_code *c);
void links_free(struct links *l);

#endif
