/* The list of the captured program's mappings. */
#include <string.h>
#include <sys/mman.h>

#include "base/mem.h"
#include "base/search.h"
#include "gen/wscap/wscap.h"

size_t
region_at(const struct regions *g, uint64_t addr)
{
	size_t i;

	LOWER_BOUND(i, g->n, g->p[i].hi <= addr);
	return i;
}

uint64_t
region_writable(const struct regions *g, uint64_t addr, uint64_t n)
{
	uint64_t at = addr, end = addr + n < addr ? UINT64_MAX : addr + n;

	for (size_t i = region_at(g, addr); i < g->n && at < end && g->p[i].lo <= at && g->p[i].prot & PROT_WRITE; i++)
		at = g->p[i].hi;
	return (at < end ? at : end) - addr;
}

static void
region_changed(struct regions *g)
{
	static uint64_t version;

	g->version = ++version;
}

static void
region_insert(struct regions *g, size_t i, const struct region *r)
{
	g->p = mem_xgrow(g->p, &g->cap, g->n + 1, sizeof(*g->p));
	memmove(g->p + i + 1, g->p + i, (g->n - i) * sizeof(*g->p));
	g->p[i] = *r;
	g->n++;
	region_changed(g);
}

static void
region_advance(struct region *r, uint64_t lo)
{
	if (r->ino)
		r->offset += lo - r->lo;
	r->lo = lo;
}

/* Splits the region that contains addr, so that one begins there. */
static void
region_split(struct regions *g, uint64_t addr)
{
	size_t i = region_at(g, addr);
	struct region r;

	if (i == g->n || g->p[i].lo >= addr)
		return;
	r = g->p[i];
	r.hi = addr;
	region_insert(g, i, &r);
	region_advance(&g->p[i + 1], addr);
}

void
region_cut(struct regions *g, uint64_t lo, uint64_t hi)
{
	size_t i, j;

	if (lo >= hi || !g->n)
		return;
	region_split(g, lo);
	region_split(g, hi);
	i = region_at(g, lo);
	for (j = i; j < g->n && g->p[j].lo < hi; j++)
		;
	memmove(g->p + i, g->p + j, (g->n - j) * sizeof(*g->p));
	g->n -= j - i;
	region_changed(g);
}

void
region_set(struct regions *g, const struct region *r)
{
	struct region copy = *r;

	region_cut(g, copy.lo, copy.hi);
	if (copy.prot & PROT_WRITE)
		copy.wasw = 1;
	region_insert(g, region_at(g, copy.lo), &copy);
}

void
region_prot(struct regions *g, uint64_t lo, uint64_t hi, int prot)
{
	if (lo >= hi)
		return;
	region_split(g, lo);
	region_split(g, hi);
	for (size_t i = region_at(g, lo); i < g->n && g->p[i].lo < hi; i++) {
		g->p[i].prot = prot;
		if (prot & PROT_WRITE)
			g->p[i].wasw = 1;
	}
	region_changed(g);
}

void
region_move(struct regions *g, uint64_t from, uint64_t oldlen, uint64_t to, uint64_t newlen)
{
	size_t i = region_at(g, from);
	struct region r;

	if (i == g->n || g->p[i].lo > from)
		return;
	r = g->p[i];
	region_advance(&r, from);
	region_cut(g, from, from + oldlen);
	r.lo = to;
	r.hi = to + newlen;
	region_set(g, &r);
}
