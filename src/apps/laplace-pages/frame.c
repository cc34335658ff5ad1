/*
 * laplace-pages: larger pages.
 *
 * A merged trace has pages of 4096 bytes, and says which memory each is, by its canonical number. What memory
 * would be in one larger page, were there such, follows from where it was used: an aligned range of an address
 * space has a frame, with a place for each of its pages, as systems reserve memory for a large page. Memory that
 * is touched for the first time takes its place in the frame of the range that it is touched in, and stays there,
 * whoever uses it later and at which address. If the place is taken, by memory that was there before, as after
 * a copy on write, the range begins another frame. So pages of 4096 bytes are the canonical pages.
 *
 * A node has a TLB of the ranges that it used last, each with the frame: memory of two frames in one range has
 * two entries.
 */
#include <stdlib.h>
#include <string.h>

#include "apps/laplace-pages/pages.h"
#include "base/diag.h"
#include "base/mem.h"

struct canon { uint64_t number; uint32_t frame; };
struct range { uint64_t space, number; uint32_t frame; };

void
frames_init(struct frames *f, unsigned shift, size_t nnode, size_t entries)
{
	*f = (struct frames){ .shift = shift, .words = ((UINT64_C(1) << shift) + 63) / 64, .entries = entries };
	f->tlb = xcalloc(nnode * entries, sizeof *f->tlb);
}

void
frames_free(struct frames *f)
{
	hash_free(&f->canons);
	hash_free(&f->ranges);
	free(f->canon);
	free(f->range);
	free(f->used);
	free(f->tlb);
}

static uint32_t
frame_add(struct frames *f)
{
	if (f->nframe >= HASH_NONE - 1)
		die("more than %zu pages", f->nframe);
	f->used = mem_xgrow(f->used, &f->roomframe, f->nframe + 1, f->words * sizeof *f->used);
	memset(&f->used[f->nframe * f->words], 0, f->words * sizeof *f->used);
	return (uint32_t)f->nframe++;
}

/* A range has no frame before it has memory of its own. */
static uint32_t
range_find(struct frames *f, uint64_t space, uint64_t number)
{
	uint32_t h = hash_number(number ^ space << 40), at = h, i;

	while ((i = hash_find(&f->ranges, h, &at)) != HASH_NONE &&
	    (f->range[i].number != number || f->range[i].space != space))
		;
	if (i != HASH_NONE)
		return i;
	if (f->nrange >= HASH_NONE - 1)
		die("more than %zu pages", f->nrange);
	i = (uint32_t)f->nrange++;
	f->range = mem_xgrow(f->range, &f->roomrange, f->nrange, sizeof *f->range);
	f->range[i] = (struct range){ .space = space, .number = number, .frame = HASH_NONE };
	hash_xadd(&f->ranges, h, i);
	return i;
}

/* New memory, in page number `page` of an address space */
static uint32_t
frame_take(struct frames *f, struct range *r, uint64_t page)
{
	uint64_t place = page & ((UINT64_C(1) << f->shift) - 1), bit = UINT64_C(1) << (place & 63);

	if (r->frame == HASH_NONE || f->used[r->frame * f->words + place / 64] & bit)
		r->frame = frame_add(f);
	f->used[r->frame * f->words + place / 64] |= bit;
	return r->frame;
}

static uint32_t
canon_find(struct frames *f, uint32_t range, const struct lap_touch *t)
{
	uint32_t h = hash_number(t->canon), at = h, i;

	while ((i = hash_find(&f->canons, h, &at)) != HASH_NONE && f->canon[i].number != t->canon)
		;
	if (i != HASH_NONE)
		return f->canon[i].frame;
	if (f->ncanon >= HASH_NONE - 1)
		die("more than %zu pages", f->ncanon);
	i = (uint32_t)f->ncanon++;
	f->canon = mem_xgrow(f->canon, &f->roomcanon, f->ncanon, sizeof *f->canon);
	f->canon[i] = (struct canon){ .number = t->canon, .frame = frame_take(f, &f->range[range], t->page) };
	hash_xadd(&f->canons, h, i);
	return f->canon[i].frame;
}

static void
tlb_touch(struct frames *f, size_t node, uint64_t key)
{
	uint64_t *v = &f->tlb[node * f->entries];
	size_t i = 0;

	while (i < f->entries && v[i] && v[i] != key)
		i++;
	f->misses += i == f->entries || !v[i];
	i -= i == f->entries;
	memmove(v + 1, v, i * sizeof *v);
	v[0] = key;
}

uint32_t
frames_touch(struct frames *f, const struct made *m)
{
	const struct lap_touch *t = m->touch;
	struct frames_last *l = &f->last[t->type];

	if (!l->key || l->canon != t->canon || l->page != t->page || l->space != m->space) {
		uint32_t range = range_find(f, m->space, t->page >> f->shift), frame = canon_find(f, range, t);

		*l = (struct frames_last){ m->space, t->page, t->canon, (uint64_t)range << 32 | (frame + 1) };
	}
	tlb_touch(f, m->node, l->key);
	return (uint32_t)l->key - 1;
}
