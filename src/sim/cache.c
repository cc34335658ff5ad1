/* A cache: its sets, and the policies of replacement. */
#include "sim/cache.h"

#include <stdlib.h>
#include <string.h>

#include "sim/cache_internal.h"

const char *const cache_policy_name[CACHE_NPOLICIES] = { "lru", "fifo", "plru", "random", "srrip" };

#define RRPV_MAX  3u                    /* to be replaced */
#define RRPV_LONG 2u                    /* of a new line */

static int
cache_power(uint64_t v)
{
	return v && (v & (v - 1)) == 0;
}

const char *
cache_params_wrong(const struct cache_params *p, int tlb)
{
	if (!tlb && (!cache_power(p->line) || p->line < CACHE_LINE_MIN || p->line > CACHE_LINE_MAX))
		return "the bytes of a line are a power of 2 from 8 to 4096";
	if (p->ways < 1 || p->ways > CACHE_WAYS_MAX)
		return "a set has from 1 to 4096 ways";
	if (p->policy == CACHE_PLRU && (!cache_power(p->ways) || p->ways > CACHE_PLRU_MAX))
		return "the ways are a power of 2, at most 64, with plru";
	if (!tlb && p->size > CACHE_SIZE_MAX)
		return "a cache has at most 1024M";
	if (p->size % (p->ways * p->line) || !cache_power(p->size / (p->ways * p->line)))
		return "the number of sets is not a power of 2";
	return NULL;
}

/* A dirty line goes to the next level; a prefetched one that was never used is counted. */
static void
cache_replaced(struct cache *c, uint64_t old)
{
	if (c->segment) {
		segment_replaced(c, old);
		return;
	}
	c->n.unused += (old & CACHE_AHEAD) != 0;
	if (!(old & CACHE_DIRTY))
		return;
	c->n.writeback++;
	if (c->next)
		cache_write_back(c->next, CACHE_LINE(old) << c->shift, c->p.line);
	else
		c->memory->writes++;
}

/* The line with new flags, when it is used. */
static inline uint64_t
cache_used(struct cache *c, uint64_t line, unsigned flags)
{
	if (line & CACHE_AHEAD) {
		c->n.useful++;
		c->first = 1;
	}
	return (line & ~(uint64_t)CACHE_AHEAD) | flags;
}

/*
 * LRU and FIFO: the first line of a set was used, or came, last. `ways` is a constant for the usual
 * numbers, for the compiler's sake.
 */
static inline __attribute__((always_inline)) int
cache_touch_ordered(struct cache *c, uint64_t line, unsigned flags, int allocate, unsigned ways, int lru)
{
	uint64_t *set = c->line + (line & c->mask) * ways, want = CACHE_KEY(line), old;
	unsigned i = cache_find(set, ways, want);

	if (i < ways && !lru) {
		set[i] = cache_used(c, set[i], flags);
		return 1;
	}
	if (i == ways && !allocate)
		return 0;
	old = i < ways ? set[i] : set[ways - 1];
	for (unsigned k = i < ways ? i : ways - 1; k > 0; k--)
		set[k] = set[k - 1];
	if (i < ways) {
		set[0] = cache_used(c, old, flags);
		return 1;
	}
	set[0] = want | flags;
	if (old & CACHE_FLAGS)
		cache_replaced(c, old);
	return 0;
}

#define LRU(n) \
	static int \
	cache_touch_lru##n(struct cache *c, uint64_t line, unsigned flags, int allocate) \
	{ \
		return cache_touch_ordered(c, line, flags, allocate, n, 1); \
	}
LRU(1) LRU(2) LRU(4) LRU(8) LRU(12) LRU(16)

static int
cache_touch_lru(struct cache *c, uint64_t line, unsigned flags, int allocate)
{
	return cache_touch_ordered(c, line, flags, allocate, c->ways, 1);
}

static int
cache_touch_fifo(struct cache *c, uint64_t line, unsigned flags, int allocate)
{
	return cache_touch_ordered(c, line, flags, allocate, c->ways, 0);
}

/* Each node of the tree says in which half to replace: 0 the lower ways, 1 the upper ones. */
static unsigned
cache_plru_victim(const struct cache *c, uint64_t tree)
{
	unsigned k = 1;

	while (k < c->ways)
		k = 2 * k + (tree >> k & 1);
	return k - c->ways;
}

static void
cache_plru_use(struct cache *c, uint64_t *tree, unsigned way)
{
	for (unsigned k = way + c->ways; k > 1; k /= 2)
		*tree = (*tree & ~(UINT64_C(1) << k / 2)) | (uint64_t)!(k & 1) << k / 2;
}

static unsigned
cache_srrip_victim(struct cache *c, uint8_t *rrpv)
{
	for (;;) {
		for (unsigned i = 0; i < c->ways; i++)
			if (rrpv[i] == RRPV_MAX)
				return i;
		for (unsigned i = 0; i < c->ways; i++)
			rrpv[i]++;
	}
}

/* xorshift64*, from a fixed seed */
static unsigned
cache_random_victim(struct cache *c)
{
	c->random ^= c->random >> 12;
	c->random ^= c->random << 25;
	c->random ^= c->random >> 27;
	return (unsigned)((c->random * UINT64_C(0x2545f4914f6cdd1d) >> 32) % c->ways);
}

