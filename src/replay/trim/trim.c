/*
 * Trimming, pass 2: writes the capture again with only the contents that a replay needs, and
 * with keyframes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/progress.h"
#include "replay/trim/trim_internal.h"

#define GAP 1u                  /* gaps of up to this many unneeded lines do not end a run */
#define KEYED_CUT (1u << 20)    /* bytes of a group where keyframes are asked for: who goes to one unpacks the first group, too */
#define PAGE_GAP 4u             /* and of so many pages that are in a store: another record takes more room */

struct trim {
	struct replay *r;
	const struct trim_opts *o;
	struct trim_found found;
	size_t at;                      /* index of the next in found.need */
	uint32_t mem;                   /* MEM records so far */
	struct ws_writer *w;
	uint8_t *room;                  /* bytes of a run; owned */
	size_t caproom;
	struct trim_stored stored;      /* if there is o->pages */
	struct ws_rec_range *fresh;     /* mapped since the last trigger; owned */
	size_t nfresh, capfresh;
	size_t nsig;                    /* SIG records so far */
	struct ws_early early;
	struct fault *fault;
};

static int
trim_bad(struct trim *t, const char *what)
{
	snprintf(t->fault->err, sizeof t->fault->err, "%s", what);
	return -1;
}

static int
trim_put(struct trim *t, const struct ws_rec *rec)
{
	ws_early_rec(&t->early, rec);
	if (ws_put(t->w, rec) == 0)
		return 0;
	return trim_bad(t, ws_write_fault(t->w)->err);
}

/* Writes n bytes at addr; zero: the memory is known to be zero. */
static int
put_mem(struct trim *t, uint64_t addr, const uint8_t *p, size_t n, int zero)
{
	struct ws_rec rec = { .kind = WS_MEM };
	int any = 0;

	for (size_t i = 0; i < n && !any; i++)
		any = p[i] != 0;
	if (!any && zero)
		return 0;
	rec.u.mem.addr = addr;
	rec.u.mem.p = any ? p : NULL;
	rec.u.mem.n = n;
	return trim_put(t, &rec);
}

static int
add_fresh(struct trim *t, uint64_t addr, uint64_t len)
{
	if (buf_grow(&t->fresh, &t->capfresh, t->nfresh + 1, sizeof *t->fresh) < 0)
		return trim_bad(t, "no memory");
	t->fresh[t->nfresh++] = (struct ws_rec_range){ .addr = addr, .len = len };
	return 0;
}

static int
is_fresh(const struct trim *t, const struct ws_rec_mem *m)
{
	for (size_t i = t->nfresh; i-- > 0;)
		if (m->addr >= t->fresh[i].addr && m->addr - t->fresh[i].addr < t->fresh[i].len)
			return m->n <= t->fresh[i].len - (m->addr - t->fresh[i].addr);
	return 0;
}

static int
trim_room(struct trim *t, size_t n)
{
	uint8_t *p;

	if (n <= t->caproom)
		return 0;
	p = realloc(t->room, n);
	if (!p)
		return trim_bad(t, "no memory");
	t->room = p;
	t->caproom = n;
	return 0;
}

/* Copies the bytes of m that need n names to the run in t->room, which begins at addr. */
static void
copy_need(struct trim *t, const struct ws_rec_mem *m, const struct trim_need *n, uint64_t addr)
{
	for (uint32_t k = 0; k < n->count; k++) {
		uint64_t line = (n->line + k) * WS_LINE;

		for (unsigned i = 0; i < WS_LINE; i++)
			if (n->mask >> i & 1 && line + i >= m->addr && line + i - m->addr < m->n)
				t->room[line + i - addr] = m->p[line + i - m->addr];
	}
}

/* Writes one run of lines: needs [from, to), all within m. */
static int
put_run(struct trim *t, const struct ws_rec_mem *m, size_t from, size_t to, int zero)
{
	const struct trim_need *need = t->found.need;
	uint64_t lo = need[from].line * WS_LINE, hi = (need[to - 1].line + need[to - 1].count) * WS_LINE;

	if (lo < m->addr)
		lo = m->addr;
	if (hi > m->addr + m->n)
		hi = m->addr + m->n;
	if (trim_room(t, hi - lo) != 0)
		return -1;
	memset(t->room, 0, hi - lo);
	if (m->p)
		for (size_t i = from; i < to; i++)
			copy_need(t, m, &need[i], lo);
	return put_mem(t, lo, t->room, hi - lo, zero);
}

