/* Caches and TLBs that references go through. */
#include "sim/hierarchy.h"

#include <stdlib.h>
#include <string.h>

#include "format/ref/ref.h"
#include "sim/cache_internal.h"

#define ADDR UINT64_C(0xffffffffffff)   /* what ref(5) has of an address */

struct hier {
	struct hier_params p;
	struct cache c[HIER_N];
	struct cache *inst, *data;              /* the first levels; NULL: none */
	struct cache *itlb, *dtlb;              /* NULL: none */
	int quick;              /* first levels are LRU, write-back, without prefetching: cache_again */
	int same;               /* another fetch in the same line changes nothing */
	uint64_t last;          /* if `same`: the line of the last fetch; UINT64_MAX: it had two */
	uint64_t fetch;         /* the word of the last fetch; 0: none */
	uint64_t refs[REF_NACCESS];
	struct cache_memory memory, walks;
	hier_miss_fn *miss;
	void *arg;
	hier_log_fn *log;       /* of a part */
	void *logarg;
	uint64_t logged;        /* the last fetch that was logged */
};

static void hier_access(struct hier *h, struct cache *c, uint64_t addr, uint64_t size, enum cache_kind kind,
    int write);

/* A line comes into c that nothing asked for. */
static void
hier_ahead(struct hier *h, struct cache *c, uint64_t addr)
{
	uint64_t line = (addr & ADDR) >> c->shift;

	if (cache_has(c, line))
		return;
	c->touch(c, line, CACHE_AHEAD, 1);
	c->n.prefetched++;
	if (c->next)
		hier_access(h, c->next, line << c->shift, c->p.line, CACHE_PREFETCH, 0);
	else
		c->memory->reads++;
}

static void
hier_stride(struct hier *h, struct cache *c, uint64_t addr)
{
	uint64_t pc = ref_addr(h->fetch), distance;
	struct cache_stride *s = &c->stride[(pc ^ pc >> 8) % CACHE_NSTRIDES];

	if (s->pc != pc) {
		*s = (struct cache_stride){ .pc = pc, .last = addr };
		return;
	}
	distance = addr - s->last;
	s->last = addr;
	if (distance != s->distance)
		s->distance = distance;
	else if ((addr + distance) >> c->shift != addr >> c->shift)
		hier_ahead(h, c, addr + distance);
}

/* Uses the lines of an access in one cache.  1: one of them was missing */
static int
hier_lines(struct cache *c, uint64_t addr, uint64_t size, unsigned flags, int allocate)
{
	uint64_t line = addr >> c->shift, end = (addr + size - 1) >> c->shift;
	int missing = 0;

	for (; line <= end; line++)
		missing |= !c->touch(c, line, flags, allocate);
	return missing;
}

/* The access goes to the next level, or to memory. */
static void
hier_next(struct hier *h, struct cache *c, uint64_t addr, uint64_t size, enum cache_kind kind, int write)
{
	if (c->next)
		hier_access(h, c->next, addr, size, kind, write);
	else if (write)
		c->memory->writes++;
	else
		c->memory->reads++;
}

/* What follows an access that missed, or that is a store through the cache, or may prefetch. */
static void
hier_go_on(struct hier *h, struct cache *c, uint64_t addr, uint64_t size, enum cache_kind kind, int write,
    int missing)
{
	int first = c->first;
	/* a modify reads its line, even if it then goes through */
	int past = write && (c->p.through || (missing && c->p.around && kind == CACHE_STORE));

	c->first = 0;
	c->n.miss[kind] += (uint64_t)missing;
	if (missing && h->miss && kind != CACHE_PREFETCH)
		h->miss(h->arg, (enum hier_cache)(c - h->c), ref_addr(h->fetch), ref_size(h->fetch));
	if (missing && !(past && kind == CACHE_STORE))
		hier_next(h, c, addr, size, kind, 0);
	if (past) {
		c->n.through++;
		hier_next(h, c, addr, size, CACHE_STORE, 1);
	}
	if (c->p.prefetch == CACHE_NEXT && (missing || first) && kind != CACHE_PREFETCH)
		hier_ahead(h, c, addr + size - 1 + c->p.line);
	if (c->stride && (kind == CACHE_LOAD || kind == CACHE_STORE) && h->fetch)
		hier_stride(h, c, addr);
}

