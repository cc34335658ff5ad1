/* Captures: copies that need no store, or no other part of the file; or the same blocks of a store. */
#include <stdlib.h>

#include "format/ws/store_internal.h"

/* The records of a run, as far as they can be read: 0, or -1. */
static int
copy_records(struct ws_reader *in, struct ws_writer *to, struct ws_pages_writer *w, struct fault *f)
{
	struct ws_stored s;
	struct ws_rec rec;
	uint64_t page;
	int k;

	while ((k = ws_next(in, &rec)) == 1) {
		if (w && rec.kind == WS_MEM && ws_rec_stored(in, &s) && ws_pages_refer(w, &s, &page) == 0)
			rec.u.mem.page = page + 1;
		if (ws_put(to, &rec) < 0)
			break;
	}
	/* a run that is cut off stays cut off */
	if (k < 0 && ws_fault(in)->off != UINT64_MAX && ws_end_group(to) == 0) {
		*f = *ws_fault(in);
		return -1;
	}
	if (k == 0 && ws_finish(to) == 0)
		return 0;
	*f = *ws_write_fault(to);
	return -1;
}

int
ws_run_copy_records(int fd, size_t n, struct ws_pages_writer *w, ws_write_fn *write, void *arg, struct fault *f)
{
	struct ws_reader *in = ws_open_run(fd, n, f);
	struct ws_writer *to = NULL;
	int bad = -1;

	if (in)
		to = ws_create(write, arg, ws_head(in), ws_head(in)->flags & WS_TRIMMED ? WS_SMALL : WS_QUICK, f);
	if (to)
		bad = copy_records(in, to, w, f);
	ws_free(to);
	ws_close(in);
	return bad;
}

struct fetch {
	struct src src;
	struct ws_pages *pages;
	uint8_t *packed;                /* owned */
	ws_write_fn *write;
	void *arg;
};

/* The bytes from `off` up to `end`: 0 or an errno */
static int
fetch_copy(struct fetch *c, uint64_t off, uint64_t end)
{
	uint8_t b[1 << 16];
	int e = 0;

	while (off < end && !e) {
		size_t k = end - off < sizeof(b) ? (size_t)(end - off) : sizeof(b);

		k = src_read(&c->src, off, b, k);
		e = k ? c->write(c->arg, b, k) : c->src.error;
		if (!k)
			break;
		off += k;
	}
	return e;
}

static int
fetch_block(struct fetch *c, const struct ws_block *b, const char **why)
{
	const uint8_t *p = ws_pages_get(c->pages, b->first, b->n, why), *bytes;
	uint8_t h[WS_BLOCK_HEAD];
	struct ws_block to;
	int e;

	if (!p)
		return -1;
	bytes = ws_block_pack(&to, p, b->n, c->packed);
	ws_put_block(h, &to);
	e = c->write(c->arg, h, sizeof(h));
	return e ? e : c->write(c->arg, bytes, to.packed);
}

/* 0, an errno, or -1: *why */
static int
fetch_all(struct fetch *c, const char **why)
{
	uint64_t off = 0;
	int e = 0;

	for (size_t i = 0; i < c->pages->n && !e; i++) {
		const struct ws_block *b = &c->pages->v[i];

		if (b->where != WS_BLOCK_STORED || !b->n)
			continue;
		e = fetch_copy(c, off, b->off - WS_BLOCK_HEAD);
		if (!e)
			e = fetch_block(c, b, why);
		off = b->off;
	}
	return e ? e : fetch_copy(c, off, c->src.size);
}

int
ws_store_fetch(int fd, ws_write_fn *write, void *arg, struct fault *f)
{
	struct fetch c = {.write = write, .arg = arg};
	const char *why = NULL;
	int e = src_fd(&c.src, fd), whole;
	struct ws_runs *t = e ? NULL : ws_runs_read(fd, &whole, f);

	if (!e && !t)
		return -1;
	if (t) {
		c.pages = ws_runs_pages(t);
		ws_pages_attach(c.pages, &c.src);
		c.packed = malloc(WS_BLOCK_PAGES * WS_PAGE);
		e = c.packed ? fetch_all(&c, &why) : -1;
		if (!c.packed)
			why = "out of memory";
	}
	if (e)
		fault_set(f, UINT64_MAX, UINT64_MAX, "%s", e < 0 ? why : strerror(e));
	free(c.packed);
	ws_runs_free(t);
	return e ? -1 : 0;
}
