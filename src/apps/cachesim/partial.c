/*
 * cachesim: partial results of parts of a run, and merging them.
 *
 * A partial result is a file of 64-bit little-endian words: the header; blocks of a number of events, the
 * events (sim/hierarchy.h) and a sum; and the end: 0, the number of references of each kind, and a sum. Each
 * sum is of all words before it.
 *
 *   header: the magic, which has the version; four words for each cache (partial_params); are the first
 *   levels one; the number of the first instruction; a sum
 */
#include <stdlib.h>
#include <string.h>

#include "apps/cachesim/cachesim.h"
#include "base/bytes.h"
#include "base/diag.h"
#include "base/in.h"
#include "base/mem.h"

#define MAGIC   UINT64_C(0x31747261706d6374)    /* tcmpart1, from the lowest byte on */
#define HEAD    (1 + 4 * HIER_N + 2)
#define BLOCK   4096u

struct partial {
	struct out *out;
	struct in *in;
	uint64_t sum;
	size_t n;
	uint64_t event[BLOCK];
};

/* Any change of one word changes the sum. */
static uint64_t
partial_sum(uint64_t sum, uint64_t word)
{
	sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	return sum ^ sum >> 29;
}

static void
partial_put(struct partial *p, uint64_t word)
{
	uint8_t b[8];

	p->sum = partial_sum(p->sum, word);
	put_le64(b, word);
	out_write(p->out, b, sizeof b);
}

static void
partial_put_block(struct partial *p)
{
	if (!p->n)
		return;
	partial_put(p, p->n);
	for (size_t i = 0; i < p->n; i++)
		partial_put(p, p->event[i]);
	partial_put(p, p->sum);
	p->n = 0;
}

static void
partial_event(void *arg, uint64_t event)
{
	struct partial *p = arg;

	p->event[p->n++] = event;
	if (p->n == BLOCK)
		partial_put_block(p);
}

struct partial *
partial_new(struct out *o, struct hier *h, const struct hier_params *q, uint64_t from)
{
	struct partial *p = xcalloc(1, sizeof *p);

	p->out = o;
	out_binary(o, "a partial result");
	partial_put(p, MAGIC);
	for (int i = 0; i < HIER_N; i++) {
		const struct cache_params *c = &q->cache[i];

		partial_put(p, c->size);
		partial_put(p, c->ways);
		partial_put(p, c->line);
		partial_put(p, (uint64_t)c->policy | (uint64_t)c->prefetch << 8 | (uint64_t)(c->through != 0) << 16 |
		    (uint64_t)(c->around != 0) << 17);
	}
	partial_put(p, (uint64_t)(q->unified != 0));
	partial_put(p, from);
	partial_put(p, p->sum);
	hier_log_to(h, partial_event, p);
	return p;
}

void
partial_end(struct partial *p, struct hier *h)
{
	uint64_t n[HIER_NREFS];

	hier_log_end(h);
	partial_put_block(p);
	partial_put(p, 0);
	hier_refs(h, n);
	for (unsigned k = 0; k < HIER_NREFS; k++)
		partial_put(p, n[k]);
	partial_put(p, p->sum);
	free(p);
}

/* Ends the program: what is wrong with the bytes before this. */
static _Noreturn void
partial_bad(struct partial *p, uint64_t back, const char *why)
{
	die_at(in_name(p->in), in_off(p->in) - back, DIAG_NOREC, "%s", why);
}

static uint64_t
partial_get(struct partial *p)
{
	uint8_t b[8];
	size_t n = in_read(p->in, b, sizeof b);
	uint64_t word;

	if (n < sizeof b)
		partial_bad(p, 0, in_error(p->in) ? in_error(p->in) : "truncated partial result of cachesim");
	word = get_le64(b);
	p->sum = partial_sum(p->sum, word);
	return word;
}

