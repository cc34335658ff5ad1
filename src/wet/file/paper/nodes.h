/*
 * Nodes of a .wet file of kind paper: which statements are always executed together, and which
 * values form a group.
 */
#ifndef TM_WET_FILE_PAPER_NODES_H
#define TM_WET_FILE_PAPER_NODES_H

#include "wet/file/full/code.h"

/*
 * Classes of statements that occur in exactly the same paths.  As a path contains a statement
 * at most once, instances of a class have common numbers.
 */
struct paper_classes {
	uint32_t *of;                   /* class of each statement; owned */
	/* for each place in code.seq, the index of its class in its path; owned */
	uint32_t *row;
	uint32_t *class;                /* classes of each path, first[path] to first[path + 1]; owned */
	uint32_t *first;                /* owned */
	uint32_t n;
};

/* 0; -1: no memory; 1: a path contains a statement twice. */
int paper_classes(struct paper_classes *t, const struct store_code *c);
void paper_classes_free(struct paper_classes *t);

/*
 * Section 3.2 of the paper: statements of a path that have values fall into groups by the
 * inputs that they depend on (registers from outside, memory read).  group: of each statement,
 * or PAPER_NOGROUP.  into: of each group, the one that it may be merged with, which depends on
 * its inputs and others; or itself.  Returns the number of groups.
 */
#define PAPER_NOGROUP UINT16_MAX
unsigned paper_groups(const struct store_code *c, uint32_t path, uint16_t group[STORE_PATH],
    uint16_t into[STORE_PATH]);

#endif
