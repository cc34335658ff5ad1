/*
 * Finds what changed in the program's writable memory: for system calls that are not in the
 * table, for children that share memory, and for --audit.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/diag.h"
#include "base/mem.h"
#include "gen/wscap/touch.h"
#include "gen/wscap/wscap.h"

static const uint8_t all_zero[CHUNK];

static void
compare_save(struct shadow *s, struct cap *c, uint64_t addr, size_t n)
{
	struct range *r;

	s->p = mem_xgrow(s->p, &s->room, s->size + n, 1);
	s->range = mem_xgrow(s->range, &s->cap, s->n + 1, sizeof(*s->range));
	r = &s->range[s->n];
	r->addr = addr;
	r->at = s->size;
	r->n = n ? tracee_read(&c->t, addr, s->p + s->size, n) : 0;
	s->size += (size_t)r->n;
	s->n += r->n > 0;
}

static void
compare_save_zero(struct shadow *s, uint64_t lo, uint64_t hi)
{
	if (lo >= hi)
		return;
	s->range = mem_xgrow(s->range, &s->cap, s->n + 1, sizeof(*s->range));
	s->range[s->n++] = (struct range){lo, hi - lo, SHADOW_ZERO};
}

/*
 * The stack's region has its maximal size: only the part that exists can be read, from its
 * upper end downward.
 */
static uint64_t
stack_low(const struct cap *c, const struct region *r)
{
	uint64_t lo = (c->in.rsp - (1u << 16)) / PAGE * PAGE;

	return lo > r->lo && lo < r->hi ? lo : r->lo;
}

/* The address after [at, at + n) of a region, of which got bytes could be read. */
static uint64_t
compare_next(uint64_t at, size_t n, size_t got)
{
	return !got || got == n ? at + n : (at + got) / PAGE * PAGE + PAGE;
}

static size_t
compare_room(const struct region *r, uint64_t at)
{
	return r->hi - at < CHUNK ? (size_t)(r->hi - at) : CHUNK;
}

void
compare_keep_old(struct cap *c, uint64_t lo, uint64_t hi)
{
	struct shadow *s = &c->shadow;

	while (lo < hi) {
		uint64_t end, from = hold_present(c, lo, hi, &end);
		size_t n = end - from < CHUNK ? (size_t)(end - from) : CHUNK, had;

		compare_save_zero(s, lo, from);
		had = s->n;
		compare_save(s, c, from, n);
		lo = compare_next(from, n, s->n > had ? (size_t)s->range[had].n : 0);
	}
}

void
compare_before(struct cap *c)
{
	struct shadow *s = &c->shadow;

	s->n = s->size = 0;
	for (size_t i = 0; i < c->reg.n; i++) {
		const struct region *r = &c->reg.p[i];
		uint64_t at = r->stack ? stack_low(c, r) : r->lo;

		if (r->zeros && c->saved && c->sharing)         /* by share_before */
			continue;
		if (borrow_large(c, r))    /* by borrow_save, if it is used */
			continue;
		if (r->prot & PROT_WRITE)
			compare_keep_old(c, at, r->hi);
	}
	c->compare = COMPARE_WRITES;
}

/* What a known write begins to use of range i, which was zero, becomes a copy, in whole pages: pagemap tells of those. */
static void
compare_split(struct shadow *s, size_t i, uint64_t lo, uint64_t hi)
{
	struct range r = s->range[i];
	size_t n;

	lo = lo / PAGE * PAGE;
	hi = (hi + PAGE - 1) / PAGE * PAGE;
	n = (size_t)(hi - lo);
	s->p = mem_xgrow(s->p, &s->room, s->size + n, 1);
	memset(s->p + s->size, 0, n);
	s->range[i] = (struct range){lo, n, s->size};
	s->size += n;
	compare_save_zero(s, r.addr, lo);
	compare_save_zero(s, hi, r.addr + r.n);
}

void
compare_known(struct cap *c, uint64_t addr, const uint8_t *p, size_t n)
{
	struct shadow *s = &c->shadow;

	for (size_t i = 0; i < s->n; i++) {
		const struct range *r = &s->range[i];
		uint64_t lo = addr > r->addr ? addr : r->addr;
		uint64_t hi = addr + n < r->addr + r->n ? addr + n : r->addr + r->n;

		if (lo >= hi)
			continue;
		if (r->at == SHADOW_ZERO)
			compare_split(s, i, lo, hi);
		r = &s->range[i];
		memcpy(s->p + r->at + (lo - r->addr), p + (lo - addr), hi - lo);
	}
}

