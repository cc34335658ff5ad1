/* Nodes of a .wet file of kind paper: which statements are always executed together, and which values go together. */
#ifndef TM_WET_FILE_PAPER_NODES_H
#define TM_WET_FILE_PAPER_NODES_H

#include "wet/file/full/code.h"

/*
 * Classes of statements that are in the same paths: instances of all of them
 * are numbered alike, as a path has a statement once.
 */
struct paper_classes {
	uint32_t *of;                   /* of each statement; owned */
	uint32_t *row;                  /* of each place in code.seq: which of its path's classes; owned */
	uint32_t *class;                /* of each path, first[path] to first[path + 1]; owned */
	uint32_t *first;                /* owned */
	uint32_t n;
};

/* 0; -1 without memory; 1: a path has a statement twice */
int paper_classes(struct paper_classes *t, const struct store_code *c);
void paper_classes_free(struct paper_classes *t);

/*
 * Section 3.2 of the paper: statements of a path with values fall into groups
 * by the inputs that they depend on (registers from outside, memory read).
 * group: of each statement, or PAPER_NOGROUP; into: of each group, the one
 * that it may be merged with, which depends on its inputs and on others, or
 * itself.  How many groups.
 */
#define PAPER_NOGROUP UINT16_MAX
unsigned paper_groups(const struct store_code *c, uint32_t path, uint16_t group[STORE_PATH], uint16_t into[STORE_PATH]);

#endif
