/*
 * cachesim: partial results of parts of a run, and merging them.
 *
 * A partial result is a file of words with sums (base/words.h): the header; blocks of a number of events, the
 * events (sim/hierarchy.h) and a sum; and the end: 0, what was counted (hier_counts), and a sum; then the places
 * (refs/places.h), if functions or lines were wanted.
 *
 *   header: the magic, which has the version; four words for each cache (partial_params); are the first
 *   levels one; are there places; the number of the first instruction; a sum
 */
#include <stdlib.h>
#include <string.h>

#include "apps/cachesim/cachesim.h"
#include "base/diag.h"
#include "base/mem.h"
#include "base/words.h"
#include "format/ref/ref.h"

#define MAGIC   UINT64_C(0x33747261706d6374)    /* tcmpart3, from the lowest byte on */
#define HEAD    (1 + 4 * HIER_N + 3)
#define BLOCK   4096u

struct partial {
	struct words words;
	struct places *places;          /* borrowed; or NULL */
	size_t n;
	uint64_t event[BLOCK];
};

static void
partial_put_block(struct partial *p)
{
	if (!p->n)
		return;
	words_put(&p->words, p->n);
	for (size_t i = 0; i < p->n; i++)
		words_put(&p->words, p->event[i]);
	words_put_sum(&p->words);
	p->n = 0;
}

static void
partial_event(void *arg, uint64_t event)
{
	struct partial *p = arg;

	/* what is known to miss only in the merge has its name from here */
	if (p->places && HIER_IS_FETCH(event))
		places_at(p->places, ref_addr(HIER_FETCH_WORD(event)), ref_size(HIER_FETCH_WORD(event)));
	p->event[p->n++] = event;
	if (p->n == BLOCK)
		partial_put_block(p);
}

struct partial *
partial_new(struct out *o, struct hier *h, const struct hier_params *q, struct places *m, uint64_t from)
{
	struct partial *p = xcalloc(1, sizeof *p);

	p->words.out = o;
	p->places = m;
	out_binary(o, "a partial result");
	words_put(&p->words, MAGIC);
	for (int i = 0; i < HIER_N; i++) {
		const struct cache_params *c = &q->cache[i];

		words_put(&p->words, c->size);
		words_put(&p->words, c->ways);
		words_put(&p->words, c->line);
		words_put(&p->words, (uint64_t)c->policy | (uint64_t)c->prefetch << 8 | (uint64_t)(c->through != 0) << 16 |
		    (uint64_t)(c->around != 0) << 17);
	}
	words_put(&p->words, (uint64_t)(q->unified != 0));
	words_put(&p->words, m != NULL);
	words_put(&p->words, from);
	words_put_sum(&p->words);
	if (hier_log_to(h, partial_event, p) != 0)
		die("no memory");
	return p;
}

void
partial_end(struct partial *p, struct hier *h, struct refs *s)
{
	uint64_t n[HIER_NCOUNTS];

	hier_log_end(h);
	partial_put_block(p);
	words_put(&p->words, 0);
	hier_counts(h, n);
	for (unsigned k = 0; k < HIER_NCOUNTS; k++)
		words_put(&p->words, n[k]);
	words_put_sum(&p->words);
	if (p->places && places_put(p->places, s, &p->words) < 0)
		die(PLACES_TOO_MANY, PLACES_MOST - 1);
	free(p);
}

static void
partial_get_cache(struct partial *p, struct cache_params *c, int tlb)
{
	uint64_t words;

	c->size = words_get(&p->words);
	c->ways = words_get(&p->words);
	c->line = words_get(&p->words);
	words = words_get(&p->words);
	c->policy = (enum cache_policy)(words & 255);
	c->prefetch = (enum cache_prefetch)(words >> 8 & 255);
	c->through = words >> 16 & 1;
	c->around = words >> 17 & 1;
	/* the limit of a TLB's entries is that of the options */
	if (c->size && (words >> 18 || c->policy >= CACHE_NPOLICIES || c->prefetch >= CACHE_NPREFETCHES ||
	    !c->ways || !c->line || (c->line & (c->line - 1)) || c->size / c->line > CACHE_SIZE_MAX ||
	    cache_params_wrong(c, tlb)))
		words_bad(&p->words, 32, "no such cache");
}

