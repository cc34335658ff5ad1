/*
 * Caches of a part of a run, whose state before the part is not known. All are LRU.
 *
 * A set is full when as many lines were used in the part as it has ways: then they are what it holds, whatever
 * was there before, and it goes on as any set. Until then an access of another line may hit or miss. Such an
 * access is logged, and the log is replayed when the state is known (hier_replay): there the set has the true
 * state at each event of the log, and what the access does to the levels below is done there, too. Here, below,
 * that is an access that perhaps happens. A set that has one is open again until enough lines were used after it.
 *
 * The set of a lower level that is open is a list, in the order of the uses. Some of these perhaps did not happen
 * (MAYBE). An access certainly hits if all lines above its line, the uncertain ones too, are fewer than the ways;
 * it misses if so many are above for certain. Else it is logged. Certain hits only change the order: the log has
 * that, as far as it is new, before the next event of the set.
 *
 * While a set is full, nothing is logged of it, so in the replay its lines are old. A line is UNSURE if it came
 * when the set was not full: it may be dirty from before, which the replay knows, so its replacement is logged.
 * Before anything is logged that may touch a full set, all its lines are.
 *
 * All levels that are simulated here have lines of the same size if they can be dirty. So a line that may have
 * been dirty in the first level before the part can be in a level below only because it was fetched as code:
 * such an access is logged as long as the set of data is not full.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/cache_internal.h"

#define MAYBE CACHE_AHEAD               /* in a list; there are no prefetched lines in these levels */

/* of a set of a lower level */
#define FULL    1u
#define CHANGED 2u                      /* since it was logged, if it is full */

enum answer { HIT, MISS, UNKNOWN };

struct segment {
	enum segment_role role;
	unsigned number;
	uint64_t unsure;                /* CACHE_UNSURE; 0: no line is ever dirty */
	struct cache *data;             /* borrowed; NULL: the first level has instructions, too */
	hier_log_fn *log;
	void *arg;
	/* of lower levels, for each set: */
	uint8_t *state;
	uint64_t *list;                 /* room for twice the ways */
	uint16_t *fresh;                /* how many on top were used since that was logged */
};

int
segment_new(struct cache *c, enum segment_role role, unsigned number, int clean, struct cache *data,
    hier_log_fn *log, void *arg)
{
	struct segment *g = calloc(1, sizeof *g);
	size_t sets = (size_t)c->mask + 1;

	if (!g)
		return -1;
	*g = (struct segment){ .role = role, .number = number, .unsure = clean ? 0 : CACHE_UNSURE, .data = data,
		.log = log, .arg = arg };
	c->segment = g;
	c->plain = role == SEGMENT_FIRST;
	if (role != SEGMENT_LOWER)
		return 0;
	g->state = calloc(sets, sizeof *g->state);
	g->list = calloc(sets * c->ways, 2 * sizeof *g->list);
	g->fresh = calloc(sets, sizeof *g->fresh);
	return g->state && g->list && g->fresh ? 0 : -1;
}

void
segment_free(struct cache *c)
{
	if (!c->segment)
		return;
	free(c->segment->state);
	free(c->segment->list);
	free(c->segment->fresh);
	free(c->segment);
	c->segment = NULL;
}

static void
put(const struct cache *c, uint64_t event)
{
	c->segment->log(c->segment->arg, event);
}

static void
put_used(const struct cache *c, uint64_t key, int exact)
{
	put(c, HIER_EVENT(HIER_USED, c->segment->number, 0, key & CACHE_DIRTY, exact, CACHE_LINE(key)));
}

static inline uint64_t *
set_of(const struct cache *c, uint64_t line)
{
	return c->line + (line & c->mask) * c->ways;
}

static uint64_t *
list_of(const struct cache *c, uint64_t line)
{
	return c->segment->list + (line & c->mask) * c->ways * 2;
}

static uint8_t *
state_of(const struct cache *c, uint64_t line)
{
	return &c->segment->state[line & c->mask];
}

