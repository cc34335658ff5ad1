/* Searches a part of the run for what is a reason to stop: breakpoints, watched memory, signals. */
#include <stdlib.h>
#include <string.h>

#include "format/ref/ref.h"
#include "replay/history/history_internal.h"

#define SLICE 20000000u         /* instructions between two looks at the interrupt */
#define WORDS 16384u            /* words of a batch */
#define WIDEST 255u             /* bytes of a reference at most */
#define EIGHT  8u

static int
same_place(struct history_at a, struct history_at b)
{
	return a.icount == b.icount && a.n == b.n;
}

/* A write may leave the watched bytes as they were; any other hit counts. */
static int
is_sure(const struct history *h, const struct history_hit *hit)
{
	return hit->why != HISTORY_WATCH || h->watch[hit->watch].access != HISTORY_WRITE;
}

static void
scan_hit(struct history *h, struct history_hit hit)
{
	struct history_scan *s = &h->scan;

	if (s->back) {
		if (s->nhit == HISTORY_NHIT) {
			s->first = (s->first + 1) % HISTORY_NHIT;
			s->nhit--;
			s->lost = 1;
		}
		s->hit[(s->first + s->nhit++) % HISTORY_NHIT] = hit;
	} else if (!s->stop) {
		s->hit[s->nhit++] = hit;
		s->stop = s->nhit == HISTORY_NHIT || is_sure(h, &hit);
	}
}

/* Counts the instructions up to word n of the batch. */
static void
scan_count(struct history_scan *s, const uint64_t *w, size_t n)
{
	for (; s->counted < n; s->counted++)
		s->icount += ref_kind(w[s->counted]) == REF_INST;
}

/* Of eight words: do some refer to [lo, lo + span), in the upper 48 bits? */
static inline int
scan_eight(const uint64_t *w, uint64_t lo, uint64_t span)
{
	int is = 0;

	for (unsigned i = 0; i < EIGHT; i++)
		is |= (w[i] << 16) - lo < span;
	return is;
}

/* Word i of the batch refers to something near watched memory m: does it access it? */
static void
scan_word(struct history *h, const uint64_t *w, size_t i, size_t m)
{
	const struct history_watched *k = &h->watch[m];
	uint64_t addr = ref_addr(w[i]);
	unsigned kind = ref_kind(w[i]);
	unsigned access = (kind != REF_STORE ? HISTORY_READ : 0) | (kind != REF_LOAD ? HISTORY_WRITE : 0);

	if (addr >= k->addr + k->n || k->addr >= addr + ref_size(w[i]) || !(k->access & access) ||
	    kind == REF_INST)
		return;
	scan_count(&h->scan, w, i + 1);
	scan_hit(h, (struct history_hit){ HISTORY_WATCH, { h->scan.icount - 1, WS_UNKNOWN }, m, 0 });
}

/* Looks at the words of the batch up to n.  Nearly all refer to nothing near what is watched. */
static void
scan_words(struct history *h, const uint64_t *w, size_t n)
{
	struct history_scan *s = &h->scan;
	uint64_t lo[HISTORY_NWATCH], span[HISTORY_NWATCH];

	for (size_t k = 0; k < h->nwatch; k++) {
		lo[k] = (h->watch[k].addr - WIDEST) << 16;
		span[k] = (h->watch[k].n + WIDEST) << 16;
	}
	while (s->done < n) {
		size_t some = n - s->done < EIGHT ? n - s->done : EIGHT;
		int is = some < EIGHT;

		for (size_t k = 0; k < h->nwatch && !is; k++)
			is = scan_eight(w + s->done, lo[k], span[k]);
		for (size_t i = s->done; is && i < s->done + some; i++)
			for (size_t k = 0; k < h->nwatch; k++)
				scan_word(h, w, i, k);
		s->done += some;
	}
}

static void
scan_memory(struct history *h, uint64_t addr, uint64_t n)
{
	const struct history_scan *s = &h->scan;
	struct history_at at = { replay_icount(h->r) - 1, WS_UNKNOWN };

	for (size_t i = 0; i < h->nwatch; i++)
		if ((h->watch[i].access & HISTORY_WRITE) && addr < h->watch[i].addr + h->watch[i].n &&
		    h->watch[i].addr < addr + n)
			scan_hit(h, (struct history_hit){ HISTORY_WATCH, s->insig ? s->sigat : at, i, 0 });
}

/* Forward, the replay is to go no further than what it is doing now. */
static void
scan_halt(struct history *h, uint64_t more)
{
	if (h->scan.stop)
		drive_until(h->r, drive_instances(h->r) + more);
}

/* A signal arrives, or another thread continues. */
static void
scan_signal(struct history *h, const struct ws_rec_sig *sig)
{
	struct history_scan *s = &h->scan;

	if (sig->sig == WS_SWITCH) {
		if (s->thread && s->thread == (s->back ? replay_thread(h->r) : sig->thread))
			scan_hit(h, (struct history_hit){ HISTORY_STEP, s->sigat, 0, 0 });
	} else if (sig->sig && !ws_is_place(sig) && !(h->pass >> (sig->sig - 1) & 1) &&
	    (s->back || !same_place(s->sigat, s->from))) {
		scan_hit(h, (struct history_hit){ HISTORY_SIGNAL, s->sigat, 0, (int)sig->sig });
	}
}

