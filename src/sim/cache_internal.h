/* The state of a cache, and its fastest path. */
#ifndef TM_SIM_CACHE_INTERNAL_H
#define TM_SIM_CACHE_INTERNAL_H

#include "sim/hierarchy.h"

/*
 * A line in a set: its number plus 1 in bits 2 and up, and flags; 0: there is none. LRU and FIFO
 * keep a set in order, the line to be replaced last; the others leave lines where they are.
 */
#define CACHE_DIRTY      1u
#define CACHE_AHEAD      2u             /* prefetched, and not used yet */
#define CACHE_FLAGS      3u

/* an instruction's last address, and its distance from the one before */
struct cache_stride { uint64_t pc, last, distance; };
#define CACHE_NSTRIDES 256u

struct cache;
/*
 * Uses the line; returns whether it was there. flags: CACHE_DIRTY, CACHE_AHEAD, or 0; allocate: a
 * missing line replaces another one.
 */
typedef int cache_touch_fn(struct cache *c, uint64_t line, unsigned flags, int allocate);

struct cache {
	struct cache_params p;
	uint64_t *line;                 /* the sets; owned */
	uint64_t mask;                  /* number of sets - 1 */
	unsigned shift, ways;           /* line number = address >> shift */
	cache_touch_fn *touch;
	uint64_t *tree;                 /* PLRU: the bits of each set, node k at bit k (root 1); owned */
	uint8_t *rrpv;                  /* SRRIP: of each line; owned */
	uint64_t random;
	struct cache_stride *stride;    /* owned; NULL: no such prefetching */
	int first;                      /* the last touch used a prefetched line for the first time */
	struct cache *next;             /* where misses go; NULL: memory */
	struct cache_memory *memory;    /* borrowed; behind the last level */
	struct cache_stats n;
	/* Of a run from an unknown state, and its replay (hierarchy.h): */
	hier_log_fn *log;               /* NULL: the state is known */
	void *arg;
	unsigned number;
	int sure;                       /* a line of this access was missing, whatever the state was */
};

int cache_init(struct cache *c, const struct cache_params *p);  /* 0, or -1: no memory */
void cache_free(struct cache *c);

/* Is the line there?  Changes nothing. */
int cache_has(const struct cache *c, uint64_t line);
/* A dirty line comes back from the level before: n bytes at addr. */
void cache_write_back(struct cache *c, uint64_t addr, uint64_t n);

/*
 * LRU, from an unknown state. A set holds the lines that were used last since then, in order; if it is not
 * full, what follows them is unknown, and so is whether a line that is not among them was there.
 */
void cache_forget(struct cache *c, unsigned number, hier_log_fn *log, void *arg);
void cache_log_lines(struct cache *c);          /* HIER_USED for the lines of all sets */
/* The replay of such a log, where the state is known. */
void cache_evict(struct cache *c, uint64_t line, unsigned flags);
void cache_use(struct cache *c, uint64_t line, unsigned flags);

/* What the fastest path needs of a cache; copied, so that it stays in registers. */
struct cache_view {
	uint64_t *line, mask;
	unsigned shift, ways;
};

static inline struct cache_view
cache_view(const struct cache *c)
{
	return (struct cache_view){ c->line, c->mask, c->shift, c->ways };
}

/*
 * LRU, for a line that was used last in its set, or last but one: uses it if that is so and it was
 * not prefetched. Returns whether it did.
 */
static inline __attribute__((always_inline)) int
cache_again(struct cache_view v, uint64_t line, unsigned flags)
{
	uint64_t *p = v.line + (line & v.mask) * v.ways, want = (line + 1) << 2, first = *p, second;

	if ((first ^ want) < CACHE_AHEAD) {
		if (flags)
			*p = first | flags;
		return 1;
	}
	if (v.ways < 2 || ((second = p[1]) ^ want) >= CACHE_AHEAD)
		return 0;
	p[1] = first;
	p[0] = second | flags;
	return 1;
}

#endif