static inline int
is_full(const struct cache *c, uint64_t line)
{
	if (c->segment->role == SEGMENT_FIRST)
		return set_of(c, line)[c->ways - 1] != 0;
	return *state_of(c, line) & FULL;
}

/* Those that may be dirty from before come first: what follows takes the place of the others. */
static void
put_full(const struct cache *c, const uint64_t *set)
{
	for (unsigned i = c->ways; i-- > 0;)
		if (set[i] & CACHE_UNSURE)
			put_used(c, set[i], 0);
	for (unsigned i = c->ways; i-- > 0;)
		put_used(c, set[i], !(set[i] & CACHE_UNSURE));
}

/* Makes the set in the replay what it is here, as far as that is known. */
static void
set_put(const struct cache *c, uint64_t line)
{
	uint64_t *set = set_of(c, line);
	uint16_t *fresh;

	if (c->segment->role == SEGMENT_FIRST) {
		/* what was used since it was logged is not known of this level, which has a fast path */
		if (is_full(c, line))
			put_full(c, set);
		else
			for (unsigned i = c->ways; i-- > 0;)
				if (set[i])
					put_used(c, set[i], 0);
		return;
	}
	if (is_full(c, line)) {
		if (*state_of(c, line) & CHANGED)
			put_full(c, set);
		*state_of(c, line) = FULL;
		return;
	}
	fresh = &c->segment->fresh[line & c->mask];
	for (; *fresh > 0; --*fresh)
		put_used(c, list_of(c, line)[*fresh - 1], 0);
}

/* Of a set that is not full; *at: the place of the line if it hits */
static enum answer
list_find(const struct cache *c, const uint64_t *list, uint64_t line, unsigned *at)
{
	uint64_t want = CACHE_KEY(line);
	unsigned certain = 0, maybe = 0, mine = 0;

	for (unsigned i = 0; i < 2 * c->ways && list[i]; i++) {
		int same = (list[i] ^ want) <= CACHE_FLAGS;

		if (same && !(list[i] & MAYBE)) {
			*at = i;
			return certain + maybe < c->ways ? HIT : UNKNOWN;
		}
		if (!(list[i] & MAYBE))
			certain++;
		else if (same)
			mine = 1;
		else
			maybe++;
	}
	return certain >= c->ways && !mine ? MISS : UNKNOWN;
}

static void
set_open(const struct cache *c, uint64_t line)
{
	uint64_t *set = set_of(c, line), *list = list_of(c, line);

	for (unsigned i = 0; i < c->ways; i++)
		list[i] = set[i] | c->segment->unsure;
	memset(list + c->ways, 0, c->ways * sizeof *list);
	*state_of(c, line) = 0;
}

/* After the last use that is logged */
static void
set_close(const struct cache *c, uint64_t line)
{
	uint64_t *list = list_of(c, line);

	for (unsigned i = 0; i < c->ways; i++)
		if (!list[i] || list[i] & MAYBE)
			return;
	memcpy(set_of(c, line), list, c->ways * sizeof *list);
	*state_of(c, line) = FULL;
}

static void write_back(struct cache *c, uint64_t addr, int maybe);

/* A line that was pushed down here may be replaced, now or when it is no longer in the list. */
static void
list_victim(const struct cache *c, uint64_t key)
{
	if (c->next && c->segment->unsure)
		write_back(c->next, CACHE_LINE(key) << c->shift, 1);
}

/* Puts the key on top, instead of what the list has of the line; but a MAYBE leaves a certain use. */
static void
list_push(const struct cache *c, uint64_t *list, uint64_t key, int hit)
{
	unsigned most = 2 * c->ways, n = 0, certain = 0;

	for (unsigned i = 0; i < most && list[i]; i++)
		if ((list[i] ^ key) > CACHE_FLAGS || (key & MAYBE && !(list[i] & MAYBE)))
			list[n++] = list[i];
	memset(list + n, 0, (most - n) * sizeof *list);
	if (list[most - 1])
		list_victim(c, list[most - 1]);
	memmove(list + 1, list, (most - 1) * sizeof *list);
	list[0] = key;
	for (unsigned i = c->ways; i < most && list[i] && !hit; i++)
		list_victim(c, list[i]);
	/* below so many certain ones there is nothing */
	for (n = 0; n < most && certain < c->ways; n++)
		certain += list[n] && !(list[n] & MAYBE);
	memset(list + n, 0, (most - n) * sizeof *list);
}