/* Writes n pages at addr that are in a store, and p: 1; 0: they have to be copied; -1: an error */
static int
put_stored(struct trim *t, uint64_t addr, const uint8_t *p, size_t n, const struct ws_stored *s, int zero)
{
	struct ws_rec rec = { .kind = WS_MEM, .u.mem = { .addr = addr, .n = n * MEM_PAGE } };
	uint64_t page;

	/* pages of zeros are not referred to */
	if (bytes_zero(p, n * MEM_PAGE))
		return put_mem(t, addr, p, n * MEM_PAGE, zero) != 0 ? -1 : 1;
	if (ws_pages_refer(t->o->pages, s, &page) != 0)
		return 0;
	rec.u.mem.page = page + 1;
	return trim_put(t, &rec) != 0 ? -1 : 1;
}

/* The pages of m, which has the need, from its first to after its last line. */
static void
need_pages(const struct ws_rec_mem *m, const struct trim_need *need, size_t *from, size_t *to)
{
	*from = (size_t)((need->line * WS_LINE - m->addr) / MEM_PAGE);
	*to = (size_t)(((need->line + need->count) * WS_LINE - m->addr + MEM_PAGE - 1) / MEM_PAGE);
}

/* Writes the trimmed contents m, pages from those that s says on: 1; 0: they have to be copied; -1: an error */
static int
trim_mem_stored(struct trim *t, const struct ws_rec_mem *m, const struct ws_stored *s, int zero)
{
	const struct trim_need *need = t->found.need;
	size_t n = t->found.nneed, i = t->at, from, to, a, b;

	if (trim_stored_add(&t->stored, m, s) != 0)
		return trim_bad(t, "no memory");
	while (i < n && need[i].mem == t->mem) {
		struct ws_stored at = *s;
		int e;

		need_pages(m, &need[i], &from, &to);
		for (i++; i < n && need[i].mem == t->mem; i++) {
			need_pages(m, &need[i], &a, &b);
			if (a > to + PAGE_GAP)
				break;
			to = b;
		}
		at.at += (uint32_t)from;
		e = put_stored(t, m->addr + from * MEM_PAGE, m->p + from * MEM_PAGE, to - from, &at, zero);
		if (e <= 0)
			return e;
	}
	t->at = i;
	return 1;
}

/* Writes the trimmed contents m. */
static int
trim_mem(struct trim *t, const struct ws_rec_mem *m)
{
	const struct trim_need *need = t->found.need;
	size_t n = t->found.nneed, i = t->at;
	int zero = is_fresh(t, m);
	struct ws_stored s;

	if (t->o->pages && drive_mem_stored(t->r, &s) && trim_stored_fits(m)) {
		int e = trim_mem_stored(t, m, &s, zero);

		if (e < 0)
			return -1;
		/* what is written already is written again if the rest cannot be referred to */
		i = t->at;
	}
	while (i < n && need[i].mem == t->mem) {
		size_t j = i + 1;

		while (j < n && need[j].mem == t->mem &&
		    need[j].line <= need[j - 1].line + need[j - 1].count + GAP)
			j++;
		if (put_run(t, m, i, j, zero) != 0)
			return -1;
		i = j;
	}
	t->at = i;
	t->mem++;
	return 0;
}

static int
on_record(void *arg, const struct ws_rec *rec)
{
	struct trim *t = arg;
	struct ws_rec end, sig;

	if (ws_is_trigger(rec->kind))
		t->nfresh = 0;
	switch (rec->kind) {
	case WS_MEM:
		return trim_mem(t, &rec->u.mem);
	case WS_MAP:
		if (add_fresh(t, rec->u.map.addr, rec->u.map.len) != 0)
			return -1;
		break;
	case WS_SIG:            /* its place is known from here on, so the stack is not needed for a search */
		sig = *rec;
		sig.u.sig.nstack = sig.u.sig.nwords = 0;
		if (t->nsig < t->found.nsig && t->found.sig[t->nsig] != WS_UNKNOWN)
			sig.u.sig.icount = t->found.sig[t->nsig];
		t->nsig++;
		return trim_put(t, &sig);
	case WS_END:
		end = *rec;
		end.u.end.icount = t->found.ninst;
		/* who cuts the run into parts asks for its length first: the last group.  A note says why it ends, and stays with it */
		if (t->o->keys && !t->early.why[0] && ws_end_group(t->w) != 0)
			return trim_bad(t, ws_write_fault(t->w)->err);
		return trim_put(t, &end);
	default:
		break;
	}
	return trim_put(t, rec);
}

