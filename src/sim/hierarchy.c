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

static void
hier_log_access(struct cache *c, uint64_t addr, uint64_t size, enum cache_kind kind)
{
	c->log(c->arg, HIER_EVENT(HIER_ACCESS, c->number, kind, c->sure, size, addr));
	c->sure = 0;
}

/* An access to the first level of caches or TLBs, which counts its accesses elsewhere. */
static void
hier_first(struct hier *h, struct cache *c, uint64_t addr, uint64_t size, enum cache_kind kind, int write)
{
	int allocate = !c->p.around || kind != CACHE_STORE;
	int missing = hier_lines(c, addr, size, write && !c->p.through ? CACHE_DIRTY : 0, allocate);

	if (missing && c->log)
		hier_log_access(c, addr, size, kind);
	else if (missing || c->p.through || c->p.prefetch)
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

/* In the order of their numbers in events */
static const enum hier_cache hier_first_level[] = { HIER_I1, HIER_D1, HIER_ITLB, HIER_DTLB };

const char *
hier_log_wrong(const struct hier_params *p)
{
	for (unsigned i = 0; i < 4; i++) {
		const struct cache_params *c = &p->cache[hier_first_level[i]];

		if (c->size && (c->policy != CACHE_LRU || c->prefetch || c->through || c->around))
			return "the first levels must be lru, without other words";
	}
	if (p->cache[HIER_L2].prefetch == CACHE_STRIDE || p->cache[HIER_L3].prefetch == CACHE_STRIDE)
		return "no cache can have stride, which depends on instructions";
	return NULL;
}

void
hier_log_to(struct hier *h, hier_log_fn *log, void *arg)
{
	for (unsigned i = 0; i < 4; i++)
		if (h->p.cache[hier_first_level[i]].size)
			cache_forget(&h->c[hier_first_level[i]], i, log, arg);
}

void
hier_log_end(struct hier *h)
{
	for (unsigned i = 0; i < 4; i++)
		if (h->c[hier_first_level[i]].log)
			cache_log_lines(&h->c[hier_first_level[i]]);
}

int
hier_replay(struct hier *h, uint64_t event)
{
	struct cache *c = &h->c[hier_first_level[event >> 59 & 3]];
	enum cache_kind kind = event >> 57 & 3;
	uint64_t size = event >> 48 & 255, addr = event & ADDR;
	unsigned flag = event >> 56 & 1;

	if (event >> 63 || !c->p.size)
		return -1;
	switch (event >> 61) {
	case HIER_ACCESS:
		if (!size || kind > CACHE_STORE)
			return -1;
		if (flag || c->sure)
			hier_go_on(h, c, addr, size, kind, 0, 1);
		c->sure = 0;
		break;
	case HIER_TOUCH:
		c->sure |= !c->touch(c, addr, flag, 1);
		break;
	case HIER_EVICT:
		cache_evict(c, addr, flag);
		break;
	default:
		cache_use(c, addr, flag);
	}
	return 0;
}

void
hier_refs(const struct hier *h, uint64_t n[HIER_NREFS])
{
	for (unsigned k = 0; k < HIER_NREFS; k++)
		n[k] = h->refs[k];
}

void
hier_add_refs(struct hier *h, const uint64_t n[HIER_NREFS])
{
	for (unsigned k = 0; k < HIER_NREFS; k++)
		h->refs[k] += n[k];
}
