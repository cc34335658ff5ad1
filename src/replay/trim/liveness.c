/*
 * Trimming, pass 1: finds which bytes are read before they are written, and which contents of
 * the capture they came from.  Code that branches could have reached is needed as well, for
 * post-dominators.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/buf.h"
#include "cfg/code.h"
#include "replay/guest/code_reader.h"
#include "replay/trim/shadow_internal.h"

#define EVERY   50000000u       /* instructions between candidates by default */
#define CLOSE   100000u         /* and if it is said how many keyframes there are to be */
#define SAMPLE  (64u << 20)     /* bytes of the contents that are compressed to estimate their size */
#define CHUNK   (256u << 10)    /* bytes compressed at once */
#define BATCH   (16u << 10)     /* words at once: they stay in the cache */
#define AMID    4096u           /* instructions to go on from amid a string instruction */

struct note {
	struct shadow s;
	struct replay *r;
	struct trim_found *found;
	struct wcode code;
	struct wcode_replay mem;        /* reads the bytes of code */
	int keys;                       /* keyframes are asked for, whatever they take */
	int refers;                     /* the smaller capture refers to a store */
	struct trim_stored stored;
	uint64_t every;
	uint64_t last;                  /* instructions before the last system call or signal */
	size_t done;                    /* references of this batch that are noted */
	uint8_t *sample, *packed;       /* CHUNK bytes, ZSTD_compressBound(CHUNK) bytes */
};

static uint64_t
trim_squeeze(struct note *t, const void *p, size_t n)
{
	size_t k = ZSTD_compress(t->packed, ZSTD_compressBound(CHUNK), p, n, 1);

	return ZSTD_isError(k) ? n : k;
}

static void
sample_mem(struct note *t, const struct ws_rec_mem *m)
{
	struct trim_found *f = t->found;

	if (f->sampled >= SAMPLE)
		return;
	f->sampled += m->n;
	for (size_t at = 0; m->p && at < m->n; at += CHUNK) {
		size_t n = m->n - at < CHUNK ? m->n - at : CHUNK;

		f->packed += n < 256 ? n : trim_squeeze(t, m->p + at, n);
	}
}

/* Estimates what the lines of the segment cost, from their contents one segment later. */
static void
sample_seg(struct note *t, struct trim_seg *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++) {
		struct ws_stored where;

		s->page[i].stored = t->refers && s->page[i].need &&
		    trim_stored_same(&t->stored, t->r, s->page[i].no, &where);
		for (unsigned k = 0; k < TRIM_LINES; k++) {
			if (s->page[i].stored || !(s->page[i].need >> k & 1) ||
			    replay_read(t->r, s->page[i].no * MEM_PAGE + k * WS_LINE, t->sample + n,
				WS_LINE) != WS_LINE)
				continue;
			n += WS_LINE;
			s->lines++;
			if (n == CHUNK) {
				s->packed += trim_squeeze(t, t->sample, n);
				n = 0;
			}
		}
	}
	s->packed += trim_squeeze(t, t->sample, n);
}

static void
on_fetch(void *arg, uint64_t pc, unsigned len)
{
	struct note *t = arg;
	uint8_t b[15];

	if (len <= sizeof b && replay_read(t->r, pc, b, len) == len && wcode_insn(&t->code, pc, b, len) != 0)
		t->s.nomem = 1;
}

static void
on_kept(void *arg, uint64_t addr, size_t n)
{
	struct note *t = arg;

	shadow_need_original(&t->s, addr, n);
}

/* Notes the references so far, before memory changes by other means. */
static void
catch_up(struct note *t)
{
	size_t n = 0;
	const uint64_t *w = t->r ? drive_words_so_far(t->r, &n) : NULL;

	if (n > t->done) {
		shadow_words(&t->s, w + t->done, n - t->done);
		t->done = n;
		t->mem.r = t->r;
		wcode_replay_invalidate(&t->mem);
		if (wcode_descend(&t->code) != 0)
			t->s.nomem = 1;
	}
}