/* An access to the first level of caches or TLBs, which counts its accesses elsewhere. */
static void
hier_first(struct hier *h, struct cache *c, uint64_t addr, uint64_t size, enum cache_kind kind, int write)
{
	int allocate = !c->p.around || kind != CACHE_STORE, missing;

	if (c->segment && !segment_is_plain(c, addr, size))
		missing = segment_access(c, addr, size, kind, write);
	else
		missing = hier_lines(c, addr, size, write && !c->p.through ? CACHE_DIRTY : 0, allocate);
	if (missing || c->p.through || c->p.prefetch)
		hier_go_on(h, c, addr, size, kind, write, missing);
}

static void
hier_access(struct hier *h, struct cache *c, uint64_t addr, uint64_t size, enum cache_kind kind, int write)
{
	c->n.access[kind]++;
	hier_first(h, c, addr, size, kind, write);
}

/* What does not change during a batch */
struct hier_view {
	int quick, same;
	struct cache_view inst, data, itlb, dtlb;
};

static inline __attribute__((always_inline)) void
hier_use(struct hier *h, struct cache *c, struct cache_view v, uint64_t w, enum cache_kind kind, int write, int quick)
{
	uint64_t addr = w & ADDR, line = addr >> v.shift;
	unsigned size = ref_size(w);

	if (!quick || (addr + size - 1) >> v.shift != line || !cache_again(v, line, write ? CACHE_DIRTY : 0))
		hier_first(h, c, addr, size, kind, write);
}

static inline __attribute__((always_inline)) void
hier_fetch(struct hier *h, const struct hier_view *v, uint64_t w)
{
	h->fetch = w;
	if (v->same) {
		uint64_t addr = w & ADDR, line = addr >> v->inst.shift, last = h->last;

		h->last = (addr + ref_size(w) - 1) >> v->inst.shift == line ? line : UINT64_MAX;
		if (h->last == last && last != UINT64_MAX)
			return;
	}
	if (h->itlb)
		hier_use(h, h->itlb, v->itlb, w, CACHE_FETCH, 0, v->quick);
	hier_use(h, h->inst, v->inst, w, CACHE_FETCH, 0, v->quick);
}

static inline __attribute__((always_inline)) void
hier_data(struct hier *h, const struct hier_view *v, uint64_t w, unsigned kind)
{
	enum cache_kind k = kind == REF_STORE ? CACHE_STORE : CACHE_LOAD;

	if (h->dtlb)
		hier_use(h, h->dtlb, v->dtlb, w, k, 0, v->quick);
	hier_use(h, h->data, v->data, w, k, kind != REF_LOAD, v->quick);
}

/* At most 65535 words: counts of the kinds are in the 16-bit parts of one number. */
static inline __attribute__((always_inline)) void
hier_batch(struct hier *h, const uint64_t *w, size_t n, int quick)
{
	const struct hier_view v = {
		.quick = quick,
		.same = h->same,
		.inst = cache_view(h->inst),
		.data = cache_view(h->data),
		.itlb = cache_view(&h->c[HIER_ITLB]),
		.dtlb = cache_view(&h->c[HIER_DTLB]),
	};
	uint64_t count = 0;

	for (size_t i = 0; i < n; i++) {
		unsigned kind = ref_kind(w[i]);

		if (kind >= REF_NACCESS)
			continue;
		count += UINT64_C(1) << 16 * kind;
		if (kind == REF_INST)
			hier_fetch(h, &v, w[i]);
		else
			hier_data(h, &v, w[i], kind);
	}
	for (unsigned k = 0; k < REF_NACCESS; k++)
		h->refs[k] += count >> 16 * k & 0xffff;
}

void
hier_take(struct hier *h, const uint64_t *w, size_t n)
{
	while (n) {
		size_t k = n < 65535 ? n : 65535;

		if (h->quick)
			hier_batch(h, w, k, 1);
		else
			hier_batch(h, w, k, 0);
		w += k;
		n -= k;
	}
}

static int
hier_is_quick(const struct cache *c)
{
	return c->p.policy == CACHE_LRU && !c->p.prefetch && !c->p.through;
}