/* The header: returns the number of the first instruction; *places: are there some? */
static uint64_t
partial_get_head(struct partial *p, struct hier_params *q, int *places)
{
	uint64_t from, have;

	memset(q, 0, sizeof *q);
	if (words_get(&p->words) != MAGIC)
		words_bad(&p->words, 8, "not a partial result of this version of cachesim");
	for (int i = 0; i < HIER_N; i++)
		partial_get_cache(p, &q->cache[i], i >= HIER_ITLB);
	q->unified = words_get(&p->words) != 0;
	have = words_get(&p->words);
	from = words_get(&p->words);
	words_check(&p->words);
	if (!q->cache[HIER_D1].size || !q->cache[HIER_I1].size == !q->unified || hier_log_wrong(q))
		words_bad(&p->words, 8 * HEAD, "no such caches");
	if (have > 1)
		words_bad(&p->words, 24, "neither with nor without functions and lines");
	*places = (int)have;
	return from;
}

static void
partial_replay(struct partial *p, struct hier *h)
{
	uint64_t n;

	while ((n = words_get(&p->words)) != 0) {
		if (n > BLOCK)
			words_bad(&p->words, 8, "damaged: no such number of events");
		for (size_t i = 0; i < n; i++)
			p->event[i] = words_get(&p->words);
		words_check(&p->words);
		for (size_t i = 0; i < n; i++)
			if (hier_replay(h, p->event[i]) != 0)
				words_bad(&p->words, 8 * (n + 1 - i), "no such event");
	}
}

static struct hier *
partial_first(const struct hier_params *q, struct places **m, int places)
{
	struct hier *h = hier_new(q);

	if (!h)
		die("no memory");
	if (places) {
		*m = places_new();
		hier_set_miss_fn(h, cachesim_miss, *m);
	}
	return h;
}

/* Takes one file; *next: the number of its first instruction, if there was a file before, and after it. */
static void
partial_merge_file(const char *path, struct hier **h, struct hier_params *q, struct places **m, uint64_t *next)
{
	struct partial *p = xcalloc(1, sizeof *p);
	struct hier_params mine;
	uint64_t n[HIER_NCOUNTS], from;
	int places;

	p->words = (struct words){ .in = in_open(path), .what = "partial result of cachesim" };
	from = partial_get_head(p, &mine, &places);
	if (!*h) {
		*q = mine;
		*h = partial_first(q, m, places);
	} else if (memcmp(&mine, q, sizeof mine) != 0) {
		die("%s: other caches than in the file before", in_name(p->words.in));
	} else if (places != (*m != NULL)) {
		die("%s: one of it and the file before has functions and lines", in_name(p->words.in));
	} else if (from != *next) {
		die("%s: begins at instruction %llu, and the file before ends before %llu", in_name(p->words.in),
		    (unsigned long long)from, (unsigned long long)*next);
	}
	partial_replay(p, *h);
	for (unsigned k = 0; k < HIER_NCOUNTS; k++)
		n[k] = words_get(&p->words);
	words_check(&p->words);
	if (*m)
		places_get(*m, &p->words);
	words_end(&p->words);
	hier_add_counts(*h, n);
	*next = from + n[0];
	in_close(p->words.in);
	free(p);
}

struct hier *
partial_merge(char **path, struct hier_params *q, struct places **m)
{
	struct hier *h = NULL;
	uint64_t next = 0;

	*m = NULL;
	for (; *path; path++)
		partial_merge_file(*path, &h, q, m, &next);
	return h;
}