/* Contents from a store cost nothing. 1: they are; 0; -1: no memory */
static int
note_stored(struct note *t, const struct ws_rec_mem *m)
{
	struct trim_found *f = t->found;
	struct ws_stored s;

	if (!t->refers || !drive_mem_stored(t->r, &s) || !trim_stored_fits(m))
		return 0;
	if (buf_grow(&f->stored, &f->capstored, f->nstored + 1, sizeof *f->stored) < 0)
		return -1;
	f->stored[f->nstored++] = t->s.mem;
	return trim_stored_add(&t->stored, m, &s) != 0 ? -1 : 1;
}

static int
note_sig(struct note *t)
{
	struct trim_found *f = t->found;
	uint64_t icount = replay_icount(t->r);

	if (buf_grow(&f->sig, &f->capsig, f->nsig + 1, sizeof *f->sig) < 0)
		return -1;
	f->sig[f->nsig++] = icount != t->last ? icount : WS_UNKNOWN;
	t->last = icount;
	return 0;
}

static int
on_record(void *arg, const struct ws_rec *rec)
{
	struct note *t = arg;
	int e = 0;

	catch_up(t);
	switch (rec->kind) {
	case WS_MEM:
		e = note_stored(t, &rec->u.mem);
		if (!e)
			sample_mem(t, &rec->u.mem);
		e = e < 0 || shadow_mem(&t->s, &rec->u.mem) != 0;
		if (rec->u.mem.p &&
		    mem_alias(drive_mem(t->r), rec->u.mem.addr, &(size_t){ 0 }, &(uint64_t){ 0 }))
			/* it may be read at another address */
			shadow_read(&t->s, rec->u.mem.addr, rec->u.mem.n);
		break;
	case WS_MAP: e = shadow_drop(&t->s, rec->u.map.addr, rec->u.map.len); break;
	case WS_UNMAP: e = shadow_drop(&t->s, rec->u.range.addr, rec->u.range.len); break;
	case WS_MOVE: e = shadow_move(&t->s, &rec->u.move); break;
	case WS_SIG: e = note_sig(t); break;
	case WS_SYS: t->last = replay_icount(t->r); break;
	default: break;
	}
	t->found->ntrigger += (uint64_t)ws_is_trigger(rec->kind);
	t->s.nomem |= e != 0;
	return t->s.nomem ? -1 : 0;
}

static int
on_read(void *arg, uint64_t addr, size_t n)
{
	struct note *t = arg;

	catch_up(t);
	shadow_read(&t->s, addr, n);
	return t->s.nomem ? -1 : 0;
}

static int
begin_segment(struct note *t, uint64_t icount)
{
	struct trim_found *f = t->found;

	if (buf_grow(&f->seg, &f->capseg, f->nseg + 1, sizeof *f->seg) < 0)
		return -1;
	f->seg[f->nseg++] = (struct trim_seg){ .icount = icount };
	return 0;
}

/* Drops every other candidate, and doubles the distance of later ones. */
static int
trim_thin_candidates(struct note *t)
{
	struct trim_found *f = t->found;
	size_t n = 0;

	for (size_t i = 0; i < f->nseg; i += 2) {
		if (i + 1 < f->nseg) {
			if (trim_join(&f->seg[i], &f->seg[i + 1]) != 0)
				return -1;
			free(f->seg[i + 1].page);
		}
		f->seg[n++] = f->seg[i];
	}
	f->nseg = n;
	t->every *= 2;
	return 0;
}

