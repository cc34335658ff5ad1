/*
 * Where programs make calls, or read the time, in a file: the next process that maps it has the jumps there before it
 * comes to them, so that it does not stop there at all.  A store remembers the places of a file for later captures.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "gen/wscap/fast.h"
#include "gen/wscap/hold.h"
#include "gen/wscap/wscap.h"

#define MOST    64u             /* places of a file: each page with one is a page of the process's own */
#define LEAST   3u              /* in code that has no stubs yet: these take as long as the stops at so many */
#define NOTED   0x506c6163u     /* kind of the note in a store: the places, 8 bytes each */

struct places {                         /* of a file */
	struct fast_known {
		uint64_t at;            /* offset in it */
		int read;               /* have the bytes there been read? */
		uint8_t b[FAST_BYTES];
	} p[MOST];                      /* in ascending order */
	size_t n;
	int changed;
};

/* Adds a place: 1; 0: it is one of them, or they are too many. */
static int
places_add(struct places *t, uint64_t at)
{
	size_t i = t->n;

	for (size_t k = 0; k < t->n; k++)
		if (t->p[k].at == at)
			return 0;
	if (t->n == MOST)
		return 0;
	for (t->n++; i && t->p[i - 1].at > at; i--)
		t->p[i] = t->p[i - 1];
	t->p[i] = (struct fast_known){.at = at};
	return 1;
}

static struct places *
places_of(struct hold_file *f)
{
	const uint8_t *p;
	size_t n = 0;

	if (f->places)
		return f->places;
	f->places = xcalloc(1, sizeof(*f->places));
	p = f->index ? ws_index_kept(f->index, NOTED, 0, 0, &n) : NULL;
	for (size_t i = 0; p && i < n / 8; i++)
		places_add(f->places, get_le64(p + 8 * i));
	return f->places;
}

void
fast_learn_keep(struct hold_file *f)
{
	uint8_t p[8 * MOST];

	if (f->index && f->places && f->places->changed) {
		for (size_t i = 0; i < f->places->n; i++)
			put_le64(p + 8 * i, f->places->p[i].at);
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

	if (t && places_add(t, offset))
		t->changed = 1;
}

/* The bytes at a place of f; NULL: they cannot be read. */
static const uint8_t *
place_bytes(const struct hold_file *f, struct fast_known *k)
{
	if (!k->read)
		k->read = pread(f->fd, k->b, sizeof(k->b), (off_t)k->at) == (ssize_t)sizeof(k->b) ? 1 : -1;
	return k->read > 0 ? k->b : NULL;
}

/* Adds the places of f whose bytes from offset on are the region r: are there any? */
static int
learned_add(struct cap *c, const struct hold_file *f, struct places *t, struct region *r, uint64_t offset)
{
	struct fast_place all[MOST];
	size_t n = 0, had = c->fast->nsite;

	if (r->learned == t->n)
		return 0;
	for (size_t i = 0; i < t->n; i++)
		if (t->p[i].at - offset < r->hi - r->lo)
			all[n++] = (struct fast_place){r->lo + (t->p[i].at - offset), place_bytes(f, &t->p[i])};
	if (n < LEAST && !fast_text_of(c->fast, r->lo))
		return 0;
	r->learned = (uint8_t)t->n;
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
		any |= f && f->old && learned_add(c, f, places_of(f), r, offset);
	}
	return any;
}