/*
 * Pages of s from number i on that are in a store as they are in memory: refers to them, and returns how many they
 * are; 0: none; -1: an error.  All of each page is compared: what is not needed here may have been written before the
 * next keyframe, which says nothing of zeros.
 */
static long
put_pages(struct trim *t, const struct trim_seg *s, size_t i)
{
	uint64_t no = s->page[i].no;
	struct ws_stored first, at;
	size_t n = 1;
	int e;

	if (!t->o->pages || !s->page[i].need || !trim_stored_same(&t->stored, t->r, no, &first))
		return 0;
	while (i + n < s->n && n < WS_BLOCK_PAGES && s->page[i + n].no == no + n && s->page[i + n].need &&
	    trim_stored_same(&t->stored, t->r, no + n, &at) && at.at == first.at + n &&
	    memcmp(at.hash, first.hash, sizeof at.hash) == 0)
		n++;
	if (trim_room(t, n * MEM_PAGE) != 0)
		return -1;
	if (replay_read(t->r, no * MEM_PAGE, t->room, n * MEM_PAGE) != n * MEM_PAGE)
		return 0;
	e = put_stored(t, no * MEM_PAGE, t->room, n, &first, 1);
	return e > 0 ? (long)n : e;
}

/* Writes the nonempty lines of page p as runs. */
static int
put_page(struct trim *t, const struct trim_page *p)
{
	uint8_t b[MEM_PAGE];
	uint64_t addr = p->no * MEM_PAGE;

	if (!p->need || replay_read(t->r, addr, b, MEM_PAGE) != MEM_PAGE)
		return 0;
	for (unsigned i = 0; i < TRIM_LINES;) {
		unsigned k = i;

		while (k < TRIM_LINES && p->need >> k & 1)
			k++;
		if (k > i &&
		    put_mem(t, addr + i * WS_LINE, b + i * WS_LINE, (size_t)(k - i) * WS_LINE, 1) != 0)
			return -1;
		i = k + 1;
	}
	return 0;
}

/*
 * Memory that is mapped several times is written as a whole: what is read at one address may
 * have been written at another.
 */
static int
put_twins(struct trim *t)
{
	static const uint8_t zero[MEM_PAGE];
	const struct mem *m = drive_mem(t->r);
	uint8_t b[MEM_PAGE];

	for (size_t i = 0; i < m->n; i++)
		for (uint64_t at = 0; m->area[i].obj && at < m->area[i].m.len; at += MEM_PAGE) {
			uint64_t addr = m->area[i].m.addr + at;

			if (mem_alias(m, addr, &(size_t){ 0 }, &(uint64_t){ 0 }) &&
			    replay_read(t->r, addr, b, MEM_PAGE) == MEM_PAGE &&
			    memcmp(b, zero, MEM_PAGE) != 0 && put_mem(t, addr, b, MEM_PAGE, 1) != 0)
				return -1;
		}
	return 0;
}

/*
 * A group of its own, so that who looks for what comes later need not unpack it.  Where keyframes are asked for, that
 * they are read fast says more than their size.
 */
static int
key_group(struct trim *t, int begins)
{
	if (ws_end_group(t->w) != 0)
		return trim_bad(t, ws_write_fault(t->w)->err);
	if (t->o->keys)
		ws_set_level(t->w, begins ? WS_QUICK : t->o->level);
	return 0;
}