static int
trim_run(struct note *t, struct fault *f)
{
	struct replay *r = t->r;
	uint64_t due = t->every;
	size_t n;
	int got;

	for (;;) {
		replay_until(r, due);
		while ((got = drive_words(r, RP_DATA, BATCH, &n)) == REPLAY_OK) {
			catch_up(t);
			t->done = 0;
			if (t->s.nomem)
				return -1;
		}
		t->found->ninst = replay_icount(r);
		if (got == REPLAY_BAD)
			*f = *replay_fault(r);
		if (got == REPLAY_BAD && !drive_is_cut(r))
			return -1;
		/* a replay from amid a string instruction would count it again when a signal interrupts it there */
		if (drive_is_amid(r) && drive_ended(r) == REPLAY_OK) {
			due = replay_icount(r) + AMID;
			continue;
		}
		if (shadow_end_segment(&t->s) != 0)
			return -1;
		drive_fetches_again(r);
		if (!t->keys)
			sample_seg(t, &t->found->seg[t->found->nseg - 1]);
		if (drive_ended(r) != REPLAY_OK)
			return drive_is_cut(r);
		if (t->found->nseg >= TRIM_SEGS && trim_thin_candidates(t) != 0)
			return -1;
		if (begin_segment(t, replay_icount(r)) != 0)
			return -1;
		due = replay_icount(r) + t->every;
	}
}

static int
by_mem(const void *a, const void *b)
{
	const struct trim_need *p = a, *q = b;

	if (p->mem != q->mem)
		return p->mem < q->mem ? -1 : 1;
	return p->line < q->line ? -1 : p->line > q->line;
}

/* Collects what is left, sorted in the order in which pass 2 meets it. */
static int
trim_gather(struct note *t)
{
	struct trim_found *f = t->found;

	if (shadow_finish(&t->s) != 0)
		return -1;
	if (f->nneed)
		qsort(f->need, f->nneed, sizeof *f->need, by_mem);
	for (size_t i = 0, k = 0; i < f->nneed; i++) {
		while (k < f->nstored && f->stored[k] < f->need[i].mem)
			k++;
		if (k == f->nstored || f->stored[k] != f->need[i].mem)
			f->needed += (uint64_t)f->need[i].count * WS_LINE;
	}
	return 0;
}

static int
trim_pass1(struct note *t, const char *in, struct fault *f)
{
	struct drive_watch watch = { .record = on_record, .read = on_read, .cut = 1, .arg = t };
	int e;

	wcode_init(&t->code, wcode_read_replay, &t->mem);
	t->code.kept = on_kept;
	t->code.keptarg = t->s.arg = t;
	t->s.fetch = on_fetch;
	shadow_init(&t->s);
	t->sample = malloc(CHUNK);
	t->packed = malloc(ZSTD_compressBound(CHUNK));
	t->s.nomem = !t->sample || !t->packed || begin_segment(t, 0) != 0;
	if (t->s.nomem)
		return -1;
	t->r = drive_open(in, &watch, f);
	if (!t->r)
		return -1;
	t->code.amd = replay_amd(replay_header(t->r));
	if (drive_start(t->r) != 0) {
		*f = *replay_fault(t->r);
		return -1;
	}
	e = trim_run(t, f);
	return e >= 0 && trim_gather(t) != 0 ? -1 : e;
}

int
trim_find_needs(const char *in, const struct trim_opts *o, struct trim_found *found, struct fault *f)
{
	struct note *t = calloc(1, sizeof *t);
	int e = -1;

	*f = (struct fault){ .off = WS_UNKNOWN, .rec = WS_UNKNOWN };
	if (t) {
		t->found = t->s.found = found;
		t->keys = o->keys != 0;
		t->every = o->every ? o->every : t->keys ? CLOSE : EVERY;
		t->refers = o->pages != NULL;
		e = trim_pass1(t, in, f);
	}
	if (!t || t->s.nomem || (e < 0 && !f->err[0]))
		snprintf(f->err, sizeof f->err, "no memory");
	if (t) {
		replay_close(t->r);
		shadow_free(&t->s);
		trim_stored_free(&t->stored);
		wcode_free(&t->code);
		free(t->sample);
		free(t->packed);
	}
	free(t);
	return e;
}

void
trim_found_free(struct trim_found *f)
{
	for (size_t i = 0; i < f->nseg; i++)
		free(f->seg[i].page);
	free(f->seg);
	free(f->need);
	free(f->stored);
	free(f->sig);
}
