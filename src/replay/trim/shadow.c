/*
 * Trimming: the shadow of memory.  For every byte it knows whether the program wrote it, and
 * whether it was read as the capture had it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "format/ref/ref.h"
#include "replay/trim/shadow_internal.h"

static void
shadow_cold(struct shadow *t)
{
	for (size_t i = 0; i < SHADOW_TLB; i++)
		t->tlb[i] = (struct shadow_quick){ .p = &t->none };
}

/* Fetches are to be noted again. */
static void
shadow_unseen(struct shadow *t)
{
	memset(t->seen, 0, sizeof t->seen);
}

/* That page may be gone, or have moved. */
static void
shadow_gone(struct shadow *t, uint64_t no)
{
	if (t->tlb[no % SHADOW_TLB].no == no + 1)
		t->tlb[no % SHADOW_TLB] = (struct shadow_quick){ .p = &t->none };
}

void
shadow_init(struct shadow *t)
{
	shadow_cold(t);
}

static size_t
shadow_hash(uint64_t no)
{
	return (size_t)(no * 0x9e3779b97f4a7c15u >> 20);
}

static struct shadow_page *
shadow_lookup(const struct shadow *t, uint64_t no)
{
	if (!t->nslot)
		return NULL;
	for (size_t i = shadow_hash(no);; i++) {
		struct shadow_page *p = t->slot[i & (t->nslot - 1)];

		if (!p || p->no == no)
			return p;
	}
}

static void
shadow_slot(struct shadow *t, struct shadow_page *p)
{
	size_t i = shadow_hash(p->no);

	while (t->slot[i & (t->nslot - 1)])
		i++;
	t->slot[i & (t->nslot - 1)] = p;
}

static int
shadow_grow(struct shadow *t)
{
	size_t n = t->nslot ? t->nslot * 2 : 4096;
	struct shadow_page **old = t->slot;
	size_t nold = t->nslot;

	t->slot = calloc(n, sizeof *t->slot);
	if (!t->slot) {
		t->slot = old;
		return -1;
	}
	t->nslot = n;
	for (size_t i = 0; i < nold; i++)
		if (old[i])
			shadow_slot(t, old[i]);
	free(old);
	return 0;
}

/* Removes p from the hash table, moving later entries of its chain up. */
static void
shadow_remove(struct shadow *t, struct shadow_page *p)
{
	size_t m = t->nslot - 1, i = shadow_hash(p->no) & m;

	while (t->slot[i] != p)
		i = (i + 1) & m;
	t->slot[i] = NULL;
	for (i = (i + 1) & m; t->slot[i]; i = (i + 1) & m) {
		struct shadow_page *q = t->slot[i];

		t->slot[i] = NULL;
		shadow_slot(t, q);
	}
	t->npage--;
}

/* The page, listed for this segment; NULL: no memory. */
static struct shadow_page *
shadow_page(struct shadow *t, uint64_t no)
{
	struct shadow_page *p = shadow_lookup(t, no);

	if (!p) {
		if (t->npage * 2 >= t->nslot && shadow_grow(t) != 0)
			return NULL;
		p = calloc(1, sizeof *p);
		if (!p)
			return NULL;
		p->no = no;
		p->seg = UINT32_MAX;
		shadow_slot(t, p);
		t->npage++;
	}
	if (p->seg != t->seg) {
		if (buf_grow(&t->used, &t->capused, t->nused + 1, sizeof *t->used) < 0)
			return NULL;
		p->seg = t->seg;
		t->used[t->nused++] = p;
	}
	return p;
}

static inline struct shadow_page *
shadow_quick(struct shadow *t, uint64_t no)
{
	struct shadow_quick *q = &t->tlb[no % SHADOW_TLB];

	if (q->no != no + 1) {
		struct shadow_page *p = shadow_page(t, no);

		if (!p) {
			t->nomem = 1;
			return NULL;
		}
		q->no = no + 1;
		q->p = p;
	}
	return q->p;
}