/* A use that is done in the replay: returns whether the line may be missing. */
static int
lower_use(struct cache *c, uint64_t line, int maybe)
{
	uint64_t *list = list_of(c, line), key = CACHE_KEY(line) | c->segment->unsure;
	unsigned at = 0;
	int hit;

	if (is_full(c, line))
		set_open(c, line);
	hit = list_find(c, list, line, &at) == HIT;
	if (maybe)
		key |= MAYBE;
	else if (hit)
		key |= list[at] & CACHE_DIRTY;
	if (!maybe || !hit || at > 0)
		list_push(c, list, key, hit);
	set_close(c, line);
	return !hit;
}

static int
first_use(struct cache *c, uint64_t line, unsigned flags)
{
	uint64_t *set = set_of(c, line), key = CACHE_KEY(line);

	if (cache_find(set, c->ways, key) < c->ways) {
		c->touch(c, line, flags, 1);
		return 0;
	}
	if (set[c->ways - 1])
		list_victim(c, set[c->ways - 1]);
	memmove(set + 1, set, (c->ways - 1) * sizeof *set);
	set[0] = key | flags | c->segment->unsure;
	return 1;
}

/* The lines of an access that is done in the replay: returns whether it may go on to the next level. */
static int
use_lines(struct cache *c, uint64_t addr, uint64_t size, unsigned flags, int maybe)
{
	uint64_t first = addr >> c->shift, end = (addr + size - 1) >> c->shift;
	int missing = 0;

	for (uint64_t line = first; line <= end; line++)
		set_put(c, line);
	for (uint64_t line = first; line <= end; line++)
		missing |= c->segment->role == SEGMENT_FIRST ? first_use(c, line, flags) : lower_use(c, line, maybe);
	return missing;
}

static void
log_access(struct cache *c, uint64_t addr, uint64_t size, enum cache_kind kind, int write)
{
	int missing = use_lines(c, addr, size, write ? CACHE_DIRTY : 0, 0);

	for (struct cache *d = c->next; d && missing && d->segment->role == SEGMENT_LOWER; d = d->next)
		missing = use_lines(d, addr, size, 0, 1);
	put(c, HIER_EVENT(HIER_ACCESS, c->segment->number, kind, write, size, addr));
}

/* May the first level of data have had the line, dirty, since before the part? */
static int
is_above(const struct cache *c, uint64_t line)
{
	const struct cache *d = c->segment->data;

	return d && !is_full(d, line) && cache_find(set_of(d, line), d->ways, CACHE_KEY(line)) == d->ways;
}

/* Is it known what an access of the line does? It is one of n, of an access. */
static int
is_known(const struct cache *c, uint64_t line, uint64_t n, enum cache_kind kind)
{
	unsigned at;

	if (c->segment->role == SEGMENT_LOWER && !is_full(c, line))
		/* one line of a set would change what is known of another */
		return n <= c->mask + 1 && list_find(c, list_of(c, line), line, &at) == HIT;
	if (is_full(c, line) && !(kind == CACHE_FETCH && is_above(c, line)))
		return 1;
	return cache_find(set_of(c, line), c->ways, CACHE_KEY(line)) < c->ways;
}

/* Returns whether the line is missing. */
static inline int
use_known(struct cache *c, uint64_t line, unsigned flags)
{
	uint64_t *list;
	uint16_t *fresh;
	unsigned at = 0;

	if (c->segment->role == SEGMENT_LOWER && is_full(c, line))
		*state_of(c, line) |= CHANGED;
	if (c->segment->role == SEGMENT_FIRST || is_full(c, line))
		return !c->touch(c, line, flags, 1);
	list = list_of(c, line);
	fresh = &c->segment->fresh[line & c->mask];
	list_find(c, list, line, &at);
	*fresh += at >= *fresh;
	list_push(c, list, list[at], 1);
	return 0;
}

