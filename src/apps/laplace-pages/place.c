/*
 * laplace-pages: pages on the nodes of a machine, under all policies at once.
 *
 * A page has two counters for each node: its references so far, and those since the page last moved. All
 * policies but migration follow from the first ones at the end.
 */
#include <stdlib.h>
#include <string.h>

#include "apps/laplace-pages/pages.h"
#include "base/mem.h"

const char *const policy_name[] = { "first-touch", "interleaved", "best-static", "migration", "replication" };
const char *const sharing_name[] = { "private", "read-shared", "write-shared" };

static uint64_t *
counts_of(const struct placement *p, size_t i)
{
	return &p->count[2 * p->nnode * i];
}

static void
page_add(struct placement *p, unsigned shift, const struct made *m)
{
	size_t i = p->npage++;

	p->page = mem_xgrow(p->page, &p->roompage, p->npage, sizeof *p->page);
	p->count = mem_xgrow(p->count, &p->roomcount, p->npage, 2 * p->nnode * sizeof *p->count);
	p->page[i] = (struct page){ .number = m->touch->canon >> shift, .task = (uint32_t)m->task, .first = m->node,
		.home = m->node };
	memset(counts_of(p, i), 0, 2 * p->nnode * sizeof *p->count);
}

void
place_touch(struct placement *p, uint32_t i, unsigned shift, const struct made *m)
{
	size_t n = m->node;
	uint64_t *made, *since;
	struct page *page;

	if (i == p->npage)
		page_add(p, shift, m);
	page = &p->page[i];
	made = counts_of(p, i);
	since = made + p->nnode;
	made[n]++;
	since[n]++;
	page->written |= lap_types[m->touch->type] == 'w' || lap_types[m->touch->type] == 'W';
	page->shared |= page->task != m->task;
	if (n == page->home) {
		p->placed[MIGRATION].local++;
	} else if (since[n] >= since[page->home] && since[n] - since[page->home] >= p->threshold) {
		page->home = (uint16_t)n;
		memset(since, 0, p->nnode * sizeof *since);
		p->placed[MIGRATION].moved++;
	}
}

static void
page_put(struct placed *p, size_t node, uint64_t local)
{
	p->pages[node]++;
	p->local += local;
}

/* A page that nobody writes is local to all that have it. */
static void
page_replicate(struct placement *p, const struct page *page, const uint64_t *made)
{
	struct placed *r = &p->placed[REPLICATION];

	if (page->written) {
		page_put(r, page->first, made[page->first]);
		return;
	}
	for (size_t n = 0; n < p->nnode; n++)
		if (made[n]) {
			page_put(r, n, made[n]);
			r->moved += n != page->first;
		}
}

static void
page_sum(struct placement *p, const struct page *page, const uint64_t *made)
{
	struct sum *s = &p->sharing[!page->shared ? PRIVATE : page->written ? WRITE_SHARED : READ_SHARED];
	size_t best = 0, turn = page->number % p->nnode;

	s->pages++;
	for (size_t n = 0; n < p->nnode; n++) {
		p->noderefs[n] += made[n];
		p->refs += made[n];
		s->refs += made[n];
		if (made[n] > made[best])
			best = n;
	}
	page_put(&p->placed[FIRST_TOUCH], page->first, made[page->first]);
	page_put(&p->placed[INTERLEAVED], turn, made[turn]);
	page_put(&p->placed[BEST_STATIC], best, made[best]);
	page_put(&p->placed[MIGRATION], page->home, 0);
	page_replicate(p, page, made);
}

void
place_sum(struct placement *p)
{
	for (size_t i = 0; i < p->npage; i++)
		page_sum(p, &p->page[i], counts_of(p, i));
}

void
place_free(struct placement *p)
{
	free(p->page);
	free(p->count);
}