/* A mask of n bytes from byte `at` of a line; at + n <= 64, n > 0. */
static inline uint64_t
shadow_bytes(unsigned at, unsigned n)
{
	return UINT64_MAX >> (WS_LINE - n) << at;
}

static void
touch_line(struct shadow_page *p, unsigned i, uint64_t m, int reads, int writes)
{
	struct shadow_line *l = &p->line[i];

	p->known[i] |= m;
	if (reads) {
		l->need |= m & ~l->own;
		l->key |= m & ~l->got;
	}
	if (writes) {
		l->own |= m;
		l->got |= m;
	}
}

static void
shadow_touch(struct shadow *t, uint64_t addr, uint64_t n, int reads, int writes)
{
	while (n) {
		unsigned at = addr % WS_LINE;
		unsigned k = n < WS_LINE - at ? (unsigned)n : WS_LINE - at;
		struct shadow_page *p = shadow_quick(t, addr / MEM_PAGE);

		if (!p)
			return;
		touch_line(p, addr / WS_LINE % TRIM_LINES, shadow_bytes(at, k), reads, writes);
		addr += k;
		n -= k;
	}
}

static void
shadow_fetched(struct shadow *t, uint64_t w)
{
	uint64_t *s = &t->seen[(w ^ w >> 14) % SHADOW_SEEN];
	struct shadow_page *p;

	if (*s == w)
		return;
	*s = w;
	shadow_touch(t, ref_addr(w), ref_size(w), 1, 0);
	p = shadow_quick(t, ref_addr(w) / MEM_PAGE);
	if (p)
		p->fetched = 1;
	t->fetch(t->arg, ref_addr(w), ref_size(w));
}

static void
shadow_word(struct shadow *t, uint64_t w)
{
	switch (ref_kind(w)) {
	case REF_INST: shadow_fetched(t, w); break;
	case REF_LOAD: shadow_touch(t, ref_addr(w), ref_size(w), 1, 0); break;
	case REF_STORE: shadow_touch(t, ref_addr(w), ref_size(w), 0, 1); break;
	case REF_MODIFY: shadow_touch(t, ref_addr(w), ref_size(w), 1, 1); break;
	}
}

/* Nearly all references are to bytes that are known, in a page that is in the cache. */
void
shadow_words(struct shadow *t, const uint64_t *w, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t addr = ref_addr(w[i]), no = addr / MEM_PAGE;
		unsigned at = addr % WS_LINE, size = ref_size(w[i]);
		const struct shadow_quick *q = &t->tlb[no % SHADOW_TLB];
		uint64_t unknown = UINT64_MAX >> (-size % WS_LINE) << at &
		    ~q->p->known[addr / WS_LINE % TRIM_LINES];

		/* one branch, which is nearly never taken: another page; a part in the next line; a fetch */
		if ((q->no ^ (no + 1)) | unknown | (at + size - 1) / WS_LINE | (ref_kind(w[i]) == REF_INST))
			shadow_word(t, w[i]);
	}
}

static int
add_need(struct shadow *t, uint32_t mem, uint64_t line, uint64_t mask)
{
	struct trim_found *f = t->found;
	struct trim_need *last = f->nneed ? &f->need[f->nneed - 1] : NULL;

	if (last && last->mem == mem && last->line + last->count == line && mask == UINT64_MAX &&
	    last->mask == UINT64_MAX && last->count < UINT32_MAX) {
		last->count++;
		return 0;
	}
	if (buf_grow(&f->need, &f->capneed, f->nneed + 1, sizeof *f->need) < 0)
		return -1;
	f->need[f->nneed++] = (struct trim_need){ .mem = mem, .count = 1, .line = line, .mask = mask };
	return 0;
}

