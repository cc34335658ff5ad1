/* Where a value came from: the slice of a point, folded to places in the source. */
#ifndef TM_CONVERT_WETQ_WHY_H
#define TM_CONVERT_WETQ_WHY_H

#include "convert/wetq/chain.h"
#include "convert/wetq/name.h"

/* A line, or a function of a library.  id: one of its statements; node: its node, index plus 1 */
struct why_place { uint32_t id, node; int system; };

/* A place in the tree */
struct why_node {
	uint32_t member;                /* that of its instances that the point is nearest to */
	uint32_t place, up;             /* up: the node that it was reached from */
	uint32_t times;                 /* instances of one of its statements, at most */
	uint32_t value;                 /* the member whose value it has, index plus 1; 0: unknown */
	uint32_t below, depth;          /* the printed node that it is below */
	int shown;
	uint32_t from;                  /* what it was visited from, index in `todo` plus 1 */
	size_t name, nname;             /* its names in `names` that may be found */
};

/* value: the member whose value it is, index plus 1; up: what it was visited from, index plus 1 */
struct why_todo { uint32_t member, node, value, up; };

struct why {
	struct job *j;
	struct chain c;
	int all;                        /* all places are printed */
	struct why_place *place;
	size_t nplace, capplace;
	uint32_t *place_of;             /* by id - 1: index plus 1 */
	struct why_node *node;
	size_t nnode, capnode;
	struct why_todo *todo;
	size_t ntodo, captodo, visited;
	struct names names;
	uint32_t *next, *times;         /* members to visit; by id - 1: its instances so far */
	size_t capnext;
	uint64_t nshown, nprinted;
	struct hash by_place;
};

/* The number of the place of a statement: its line; of a library, its function */
uint32_t why_place(struct why *w, uint32_t id);
int why_print(struct why *w);           /* why_print.c: 0, or -1 with the job's fault */

#endif