static unsigned
cache_victim(struct cache *c, uint64_t set, const uint64_t *p)
{
	unsigned i = cache_find(p, c->ways, 0);

	if (i < c->ways)
		return i;
	switch (c->p.policy) {
	case CACHE_PLRU:
		return cache_plru_victim(c, c->tree[set]);
	case CACHE_SRRIP:
		return cache_srrip_victim(c, c->rrpv + set * c->ways);
	default:
		return cache_random_victim(c);
	}
}

/* Policies under which lines stay where they are. */
static int
cache_touch_placed(struct cache *c, uint64_t line, unsigned flags, int allocate)
{
	uint64_t set = line & c->mask, *p = c->line + set * c->ways, want = CACHE_KEY(line);
	unsigned i = cache_find(p, c->ways, want);
	int hit = i < c->ways;

	if (!hit && !allocate)
		return 0;
	if (hit) {
		p[i] = cache_used(c, p[i], flags);
	} else {
		uint64_t old;

		i = cache_victim(c, set, p);
		old = p[i];
		p[i] = want | flags;
		if (old & CACHE_FLAGS)
			cache_replaced(c, old);
	}
	if (c->tree)
		cache_plru_use(c, &c->tree[set], i);
	if (c->rrpv)
		c->rrpv[set * c->ways + i] = hit ? 0 : RRPV_LONG;
	return hit;
}

static cache_touch_fn *
cache_touch_of(const struct cache_params *p)
{
	if (p->policy == CACHE_FIFO)
		return cache_touch_fifo;
	if (p->policy != CACHE_LRU)
		return cache_touch_placed;
	switch (p->ways) {
	case 1: return cache_touch_lru1;
	case 2: return cache_touch_lru2;
	case 4: return cache_touch_lru4;
	case 8: return cache_touch_lru8;
	case 12: return cache_touch_lru12;
	case 16: return cache_touch_lru16;
	default: return cache_touch_lru;
	}
}

int
cache_init(struct cache *c, const struct cache_params *p)
{
	uint64_t sets = p->size / (p->ways * p->line);

	memset(c, 0, sizeof *c);
	c->p = *p;
	c->mask = sets - 1;
	c->shift = (unsigned)__builtin_ctzll(p->line);
	c->ways = (unsigned)p->ways;
	c->touch = cache_touch_of(p);
	c->random = UINT64_C(0x9e3779b97f4a7c15);
	c->line = calloc(sets * p->ways, sizeof *c->line);
	if (p->policy == CACHE_PLRU)
		c->tree = calloc(sets, sizeof *c->tree);
	if (p->policy == CACHE_SRRIP)
		c->rrpv = calloc(sets * p->ways, 1);
	if (p->prefetch == CACHE_STRIDE)
		c->stride = calloc(CACHE_NSTRIDES, sizeof *c->stride);
	if (c->line && !c->tree == (p->policy != CACHE_PLRU) && !c->rrpv == (p->policy != CACHE_SRRIP) &&
	    !c->stride == (p->prefetch != CACHE_STRIDE))
		return 0;
	cache_free(c);
	return -1;
}

void
cache_free(struct cache *c)
{
	segment_free(c);
	free(c->line);
	free(c->tree);
	free(c->rrpv);
	free(c->stride);
	memset(c, 0, sizeof *c);
}

int
cache_has(const struct cache *c, uint64_t line)
{
	return cache_find(c->line + (line & c->mask) * c->ways, c->ways, CACHE_KEY(line)) < c->ways;
}

void
cache_write_back(struct cache *c, uint64_t addr, uint64_t n)
{
	int missing = 0;

	if (c->segment) {
		segment_write_back(c, addr);
		return;
	}
	for (uint64_t line = addr >> c->shift; line <= (addr + n - 1) >> c->shift; line++) {
		uint64_t *set = c->line + (line & c->mask) * c->ways;
		unsigned i = cache_find(set, c->ways, CACHE_KEY(line));

		if (i < c->ways && !c->p.through)
			set[i] |= CACHE_DIRTY;
		else
			missing = 1;
	}
	if (!missing)
		return;
	if (c->next)
		cache_write_back(c->next, addr, n);
	else
		c->memory->writes++;
}

/* The line is among those that the set has in the part: the log said that it may be dirty from before. */
void
cache_evict(struct cache *c, uint64_t line, unsigned flags)
{
	uint64_t *set = c->line + (line & c->mask) * c->ways;
	unsigned i = cache_find(set, c->ways, CACHE_KEY(line));

	if (i < c->ways) {
		flags |= (unsigned)(set[i] & CACHE_DIRTY);
		for (; i + 1 < c->ways; i++)
			set[i] = set[i + 1];
		set[i] = 0;
	}
	if (flags)
		cache_replaced(c, CACHE_KEY(line) | flags);
}

/* A line that is not here yet takes the last place: what is there was replaced in the part. */
void
cache_use(struct cache *c, uint64_t line, unsigned flags, int exact)
{
	uint64_t *set = c->line + (line & c->mask) * c->ways, want = CACHE_KEY(line);
	unsigned i = cache_find(set, c->ways, want);

	if (i == c->ways)
		i = c->ways - 1;
	else if (!exact)
		want = set[i];
	for (; i > 0; i--)
		set[i] = set[i - 1];
	set[0] = want | flags;
}
