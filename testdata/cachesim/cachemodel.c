/*
 * cachemodel [NAME=SIZE,WAYS,LINE,WORD...]...: the caches of cachesim(1), written from that page alone, slowly and plainly: each
 * line has the times of its last use and of its arrival, and each question is answered by looking at all of a set.  Reads
 * references as lackey writes them.  NAME: i1 d1 l1 l2 l3 itlb dtlb stlb; of a TLB, SIZE and LINE are bytes, too.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { I1, D1, L2, L3, ITLB, DTLB, STLB, N };
enum { FETCH, LOAD, STORE, PREFETCH, KINDS };

struct line { int valid, dirty, ahead, rrpv; uint64_t number, used, came; };

struct cache {
	uint64_t size, ways, bytes, sets;
	char policy[16];
	int through, around, next_line, stride;
	struct line *line;
	char *half;                     /* plru: for each set, 64 x 65 ranges of ways: is the upper half next? */
	uint64_t random;
	struct { uint64_t pc, last, distance; } entry[256];
	struct cache *below;
	uint64_t access[KINDS], miss[KINDS], back, past, prefetched, used, unused;
};

static struct cache cache[N];
static uint64_t now, pc, reads, writes, walks;
static int unified, fetched;

static struct line *
look(struct cache *c, uint64_t number)
{
	struct line *set = c->line + number % c->sets * c->ways;

	for (uint64_t i = 0; i < c->ways; i++)
		if (set[i].valid && set[i].number == number)
			return &set[i];
	return NULL;
}

static void
dirty_line(struct cache *c, uint64_t addr, uint64_t n)
{
	int all = 1;

	if (!c) {
		writes++;
		return;
	}
	for (uint64_t k = addr / c->bytes; k <= (addr + n - 1) / c->bytes; k++) {
		struct line *l = look(c, k);

		if (l && !c->through)
			l->dirty = 1;
		else
			all = 0;
	}
	if (!all)
		dirty_line(c->below, addr, n);
}

/* plru: walks from the whole set down to one way, by halves */
static char *
half(struct cache *c, uint64_t set, uint64_t lo, uint64_t n)
{
	return &c->half[(set * 64 + lo) * 65 + n];
}

static struct line *
replaced(struct cache *c, uint64_t set)
{
	struct line *l = c->line + set * c->ways, *best = l;

	for (uint64_t i = 0; i < c->ways; i++)
		if (!l[i].valid)
			return &l[i];
	if (!strcmp(c->policy, "plru")) {
		uint64_t lo = 0;

		for (uint64_t n = c->ways; n > 1; n /= 2)
			if (*half(c, set, lo, n))
				lo += n / 2;
		return l + lo;
	}
	if (!strcmp(c->policy, "random")) {
		c->random ^= c->random >> 12;
		c->random ^= c->random << 25;
		c->random ^= c->random >> 27;
		return l + (c->random * 2685821657736338717u >> 32) % c->ways;
	}
	if (!strcmp(c->policy, "srrip"))
		for (;;) {
			for (uint64_t i = 0; i < c->ways; i++)
				if (l[i].rrpv == 3)
					return &l[i];
			for (uint64_t i = 0; i < c->ways; i++)
				l[i].rrpv++;
		}
	for (uint64_t i = 0; i < c->ways; i++)
		if (!strcmp(c->policy, "fifo") ? l[i].came < best->came : l[i].used < best->used)
			best = &l[i];
	return best;
}

/* 1: the line was there; *first: it had been prefetched, and this is the first use */
static int
use(struct cache *c, uint64_t number, int dirty, int ahead, int allocate, int *first)
{
	uint64_t set = number % c->sets;
	struct line *l = look(c, number);
	int hit = l != NULL;

	if (!l && !allocate)
		return 0;
	if (!l) {
		l = replaced(c, set);
		if (l->valid && l->ahead)
			c->unused++;
		if (l->valid && l->dirty) {
			c->back++;
			dirty_line(c->below, l->number * c->bytes, c->bytes);
		}
		*l = (struct line){ .valid = 1, .number = number, .came = ++now, .ahead = ahead, .rrpv = 2 };
	} else {
		if (l->ahead) {
			c->used++;
			*first = 1;
		}
		l->ahead = 0;
		l->rrpv = 0;
	}
	l->dirty |= dirty;
	l->used = ++now;
	if (!strcmp(c->policy, "plru")) {
		uint64_t lo = 0, way = (uint64_t)(l - c->line) % c->ways;

		for (uint64_t n = c->ways; n > 1; n /= 2) {
			int upper = way >= lo + n / 2;

			*half(c, set, lo, n) = !upper;
			lo += upper ? n / 2 : 0;
		}
	}
	return hit;
}

static void access_cache(struct cache *c, uint64_t addr, uint64_t n, int kind, int write);

