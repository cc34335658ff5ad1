/*
 * addrstat: the regions of memory that are accessed.
 *
 * A region is of neighbouring pages that have the same name.  Where there is none, or the name is of many
 * mappings, a gap of a mebibyte ends it.
 */
#include <stdlib.h>

#include "apps/addrstat/addrstat.h"
#include "base/diag.h"
#include "base/mem.h"
#include "refs/areas.h"

#define GAP ((UINT64_C(1) << 20) >> PAGE_SHIFT) /* pages */

static int
page_by_number(const void *a, const void *b)
{
	const struct page *x = a, *y = b;

	return (x->number > y->number) - (x->number < y->number);
}

uint64_t
region_references(const struct region *r)
{
	uint64_t n = 0;

	for (unsigned k = 0; k < REF_NACCESS; k++)
		n += r->n[k];
	return n;
}

static int
region_by_references(const void *a, const void *b)
{
	const struct region *x = a, *y = b;
	uint64_t n = region_references(x), m = region_references(y);

	return n != m ? (n < m) - (n > m) : (x->first > y->first) - (x->first < y->first);
}

void
region_add(struct region *to, const struct region *r)
{
	for (unsigned k = 0; k < REF_NACCESS; k++)
		to->n[k] += r->n[k];
	to->foot.lines += r->foot.lines;
	to->foot.pages += r->foot.pages;
}

static int
region_continues(const struct region *r, const struct page *p, const struct area *a)
{
	if (a && a->kind != AREAS_ANON)
		return r->area && r->area->name == a->name;
	return (!a ? !r->area : r->area && r->area->kind == AREAS_ANON) &&
	    p->number - (r->last >> PAGE_SHIFT) <= GAP;
}

static struct region
region_of(const struct page *p, const struct area *a)
{
	struct region r = { .area = a, .first = p->number << PAGE_SHIFT, .foot.pages = 1 };
	uint64_t lines = 0;

	r.last = r.first + ((1 << PAGE_SHIFT) - 1);
	for (unsigned k = 0; k < REF_NACCESS; k++) {
		r.n[k] = p->n[k];
		lines |= p->line[k];
	}
	r.foot.lines = (unsigned)__builtin_popcountll(lines);
	return r;
}

struct region *
regions_find(struct stat *t, size_t *n)
{
	struct region *r = NULL;
	size_t room = 0;

	*n = 0;
	if (t->npage)
		qsort(t->page, t->npage, sizeof *t->page, page_by_number);
	for (size_t i = 0; i < t->npage; i++) {
		const struct page *p = &t->page[i];
		const struct area *a = t->areas ? areas_find(t->areas, p->number << PAGE_SHIFT) : NULL;
		struct region one = region_of(p, a);

		if (*n && region_continues(&r[*n - 1], p, a)) {
			r[*n - 1].last = one.last;
			region_add(&r[*n - 1], &one);
			continue;
		}
		r = mem_xgrow(r, &room, *n + 1, sizeof *r);
		r[(*n)++] = one;
	}
	if (*n)
		qsort(r, *n, sizeof *r, region_by_references);
	return r;
}