/* Records what is needed of bytes [lo, hi) of p, which came with e. */
static int
shadow_add_needs(struct shadow *t, struct shadow_page *p, const struct shadow_extent *e,
    unsigned lo, unsigned hi)
{
	for (unsigned at = lo; at < hi;) {
		unsigned k = WS_LINE - at % WS_LINE;
		struct shadow_line *l = &p->line[at / WS_LINE];
		uint64_t m;

		if (k > hi - at)
			k = hi - at;
		m = l->need & shadow_bytes(at % WS_LINE, k);
		l->need &= ~m;
		if (m && add_need(t, e->mem, e->orig / WS_LINE + at / WS_LINE, m) != 0)
			return -1;
		at += k;
	}
	return 0;
}

static int
add_extent(struct shadow_page *p, struct shadow_extent e)
{
	if (p->next == p->cap) {
		uint32_t cap = p->cap ? p->cap * 2 : 1;
		struct shadow_extent *x = realloc(p->ext, cap * sizeof *x);

		if (!x)
			return -1;
		p->ext = x;
		p->cap = cap;
	}
	p->ext[p->next++] = e;
	return 0;
}

/* Bytes [lo, hi) of p get other contents or are unmapped. */
static int
shadow_retire(struct shadow *t, struct shadow_page *p, unsigned lo, unsigned hi)
{
	for (uint32_t i = 0; i < p->next; i++) {
		struct shadow_extent e = p->ext[i];
		unsigned elo = e.off, ehi = elo + e.n;
		unsigned from = elo > lo ? elo : lo, to = ehi < hi ? ehi : hi;

		if (from >= to)
			continue;
		if (shadow_add_needs(t, p, &e, from, to) != 0)
			return -1;
		if (elo < from && to < ehi) {
			p->ext[i].n = (uint16_t)(from - elo);
			e.off = (uint16_t)to;
			e.n = (uint16_t)(ehi - to);
			if (add_extent(p, e) != 0)
				return -1;
		} else if (elo < from) {
			p->ext[i].n = (uint16_t)(from - elo);
		} else if (to < ehi) {
			p->ext[i].off = (uint16_t)to;
			p->ext[i].n = (uint16_t)(ehi - to);
		} else {
			p->ext[i--] = p->ext[--p->next];
		}
	}
	return 0;
}

/* Bytes [lo, hi) of page `no` come from the current MEM record. */
static int
shadow_supply(struct shadow *t, uint64_t no, unsigned lo, unsigned hi)
{
	struct shadow_page *p = shadow_page(t, no);

	if (!p || shadow_retire(t, p, lo, hi) != 0)
		return -1;
	if (p->fetched)
		shadow_unseen(t);
	for (unsigned at = lo; at < hi;) {
		unsigned k = WS_LINE - at % WS_LINE;
		struct shadow_line *l = &p->line[at / WS_LINE];
		uint64_t m;

		if (k > hi - at)
			k = hi - at;
		m = shadow_bytes(at % WS_LINE, k);
		p->known[at / WS_LINE] &= ~m;
		l->own &= ~m;
		l->need &= ~m;
		l->got |= m;
		at += k;
	}
	return add_extent(p,
	    (struct shadow_extent){
		.mem = t->mem, .off = (uint16_t)lo, .n = (uint16_t)(hi - lo), .orig = no * MEM_PAGE });
}

void
shadow_read(struct shadow *t, uint64_t addr, uint64_t n)
{
	shadow_touch(t, addr, n, 1, 0);
}

int
shadow_mem(struct shadow *t, const struct ws_rec_mem *m)
{
	uint64_t addr = m->addr;
	size_t n = m->n;

	t->found->raw += n;
	while (n) {
		unsigned at = addr % MEM_PAGE;
		unsigned k = n < MEM_PAGE - at ? (unsigned)n : MEM_PAGE - at;

		if (shadow_supply(t, addr / MEM_PAGE, at, at + k) != 0)
			return -1;
		addr += k;
		n -= k;
	}
	return ++t->mem == UINT32_MAX ? -1 : 0;
}

