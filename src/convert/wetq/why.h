/* Where a value came from: the slice of a point, folded to places in the source. */
#ifndef TM_CONVERT_WETQ_WHY_H
#define TM_CONVERT_WETQ_WHY_H

#include "base/hash.h"
#include "convert/wetq/wetq.h"

#define INSTANCES 200000u       /* that are looked at, at most */

struct why_member {
	uint64_t instance;
	size_t val;                     /* index of its value in `word` */
	uint32_t id, nval;
	uint32_t edge;                  /* its last edge, index plus 1 */
	/* the statement that it is control dependent on, or 0, and then its position, or 0 */
	uint32_t on;
	uint64_t onn;
	int seen;
	int done;                       /* its dependences are known */
};

/* A member depends on this instance; next: the edge before, index plus 1; memory: it read what that wrote */
struct why_edge { uint64_t instance; uint32_t id, next; int memory; };

/* A line, or a function of a library.  id: one of its statements; node: its node, index plus 1 */
struct why_place { uint32_t id, node; int system; };

/* A place in the tree */
struct why_node {
	uint32_t member;                /* that of its instances that the point is nearest to */
	uint32_t place, up;             /* up: the node that it was reached from */
	uint32_t times, nval;           /* instances of one of its statements, at most; words of the value */
	uint32_t below, depth;          /* the printed node that it is below */
	int shown;
	size_t val;
};

/* value: the member whose value it is, index plus 1 */
struct why_todo { uint32_t member, node, value; };

struct why {
	struct job *j;
	int parents;                    /* control dependences are not followed, but noted */
	int all;                        /* all places are printed */
	int cut;                        /* there are more instances than were looked at */
	struct why_member *member;      /* all owned; the point is the first */
	size_t nmember, capmember;
	uint64_t *word;
	size_t nword, capword;
	struct why_edge *edge;
	size_t nedge, capedge;
	struct why_place *place;
	size_t nplace, capplace;
	uint32_t *place_of;             /* by id - 1: index plus 1 */
	struct why_node *node;
	size_t nnode, capnode;
	struct why_todo *todo;
	size_t ntodo, captodo, visited;
	uint32_t from;                  /* a member whose addresses are followed, too */
	uint32_t *next, *times;         /* members to visit; by id - 1: its instances so far */
	size_t capnext;
	uint64_t nshown, nprinted;
	struct hash by_who, by_place;
};

/* The number of the place of a statement: its line; of a library, its function */
uint32_t why_place(struct why *w, uint32_t id);
void why_print(struct why *w);          /* why_print.c */

#endif
