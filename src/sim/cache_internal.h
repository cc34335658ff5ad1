/* The state of a cache, and its fastest path. */
#ifndef TM_SIM_CACHE_INTERNAL_H
#define TM_SIM_CACHE_INTERNAL_H

#include "sim/hierarchy.h"

/*
 * A line in a set: its number plus 1, and flags; 0: there is none. LRU and FIFO keep a set in order, the
 * line to be replaced last; the others leave lines where they are.
 */
#define CACHE_DIRTY      1u
#define CACHE_UNSURE     2u             /* of a part of a run (segment.c): may be dirty from before */
#define CACHE_AHEAD      4u             /* prefetched, and not used yet */
#define CACHE_FLAGS      7u
#define CACHE_KEY(line)  (((line) + 1) << 3)
#define CACHE_LINE(key)  (((key) >> 3) - 1)

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
	struct segment *segment;        /* of a part of a run, from an unknown state (segment.c); owned; NULL */
	int plain;                      /* the same, and it is a first level */
};

int cache_init(struct cache *c, const struct cache_params *p);  /* 0, or -1: no memory */
void cache_free(struct cache *c);

/* Is the line there?  Changes nothing. */
int cache_has(const struct cache *c, uint64_t line);
/* A dirty line comes back from the level before: n bytes at addr. */
void cache_write_back(struct cache *c, uint64_t addr, uint64_t n);

/* What a part of a run does to a cache, where the state is known (hier_replay). */
void cache_evict(struct cache *c, uint64_t line, unsigned flags);
void cache_use(struct cache *c, uint64_t line, unsigned flags, int exact);

/* The place of the line in its set of n; n: it is not there. */
static inline unsigned
cache_find(const uint64_t *set, unsigned n, uint64_t want)
{
	unsigned i;

	for (i = 0; i < n && (set[i] ^ want) > CACHE_FLAGS; i++)
		;
	return i;
}

/* segment.c: a cache of a part of a run. Its state before the part is not known. */
enum segment_role {
	SEGMENT_FIRST,          /* a first level: all accesses are known */
	SEGMENT_LOWER,          /* gets what misses before, or may miss */
	SEGMENT_LOGGED          /* is not simulated: all that it gets is logged */
};
/* data: the first level of data, if that is another than of instructions, else NULL.  0, or -1: no memory */
int segment_new(struct cache *c, enum segment_role role, unsigned number, int clean, struct cache *data,
    hier_log_fn *log, void *arg);
void segment_free(struct cache *c);
void segment_end(struct cache *c);      /* logs the lines of all sets */
/* An access of one line in a set of a first level that is full: it does what it does in the whole run. */
static inline int
segment_is_plain(const struct cache *c, uint64_t addr, uint64_t size)
{
	uint64_t line = addr >> c->shift;

	return c->plain && (addr + size - 1) >> c->shift == line && c->line[(line & c->mask) * c->ways + c->ways - 1];
}
/* Another access. 1: it misses, whatever the state was before; 0: it does not, or is logged */
int segment_access(struct cache *c, uint64_t addr, uint64_t size, enum cache_kind kind, int write);
void segment_replaced(struct cache *c, uint64_t old);
void segment_write_back(struct cache *c, uint64_t addr);

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
	uint64_t *p = v.line + (line & v.mask) * v.ways, want = CACHE_KEY(line), first = *p, second;

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