/* Most accesses: one line, of a set that is full, or of a first level that has it */
static inline int
is_quick(const struct cache *c, uint64_t line, enum cache_kind kind)
{
	const uint64_t *set = set_of(c, line);

	if (c->segment->role == SEGMENT_LOWER)
		return *state_of(c, line) & FULL && (kind != CACHE_FETCH || !c->segment->data ||
		    set_of(c->segment->data, line)[c->segment->data->ways - 1]);
	return c->segment->role == SEGMENT_FIRST && cache_find(set, c->ways, CACHE_KEY(line)) < c->ways;
}

int
segment_access(struct cache *c, uint64_t addr, uint64_t size, enum cache_kind kind, int write)
{
	uint64_t first = addr >> c->shift, end = (addr + size - 1) >> c->shift;
	int known = c->segment->role != SEGMENT_LOGGED, missing = 0;

	if (first == end && is_quick(c, first, kind))
		return use_known(c, first, write ? CACHE_DIRTY : 0);
	for (uint64_t line = first; line <= end && known; line++)
		known = is_known(c, line, end - first + 1, kind);
	if (known) {
		for (uint64_t line = first; line <= end; line++)
			missing |= use_known(c, line, write ? CACHE_DIRTY : 0);
		return missing;
	}
	if (c->segment->role != SEGMENT_FIRST)
		c->n.access[kind]--;            /* the replay counts it */
	if (c->segment->role == SEGMENT_LOGGED)
		put(c, HIER_EVENT(HIER_ACCESS, c->segment->number, kind, write, size, addr));
	else
		log_access(c, addr, size, kind, write);
	return 0;
}

/* A dirty line comes back to a set that is full. */
static enum answer
full_back(struct cache *c, uint64_t line, int maybe)
{
	uint64_t *set = set_of(c, line);
	unsigned at = cache_find(set, c->ways, CACHE_KEY(line));

	if (maybe)
		set_put(c, line);
	if (at == c->ways)
		return MISS;
	set[at] |= maybe ? CACHE_UNSURE : CACHE_DIRTY;
	if (!maybe)
		*state_of(c, line) |= CHANGED;
	return HIT;
}

/* A dirty line comes back from the level before; maybe: that is done in the replay. */
static void
write_back(struct cache *c, uint64_t addr, int maybe)
{
	uint64_t line = addr >> c->shift, *list;
	int lower = c->segment->role == SEGMENT_LOWER, put_it = 1;
	enum answer got = UNKNOWN;
	unsigned at = 0;

	if (lower && is_full(c, line)) {
		got = full_back(c, line, maybe);
		put_it = 0;
	} else if (lower) {
		list = list_of(c, line);
		got = list_find(c, list, line, &at);
		put_it = got == UNKNOWN || (got == HIT && !(list[at] & CACHE_DIRTY));
		if (got == HIT && !maybe)
			list[at] |= CACHE_DIRTY;
	}
	if (got != HIT && c->next)
		write_back(c->next, addr, maybe || got == UNKNOWN);
	else if (got == MISS && !maybe)
		c->memory->writes++;
	if (put_it && !maybe)
		put(c, HIER_EVENT(HIER_BACK, c->segment->number, 0, 0, 0, addr));
}

void
segment_write_back(struct cache *c, uint64_t addr)
{
	write_back(c, addr, 0);
}

void
segment_replaced(struct cache *c, uint64_t old)
{
	if (old & CACHE_UNSURE) {
		list_victim(c, old);
		put(c, HIER_EVENT(HIER_EVICT, c->segment->number, 0, old & CACHE_DIRTY, 0, CACHE_LINE(old)));
		return;
	}
	c->n.writeback++;
	if (c->next)
		write_back(c->next, CACHE_LINE(old) << c->shift, 0);
	else
		c->memory->writes++;
}

void
segment_end(struct cache *c)
{
	if (c->segment->role != SEGMENT_LOGGED)
		for (uint64_t set = 0; set <= c->mask; set++)
			set_put(c, set);
}