/* Is a second fetch in the same line without effect?  SRRIP tells a new line from one that was used again. */
static int
hier_is_same(const struct cache *c)
{
	return c->p.policy != CACHE_SRRIP && !c->p.prefetch;
}

static struct cache *
hier_of(struct hier *h, enum hier_cache which)
{
	return h->p.cache[which].size ? &h->c[which] : NULL;
}

/* The levels are in a row. */
static void
hier_link(struct hier *h)
{
	struct cache *l3 = hier_of(h, HIER_L3), *l2 = hier_of(h, HIER_L2), *stlb = hier_of(h, HIER_STLB);

	h->c[HIER_L2].next = l3;
	h->c[HIER_I1].next = h->c[HIER_D1].next = l2 ? l2 : l3;
	h->c[HIER_ITLB].next = h->c[HIER_DTLB].next = stlb;
	h->data = &h->c[HIER_D1];
	h->inst = h->p.unified ? h->data : &h->c[HIER_I1];
	h->itlb = hier_of(h, HIER_ITLB);
	h->dtlb = hier_of(h, HIER_DTLB);
	h->quick = hier_is_quick(h->inst) && hier_is_quick(h->data) && (!h->itlb || hier_is_quick(h->itlb)) &&
	    (!h->dtlb || hier_is_quick(h->dtlb));
	h->same = !h->p.unified && hier_is_same(h->inst) && (!h->itlb || hier_is_same(h->itlb));
	h->last = UINT64_MAX;
}

struct hier *
hier_new(const struct hier_params *p)
{
	struct hier *h = calloc(1, sizeof *h);

	if (!h)
		return NULL;
	h->p = *p;
	for (int i = 0; i < HIER_N; i++)
		if (p->cache[i].size && cache_init(&h->c[i], &p->cache[i]) != 0) {
			hier_free(h);
			return NULL;
		}
	for (int i = 0; i < HIER_N; i++)
		h->c[i].memory = i < HIER_ITLB ? &h->memory : &h->walks;
	hier_link(h);
	return h;
}

void
hier_free(struct hier *h)
{
	if (!h)
		return;
	for (int i = 0; i < HIER_N; i++)
		cache_free(&h->c[i]);
	free(h);
}

void
hier_set_miss_fn(struct hier *h, hier_miss_fn *fn, void *arg)
{
	h->miss = fn;
	h->arg = arg;
}

void
hier_totals(const struct hier *h, struct hier_totals *t)
{
	t->fetches = h->refs[REF_INST];
	t->modifies = h->refs[REF_MODIFY];
	t->loads = h->refs[REF_LOAD] + t->modifies;
	t->stores = h->refs[REF_STORE];
	t->memory = h->memory;
	t->walks = h->walks.reads;
}

int
hier_stats(const struct hier *h, enum hier_cache which, struct cache_stats *n)
{
	const struct cache *c = &h->c[which];
	struct hier_totals t;

	if (!h->p.cache[which].size)
		return 0;
	*n = c->n;
	hier_totals(h, &t);
	if (c == h->inst || c == h->itlb)
		n->access[CACHE_FETCH] += t.fetches;
	if (c == h->data || c == h->dtlb) {
		n->access[CACHE_LOAD] += t.loads;
		n->access[CACHE_STORE] += t.stores;
	}
	return 1;
}

static int
hier_is_first(enum hier_cache which)
{
	return which != HIER_L2 && which != HIER_L3 && which != HIER_STLB;
}

static int
hier_is_plain(const struct cache_params *c)
{
	return c->policy == CACHE_LRU && !c->prefetch && !c->through && !c->around;
}

const char *
hier_log_wrong(const struct hier_params *p)
{
	for (int i = 0; i < HIER_N; i++)
		if (hier_is_first((enum hier_cache)i) && p->cache[i].size && !hier_is_plain(&p->cache[i]))
			return "the first levels must be lru, without other words";
	if (p->cache[HIER_L2].prefetch == CACHE_STRIDE || p->cache[HIER_L3].prefetch == CACHE_STRIDE)
		return "no cache can have stride, which depends on instructions";
	return NULL;
}

