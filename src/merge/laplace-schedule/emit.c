/* The references of a schedule as a reference stream: addresses, and events when another task continues. */
#include "merge/laplace-schedule/schedule.h"

#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/fault.h"
#include "base/hash.h"
#include "base/mem.h"

#define FRAMES    (UINT64_C(1) << (47 - LAP_PAGEBITS))  /* pages of half of the addresses of ref(5) */
#define BATCH     (sizeof ((struct emit *)0)->w / sizeof (uint64_t))

/* Frames in the order of their first use */
struct frames {
	struct hash hash;
	uint64_t *canon;                /* owned */
	size_t n, room;
};

void
emit_begin(struct emit *e, const struct options *o, struct lap_folder *f, struct out *out)
{
	uint8_t *p;

	memset(e, 0, sizeof *e);
	e->o = o;
	e->folder = f;
	e->out = out;
	e->now = ALL;
	if (o->address == ADDRESS_FRAMES)
		e->frames = xcalloc(1, sizeof *e->frames);
	if (!out || o->format != REF_ADDR)
		return;
	p = out_reserve(out, REF_HEADER);
	ref_put_header(p);
	out_commit(out, REF_HEADER);
}

static void
emit_flush(struct emit *e)
{
	uint8_t *p = out_reserve(e->out, e->n * REF_PUT_MAX);

	out_commit(e->out, ref_put(e->o->format, p, e->w, e->n));
	e->n = 0;
}

static inline void
emit_word(struct emit *e, uint64_t w)
{
	e->w[e->n++] = w;
	if (e->n == BATCH)
		emit_flush(e);
}

void
emit_end(struct emit *e)
{
	if (e->out && e->n)
		emit_flush(e);
	if (e->frames) {
		hash_free(&e->frames->hash);
		free(e->frames->canon);
		free(e->frames);
		e->frames = NULL;
	}
}

static int
emit_wrong(struct emit *e, const struct lap_cursor *c, const char *what)
{
	fault_set(&e->folder->fault, c->off, c->r.nrec - 1, "%s", what);
	free(e->folder->where);
	e->folder->where = xasprintf("%s/%s", e->folder->dir, c->trace->path);
	return -1;
}

void
emit_switch(struct emit *e, const struct lap_trace *t, uint64_t processor)
{
	uint64_t now = e->o->by_processor ? processor : t->pid;

	if (!e->out || now == e->now)
		return;
	e->now = now;
	emit_word(e, ref_make(REF_TASK, now, 0));
}

static uint64_t
frame_of(struct frames *f, uint64_t canon)
{
	uint32_t h = hash_number(canon), at = h, i;

	while ((i = hash_find(&f->hash, h, &at)) != HASH_NONE && f->canon[i] != canon)
		;
	if (i != HASH_NONE)
		return i;
	if (f->n >= HASH_NONE - 1)
		die("more than %zu pages", f->n);
	f->canon = mem_xgrow(f->canon, &f->room, f->n + 1, sizeof *f->canon);
	f->canon[f->n] = canon;
	hash_xadd(&f->hash, h, (uint32_t)f->n);
	return f->n++;
}

/* The number of the page in the stream: of memory in the lower half of addresses, of the kernel's in the upper. */
static int
page_of(struct emit *e, const struct lap_touch *t, uint64_t *page)
{
	switch (e->o->address) {
	case ADDRESS_VIRTUAL:
		*page = t->page;
		return t->page < FRAMES || t->page >= LAP_PAGES - FRAMES ? 0 : -1;
	case ADDRESS_FRAMES:
		*page = frame_of(e->frames, t->canon);
		return 0;
	case ADDRESS_MEMORY:
		break;
	}
	if (t->canon < LAP_PAGES) {             /* the kernel's own memory: its virtual page, less its upper bits */
		*page = (t->canon & (FRAMES - 1)) | FRAMES;
		return 0;
	}
	*page = t->canon - LAP_PAGES;
	return *page < FRAMES ? 0 : -1;
}

int
emit_touch(struct emit *e, const struct lap_cursor *c)
{
	static const uint8_t kind[LAP_NTYPES] = { REF_LOAD, REF_STORE, REF_INST, REF_LOAD, REF_STORE, REF_INST };
	const struct lap_touch *t = &c->item.touch;
	uint64_t page;

	if (!e->out)
		return 0;
	if (page_of(e, t, &page) != 0)
		return emit_wrong(e, c, e->o->address == ADDRESS_VIRTUAL ?
		    "an address of more than 48 bits" :
		    "the number of a page does not fit an address; -a frames gives it another one");
	emit_word(e, ref_make(kind[t->type], page << LAP_PAGEBITS | (t->at ? t->at - 1u : 0), t->len));
	return 0;
}