static void
below(struct cache *c, uint64_t addr, uint64_t n, int kind, int write)
{
	if (c->below)
		access_cache(c->below, addr, n, kind, write);
	else if (c >= &cache[ITLB])
		walks++;
	else if (write)
		writes++;
	else
		reads++;
}

static void
prefetch(struct cache *c, uint64_t addr)
{
	uint64_t number = addr % ((uint64_t)1 << 48) / c->bytes;
	int first;

	if (look(c, number))
		return;
	c->prefetched++;
	use(c, number, 0, 1, 1, &first);
	below(c, number * c->bytes, c->bytes, PREFETCH, 0);
}

static void
access_cache(struct cache *c, uint64_t addr, uint64_t n, int kind, int write)
{
	int miss = 0, first = 0, store = kind == STORE;

	c->access[kind]++;
	for (uint64_t k = addr / c->bytes; k <= (addr + n - 1) / c->bytes; k++)
		if (!use(c, k, write && !c->through, 0, !(store && c->around), &first))
			miss = 1;
	c->miss[kind] += miss;
	if (write && (c->through || (miss && store && c->around))) {
		if (miss && !store)
			below(c, addr, n, kind, 0);
		c->past++;
		below(c, addr, n, STORE, 1);
	} else if (miss) {
		below(c, addr, n, kind, 0);
	}
	if (kind == PREFETCH)
		return;
	if (c->next_line && (miss || first))
		prefetch(c, addr + n - 1 + c->bytes);
	if (c->stride && kind != FETCH && fetched) {
		uint64_t i = (pc ^ pc >> 8) % 256, d = addr - c->entry[i].last;

		if (c->entry[i].pc != pc) {
			c->entry[i].pc = pc;
			c->entry[i].distance = 0;
		} else if (c->entry[i].distance == d) {
			if ((addr + d) / c->bytes != addr / c->bytes)
				prefetch(c, addr + d);
		} else {
			c->entry[i].distance = d;
		}
		c->entry[i].last = addr;
	}
}

static const char *const names[N] = { "i1", "d1", "l2", "l3", "itlb", "dtlb", "stlb" };

static void
make(char *arg)
{
	char *name = strtok(arg, "="), *word;
	struct cache *c = &cache[D1];

	unified |= !strcmp(name, "l1");
	for (int i = 0; i < N; i++)
		if (!strcmp(name, names[i]))
			c = &cache[i];
	c->size = strtoull(strtok(NULL, ","), NULL, 0);
	c->ways = strtoull(strtok(NULL, ","), NULL, 0);
	c->bytes = strtoull(strtok(NULL, ","), NULL, 0);
	strcpy(c->policy, "lru");
	while ((word = strtok(NULL, ",")) != NULL)
		if (!strcmp(word, "through"))
			c->through = 1;
		else if (!strcmp(word, "around"))
			c->around = 1;
		else if (!strcmp(word, "next"))
			c->next_line = 1;
		else if (!strcmp(word, "stride"))
			c->stride = 1;
		else
			strcpy(c->policy, word);
	c->sets = c->size / c->ways / c->bytes;
	c->random = 11400714819323198485u;
	c->line = calloc(c->sets * c->ways, sizeof *c->line);
	c->half = calloc(c->sets, 64 * 65);
	if (!c->line || !c->half)
		exit(2);
}

static struct cache *
present(int i)
{
	return cache[i].size ? &cache[i] : NULL;
}

int
main(int argc, char **argv)
{
	static const char *const kinds[KINDS] = { "fetches", "loads", "stores", "prefetches" };
	uint64_t addr, n;
	char kind[8];

	for (int i = 1; i < argc; i++)
		make(argv[i]);
	cache[L2].below = present(L3);
	cache[I1].below = cache[D1].below = present(L2) ? present(L2) : present(L3);
	cache[ITLB].below = cache[DTLB].below = present(STLB);
	while (scanf("%7s %" SCNx64 ",%" SCNu64, kind, &addr, &n) == 3) {
		int fetch = *kind == 'I', what = fetch ? FETCH : *kind == 'S' ? STORE : LOAD;
		struct cache *tlb = present(fetch ? ITLB : DTLB);

		if (fetch) {
			pc = addr;
			fetched = 1;
		}
		if (tlb)
			access_cache(tlb, addr, n, what, 0);
		access_cache(fetch && !unified ? &cache[I1] : &cache[D1], addr, n, what, *kind == 'S' || *kind == 'M');
	}
	for (int i = 0; i < N; i++) {
		struct cache *c = &cache[i];

		if (!c->size)
			continue;
		printf("%s", i == D1 && unified ? "l1" : names[i]);
		for (int k = 0; k < KINDS; k++)
			printf(" %s %" PRIu64 " %" PRIu64, kinds[k], c->access[k], c->miss[k]);
		printf(" %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", c->back, c->past,
		    c->prefetched, c->used, c->unused);
	}
	printf("memory %" PRIu64 " %" PRIu64 " walks %" PRIu64 "\n", reads, writes, walks);
	return 0;
}