/* Records n bytes at addr, from what was read for the comparison: others may write at the same time.  p NULL: zero */
static void
compare_put(struct cap *c, uint64_t addr, const uint8_t *p, size_t n)
{
	struct ws_rec r = {.kind = WS_MEM, .u.mem = {.addr = addr, .p = p, .n = n}};

	wscap_put(c, &r);
}

static int
compare_is_same(const struct cap *c, const uint8_t *old, const uint8_t *mixed, size_t i)
{
	return old[i] == c->all->scratch[i] && !(mixed && mixed[i]);
}

/* mixed: NULL, or what is recorded even if it is the same. */
static size_t
compare_differing(struct cap *c, uint64_t addr, const uint8_t *old, const uint8_t *mixed, size_t n, int tell)
{
	size_t i = 0, from, sum = 0;

	while (i < n) {
		if (compare_is_same(c, old, mixed, i)) {
			i++;
			continue;
		}
		/* a gap of less than a line is not worth a new record */
		for (from = i; i < n; i++) {
			size_t gap = 0;

			while (i + gap < n && gap < WS_LINE && compare_is_same(c, old, mixed, i + gap))
				gap++;
			if (gap == WS_LINE || i + gap == n)
				break;
			i += gap;
		}
		compare_put(c, addr + from, c->all->scratch + from, i - from);
		sum += i - from;
		if (tell)
			warn("audit: %s wrote %zu bytes at 0x%llx that the table does not know of",
			    ws_sys_name(c->in.orig_rax) ? ws_sys_name(c->in.orig_rax) :
			    "an unknown system call", i - from, (unsigned long long)addr + from);
	}
	return sum;
}

/* The same for memory that was zero since nobody had touched it. */
static size_t
compare_touched(struct cap *c, uint64_t lo, uint64_t hi, int tell)
{
	size_t sum = 0;

	while (lo < hi) {
		size_t i = region_at(&c->reg, lo), n, got;
		uint64_t end;

		if (i == c->reg.n || c->reg.p[i].lo >= hi)
			break;
		if (c->reg.p[i].lo > lo)
			lo = c->reg.p[i].lo;
		lo = hold_present(c, lo, hi, &end);
		n = end - lo < CHUNK ? (size_t)(end - lo) : CHUNK;
		got = n ? tracee_read(&c->t, lo, c->all->scratch, n) : 0;
		if (memcmp(c->all->scratch, all_zero, got))
			sum += compare_differing(c, lo, all_zero, NULL, got, tell);
		lo = compare_next(lo, n, got);
	}
	return sum;
}

size_t
compare_after(struct cap *c, int tell)
{
	const struct shadow *s = &c->shadow;
	size_t sum = 0;

	c->compare = COMPARE_NOT;
	for (size_t i = 0; i < s->n; i++) {
		const struct range *r = &s->range[i];
		size_t n;

		if (r->at == SHADOW_ZERO) {
			sum += compare_touched(c, r->addr, r->addr + r->n, tell);
			continue;
		}
		n = tracee_read(&c->t, r->addr, c->all->scratch, (size_t)r->n);
		if (n && memcmp(c->all->scratch, s->p + r->at, n))
			sum += compare_differing(c, r->addr, s->p + r->at, NULL, n, tell);
	}
	return sum;
}

/* A pass over all memory that is shared. */
struct pass {
	struct common had;              /* what it was */
	size_t next;                    /* the first piece that may be at or after the present place */
	struct exists e;
	enum {
		CHANGES,                /* what differs is recorded */
		ALL,                    /* all of it is */
		OWN,                    /* nothing is: changes are the program's own */
		MIXED                   /* nothing is yet: those of others are among them */
	} put;
};

/* What changed in k, which is in scratch, may have been written by others. */
static void
common_mix(const struct cap *c, struct kept *k)
{
	const uint8_t *old = k->p ? k->p : all_zero;

	if (!k->mixed)
		k->mixed = xcalloc(1, k->n);
	for (size_t i = 0; i < k->n; i++)
		k->mixed[i] |= old[i] != c->all->scratch[i];
}

