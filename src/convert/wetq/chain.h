/*
 * The instances that a point depends on, each with its value and what it depends on itself: the slice of the point in
 * memory, which why, html and walk are made of.
 */
#ifndef TM_CONVERT_WETQ_CHAIN_H
#define TM_CONVERT_WETQ_CHAIN_H

#include "base/hash.h"
#include "convert/wetq/wetq.h"

#define CHAIN_INSTANCES 200000u /* that are looked at, at most */
#define CHAIN_LATER SIZE_MAX
#define CHAIN_MORE 2000u        /* the same of chain_extend */

struct chain_member {
	uint64_t n, instance;           /* n: position */
	uint64_t reads, writes;         /* its reference, a word of ref.h; 0: none, or several */
	size_t val;                     /* index of its value in `word`; CHAIN_LATER: it is not known yet */
	uint32_t id, nval;
	uint32_t edge;                  /* its last edge, index plus 1 */
	/* the statement that it is control dependent on, or 0, and then its position, or 0 */
	uint32_t on;
	uint64_t onn, oninstance;       /* oninstance: if onn is 0 */
	int seen;                       /* by why, or by chain_causes */
	int extra;                      /* chain_extend added it */
	int done;                       /* its dependences are known */
};

/*
 * A member depends on this instance; next: the edge before, index plus 1; memory: it read what that wrote; address:
 * only to form an address
 */
struct chain_edge { uint64_t instance; uint32_t id, next; int memory, address; };

struct chain {
	struct job *j;
	unsigned flags;                 /* flags of the slice */
	int parents;                    /* control dependences are not followed, but noted */
	int cut;                        /* there are more instances than were looked at */
	size_t most;                    /* CHAIN_INSTANCES, or fewer */
	struct chain_member *member;    /* all owned; the point is the first */
	size_t nmember, capmember;
	uint64_t *word;
	size_t nword, capword;
	struct chain_edge *edge;
	size_t nedge, capedge;
	int extended;                   /* chain_extend was called */
	int stamp;                      /* of chain_causes */
	int bad;                        /* a value could not be read; the job has the fault */
	uint32_t from;                  /* a member whose addresses are followed, too */
	struct hash by_who;
};

/* Begins a chain with the flags that the job has, thin without -t; chain_free ends it. */
void chain_init(struct chain *c, struct job *j);
void chain_free(struct chain *c);
/* Adds the members of the slice of the instance at position n, and their dependences: 0, or -1 with the job's fault. */
int chain_slice(struct chain *c, unsigned flags, uint64_t n);
/* The same when there are members, but at most CHAIN_MORE new ones; from: of this one, addresses are followed, too, with QUERY_ADDRESS */
int chain_extend(struct chain *c, unsigned flags, uint64_t n, uint32_t from);
/*
 * What the value of a member was made of, the latest first: members that copies brought there.  A function of a
 * library is one step.  address: of what its addresses were made instead, as far as chain_extend followed them.
 * via: the last store on the line of the cause that it went through, index plus 1, or 0.  Returns their number.
 */
#define CHAIN_SEARCH 100000u    /* members that are looked at for the causes of one */
struct chain_cause { uint32_t member, via; };
size_t chain_causes(struct chain *c, uint32_t member, int address, struct chain_cause *to, size_t most);
/* the member and the copies that it has values by, also of addresses: at most `most` of them, and their number */
size_t chain_copies(struct chain *c, uint32_t member, uint32_t *to, size_t most);
/* Is the memory that a statement uses just at a distance from the stack or frame pointer, as variables are? */
int chain_is_stack(const struct query_stmt *s);
int chain_same_line(const struct chain *c, uint32_t a, uint32_t b);     /* statements, with the same function */
/* Asks for the names of what a member stored, loaded or computed; first of what its value was stored to by via. */
struct names;
void chain_ask(const struct chain *c, struct names *t, uint32_t member, uint32_t via);
/* Appends `order.c:25 main sum = 3846 (10765#2)`: name NULL: none; value: used if that has none, may be empty */
struct name;
void chain_words(struct job *j, uint32_t id, uint64_t instance, const struct name *name, const struct buf *value,
    struct buf *b);
void chain_value(const struct chain *c, const struct chain_member *m, struct buf *b);   /* appends it, if it has one */
struct chain_member *chain_find(const struct chain *c, uint32_t id, uint64_t instance);        /* NULL: none */
unsigned chain_role(const struct chain *c, const struct chain_member *m);       /* of its statement */
/* Does the member do nothing but bring a value somewhere else, from another member? */
int chain_is_copy(const struct chain *c, const struct chain_member *m);
/* Is it a system call that mapped memory?  Its result is an address then, and no number of bytes.  m: NULL: no */
int chain_maps(struct chain *c, struct chain_member *m);
/* Reads the value of a member if QUERY_BARE has left it for later: 0, or -1 with the job's fault and c->bad */
int chain_know(struct chain *c, struct chain_member *m);
/* The statement that control came from, with c->parents; 0: not known.  m->onn: its position, of captures */
uint32_t chain_parent(struct chain *c, struct chain_member *m);

#endif