/* What a level after the first ones is in a part of a run; *same: the levels so far are simulated there. */
static enum segment_role
hier_role(const struct hier *h, enum hier_cache which, int *same)
{
	const struct cache_params *c = &h->p.cache[which];

	*same = *same && hier_is_plain(c) && (which == HIER_STLB || c->line == h->p.cache[HIER_D1].line);
	return *same ? SEGMENT_LOWER : SEGMENT_LOGGED;
}

/* If misses are told: before an access, which fetch it is of */
static void
hier_log(void *arg, uint64_t event)
{
	struct hier *h = arg;

	if (event >> 62 == HIER_ACCESS && h->fetch != h->logged) {
		h->logged = h->fetch;
		h->log(h->logarg, HIER_FETCH(h->fetch));
	}
	h->log(h->logarg, event);
}

int
hier_log_to(struct hier *h, hier_log_fn *log, void *arg)
{
	int same = 1;

	if (h->miss) {
		h->log = log;
		h->logarg = arg;
		h->logged = UINT64_MAX;
		log = hier_log;
		arg = h;
	}
	for (int i = 0; i < HIER_N; i++) {
		enum hier_cache which = (enum hier_cache)i;
		enum segment_role role = SEGMENT_FIRST;
		int clean = which >= HIER_ITLB || which == HIER_I1;

		if (which == HIER_STLB)
			same = 1;
		if (!h->p.cache[i].size)
			continue;
		if (!hier_is_first(which))
			role = hier_role(h, which, &same);
		if (segment_new(&h->c[i], role, (unsigned)i, clean, clean || h->p.unified ? NULL : h->data, log, arg) != 0)
			return -1;
	}
	return 0;
}

void
hier_log_end(struct hier *h)
{
	for (int i = 0; i < HIER_N; i++)
		if (h->p.cache[i].size)
			segment_end(&h->c[i]);
}

int
hier_replay(struct hier *h, uint64_t event)
{
	enum hier_cache which = event >> 59 & 7;
	struct cache *c = &h->c[which];
	enum cache_kind kind = event >> 57 & 3;
	uint64_t size = event >> 48 & 255, addr = event & ADDR;
	unsigned flag = event >> 56 & 1;

	if (HIER_IS_FETCH(event)) {
		h->fetch = HIER_FETCH_WORD(event);
		return 0;
	}
	if (which >= HIER_N || !c->p.size)
		return -1;
	switch (event >> 62) {
	case HIER_ACCESS:
		if (!size || kind > CACHE_STORE)
			return -1;
		(hier_is_first(which) ? hier_first : hier_access)(h, c, addr, size, kind, (int)flag);
		return 0;
	case HIER_BACK:
		cache_write_back(c, addr, h->data->p.line);
		return 0;
	}
	if (c->p.policy != CACHE_LRU)
		return -1;
	if (event >> 62 == HIER_EVICT)
		cache_evict(c, addr, flag);
	else
		cache_use(c, addr, flag, size != 0);
	return 0;
}

/* The counts of the caches, one after the other: fn gets each. */
static void
hier_each_count(struct hier *h, void (*fn)(uint64_t *count, uint64_t *n), uint64_t *n)
{
	for (unsigned k = 0; k < HIER_NREFS; k++)
		fn(&h->refs[k], n++);
	for (int i = 0; i < HIER_N; i++) {
		struct cache_stats *s = &h->c[i].n;

		for (int k = CACHE_FETCH; k <= CACHE_STORE; k++) {
			fn(&s->access[k], n++);
			fn(&s->miss[k], n++);
		}
		fn(&s->writeback, n++);
	}
	fn(&h->memory.reads, n++);
	fn(&h->memory.writes, n++);
	fn(&h->walks.reads, n++);
}

static void
hier_count_get(uint64_t *count, uint64_t *n)
{
	*n = *count;
}

static void
hier_count_add(uint64_t *count, uint64_t *n)
{
	*count += *n;
}

void
hier_counts(struct hier *h, uint64_t n[HIER_NCOUNTS])
{
	hier_each_count(h, hier_count_get, n);
}

void
hier_add_counts(struct hier *h, uint64_t n[HIER_NCOUNTS])
{
	hier_each_count(h, hier_count_add, n);
}
