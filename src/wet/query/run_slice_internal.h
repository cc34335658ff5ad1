/*
 * Internal to slices of a run (run.h), segment by segment.  The dependences of
 * the segment's instances are put into a table.  Then the segment is sliced in
 * one of two ways: with a worklist, until nothing is added to the slice; or, if
 * instances depend on earlier ones only, in one pass in order of time.
 *
 * An instance is named by its statement (id less 1) << 32 | instance; or by
 * its number, counting all instances statement by statement: q->in_slice has a
 * bit for each number.
 */
#ifndef TM_WET_QUERY_RUN_SLICE_INTERNAL_H
#define TM_WET_QUERY_RUN_SLICE_INTERNAL_H

#include "base/buf.h"
#include "wet/query/run_internal.h"

/*
 * A word of the table is a port << DEP_PORT | an instance that is depended on.
 * The words of an instance are consecutive, and the last one has DEP_LAST.  If
 * more words are added for the same instance later, they begin with the word
 * DEP_LINK | the previous `head` of the instance.
 */
#define DEP_LAST  (UINT64_C(1) << 63)
#define DEP_LINK  (UINT64_C(1) << 62)
#define DEP_PORT  58u
#define DEP_PORTS 15u           /* stands for this port and all higher ones */
#define DEP_INST  ((UINT64_C(1) << DEP_PORT) - 1)

/* The instances of a statement in the segment */
struct place {
	uint64_t first;                 /* number of its instance 0 */
	uint64_t slot;                  /* index in `head` of its first instance in the segment */
	uint32_t before, n;             /* instances before the segment, and in it */
	uint32_t x;                     /* current instance while the paths are walked */
};

struct slicer {
	struct query *q;
	struct run *r;
	struct query_slice *s;
	query_dep_fn *dep;              /* for query_deps; NULL: the query is query_slice */
	void *arg;
	size_t k;                       /* the current segment */
	struct place *place;            /* for each statement; owned */
	/* for each statement: its dependences are wanted next; they are in the table; owned */
	uint8_t *want, *have;
	uint32_t *head;                 /* index of the first word of each instance (slot), plus 1; owned */
	uint64_t *on;                   /* the words of the table; owned */
	size_t non, capon;
	uint64_t slot;                  /* slot of the last word */
	uint64_t nslot;                 /* if deps_in_time: instances whose dependences are in the table */
	size_t table;                   /* the segment that the table is for, plus 1; 0: none */
	unsigned flags;                 /* flags of the slice that the table is for */
	/* instances in the slice whose dependences have not been followed; owned */
	uint64_t *todo, *later;
	size_t ntodo, captodo, nlater, caplater;
	uint64_t criterion;             /* once its segment was entered */
	uint64_t left;                  /* instances in the slice that have not been reported */
	int enough;
};

static inline uint64_t
slicer_number(const struct slicer *c, uint64_t inst)
{
	return c->place[inst >> 32].first + (uint32_t)inst;
}

/*
 * The index of an instance in `head`.  Instances are in order of time if the provider is (n: the
 * position of the instance); else those of a statement are consecutive.
 */
static inline uint64_t
slicer_slot(const struct slicer *c, uint64_t inst, uint64_t n)
{
	const struct place *p = &c->place[inst >> 32];

	return c->r->deps_in_time ? n - c->r->seg[c->k].n - 1 : p->slot + ((uint32_t)inst - p->before);
}

/* Are members reported without values and references? */
static inline int
slicer_is_bare(const struct slicer *c)
{
	return c->s->flags & QUERY_BARE && c->r->ops->links;
}

/* Iterates over the words of an instance: w is the next one, on[link - 1] the next list if link is not 0. */
struct words { const uint64_t *w; uint32_t link; };

static inline struct words
words_of(const struct slicer *c, uint64_t slot)
{
	return (struct words){ NULL, c->head[slot] };
}

static inline int
words_next(const struct slicer *c, struct words *t, uint64_t *w)
{
	if (!t->w) {
		if (!t->link)
			return 0;
		t->w = c->on + t->link - 1;
		t->link = 0;
		if (*t->w & DEP_LINK)
			t->link = (uint32_t)*t->w++;
	}
	*w = *t->w;
	t->w = *w & DEP_LAST ? NULL : t->w + 1;
	return 1;
}

/* With QUERY_ADDRESS, the table has address ports of the criterion's statement: is w one of another instance? */
static inline int
slicer_foreign(const struct slicer *c, uint64_t inst, uint64_t w)
{
	const struct store_stmt *v = &c->r->code->stmt[inst >> 32];
	unsigned port = w >> DEP_PORT & DEP_PORTS;

	return c->s->flags & QUERY_ADDRESS && inst != c->criterion && port && port <= v->nuse &&
	    v->addrs >> (port - 1) & 1;
}

