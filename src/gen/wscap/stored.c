/* Pages of memory that are written once for all processes, and, with --store, for other captures. */
#include <errno.h>
#include <string.h>

#include "base/diag.h"
#include "gen/wscap/wscap.h"

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
	ws_store_close(a->store);
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

/* The file whose pages are at addr.  The memory of a new process may differ from it. */
static struct ws_pages_from
stored_from(const struct cap *c, uint64_t addr)
{
	size_t i = region_at(&c->reg, addr);
	const struct region *r = &c->reg.p[i];

	if (i == c->reg.n || r->lo > addr || !r->ino || r->shared)
		return (struct ws_pages_from){.ino = 0};
	return (struct ws_pages_from){r->dev, r->ino, r->offset + (addr - r->lo), !c->all->copying};
}

void
stored_put(struct cap *c, uint64_t addr, const uint8_t *p, size_t n)
{
	struct ws_pages_ref ref[WS_BLOCK_PAGES];

	while (n && c->w && !c->all->failed) {
		size_t pages = n / PAGE < WS_BLOCK_PAGES ? n / PAGE : WS_BLOCK_PAGES;
		struct ws_pages_from from = stored_from(c, addr);
		size_t nref = ws_pages_add(c->all->pages, p, pages, &from, ref);

		if (!nref) {
			int e = ws_run_flush(c->run);

			put_failed(c, e ? e : ENOMEM);
		}
		for (size_t i = 0; i < nref; i++) {
			struct ws_rec r = {.kind = WS_MEM, .u.mem = {.addr = addr, .n = ref[i].n * PAGE,
			    .page = ref[i].page + 1}};

			wscap_put(c, &r);
			addr += r.u.mem.n;
		}
		p += pages * PAGE;
		n -= pages * PAGE;
	}
}