static int
put_key(struct trim *t, const struct trim_seg *s)
{
	struct ws_rec rec = { .kind = WS_KEY };
	const struct ws_rec_map *m;

	rec.u.state.regs = *replay_regs(t->r);
	rec.u.state.xsave = replay_xsave(t->r);
	rec.u.state.nxsave = RP_XSAVE;
	rec.u.state.icount = replay_icount(t->r);
	rec.u.state.instances = replay_instances(t->r);
	rec.u.state.thread = replay_thread(t->r);
	if (key_group(t, 1) != 0 || trim_put(t, &rec) != 0)
		return -1;
	for (size_t i = 0; (m = replay_map(t->r, i)) != NULL; i++) {
		rec = (struct ws_rec){ .kind = WS_MAP, .u.map = *m };
		if (trim_put(t, &rec) != 0)
			return -1;
	}
	for (size_t i = 0; i < s->n;) {
		long n = put_pages(t, s, i);

		if (n < 0 || (n == 0 && put_page(t, &s->page[i]) != 0))
			return -1;
		i += n ? (size_t)n : 1;
	}
	if (put_twins(t) != 0)
		return -1;
	rec = (struct ws_rec){ .kind = WS_KEYEND };
	return trim_put(t, &rec) != 0 ? -1 : key_group(t, 0);
}

/* Ends the capture where it was cut off. */
static int
put_cut(struct trim *t)
{
	struct ws_rec note = { .kind = WS_NOTE, .u.note = "it was cut off" }, rec = { .kind = WS_END };

	if (trim_put(t, &note) != 0)
		return -1;
	rec.u.end.how = WS_STOPPED;
	rec.u.end.icount = t->found.ninst;
	return trim_put(t, &rec);
}

/* Runs the program up to the last keyframe; what comes after it is known. */
static int
replay_again(struct trim *t, struct trim_stats *s)
{
	struct replay *r = t->r;
	int got = REPLAY_OK;

	for (size_t k = 1; k < t->found.nseg; k++) {
		got = drive_run(r, t->found.seg[k].icount);
		if (got != REPLAY_OK)
			break;
		if (put_key(t, &t->found.seg[k]) != 0)
			return -1;
		s->keys++;
	}
	if (got == REPLAY_OK)
		got = drive_rest(r) == 0 ? REPLAY_END : REPLAY_BAD;
	if (got == REPLAY_BAD && drive_is_cut(r) && !t->fault->err[0])
		return put_cut(t);
	if (got == REPLAY_BAD && !t->fault->err[0])
		*t->fault = *replay_fault(r);
	return got == REPLAY_END ? 0 : -1;
}

static int
trim_pass2(struct trim *t, const char *in, struct trim_stats *s)
{
	struct drive_watch watch = { .record = on_record, .cut = 1, .arg = t };
	struct ws_header h;
	struct fault wf;
	struct replay *r;
	int e;

	progress_stage("writing");
	/* the writer needs the header before the first record */
	r = drive_open(in, &watch, t->fault);
	if (!r)
		return -1;
	t->r = r;
	h = *replay_header(r);
	h.flags |= WS_TRIMMED;
	h.flags &= ~(uint32_t)WS_KEYFRAMES;
	if (t->found.nseg > 1)
		h.flags |= WS_KEYFRAMES;
	t->w = ws_create(t->o->write, t->o->arg, &h, t->o->level, &wf);
	if (!t->w)
		return trim_bad(t, wf.err);
	if (t->o->keys)
		ws_set_cut(t->w, KEYED_CUT);
	if (drive_start(r) != 0) {
		if (!t->fault->err[0])
			*t->fault = *replay_fault(r);
		return -1;
	}
	e = replay_again(t, s);
	if (e == 0 && ws_finish(t->w) != 0)
		e = trim_bad(t, ws_write_fault(t->w)->err);
	s->written = ws_written(t->w);
	s->early = t->early;
	return e;
}

int
replay_trim(const char *in, const struct trim_opts *o, struct trim_stats *s, struct fault *f)
{
	struct trim t = { .o = o, .fault = f };
	struct fault cut;
	int e;

	memset(s, 0, sizeof *s);
	e = trim_find_needs(in, o, &t.found, f);
	s->cut = e == 1;
	cut = *f;
	s->ninst = t.found.ninst;
	s->raw = t.found.raw;
	s->needed = t.found.needed;
	if (e >= 0) {
		*f = (struct fault){ .off = WS_UNKNOWN, .rec = WS_UNKNOWN };
		e = trim_choose_keyframes(&t.found, o) != 0 ? trim_bad(&t, "no memory") :
		    trim_pass2(&t, in, s);
		if (e == 0 && s->cut)
			*f = cut;
	}
	if (t.w)
		ws_free(t.w);
	replay_close(t.r);
	free(t.room);
	free(t.fresh);
	trim_stored_free(&t.stored);
	trim_found_free(&t.found);
	return e;
}
