/* Pages of memory that are written once for all processes, and, with --store, for other captures. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/diag.h"
#include "base/hash.h"
#include "base/mem.h"
#include "gen/wscap/hold.h"
#include "gen/wscap/wscap.h"

#define NREF 4u                 /* references for a piece of a file: usually it is one */

struct stored {                 /* pieces of files, and what refers to their pages */
	struct piece {
		struct stored_place place;
		size_t nref;
		struct { uint64_t at; struct ws_pages_ref ref; } ref[NREF];
	} *piece, now;          /* owned */
	size_t n, cap;
	struct hash table;
	uint64_t addr;          /* where `now` is in memory */
	int noting;
};

void
stored_open(struct tree *a, const char *path)
{
	if (path) {
		a->store = ws_store_open(path);
		if (!a->store)
			die_sys("%s", path);
	}
	a->pages = ws_pages_create(a->runs, a->store);
	if (!a->pages)
		die("out of memory");
}

void
stored_close(struct tree *a, const char *path)
{
	int e = ws_pages_store_error(a->pages);

	if (e)
		warn("%s: %s: what could not be written there is in the capture", path, strerror(e));
	ws_pages_close(a->pages);
	hold_index_close(a);
	ws_store_close(a->store);
	if (a->stored) {
		hash_free(&a->stored->table);
		free(a->stored->piece);
		free(a->stored);
	}
}

/*
 * The first process of a capture without a store writes its pages itself, so that the capture of a single
 * process can be read from a pipe.
 */
int
stored_wanted(const struct cap *c)
{
	return c->all->store || (c->run && ws_run_writer_number(c->run) > 1);
}

/*
 * The file whose pages are at addr.  The memory of a new process may differ from it.  All code of a mapped file is
 * recorded, and found again by its place in the file.
 */
static struct ws_pages_from
stored_from(const struct cap *c, uint64_t addr)
{
	size_t i = region_at(&c->reg, addr);
	const struct region *r = &c->reg.p[i];
	int once = c->all->stored && c->all->stored->noting, plain = c->all->plain || c->all->level == WS_PLAIN;

	if (i == c->reg.n || r->lo > addr || !r->ino || r->shared)
		return (struct ws_pages_from){.ino = 0, .plain = plain};
	return (struct ws_pages_from){.dev = r->dev, .ino = r->ino, .offset = r->offset + (addr - r->lo),
	    .clean = !c->all->copying, .once = once, .alone = once && r->prot & PROT_EXEC, .plain = plain};
}

static uint32_t
piece_slot(const struct stored_place *p)
{
	return hash_number(p->dev + p->ino * 31 + p->offset);
}

static const struct piece *
piece_find(const struct stored *t, const struct stored_place *p)
{
	uint32_t h = piece_slot(p), at = h, i;

	while (t && (i = hash_find(&t->table, h, &at)) != HASH_NONE) {
		const struct stored_place *is = &t->piece[i].place;

		if (is->dev == p->dev && is->ino == p->ino && is->offset == p->offset && is->n == p->n)
			return &t->piece[i];
	}
	return NULL;
}

void
stored_ref(struct cap *c, uint64_t addr, const struct ws_pages_ref *ref)
{
	struct ws_rec r = {.kind = WS_MEM, .u.mem = {.addr = addr, .n = ref->n * PAGE, .page = ref->page + 1}};

	wscap_put(c, &r);
}

void
stored_note(struct cap *c, uint64_t addr, const struct stored_place *place)
{
	struct stored *t = c->all->stored;

	if (place) {
		if (!t)
			t = c->all->stored = xcalloc(1, sizeof(*t));
		t->now = (struct piece){.place = *place};
		t->addr = addr;
		t->noting = 1;
		return;
	}
	if (!t || !t->noting)
		return;
	t->noting = 0;
	if (t->now.nref > NREF || piece_find(t, &t->now.place))
		return;
	t->piece = mem_xgrow(t->piece, &t->cap, t->n + 1, sizeof(*t->piece));
	t->piece[t->n] = t->now;
	hash_xadd(&t->table, piece_slot(&t->now.place), (uint32_t)t->n++);
}

/* What is noted has one more reference; with more than NREF it is not kept. */
static void
piece_add(struct stored *t, uint64_t addr, const struct ws_pages_ref *ref)
{
	if (!t || !t->noting)
		return;
	if (t->now.nref < NREF) {
		t->now.ref[t->now.nref].at = addr - t->addr;
		t->now.ref[t->now.nref].ref = *ref;
	}
	t->now.nref++;
}

int
stored_again(struct cap *c, uint64_t addr, const struct stored_place *place)
{
	const struct piece *p = piece_find(c->all->stored, place);

	for (size_t i = 0; p && i < p->nref; i++)
		stored_ref(c, addr + p->ref[i].at, &p->ref[i].ref);
	return p != NULL;
}

void
stored_put(struct cap *c, uint64_t addr, const uint8_t *p, size_t n)
{
	struct ws_pages_ref ref[WS_BLOCK_PAGES];

	while (n && c->w && !c->all->failed) {
		size_t pages = n / PAGE < WS_BLOCK_PAGES ? n / PAGE : WS_BLOCK_PAGES;
		struct ws_pages_from from = stored_from(c, addr);
		size_t nref;

		nref = ws_pages_add(c->all->pages, p, pages, &from, ref);

		if (!nref) {
			int e = ws_run_flush(c->run);

			put_failed(c, e ? e : ENOMEM);
		}
		for (size_t i = 0; i < nref; i++) {
			piece_add(c->all->stored, addr, &ref[i]);
			stored_ref(c, addr, &ref[i]);
			addr += ref[i].n * PAGE;
		}
		p += pages * PAGE;
		n -= pages * PAGE;
	}
}