/* Does a backward slice follow the dependence w of member inst? */
static inline int
slicer_adds(const struct slicer *c, uint64_t inst, uint64_t w)
{
	if (slicer_foreign(c, inst, w))
		return 0;
	if (c->s->flags & QUERY_FORWARD)        /* worklist_forward: w is one that depends on inst */
		return 1;
	return !(c->s->flags & QUERY_STEP) && !(c->s->flags & QUERY_PARENTS && !(w >> DEP_PORT & DEP_PORTS));
}

static inline int
slicer_push(struct slicer *c, uint64_t w)
{
	if (buf_grow(&c->todo, &c->captodo, c->ntodo + 1, sizeof *c->todo) != 0)
		return -1;
	c->todo[c->ntodo++] = w;
	return 0;
}

/* Called with instances of the segment; n: its position.  0, or -1 after a failure */
typedef int slicer_visit_fn(struct slicer *c, uint64_t inst, uint64_t n);

/* Calls fn with each instance of the segment in order of time, until c->enough. */
static inline int
slicer_walk_forward(struct slicer *c, slicer_visit_fn *fn)
{
	uint64_t n = c->r->seg[c->k].n;

	for (size_t s = 0; s < c->q->nstmt; s++)
		c->place[s].x = c->place[s].before;
	for (size_t i = 0; i < c->r->npath; i++) {
		struct query_path p;

		c->r->ops->path(c->r, i, &p);
		for (uint32_t j = p.from; j < p.to; j++) {
			uint64_t s = p.id[j] - 1;

			if (fn(c, s << 32 | c->place[s].x++, ++n) != 0)
				return -1;
			if (c->enough)
				return 0;
		}
	}
	return 0;
}

/* Calls fn with instances, the last one first, until no member is left to be reported. */
static inline int
slicer_walk_backward(struct slicer *c, slicer_visit_fn *fn)
{
	uint64_t n = c->r->seg[c->k + 1].n;

	for (size_t s = 0; s < c->q->nstmt; s++)
		c->place[s].x = c->place[s].before + c->place[s].n;
	for (size_t i = c->r->npath; i-- > 0 && c->left && !c->enough;) {
		struct query_path p;

		c->r->ops->path(c->r, i, &p);
		for (uint32_t j = p.to; j-- > p.from && !c->enough; n--) {
			uint64_t s = p.id[j] - 1;

			if (fn(c, s << 32 | --c->place[s].x, n) != 0)
				return -1;
		}
	}
	return 0;
}

/* run_slice.c */
/* the first number in [at, end) that is in the slice, or end */
uint64_t slicer_next_member(const struct query *q, uint64_t at, uint64_t end);
int slicer_load_values(struct slicer *c);                               /* loads values of members */
int slicer_report_member(struct slicer *c, uint64_t inst, uint64_t n);  /* counts it, and hands it to s->fn */
int slicer_set_segment(struct slicer *c, size_t k);     /* sets c->place; 1: an instance of it is in the slice */
/* Slices segment c->k backward.  0, or -1 after a failure */
typedef int slicer_segment_fn(struct slicer *c, void *arg);
/* Calls fn with the segments, from that of the criterion back, that may have members which were not reported. */
int slicer_segments_backward(struct slicer *c, slicer_segment_fn *fn, void *arg);
/* does a slice follow this port of a statement? */
int slicer_follows(const struct slicer *c, unsigned flags, const struct store_stmt *v, uint32_t port);

static inline int
slicer_report(struct slicer *c, uint64_t inst, uint64_t n)
{
	return query_in_slice(c->q, slicer_number(c, inst)) ? slicer_report_member(c, inst, n) : 0;
}

/*
 * run_slice_table.c.  With QUERY_FORWARD in flags, the table is reversed: an instance has those that
 * depend on it.
 */
/* makes an empty table, unless there is one for the same segment and flags */
int table_begin(struct slicer *c, unsigned flags);
/* adds dependences of statements in `want` (all: of all), at least of instances up to position last */
int table_fill(struct slicer *c, int all, uint64_t last);

/* Make the slice of the segment.  0, or -1 after a failure.  run_slice_worklist.c, run_slice_in_time.c */
int worklist_backward(struct slicer *c);
int worklist_forward(struct slicer *c);
int in_time_backward(struct slicer *c);
int in_time_forward(struct slicer *c);

/* run_slice_live.c: makes the whole slice, without edges, of a run that has links.  0, or -1 after a failure */
int live_slice(struct slicer *c);

#endif
