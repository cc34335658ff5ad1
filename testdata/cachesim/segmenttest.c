/*
 * Parts of a run (sim/segment.c): random references through random caches, whole, and cut at random into parts
 * that each begin with caches of an unknown state and are replayed one after the other.  After each part, all
 * statistics are those of the whole.
 *
 *   segmenttest [ROUNDS [SEED]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/ref/ref.h"
#include "sim/hierarchy.h"

#define REFS 3000u
#define PARTS 6u

static uint64_t state = 1;
static uint64_t *event;
static size_t nevent, room;

static unsigned
below(unsigned n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(state >> 33) % n;
}

static void
log_event(void *arg, uint64_t e)
{
	(void)arg;
	if (nevent == room && !(event = realloc(event, (room = 2 * room + 64) * sizeof *event)))
		exit(2);
	event[nevent++] = e;
}

static struct cache_params
random_cache(unsigned sets, unsigned ways, int any)
{
	struct cache_params p = { .ways = 1 + below(ways) };

	p.line = any && below(4) == 0 ? 8u << below(3) : 16;
	p.size = p.line * p.ways << below(sets);
	if (any && below(4) == 0) {
		p.policy = (enum cache_policy)below(CACHE_NPOLICIES);
		if (p.policy == CACHE_PLRU && (p.ways & (p.ways - 1)))
			p.policy = CACHE_FIFO;
		p.through = below(4) == 0;
		p.around = below(4) == 0;
		p.prefetch = below(4) == 0 ? CACHE_NEXT : CACHE_NO_PREFETCH;
	}
	return p;
}

static void
random_caches(struct hier_params *p)
{
	memset(p, 0, sizeof *p);
	p->unified = below(3) == 0;
	p->cache[HIER_D1] = random_cache(3, 4, 0);
	if (!p->unified)
		p->cache[HIER_I1] = random_cache(3, 4, 0);
	if (below(4) == 0)
		p->cache[HIER_D1].line = 8, p->cache[HIER_D1].size /= 2;
	if (below(8))
		p->cache[HIER_L2] = random_cache(4, 5, below(2) == 0);
	if (below(3))
		p->cache[HIER_L3] = random_cache(5, 6, below(2) == 0);
	for (int i = HIER_ITLB; i < HIER_N; i++)
		if (below(3) == 0) {
			p->cache[i] = random_cache(3, 3, i == HIER_STLB);
			p->cache[i].through = p->cache[i].around = 0;
			p->cache[i].prefetch = CACHE_NO_PREFETCH;
			p->cache[i].size = p->cache[i].size / p->cache[i].line * 64;
			p->cache[i].line = 64;
		}
	if (!p->cache[HIER_ITLB].size && !p->cache[HIER_DTLB].size)
		p->cache[HIER_STLB].size = 0;
}

/* Different places have most references at different times; some have few, so some sets fill late. */
static void
random_refs(uint64_t *w)
{
	unsigned lines = 4u << below(8), hot = 1 + below(lines), shift = 0, code = below(2) ? 0 : lines * 16;

	for (unsigned i = 0; i < REFS; i++) {
		unsigned kind = below(4), line = below(10) ? below(hot) : below(lines);

		if (below(200) == 0)
			shift = below(lines);
		if (below(3) == 0)
			line &= ~3u;
		w[i] = ref_make(kind, (kind == REF_INST ? code : 0) + ((line + shift) % lines) * 16 + below(16), 1 + below(below(30) ? 4 : 60));
	}
}

/* Are all statistics of the two the same? */
static int
same(struct hier *a, struct hier *b)
{
	struct cache_stats s, t;
	struct hier_totals u, v;

	hier_totals(a, &u);
	hier_totals(b, &v);
	if (memcmp(&u, &v, sizeof u) != 0)
		return 0;
	for (int i = 0; i < HIER_N; i++) {
		memset(&s, 0, sizeof s);
		memset(&t, 0, sizeof t);
		hier_stats(a, (enum hier_cache)i, &s);
		hier_stats(b, (enum hier_cache)i, &t);
		if (memcmp(&s, &t, sizeof s) != 0)
			return 0;
	}
	return 1;
}

static int
take_part(const struct hier_params *p, struct hier *merged, const uint64_t *w, size_t n)
{
	struct hier *h = hier_new(p);
	uint64_t count[HIER_NCOUNTS];
	int bad = 0;

	nevent = 0;
	if (!h || hier_log_to(h, log_event, NULL) != 0)
		exit(2);
	hier_take(h, w, n);
	hier_log_end(h);
	hier_counts(h, count);
	hier_free(h);
	for (size_t i = 0; i < nevent; i++)
		bad |= hier_replay(merged, event[i]) != 0;
	hier_add_counts(merged, count);
	return bad;
}

/* 0: each part gave what the whole gives */
static int
test_round(void)
{
	static uint64_t w[REFS];
	struct hier_params p;
	struct hier *whole, *merged;
	int bad = 0;

	random_caches(&p);
	random_refs(w);
	if (hier_log_wrong(&p) || !(whole = hier_new(&p)) || !(merged = hier_new(&p)))
		exit(2);
	for (size_t at = 0; at < REFS && !bad;) {
		size_t n = below(4) ? below(2 * REFS / PARTS) : below(40);

		if (n > REFS - at)
			n = REFS - at;
		hier_take(whole, w + at, n);
		bad = take_part(&p, merged, w + at, n) || !same(whole, merged);
		at += n;
	}
	hier_free(whole);
	hier_free(merged);
	return bad;
}

int
main(int argc, char **argv)
{
	unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 3000, bad = 0;

	if (argc > 2)
		state = strtoull(argv[2], NULL, 10);
	for (unsigned i = 0; i < rounds; i++) {
		uint64_t seed = state;

		if (test_round() != 0) {
			printf("# another result: segmenttest 1 %llu\n", (unsigned long long)seed);
			bad++;
		}
	}
	printf("%sok 1 - parts give what the whole gives (%u of %u)\n", bad ? "not " : "", rounds - bad, rounds);
	free(event);
	return bad != 0;
}