void
shadow_need_original(struct shadow *t, uint64_t addr, uint64_t n)
{
	while (n) {
		unsigned at = addr % WS_LINE;
		unsigned k = n < WS_LINE - at ? (unsigned)n : WS_LINE - at;
		struct shadow_page *p = shadow_quick(t, addr / MEM_PAGE);
		struct shadow_line *l;

		if (!p)
			return;
		l = &p->line[addr / WS_LINE % TRIM_LINES];
		l->need |= shadow_bytes(at, k) & ~l->own;       /* keyframes do not need it */
		addr += k;
		n -= k;
	}
}

static int
drop_page(struct shadow *t, struct shadow_page *p)
{
	int e = shadow_retire(t, p, 0, MEM_PAGE);

	shadow_gone(t, p->no);
	if (p->fetched)
		shadow_unseen(t);
	/* what was read of it remains in the list of the segment */
	if (p->seg == t->seg)
		e |= shadow_list_used(t, p);
	shadow_forget_used(t, p);
	shadow_remove(t, p);
	free(p->ext);
	free(p);
	return e;
}

/* Drops all pages of [addr, addr+len): by number, or by scanning all pages, whichever is cheaper. */
int
shadow_drop(struct shadow *t, uint64_t addr, uint64_t len)
{
	uint64_t lo = addr / MEM_PAGE, n = len / MEM_PAGE;
	struct shadow_page *p;
	int e = 0;

	if (n < t->nslot) {
		for (uint64_t i = 0; i < n && !e; i++)
			if ((p = shadow_lookup(t, lo + i)))
				e = drop_page(t, p);
		return e;
	}
	for (size_t i = 0; i < t->nslot && !e;) {
		p = t->slot[i];
		if (p && p->no - lo < n)
			e = drop_page(t, p);    /* another page may have moved to i */
		else
			i++;
	}
	return e;
}

/*
 * Moves a page.  Later segments know it only by its new address, so all of it counts as needed
 * at the old one.
 */
static int
move_page(struct shadow *t, struct shadow_page *p, uint64_t to)
{
	shadow_gone(t, p->no);
	if (p->fetched)
		shadow_unseen(t);
	if (p->seg == t->seg)
		shadow_list_used(t, p);
	shadow_forget_used(t, p);
	if (shadow_list(t, p->no, UINT64_MAX, 0) != 0)
		return -1;
	shadow_remove(t, p);
	p->no = to;
	p->seg = UINT32_MAX;
	shadow_slot(t, p);
	t->npage++;
	if (!shadow_page(t, to))
		return -1;
	for (unsigned i = 0; i < TRIM_LINES; i++)
		p->line[i].got = UINT64_MAX;
	return 0;
}

int
shadow_move(struct shadow *t, const struct ws_rec_move *v)
{
	uint64_t keep = v->newlen < v->oldlen ? v->newlen : v->oldlen;

	if (v->newlen < v->oldlen && shadow_drop(t, v->from + v->newlen, v->oldlen - v->newlen) != 0)
		return -1;
	if (v->from == v->to)
		return v->newlen > v->oldlen ? shadow_drop(t, v->from + v->oldlen, v->newlen - v->oldlen) : 0;
	if (shadow_drop(t, v->to, v->newlen) != 0)
		return -1;
	for (uint64_t i = 0; i < keep / MEM_PAGE; i++) {
		struct shadow_page *p = shadow_lookup(t, v->from / MEM_PAGE + i);

		if (p && move_page(t, p, v->to / MEM_PAGE + i) != 0)
			return -1;
	}
	return 0;
}

int
shadow_end_segment(struct shadow *t)
{
	shadow_cold(t);
	shadow_unseen(t);
	return shadow_list_end(t);
}

int
shadow_finish(struct shadow *t)
{
	for (size_t i = 0; i < t->nslot; i++)
		if (t->slot[i] && shadow_retire(t, t->slot[i], 0, MEM_PAGE) != 0)
			return -1;
	return 0;
}

void
shadow_free(struct shadow *t)
{
	for (size_t i = 0; i < t->nslot; i++)
		if (t->slot[i]) {
			free(t->slot[i]->ext);
			free(t->slot[i]);
		}
	free(t->slot);
	free(t->used);
}
