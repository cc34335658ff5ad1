/*
 * Where programs make calls, or read the time, in a file: the next process that maps it has the jumps there before it
 * comes to them, so that it does not stop there at all.  A store remembers the places of a file for later captures.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "gen/wscap/fast.h"
#include "gen/wscap/hold.h"
#include "gen/wscap/wscap.h"

#define MOST    64u             /* places of a file: each page with one is a page of the process's own */
#define LEAST   3u              /* in code that has no stubs yet: these take as long as the stops at so many */
#define NOTED   0x506c6163u     /* kind of the note in a store: the places, 8 bytes each */

struct places {                         /* of a file */
	uint64_t at[MOST];              /* offsets in it */
	size_t n;
	int changed;
};

static struct places *
places_of(struct hold_file *f)
{
	const uint8_t *p;
	size_t n = 0;

	if (f->places)
		return f->places;
	f->places = xcalloc(1, sizeof(*f->places));
	p = f->index ? ws_index_kept(f->index, NOTED, 0, 0, &n) : NULL;
	for (size_t i = 0; p && i < n / 8 && i < MOST; i++)
		f->places->at[f->places->n++] = get_le64(p + 8 * i);
	return f->places;
}

void
fast_learn_keep(struct hold_file *f)
{
	uint8_t p[8 * MOST];

	if (f->index && f->places && f->places->changed) {
		for (size_t i = 0; i < f->places->n; i++)
			put_le64(p + 8 * i, f->places->at[i]);
		ws_index_keep(f->index, NOTED, 0, 0, p, 8 * f->places->n);
	}
	free(f->places);
	f->places = NULL;
}

void
fast_learn(const struct cap *c, uint64_t addr)
{
	uint64_t offset;
	struct hold_file *f = hold_file_at(c, addr, 1, &offset);
	struct places *t = f && f->old ? places_of(f) : NULL;

	for (size_t i = 0; t && i < t->n; i++)
		if (t->at[i] == offset)
			return;
	if (!t || t->n == MOST)
		return;
	t->at[t->n++] = offset;
	t->changed = 1;
}

static int
place_order(const void *a, const void *b)
{
	const uint64_t *p = a, *q = b;

	return *p < *q ? -1 : *p > *q;
}

/* Adds the places of a file whose bytes from offset on are the region r: are there any? */
static int
learned_add(struct cap *c, const struct places *t, struct region *r, uint64_t offset)
{
	uint64_t all[MOST];
	size_t n = 0, had = c->fast->nsite;

	for (size_t i = r->learned; i < t->n; i++)
		if (t->at[i] - offset < r->hi - r->lo)
			all[n++] = r->lo + (t->at[i] - offset);
	if (n < LEAST && !fast_text_of(c->fast, r->lo))
		return 0;
	r->learned = (uint8_t)t->n;
	qsort(all, n, sizeof(all[0]), place_order);
	fast_add_sites(c, all, n);
	return c->fast->nsite > had;
}

int
fast_learned(struct cap *c, int anew)
{
	int any = 0;

	for (size_t i = 0; i < c->reg.n && !c->translates; i++) {
		struct region *r = &c->reg.p[i];
		struct hold_file *f;
		uint64_t offset;

		if (!(r->prot & PROT_EXEC) || r->prot & PROT_WRITE)
			continue;
		if (anew)
			r->learned = 0;
		f = hold_file_at(c, r->lo, (size_t)(r->hi - r->lo), &offset);
		any |= f && f->old && learned_add(c, places_of(f), r, offset);
	}
	return any;
}