/* After what is `bytes` long. */
static void
partial_check(struct partial *p, uint64_t bytes)
{
	uint64_t want = p->sum;

	if (partial_get(p) != want)
		partial_bad(p, bytes + 8, "damaged: the check sum of what follows differs");
}

static void
partial_get_cache(struct partial *p, struct cache_params *c, int tlb)
{
	uint64_t words;

	c->size = partial_get(p);
	c->ways = partial_get(p);
	c->line = partial_get(p);
	words = partial_get(p);
	c->policy = (enum cache_policy)(words & 255);
	c->prefetch = (enum cache_prefetch)(words >> 8 & 255);
	c->through = words >> 16 & 1;
	c->around = words >> 17 & 1;
	/* the limit of a TLB's entries is that of the options */
	if (c->size && (words >> 18 || c->policy >= CACHE_NPOLICIES || c->prefetch >= CACHE_NPREFETCHES ||
	    !c->ways || !c->line || (c->line & (c->line - 1)) || c->size / c->line > CACHE_SIZE_MAX ||
	    cache_params_wrong(c, tlb)))
		partial_bad(p, 32, "no such cache");
}

/* The header: returns the number of the first instruction. */
static uint64_t
partial_get_head(struct partial *p, struct hier_params *q)
{
	uint64_t from;

	memset(q, 0, sizeof *q);
	if (partial_get(p) != MAGIC)
		partial_bad(p, 8, "not a partial result of this version of cachesim");
	for (int i = 0; i < HIER_N; i++)
		partial_get_cache(p, &q->cache[i], i >= HIER_ITLB);
	q->unified = partial_get(p) != 0;
	from = partial_get(p);
	partial_check(p, 8 * HEAD);
	if (!q->cache[HIER_D1].size || !q->cache[HIER_I1].size == !q->unified || hier_log_wrong(q))
		partial_bad(p, 8 * HEAD, "no such caches");
	return from;
}

static void
partial_replay(struct partial *p, struct hier *h)
{
	uint64_t n;

	while ((n = partial_get(p)) != 0) {
		if (n > BLOCK)
			partial_bad(p, 8, "damaged: no such number of events");
		for (size_t i = 0; i < n; i++)
			p->event[i] = partial_get(p);
		partial_check(p, 8 * (n + 1));
		for (size_t i = 0; i < n; i++)
			if (hier_replay(h, p->event[i]) != 0)
				partial_bad(p, 8 * (n + 1 - i), "no such event");
	}
}

/* Takes one file; *next: the number of its first instruction, if there was a file before, and after it. */
static void
partial_merge_file(const char *path, struct hier **h, struct hier_params *q, uint64_t *next)
{
	struct partial *p = xcalloc(1, sizeof *p);
	struct hier_params mine;
	uint64_t n[HIER_NREFS], from;
	uint8_t more;

	p->in = in_open(path);
	from = partial_get_head(p, &mine);
	if (!*h) {
		*q = mine;
		if (!(*h = hier_new(q)))
			die("no memory");
	} else if (memcmp(&mine, q, sizeof mine) != 0) {
		die("%s: other caches than in the file before", in_name(p->in));
	} else if (from != *next) {
		die("%s: begins at instruction %llu, and the file before ends before %llu", in_name(p->in),
		    (unsigned long long)from, (unsigned long long)*next);
	}
	partial_replay(p, *h);
	for (unsigned k = 0; k < HIER_NREFS; k++)
		n[k] = partial_get(p);
	partial_check(p, 8 * (HIER_NREFS + 1));
	if (in_read(p->in, &more, 1) != 0)
		partial_bad(p, 1, "something follows the end");
	if (in_error(p->in))
		partial_bad(p, 0, in_error(p->in));
	hier_add_refs(*h, n);
	*next = from + n[0];
	in_close(p->in);
	free(p);
}

struct hier *
partial_merge(char **path, struct hier_params *q)
{
	struct hier *h = NULL;
	uint64_t next = 0;

	for (; *path; path++)
		partial_merge_file(*path, &h, q, &next);
	return h;
}