/*
 * Of k, got bytes are in scratch: a file can be longer or shorter than it was.  What is new there was zero, and of what is gone
 * a replay has what it had.
 */
static void
common_extend(struct cap *c, struct kept *k, size_t got)
{
	if (k->n < got && k->p) {
		k->p = xrealloc(k->p, got);
		memset(k->p + k->n, 0, got - k->n);
	}
	if (k->n < got && k->mixed) {
		k->mixed = xrealloc(k->mixed, got);
		memset(k->mixed + k->n, 0, got - k->n);
	}
	if (k->n < got)
		k->n = got;
	if (got < k->n)
		memcpy(c->all->scratch + got, k->p ? k->p + got : all_zero, k->n - got);
}

/* The bytes of k are in scratch: they are kept, unless all are zero. */
static void
common_set(const struct cap *c, struct kept *k)
{
	if (!memcmp(c->all->scratch, all_zero, k->n)) {
		free(k->p);
		k->p = NULL;
		return;
	}
	if (!k->p)
		k->p = xmalloc(k->n);
	memcpy(k->p, c->all->scratch, k->n);
}

/* The bytes of k are in scratch: records what changed, and keeps them.  known: k has what was there before */
static void
common_update(struct cap *c, struct kept *k, int known, const struct pass *s)
{
	const uint8_t *old = k->p ? k->p : all_zero;
	int same = !memcmp(c->all->scratch, old, k->n);

	if (known && s->put == MIXED && !same)
		common_mix(c, k);
	if (known && s->put == CHANGES && (!same || k->mixed))
		compare_differing(c, k->addr, old, k->mixed, k->n, 0);
	if (s->put == CHANGES || s->put == ALL) {
		free(k->mixed);
		k->mixed = NULL;
	}
	if (!same)
		common_set(c, k);
}

void
common_free(struct common *m)
{
	for (size_t i = 0; i < m->n; i++) {
		free(m->piece[i].p);
		free(m->piece[i].mixed);
	}
	free(m->piece);
	*m = (struct common){0};
}

/* Compares a region, and adds what it has now to c->common. */
static void
common_region(struct cap *c, const struct region *r, struct pass *s)
{
	uint64_t at = r->lo;

	while (at < r->hi) {
		size_t n = compare_room(r, at), got = n;
		struct common *m = &c->common;
		struct kept *had = NULL;        /* what was kept of it */
		int zero;

		while (s->next < s->had.n && s->had.piece[s->next].addr < at)
			s->next++;
		if (s->next < s->had.n && s->had.piece[s->next].addr == at)
			had = &s->had.piece[s->next];
		zero = (!had || (!had->p && !had->mixed)) && (exists_hole(c, at, at + n) || (s->put == OWN || s->put == MIXED ?
		    exists_own(c, at, at + n) : exists_next(c, &s->e, at, at + n)) == at + n);
		if (!zero)
			got = tracee_read(&c->t, at, c->all->scratch, n);
		if (s->put == ALL && got)
			compare_put(c, at, zero ? NULL : c->all->scratch, got);
		m->piece = mem_xgrow(m->piece, &m->cap, m->n + 1, sizeof(*m->piece));
		m->piece[m->n] = had ? *had : (struct kept){.addr = at};
		if (had)
			had->p = had->mixed = NULL;
		common_extend(c, &m->piece[m->n], got);
		if (!zero)
			common_update(c, &m->piece[m->n], had != NULL, s);
		m->n++;
		at += n;
	}
}

static void
common_pass(struct cap *c, int put)
{
	struct pass s = {.had = c->common};

	c->common = (struct common){0};
	for (size_t i = 0; i < c->reg.n; i++) {
		const struct region *r = &c->reg.p[i];

		s.put = put == CHANGES && c->fresh && r->foreign ? ALL : put;
		if (r->shared && (r->prot & PROT_WRITE || r->foreign))
			common_region(c, r, &s);
	}
	common_free(&s.had);
}

/*
 * What the program itself has written there since the last call is recorded once more, which is
 * harmless.
 */
void
compare_shared(struct cap *c)
{
	common_pass(c, CHANGES);
	c->fresh = 0;
	c->sharing = c->common.n > 0;
	c->outside = c->outside && c->sharing;
}

void
compare_keep(struct cap *c, int mixed)
{
	common_pass(c, mixed ? MIXED : OWN);
}
