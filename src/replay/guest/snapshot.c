/*
 * Snapshots of a replay in memory.  The system's pagemap says which guest pages exist; pages
 * that changed are found by comparison, which takes a fraction of a microsecond a page and
 * needs no watching while the guest runs.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include "replay/guest/replay_internal.h"
#include "replay/guest/snapshot.h"

#define ENTRIES 2048u                   /* of the pagemap, read at once */
#define THERE   (UINT64_C(3) << 62)     /* pagemap(5): the page is present or swapped out */

struct snap_page {
	uint64_t refs;
	uint8_t b[MEM_PAGE];
};

static const uint8_t zeros[MEM_PAGE];

/* Iterates over the existing pages of an area, in order. */
struct pages {
	uint64_t addr, end;
	size_t i, n;
	int pagemap, bad;
	int shared;                     /* pages may exist that this mapping did not touch yet */
	uint64_t entry[ENTRIES];
};

static void
pages_init(struct pages *p, const struct mem_area *a, int pagemap)
{
	p->addr = a->m.addr;
	p->end = a->m.addr + a->m.len;
	p->i = p->n = 0;
	p->pagemap = pagemap;
	p->shared = a->obj != 0;
	p->bad = 0;
}

static int
in_memory(uint64_t addr, size_t n, uint64_t *entry)
{
	unsigned char in[ENTRIES];

	if (mincore(rp_host(addr), n * MEM_PAGE, in) != 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (in[i] & 1)
			entry[i] |= THERE;
	return 0;
}

/* The next existing page, or the area's end. */
static uint64_t
pages_next(struct pages *p)
{
	for (; p->addr < p->end; p->addr += MEM_PAGE, p->i++) {
		while (rp_closed(p->addr)) {            /* nothing was ever touched there */
			uint64_t left = RP_CHUNK - p->addr % RP_CHUNK;

			p->i = p->n = 0;
			if (left >= p->end - p->addr)
				return p->addr = p->end;
			p->addr += left;
		}
		if (p->i == p->n) {
			size_t left = (p->end - p->addr) / MEM_PAGE, n = left < ENTRIES ? left : ENTRIES;
			uint64_t at = (uint64_t)(uintptr_t)rp_host(p->addr) / MEM_PAGE * sizeof *p->entry;

			if (pread(p->pagemap, p->entry, n * sizeof *p->entry, (off_t)at) !=
			    (ssize_t)(n * sizeof *p->entry)) {
				p->bad = 1;
				return p->end;
			}
			if (p->shared && in_memory(p->addr, n, p->entry) != 0) {
				p->bad = 1;
				return p->end;
			}
			p->i = 0;
			p->n = n;
		}
		if (p->entry[p->i] & THERE) {
			p->i++;
			p->addr += MEM_PAGE;
			return p->addr - MEM_PAGE;
		}
	}
	return p->end;
}

static uint64_t
page_drop(struct snap_page *p)
{
	if (--p->refs)
		return 0;
	free(p);
	return sizeof *p;
}

/* Saves a page; base: an earlier copy of it to share, or NULL. */
static int
snapshot_add_page(struct snap *s, uint64_t addr, struct snap_page *base)
{
	const uint8_t *b = rp_host(addr);

	if (!base || memcmp(base->b, b, MEM_PAGE) != 0) {
		if (memcmp(zeros, b, MEM_PAGE) == 0)
			return 0;
		if ((base = malloc(sizeof *base)) == NULL)
			return -1;
		memcpy(base->b, b, MEM_PAGE);
		base->refs = 0;
		s->bytes += sizeof *base;
	}
	base->refs++;
	if (s->npage == s->cappage && buf_grow(&s->page, &s->cappage, s->npage + 1, sizeof *s->page) < 0) {
		(void)page_drop(base);
		return -1;
	}
	s->page[s->npage++] = (struct snap_at){ addr, base };
	return 0;
}

static int
snapshot_save_areas(struct snap *s, const struct snap *base, int pagemap, uint64_t most)
{
	const struct snap_at *b = base ? base->page : NULL, *end = base ? b + base->npage : NULL;
	struct pages p;

	for (size_t i = 0; i < s->narea; i++) {
		uint64_t addr;

		pages_init(&p, &s->area[i], pagemap);
		while ((addr = pages_next(&p)) < p.end) {
			while (b < end && b->addr < addr)
				b++;
			if (snapshot_add_page(s, addr, b < end && b->addr == addr ? b->page : NULL) != 0 ||
			    s->bytes > most)
				return -1;
		}
		if (p.bad)
			return -1;
	}
	return 0;
}

struct snap *
snap_take(struct replay *r, const struct snap *base, int pagemap, uint64_t most)
{
	struct snap *s;

	if (r->ended != REPLAY_OK || r->pending != REPLAY_OK || r->cut || r->x.half ||
	    (s = calloc(1, sizeof *s)) == NULL)
		return NULL;
	s->n = drive_instances(r);
	s->x = r->x;
	memcpy(s->xsave, r->x.cpu.xsave, RP_XSAVE);
	s->after_sig = r->after_sig;
	s->thread = r->thread;
	s->exits = r->exits;
	s->keyed = r->keyed;
	s->uncounted = r->uncounted;
	s->triggers = r->triggers;
	s->broke = r->broke;
	s->from = r->from;
	s->latest = r->latest;
	s->mark = ws_mark(r->in, &r->next);
	if (s->mark && drive_parked_copy(&s->parked, &r->parked) == 0 && mem_copy(&r->mem, &s->area, &s->narea) == 0 &&
	    snapshot_save_areas(s, base, pagemap, most) == 0) {
		s->bytes += sizeof *s + s->cappage * sizeof *s->page + ws_mark_bytes(s->mark, 1) +
		    drive_parked_bytes(&s->parked);
		return s;
	}
	(void)snap_free(s);
	return NULL;
}

/* Restores the contents of one area; *at: the first page of s that is not done. */
static int
snapshot_restore(const struct snap *s, const struct mem_area *a, size_t *at, int pagemap)
{
	struct pages p;
	uint64_t addr;

	pages_init(&p, a, pagemap);
	do {
		addr = pages_next(&p);
		for (; *at < s->npage && s->page[*at].addr < addr; ++*at)
			memcpy(rp_host(s->page[*at].addr), s->page[*at].page->b, MEM_PAGE);
		if (addr == p.end)
			break;
		if (*at < s->npage && s->page[*at].addr == addr) {
			if (memcmp(rp_host(addr), s->page[*at].page->b, MEM_PAGE) != 0)
				memcpy(rp_host(addr), s->page[*at].page->b, MEM_PAGE);
			++*at;
		} else if (memcmp(rp_host(addr), zeros, MEM_PAGE) != 0)
			memset(rp_host(addr), 0, MEM_PAGE);
	} while (addr < p.end);
	return p.bad ? -1 : 0;
}

int
snap_return(struct replay *r, const struct snap *s, int pagemap)
{
	uint8_t *xsave = r->x.cpu.xsave;
	size_t at = 0;

	if (r->ended == REPLAY_BAD)
		return REPLAY_BAD;
	r->ended = REPLAY_OK;
	if (mem_restore(&r->mem, s->area, s->narea) != 0)
		return drive_bad_mem(r);
	for (size_t i = 0; i < s->narea; i++)
		if (snapshot_restore(s, &s->area[i], &at, pagemap) != 0)
			return drive_bad(r, "the pages of memory are not to be learnt");
	r->x = s->x;
	r->x.cpu.xsave = xsave;
	r->x.late = NULL;
	memcpy(xsave, s->xsave, RP_XSAVE);
	r->cut = 0;
	r->after_sig = s->after_sig;
	r->thread = s->thread;
	r->exits = s->exits;
	if (drive_parked_copy(&r->parked, &s->parked) != 0)
		return drive_bad(r, "no memory for the threads");
	r->keyed = s->keyed;
	r->uncounted = s->uncounted;
	r->triggers = s->triggers;
	r->broke = s->broke;
	r->from = s->from;
	r->latest = s->latest;
	r->pending = REPLAY_OK;
	if (ws_mark_return(r->in, s->mark, &r->next) != 0)
		return drive_bad_file(r);
	return drive_set_signal_break(r);
}

uint64_t
snap_free(struct snap *s)
{
	uint64_t bytes;

	if (!s)
		return 0;
	bytes = sizeof *s + s->cappage * sizeof *s->page + (s->mark ? ws_mark_bytes(s->mark, 0) : 0) +
	    drive_parked_bytes(&s->parked);
	for (size_t i = 0; i < s->npage; i++)
		bytes += page_drop(s->page[i].page);
	free(s->page);
	mem_copy_free(s->area, s->narea);
	drive_parked_drop(&s->parked);
	ws_mark_free(s->mark);
	free(s);
	return bytes;
}