int
history_record(void *arg, const struct ws_rec *rec)
{
	struct history *h = arg;
	struct history_scan *s = &h->scan;
	size_t n;

	if (h->r == NULL)
		return 0;
	if (rec->kind == WS_SIG) {
		h->lastsig = rec->u.sig.sig;
		h->lastsigat = replay_icount(h->r);
	}
	if (!s->on)
		return 0;
	if (s->refs) {
		const uint64_t *w = drive_words_so_far(h->r, &n);

		scan_words(h, w, n);
	}
	switch (rec->kind) {
	case WS_SIG:
		s->insig = 1;
		s->sigat = history_now(h);
		scan_signal(h, &rec->u.sig);
		scan_halt(h, 1);
		break;
	case WS_MEM: scan_memory(h, rec->u.mem.addr, rec->u.mem.n); scan_halt(h, 0); break;
	case WS_MAP: scan_memory(h, rec->u.map.addr, rec->u.map.len); scan_halt(h, 0); break;
	case WS_MOVE: scan_memory(h, rec->u.move.to, rec->u.move.newlen); scan_halt(h, 0); break;
	default:
		if (ws_is_trigger(rec->kind))
			s->insig = 0;
		break;
	}
	return 0;
}

/* As drive_run_to, looking at the references. */
static int
scan_refs(struct history *h, uint64_t icount, uint64_t n)
{
	struct history_scan *s = &h->scan;
	const uint64_t *w;
	size_t got, all;
	int e;

	replay_until(h->r, icount);
	drive_until(h->r, n);
	s->refs = 1;
	do {
		s->icount = replay_icount(h->r);
		s->done = s->counted = 0;
		e = drive_words(h->r, RP_REFS, WORDS, &got);
		w = drive_words_so_far(h->r, &all);
		scan_words(h, w, got);
	} while (e == REPLAY_OK && !s->stop);
	s->refs = 0;
	replay_until(h->r, WS_UNKNOWN);
	drive_until(h->r, WS_UNKNOWN);
	if (drive_ended(h->r) != REPLAY_OK)
		return e == REPLAY_OK ? REPLAY_OK : drive_ended(h->r);
	(void)drive_resume(h->r);
	return e == REPLAY_END ? REPLAY_OK : e;
}

static uint64_t
scan_limit(const struct history *h, struct history_at here, struct history_at to)
{
	uint64_t most = here.icount + SLICE;

	if (here.icount >= to.icount)
		return WS_UNKNOWN;
	most = most < h->due ? most : h->due;
	return most < to.icount ? most : to.icount;
}

static int
scan_on(struct history *h, struct history_at to)
{
	for (;;) {
		struct history_at here = history_now(h);
		uint64_t icount, n;
		int e;

		if (h->scan.stop || !history_before(here, to))
			return REPLAY_OK;
		if (history_is_interrupted(h))
			return HISTORY_INTERRUPTED;
		if (here.icount >= h->due)
			history_keep(h);
		icount = scan_limit(h, here, to);
		n = here.icount < to.icount ? WS_UNKNOWN : to.n;
		e = h->nwatch ? scan_refs(h, icount, n) : drive_run_to(h->r, icount, n);
		if (e == REPLAY_BREAK) {
			here = history_now(h);
			if (!history_is_hidden(h) && (h->scan.back || !same_place(here, h->scan.from)))
				scan_hit(h, (struct history_hit){ HISTORY_BREAK, here, 0, 0 });
		} else if (e == REPLAY_BAD) {
			h->scan.on = 0;
			return history_mend(h);
		} else if (e != REPLAY_OK)
			return e;
	}
}

int
history_scan(struct history *h, struct history_at to, int back)
{
	struct history_scan *s = &h->scan;
	int cut = h->broken && history_before(h->end, to), e;

	s->back = back;
	s->stop = s->refs = s->insig = s->lost = 0;
	s->first = s->nhit = 0;
	if (history_arm(h, 1) != 0)
		return REPLAY_BAD;
	s->on = 1;
	e = scan_on(h, cut ? h->end : to);
	s->on = 0;
	if (history_arm(h, 0) != 0)
		return REPLAY_BAD;
	return e == REPLAY_OK && cut && !s->stop ? REPLAY_END : e;
}

int
history_changes(struct history *h, const struct history_hit *hit)
{
	const struct history_watched *m = &h->watch[hit->watch];
	uint8_t *was = malloc(2 * m->n), *is = was ? was + m->n : NULL;
	size_t had, have;
	int e;

	if (!was) {
		(void)fault_nomem(&h->fault);
		return history_dead(h, &h->fault);
	}
	e = hit->at.n == WS_UNKNOWN ? history_move_before(h, hit->at.icount) : history_move(h, hit->at);
	had = replay_read(h->r, m->addr, was, m->n);
	if (e == REPLAY_OK)
		e = history_micro(h);
	have = replay_read(h->r, m->addr, is, m->n);
	if (e != REPLAY_BAD)
		e = had != have || memcmp(was, is, have) != 0;
	free(was);
	return e;
}

/* Does the hit count? 1, 0; REPLAY_BAD */
static int
scan_counts(struct history *h, const struct history_hit *hit)
{
	return is_sure(h, hit) ? 1 : history_changes(h, hit);
}

int
history_pick(struct history *h, struct history_hit *hit, struct history_at *older)
{
	struct history_scan *s = &h->scan;
	int e, found = 0;

	*older = (struct history_at){ 0, 0 };
	if (!s->nhit)
		return 0;
	if (s->back) {          /* mostly it is the last one */
		*hit = s->hit[(s->first + s->nhit - 1) % HISTORY_NHIT];
		e = scan_counts(h, hit);
		if (e != 0)
			return e;
		s->nhit--;
	}
	for (size_t i = 0; i < s->nhit; i++) {
		const struct history_hit *k = &s->hit[(s->first + i) % HISTORY_NHIT];

		e = scan_counts(h, k);
		if (e < 0)
			return e;
		if (e) {
			found = 1;
			*hit = *k;
			if (!s->back)
				return 1;
		}
	}
	if (!found && s->lost)
		*older = (struct history_at){ s->hit[s->first].at.icount, 0 };
	return found;
}
